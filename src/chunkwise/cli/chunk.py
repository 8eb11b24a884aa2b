"""`chunkwise chunk`: cut files, one JSON object a chunk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkwise.cli.files import (
    CleanOption,
    GlobOption,
    LimitOption,
    OnErrorOption,
    PasswordOption,
    documents,
    reading,
    tell_skips,
)
from chunkwise.cli.stdin import PLAIN, rows_of_stdin
from chunkwise.cli.terminal import (
    JsonOption,
    PresetOption,
    RecipeOption,
    TokenizerOption,
    chosen,
    chunk_fields,
    console,
    counted,
    fail,
    one_line,
    progress,
    say,
    source_fields,
    wants_json,
    write_json,
    written_aside,
)
from chunkwise.text.unicode import printable

if TYPE_CHECKING:
    from chunkwise.core.protocols import Chunker
    from chunkwise.core.types import Chunk, Document
    from chunkwise.readers.read import Skip


def chunk(
    paths: Annotated[list[str], typer.Argument(help="Files and folders; - for standard input.", metavar="PATH...")],
    recipe: RecipeOption = None,
    preset: PresetOption = None,
    tokenizer: TokenizerOption = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write JSON lines to this file.")] = None,
    glob: GlobOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "skip",
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
    id: Annotated[str | None, typer.Option(help="Standard input: the document's id. Default: stdin.")] = None,
    format: Annotated[
        str | None,
        typer.Option(help="Standard input: what it is, e.g. markdown or python. Default: plain, cut as it comes."),
    ] = None,
) -> None:
    """Cut files into chunks, or with - what comes in on standard input."""
    from chunkwise.pipeline import DEFAULT_RECIPE, chunker

    cut = chunker(chosen(recipe, preset) or DEFAULT_RECIPE, tokenizer=tokenizer)
    if "-" in paths:
        if paths != ["-"] or glob:
            fail("- is standard input, and is given alone")
        n_written = _write_stdin(rows_of_stdin(cut, id=id or "stdin", format=format or PLAIN, clean=clean), out)
        say(f"{counted(n_written, 'chunk')} of {id or 'stdin'} by {cut!r}" + (f" in {out}" if out else ""))
        return
    if id or format:
        fail("--id and --format are about standard input: give - for the path")
    if out is not None and out.exists() and any(os.path.exists(path) and out.samefile(path) for path in paths):
        fail(f"{out} is one of the files to be cut; write to another")
    skips: list[Skip] = []
    counts = {"documents": 0, "chunks": 0}
    with progress("cutting") if out is not None else nullcontext() as show:
        found = _readable(
            documents(paths, glob or [], show, reading=reading(password, limit, clean), on_error=on_error), skips
        )
        if out is not None:
            with written_aside(out) as stream:
                write_json(_rows(cut, found, counts), stream)
        elif wants_json(json):
            write_json(_rows(cut, found, counts))
        else:
            for document in found:
                _print(document, list(cut(document)), counts)
    tell_skips(skips)
    n_chunks, n_documents = counted(counts["chunks"], "chunk"), counted(counts["documents"], "document")
    say(f"{n_chunks} of {n_documents} by {cut!r}" + (f" in {out}" if out else ""))
    if skips and not counts["documents"]:
        raise typer.Exit(2)


def _write_stdin(rows: Iterator[dict[str, Any]], out: Path | None) -> int:
    """Write each chunk as it comes, and return how many came."""
    n_chunks = 0
    with written_aside(out) if out is not None else nullcontext() as stream:
        for row in rows:
            write_json([row], stream)  # and flushed: it may have been waited for
            n_chunks += 1
    return n_chunks


def _readable(results: Iterable[Document | Skip], skips: list[Skip]) -> Iterator[Document]:
    """Yield the documents; put the rest on the list."""
    from chunkwise.readers.read import Skip

    for result in results:
        if isinstance(result, Skip):
            skips.append(result)
        else:
            yield result


def _rows(cut: Chunker, documents: Iterator[Document], counts: dict[str, int]) -> Iterator[dict[str, Any]]:
    for document in documents:
        counts["documents"] += 1
        for index, chunk in enumerate(cut(document)):
            counts["chunks"] += 1
            yield {**chunk_fields(chunk, index), **source_fields(chunk, document)}


def _print(document: Document, chunks: list[Chunk], counts: dict[str, int]) -> None:
    from rich.table import Table

    counts["documents"] += 1
    counts["chunks"] += len(chunks)
    table = Table(title=one_line(document.id), title_justify="left", box=None, expand=True)
    placed = ("place",) if any(chunk.place for chunk in chunks) else ()
    for column in ("#", "tokens", "span", *placed):
        table.add_column(column)
    table.add_column("under", no_wrap=True, max_width=28)
    table.add_column("text", no_wrap=True, ratio=1)
    for index, chunk in enumerate(chunks):
        under = one_line(chunk.headings[-1]) if chunk.headings else ""
        text = printable(" ".join(chunk.text[:400].split()))
        place = (one_line(chunk.place),) if placed else ()
        cells = (str(index), str(chunk.token_count), f"{chunk.start}-{chunk.end}", *place, under, text)
        table.add_row(*(_plain(cell) for cell in cells))
    console().print(table)


def _plain(cell: str) -> Any:
    from rich.text import Text

    return Text(cell)  # a document's text is no markup
