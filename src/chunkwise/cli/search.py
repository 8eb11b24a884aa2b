"""`chunkwise search`: ask an index."""

from __future__ import annotations

from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkwise.cli.index import IndexOption
from chunkwise.cli.terminal import JsonOption, chunk_fields, console, fail, one_line, say, wants_json, write_json
from chunkwise.text.unicode import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkwise.core.types import Chunk, Hit
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
    mode: Annotated[
        SearchMode | None, typer.Option("--mode", help="By words, by meaning, or both, which is the default.")
    ] = None,
    retrieve: Annotated[
        str | None,
        typer.Option(
            "--retrieve", "-R", help="How to find, e.g. 'hybrid(alpha=0.4) | fold() | edges()'.", metavar="RECIPE"
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", help="Only what carries this metadata; one key given twice: either.", metavar="KEY=VALUE"
        ),
    ] = None,
    document: Annotated[
        list[str] | None,
        typer.Option("--document", help="Only documents of such an id, e.g. 'reports/*.md'.", metavar="GLOB"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find the chunks that answer a question."""
    from chunkwise.core.errors import StoreError
    from chunkwise.pipeline import Index
    from chunkwise.retrieve.search import FAILED

    opened = Index(index)
    if not len(opened):
        raise StoreError(f"no index at {index}, or an empty one; run: chunkwise index PATH --index {index}")
    carried = _filter(opened, where or [], document or [])

    def ask(k: int, tokens: int | None) -> list[Hit]:
        how: Mode | None = mode.value if mode is not None else None
        return opened.search(question, k=k, tokens=tokens, mode=how, retrieval=retrieve, where=carried)

    hits = ask(k, tokens)
    if wants_json(json):
        write_json([hit_fields(hit) for hit in hits])
    else:
        print_hits(hits)
    for reason in dict.fromkeys(str(hit.chunk.meta[FAILED]) for hit in hits if FAILED in hit.chunk.meta):
        say(f"note: the order is that before the rerank, which failed: {reason}")
    if not hits:
        best = ask(1, None) if tokens is not None else []
        say(_why_nothing(best, tokens, lexical=mode == "lexical", filtered=bool(carried)))


def _why_nothing(best: Sequence[Hit], tokens: int | None, *, lexical: bool, filtered: bool) -> str:
    """Say why there is no hit, if that can be told; `best` is the best one without regard to the budget."""
    if best:
        return f"nothing found within {tokens} tokens: the best hit has {best[0].chunk.token_count}; raise --tokens"
    other = (", or --mode hybrid" if lexical else "") + (", or leave out --where and --document" if filtered else "")
    return f"nothing found; try other words{other}"


def _filter(index: Index, where: Sequence[str], documents: Sequence[str]) -> dict[str, list[str]]:
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


def hit_fields(hit: Hit) -> dict[str, Any]:
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
