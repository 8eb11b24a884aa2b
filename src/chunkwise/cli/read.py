"""`chunkwise read`: what a reader makes of files, before they are cut."""

from __future__ import annotations

from collections import Counter
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
from chunkwise.cli.terminal import one_line, say, write_json
from chunkwise.text.unicode import printable

if TYPE_CHECKING:
    from chunkwise.core.types import Document
    from chunkwise.readers.read import Skip

# In characters: how much of a block is quoted.
_QUOTED = 60


def read(
    paths: Annotated[list[str], typer.Argument(help="Files and folders.", metavar="PATH...")],
    blocks: Annotated[bool, typer.Option("--blocks", help="Show the blocks and the metadata, not the text.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Write a JSON object a document: text, blocks, metadata.")
    ] = False,
    glob: GlobOption = None,
    on_error: OnErrorOption = "skip",
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
) -> None:
    """Read files, and write their text as it will be cut."""
    from chunkwise.readers.read import Skip

    skips: list[Skip] = []
    n_documents = 0
    for result in documents(paths, glob or [], None, reading=reading(password, limit, clean), on_error=on_error):
        if isinstance(result, Skip):
            skips.append(result)
            continue
        n_documents += 1
        if json:
            write_json([_fields(result)])
        else:
            typer.echo(_outline(result) if blocks else printable(result.text))
        say(f"{result.id}: {_summary(result)}")
        for note in _list(result.meta.get("left_out")):
            say(f"  left out: {note}")
    tell_skips(skips)
    if skips and not n_documents:
        raise typer.Exit(2)


def _fields(document: Document) -> dict[str, Any]:
    names = ("kind", "start", "end", "level", "label", "parent")
    return {
        "id": document.id,
        "media_type": document.media_type,
        "source": document.source,
        "text": document.text,
        "blocks": [
            dict(zip(names, (block.kind, *block.span, block.level, block.label, block.parent), strict=True))
            for block in document.blocks
        ],
        "meta": dict(document.meta),
    }


def _outline(document: Document) -> str:
    """Return the metadata, then a line a block: kind, level, span, label, and how it begins."""
    lines = [f"{one_line(name)} = {one_line(str(value))}" for name, value in document.meta.items()]
    depths: list[int] = []
    for block in document.blocks:
        depths.append(depths[block.parent] + 1 if block.parent >= 0 else 0)
        quoted = " ".join(block.span.slice(document.text)[: 4 * _QUOTED].split())[:_QUOTED]
        label = f" [{one_line(block.label)}]" if block.label else ""
        head = f"{'  ' * depths[-1]}{block.kind} {block.level}{label}"
        lines.append(f"{head} {block.span.start}-{block.span.end}: {printable(quoted)}")
    return "\n".join(lines)


def _summary(document: Document) -> str:
    counts = Counter(block.kind for block in document.blocks)
    found = ", ".join(f"{count} {kind}" for kind, count in counts.items() if kind != "row")
    return f"{document.media_type}, {len(document.text):,} characters; blocks: {found or 'none'}"


def _list(value: object) -> list[str]:
    return [str(entry) for entry in value] if isinstance(value, list) else []
