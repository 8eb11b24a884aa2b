"""Order hits anew by a model that reads the question and each text together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Annotated

from chunkwise.core.errors import RecipeError, RerankError
from chunkwise.core.protocols import Reranker, Retriever
from chunkwise.core.recipes import Range
from chunkwise.core.retrievals import Scope, step
from chunkwise.core.types import Hit
from chunkwise.retrieve.search import FAILED, ranked

# How many scores an error quotes.
_SHOWN = 5


@step
@dataclass(frozen=True, slots=True)
class Rerank:
    """Order the best `depth` hits by a reranker; what is asked for beyond them follows in the order before.

    The model is a folder with a cross-encoder, "sentence-transformers:PATH", "llm:https://HOST/v1#MODEL", or one of
    your own: see `custom_reranker`. It reads a chunk with its context. Where it has no judgement, the order stays, and
    `meta["rerank_failed"]` of the chunks says why. Cost: the model reads `depth` texts for every question.
    """

    model: Reranker | None = None
    depth: Annotated[int, Range(10, 100, log=True, least=1)] = 50

    def __post_init__(self) -> None:
        if self.model is None:
            raise RecipeError("rerank: there is no default model; try model='FOLDER' with a cross-encoder in it")

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]:
        hits = inner(query, max(k, self.depth))
        judged, rest = hits[: self.depth], hits[self.depth :]
        if not judged or self.model is None:
            return hits[:k]
        try:
            scores = self.model(query, [hit.chunk.embed_text for hit in judged])
        except RerankError as err:  # it is told, and a search is not lost for it
            return ranked([*(_failed(hit, str(err)) for hit in judged), *rest][:k])
        if len(scores) != len(judged) or not all(map(isfinite, scores)):
            shown = ", ".join(f"{score:g}" for score in scores[:_SHOWN]) or "nothing"
            raise RerankError(f"{self.model.name} gave {shown} for {len(judged)} texts; it must give a number for each")
        order = sorted(range(len(judged)), key=lambda i: -scores[i])
        best = [replace(judged[i], score=float(scores[i]), via=(*judged[i].via, "rerank")) for i in order]
        return ranked([*best, *_below(best[-1].score, rest)][:k])


def _below(score: float, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with their scores moved so that the first has this one: rerankers have scales of their own."""
    return [replace(hit, score=score - (hits[0].score - hit.score)) for hit in hits]


def _failed(hit: Hit, reason: str) -> Hit:
    return replace(hit, chunk=replace(hit.chunk, meta={**hit.chunk.meta, FAILED: reason}))
