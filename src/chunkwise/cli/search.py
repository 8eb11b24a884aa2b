"""`chunkwise search`: ask an index."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkwise.cli.index import IndexOption
from chunkwise.cli.terminal import JsonOption, chunk_fields, console, one_line, say, wants_json, write_json
from chunkwise.text.unicode import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkwise.core.types import Hit
    from chunkwise.pipeline import Index, Mode


class SearchMode(StrEnum):
    """How to search."""

    hybrid = "hybrid"
    vector = "vector"
    lexical = "lexical"


def search(
    question: Annotated[str, typer.Argument(help="What you want to know.", metavar="QUESTION")],
    index: IndexOption = "index",
    k: Annotated[int, typer.Option("-k", help="How many hits.", min=1, max=10_000)] = 5,
    tokens: Annotated[
        int | None, typer.Option("--tokens", help="As many hits as fit in this many tokens, instead of -k.", min=1)
    ] = None,
    mode: Annotated[SearchMode, typer.Option("--mode", help="By words, by meaning, or both.")] = SearchMode.hybrid,
    json: JsonOption = False,
) -> None:
    """Find the chunks that answer a question."""
    from chunkwise.core.errors import StoreError
    from chunkwise.pipeline import Index

    opened = Index(index)
    if not len(opened):
        raise StoreError(f"no index at {index}, or an empty one; run: chunkwise index PATH --index {index}")
    hits = opened.search(question, k=k, tokens=tokens, mode=mode.value)
    if wants_json(json):
        write_json([hit_fields(hit) for hit in hits])
    else:
        print_hits(hits)
    if not hits:
        say(_why_nothing(opened, question, tokens, mode.value))


def _why_nothing(index: Index, question: str, tokens: int | None, mode: Mode) -> str:
    """Say why there is no hit, if that can be told."""
    best = index.search(question, k=1, mode=mode) if tokens is not None else []
    if best:
        return f"nothing found within {tokens} tokens: the best hit has {best[0].chunk.token_count}; raise --tokens"
    return "nothing found; try other words" + (", or --mode hybrid" if mode == "lexical" else "")


def hit_fields(hit: Hit) -> dict[str, Any]:
    """Return what is written of a hit."""
    fields = chunk_fields(hit.chunk, 0)
    del fields["index"]
    return {"rank": hit.rank, "score": round(hit.score, 6), "via": list(hit.via), **fields}


def print_hits(hits: Sequence[Hit]) -> None:
    """Print hits for a person: where each stands, under which headings, and its text."""
    from rich.padding import Padding
    from rich.text import Text

    screen = console()
    for hit in hits:
        chunk = hit.chunk
        spans = "+".join(f"{start}-{end}" for start, end in chunk.spans)
        place = f"{one_line(chunk.document_id)}:{spans}" + (f", {one_line(chunk.place)}" if chunk.place else "")
        place += f", {derived}" if isinstance(derived := chunk.meta.get("derived"), str) else ""
        under = one_line(" > ".join(chunk.headings))
        head = Text.assemble(
            (f"{hit.rank}. ", "bold"),
            (place, "bold cyan"),
            (f"  {hit.score:.3f} {'+'.join(hit.via)}, {chunk.token_count} tokens", "dim"),
        )
        screen.print(head)
        if under:
            screen.print(Text(f"   {under}", "green"))
        screen.print(Padding(Text(printable(chunk.text)), (0, 0, 1, 3)))
