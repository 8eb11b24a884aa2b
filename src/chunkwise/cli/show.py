"""`chunkwise show`: a document with its chunks in colour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chunkwise.cli.files import CleanOption, LimitOption, PasswordOption, reading
from chunkwise.cli.terminal import (
    PresetOption,
    RecipeOption,
    TokenizerOption,
    chosen,
    console,
    counted,
    fail,
    one_line,
    say,
    written_aside,
)
from chunkwise.text.unicode import printable

if TYPE_CHECKING:
    from rich.text import Text

    from chunkwise.core.protocols import Chunker
    from chunkwise.core.types import Chunk, Document

# Two tones in turn, so that neighbours differ; what a chunk repeats of the one before is a third.
_TONES = ("black on #cfe3ff", "black on #ffe3b8")
_REPEATED = "black on #d9c7f2"
_LABEL = "bold"
_GAP = "dim"


def show(
    path: Annotated[Path, typer.Argument(help="The file to show.", metavar="FILE")],
    recipe: RecipeOption = None,
    preset: PresetOption = None,
    tokenizer: TokenizerOption = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page for the browser to this file instead.", metavar="OUT")
    ] = None,
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
) -> None:
    """Show a document's chunks in colour."""
    from chunkwise.evaluate.intrinsic import sizes
    from chunkwise.pipeline import DEFAULT_RECIPE, chunker
    from chunkwise.readers.read import doubts, read

    if path.is_dir():
        fail(f"{path} is a folder; name a file in it, or run: chunkwise chunk {path}")
    cut = chunker(chosen(recipe, preset) or DEFAULT_RECIPE, tokenizer=tokenizer)
    document = read(path, reading=reading(password, limit, clean))
    for doubt in doubts(document):
        say(f"note: {doubt}")
    chunks = list(cut(document))
    if html is not None:
        _write(html, path, document, chunks, cut)
    else:
        console().print(coloured(document, chunks), soft_wrap=True)
    least, _, median, _, most = sizes([chunk.token_count for chunk in chunks], cut.budget.size).quartiles
    written = f", in {html}" if html is not None else ""
    say(f"{counted(len(chunks), 'chunk')} by {cut!r}; tokens: least {least}, median {median}, most {most}{written}")


def _write(out: Path, path: Path, document: Document, chunks: Sequence[Chunk], cut: Chunker) -> None:
    from chunkwise.report.page import drawn

    if out.exists() and out.samefile(path):
        fail(f"{out} is the file to be shown; write to another")
    with written_aside(out) as stream:
        stream.write(drawn(document, chunks, cut))


def coloured(document: Document, chunks: Sequence[Chunk]) -> Text:
    """Return the document's text, each chunk under a label of its own; every character appears once or more."""
    from rich.text import Text

    text, shown = Text(), 0
    for index, chunk in enumerate(chunks):
        body = chunk.body
        _append(text, document.text[shown : body.start], _GAP)
        if text.plain and not text.plain.endswith("\n"):
            text.append("\n")
        text.append(_label(chunk, index) + "\n", _LABEL)
        own = chunk.own.start
        for riding in chunk.spans[:-1]:
            _append(text, riding.slice(document.text), _REPEATED)
        _append(text, document.text[body.start : own], _REPEATED)
        _append(text, document.text[own : body.end], _TONES[index % len(_TONES)])
        shown = body.end
    _append(text, document.text[shown:], _GAP)
    return text


def _append(text: Text, piece: str, style: str) -> None:
    text.append(printable(piece.replace("\r\n", "\n")), style)


def _label(chunk: Chunk, index: int) -> str:
    place = f", {one_line(chunk.place)}" if chunk.place else ""
    under = one_line(" > ".join(chunk.headings))
    return f"[{index}] {chunk.token_count} tokens, {chunk.start}-{chunk.end}{place}  {under}".rstrip()
