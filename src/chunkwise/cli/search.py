"""`chunkwise search`: ask an index."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from chunkwise.cli.hits import DocumentOption, Question, WhereOption, carrying, open_index, write_evidence, write_hits
from chunkwise.cli.index import IndexOption
from chunkwise.cli.terminal import JsonOption, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkwise.core.types import Hit
    from chunkwise.pipeline import Mode


# How many hits, where neither an option nor a config says.
_K = 5


class SearchMode(StrEnum):
    """How to search."""

    hybrid = "hybrid"
    vector = "vector"
    lexical = "lexical"


def search(
    question: Question,
    index: IndexOption = "index",
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            help="How many hits; by default 5, or what the index's config says.",
            min=1,
            max=10_000,
            show_default=False,
        ),
    ] = None,
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
    where: WhereOption = None,
    document: DocumentOption = None,
    json: JsonOption = False,
) -> None:
    """Find the chunks that answer a question; of an index that goes by a config, what it says, where no option does."""
    from chunkwise.retrieve.search import FAILED

    opened = open_index(index)
    carried = carrying(opened, where or [], document or [])
    if opened.config is not None and k is None:
        config = replace(opened.config, tokens=tokens or opened.config.tokens)
        tokens = config.tokens
        if mode is None and retrieve is None:
            say(f"asked by {config.asked}, as the index was made to be")
            if config.ladder is not None:
                hits = opened.retrieve(question, tokens=tokens, where=carried)
                write_evidence(hits, json=json, tokens=tokens, filtered=bool(carried))
                return

    def ask(k: int, tokens: int | None) -> list[Hit]:
        how: Mode | None = mode.value if mode is not None else None
        return opened.search(question, k=k, tokens=tokens, mode=how, retrieval=retrieve, where=carried)

    hits = ask(k or _K, tokens)
    write_hits(hits, json=json)
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
