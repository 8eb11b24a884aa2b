"""`chunkwise show`: a document with its chunks in colour."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chunkwise.cli.terminal import RecipeOption, TokenizerOption, console, fail, one_line, printable, say

if TYPE_CHECKING:
    from rich.text import Text

    from chunkwise.core.types import Chunk, Document

# Two tones in turn, so that neighbours differ; what a chunk repeats of the one before is a third.
_TONES = ("black on #cfe3ff", "black on #ffe3b8")
_REPEATED = "black on #d9c7f2"
_LABEL = "bold"
_GAP = "dim"


def show(
    path: Annotated[Path, typer.Argument(help="The file to show.", metavar="FILE")],
    recipe: RecipeOption = None,
    tokenizer: TokenizerOption = None,
) -> None:
    """Show a document's chunks in colour."""
    from chunkwise.pipeline import DEFAULT_RECIPE, chunker
    from chunkwise.readers.read import doubts, read

    if path.is_dir():
        fail(f"{path} is a folder; name a file in it, or run: chunkwise chunk {path}")
    cut = chunker(recipe or DEFAULT_RECIPE, tokenizer=tokenizer)
    document = read(path)
    for doubt in doubts(document):
        say(f"note: {doubt}")
    chunks = list(cut(document))
    console().print(coloured(document, chunks), soft_wrap=True)
    counts = sorted(chunk.token_count for chunk in chunks) or [0]
    middle = counts[len(counts) // 2]
    say(f"{len(chunks)} chunks by {cut!r}; tokens: least {counts[0]}, median {middle}, most {counts[-1]}")


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
        repeated = chunk.meta.get("overlap", 0)
        own = body.start + (repeated if isinstance(repeated, int) else 0)
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
    pages = f", page {', '.join(map(str, chunk.pages))}" if chunk.pages else ""
    under = one_line(" > ".join(chunk.headings))
    return f"[{index}] {chunk.token_count} tokens, {chunk.start}-{chunk.end}{pages}  {under}".rstrip()
