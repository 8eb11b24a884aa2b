"""What commands that ask an index have in common: the question, what hits must carry, and how they are shown."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkwise.cli.terminal import chunk_fields, console, fail, one_line, say, wants_json, write_json
from chunkwise.text.unicode import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkwise.core.types import Chunk, Hit
    from chunkwise.pipeline import Index

Question = Annotated[str, typer.Argument(help="What you want to know.", metavar="QUESTION")]
WhereOption = Annotated[
    list[str] | None,
    typer.Option("--where", help="Only what carries this metadata; one key given twice: either.", metavar="KEY=VALUE"),
]
DocumentOption = Annotated[
    list[str] | None,
    typer.Option("--document", help="Only documents of such an id, e.g. 'reports/*.md'.", metavar="GLOB"),
]


def open_index(folder: str) -> Index:
    """Open an index that holds something.

    Raises: StoreError.
    """
    from chunkwise.core.errors import StoreError
    from chunkwise.pipeline import Index

    opened = Index(folder)
    if not len(opened):
        raise StoreError(f"no index at {folder}, or an empty one; run: chunkwise index PATH --index {folder}")
    return opened


def write_hits(hits: Sequence[Hit], *, json: bool) -> None:
    """Write hits as JSON lines, or for a person."""
    if wants_json(json):
        write_json([_hit_fields(hit) for hit in hits])
    else:
        print_hits(hits)


def write_evidence(hits: Sequence[Hit], *, json: bool, tokens: int, filtered: bool) -> None:
    """Write evidence that was assembled, or say why there is none."""
    write_hits(hits, json=json)
    if not hits:
        other = "nothing that is found carries what --where and --document ask for, or " if filtered else ""
        say(f"{other}no sentence fits in {tokens} tokens; raise --tokens{' or ask for less' if filtered else ''}")


def carrying(index: Index, where: Sequence[str], documents: Sequence[str]) -> dict[str, list[str]]:
    """Return the metadata that hits must carry; a pattern of documents as the ids that it matches."""
    found: dict[str, list[str]] = {}
    for condition in where:
        key, equals, value = condition.partition("=")
        if not key or not equals:
            fail(f"--where {condition}: give KEY=VALUE, such as language=en")
        found.setdefault(key, []).append(value)
    if documents:
        matching = [id for id in index.documents() if any(fnmatchcase(id, pattern) for pattern in documents)]
        if not matching:
            fail(f"--document {' '.join(documents)}: the index holds no such document")
        known = found.get("document_id", matching)
        found["document_id"] = [id for id in matching if id in known]
    return found


def _hit_fields(hit: Hit) -> dict[str, Any]:
    """Return what is written of a hit."""
    fields = chunk_fields(hit.chunk, 0)
    del fields["index"]
    told = {"rank": hit.rank, "score": round(hit.score, 6), "via": list(hit.via)}
    return {**told, **fields, "folded": [_alike(chunk) for chunk in hit.folded]}


def _alike(chunk: Chunk) -> dict[str, Any]:
    """Return what is written of a chunk that a hit stands for: where it is."""
    return {"id": chunk.id, "document_id": chunk.document_id, "start": chunk.start, "end": chunk.end}


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
        if hit.folded:
            also = ", ".join(f"{one_line(one.document_id)}:{one.start}-{one.end}" for one in hit.folded)
            screen.print(Text(f"   nearly the same: {also}", "dim"))
        screen.print(Padding(Text(printable(chunk.text)), (0, 0, 1, 3)))
