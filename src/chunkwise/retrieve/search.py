"""Search by meaning, by words, or by both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import RecipeError, StoreError
from chunkwise.core.protocols import Encoder, Filter, Retriever, Scored, Store
from chunkwise.core.recipes import Range
from chunkwise.core.retrievals import Retrieval, Scope, finder, followed
from chunkwise.core.spans import contains
from chunkwise.core.types import Chunk, Hit
from chunkwise.stores.rows import n_levels
from chunkwise.text.tokens import tokenizer as find_tokenizer

Fusion: TypeAlias = Literal["convex", "rrf"]
Floats: TypeAlias = NDArray[np.float64]

# The share of the dense score. Source: 472 questions of Chroma's set and 1,380 of COVID-QA, MiniLM:
# 0.3 to 0.5 are level, and both reciprocal rank fusion (k=60) and either leg alone are behind.
ALPHA = 0.4

# How many candidates each leg gives to the fusion: enough that the worst of them scores near the floor.
_DEPTH = 200

# Source: Cormack et al. 2009, doi:10.1145/1571941.1572114; 60 as in the paper.
_RRF = 60

# The legs that a candidate came by: of the first, of the second, of both.
_VIA = ((), ("vector",), ("lexical",), ("vector", "lexical"))

# How many hits are ranked at least when a token budget, not a number, bounds the answer; and how few
# tokens a hit is taken to have, so that a large budget can be filled.
_RANKED, _FEWEST_TOKENS = 200, 20

# Under which key of a chunk's meta a step says that it has failed, and why.
FAILED = "rerank_failed"

# After so many hits in a row that no longer fit, none is looked for that does.
_MISSES = 10


@finder
@dataclass(frozen=True, slots=True)
class Vector:
    """Find the chunks whose vectors have the highest cosine with the question's."""

    def __call__(self, query: str, k: int, *, scope: Scope) -> list[Hit]:
        vector = scope.encoder([query], role="query")[0]
        return _hits(scope.store.nearest(vector, k, scope.where), "vector")


@finder
@dataclass(frozen=True, slots=True)
class Lexical:
    """Find the chunks that share the question's rarer words, by BM25."""

    def __call__(self, query: str, k: int, *, scope: Scope) -> list[Hit]:
        return _hits(scope.store.matching(query, k, scope.where), "lexical")


@finder
@dataclass(frozen=True, slots=True)
class Hybrid:
    """Find chunks by both, and add the scores, each scaled to 0..1 over its candidates; or the reciprocal ranks.

    The convex score is `alpha` times the dense one plus `1 - alpha` times the lexical one. With `fusion="rrf"` ranks
    count and scores do not, and there is no `alpha`.
    """

    alpha: Annotated[float, Range(0, 1, least=0, most=1)] = ALPHA
    fusion: Fusion = "convex"

    def __post_init__(self) -> None:
        if self.fusion == "rrf" and self.alpha != ALPHA:
            raise RecipeError(f"hybrid: fusion='rrf' has no use for alpha={self.alpha}; leave one of the two out")

    def __call__(self, query: str, k: int, *, scope: Scope) -> list[Hit]:
        depth = max(_DEPTH, 4 * k)
        vector = scope.encoder([query], role="query")[0]
        dense = scope.store.nearest(vector, depth, scope.where)
        lexical = scope.store.matching(query, depth, scope.where)
        found = [chunk for chunk, _ in (*dense, *lexical)]
        ids = [chunk.id for chunk in found]
        chunks = dict(zip(ids, found, strict=True))
        row_of = dict(zip(chunks, range(len(chunks)), strict=True))
        rows = np.array([row_of[id] for id in ids], np.intp)
        scores, via = np.zeros(len(chunks)), np.zeros(len(chunks), np.intp)
        for leg, own, scored, weight in (
            (1, rows[: len(dense)], dense, self.alpha),
            (2, rows[len(dense) :], lexical, 1 - self.alpha),
        ):
            scores[own] += self._worth([score for _, score in scored], weight)
            via[own] += leg
        return _highest(list(chunks.values()), scores.tolist(), via.tolist(), k)

    def _worth(self, scores: Sequence[float], weight: float) -> Floats:
        """Return what the candidates of a leg, best first, have of their scores."""
        if self.fusion == "rrf":
            return 1 / np.arange(_RRF + 1, _RRF + 1 + len(scores))
        return weight * scaled(scores)


def _highest(chunks: Sequence[Chunk], scores: Sequence[float], via: Sequence[int], k: int) -> list[Hit]:
    """Return the `k` chunks of the highest scores; of equals, the first in document order."""
    best = list(range(len(chunks)))
    if len(chunks) > k:  # to sort the best alone is cheaper
        least = sorted(scores)[-k]
        best = [row for row in best if scores[row] >= least]
    best.sort(key=lambda row: (-scores[row], chunks[row].document_id, chunks[row].body))
    return [Hit(chunks[row], scores[row], rank, _VIA[via[row]]) for rank, row in enumerate(best[:k], 1)]


def n_tokens(chunk: Chunk) -> int:
    """Return what a chunk costs, as its recipe counts."""
    return chunk.token_count


def within(hits: Iterable[Hit], tokens: int, cost: Callable[[Chunk], int] = n_tokens) -> list[Hit]:
    """Keep the best hits that together cost at most `tokens` tokens; one that no longer fits is passed over."""
    kept: list[Hit] = []
    for hit in hits:
        if (own := cost(hit.chunk)) <= tokens:
            tokens -= own
            kept.append(hit)
    return ranked(kept)


def spend(
    retrieval: Retrieval, query: str, *, scope: Scope, tokens: int, cost: Callable[[Chunk], int] = n_tokens
) -> list[Hit]:
    """Return the best hits that together cost at most `tokens` tokens; one that no longer fits is passed over.

    Where steps widen hits, a hit that does not fit once it is widened, and joined with the others, is given as it was
    found, if that fits.
    """
    found = candidates(retrieval, query, scope=scope, tokens=tokens)
    widening = tuple(step for step in retrieval.steps if step.widens)
    if not widening:
        return within(found, tokens, cost)

    def widened(hits: Sequence[Hit]) -> list[Hit]:
        return followed(_given(hits), widening, scope=scope)(query, len(hits)) if hits else []

    first = _most(lambda n: _cost(widened(found[:n]), cost) <= tokens, len(found))
    taken = found[:first]  # to be widened
    wide = widened(taken)  # what they become
    plain: list[Hit] = []
    misses = 0
    for hit in found[first:]:
        trial = widened([*taken, hit])
        if _cost(_together(trial, plain), cost) <= tokens:
            taken, wide, misses = [*taken, hit], trial, 0
        elif _cost(_together(wide, [*plain, hit]), cost) <= tokens:
            plain, misses = [*plain, hit], 0
        else:
            misses += 1
        if misses == _MISSES:
            break
    return ranked(_together(wide, plain))


def scope_of(store: Store, encoder: Encoder, retrieval: Retrieval, where: Filter) -> Scope:
    """Return what a retrieval searches: of several levels, the one that a plain search ranks."""
    counter = encoder.tokenizer
    level: Filter = {"level": store.info["level"]} if n_levels(store.info) > 1 else {}
    name = store.info.get("tokenizer", counter.name)
    if name != counter.name and any(step.widens for step in retrieval.steps):  # else nothing is counted anew
        counter = find_tokenizer(name)
    return Scope(store, encoder, counter, {**level, **where})


def candidates(retrieval: Retrieval, query: str, *, scope: Scope, tokens: int = 0, k: int = 0) -> list[Hit]:
    """Return the hits, best first, that `tokens` are spent on, or `k` are taken of, before any step widens them."""
    steps = tuple(step for step in retrieval.steps if not step.widens)
    return Retrieval(retrieval.finder, steps).over(scope)(query, max(_RANKED, tokens // _FEWEST_TOKENS, k))


def ranked(hits: Iterable[Hit]) -> list[Hit]:
    """Return the hits with ranks that count from 1."""
    return [Hit(hit.chunk, hit.score, rank, hit.via, hit.folded) for rank, hit in enumerate(hits, 1)]


def scaled(scores: Sequence[float]) -> Floats:
    """Return the scores, the lowest as 0 and the highest as 1."""
    values = np.array(scores, np.float64)
    span = np.ptp(values) if len(scores) else 0.0
    return (values - values.min()) / span if span else np.ones_like(values)


def check_levels(scope: Scope, step: object) -> None:
    """Refuse an index in which no chunk has a parent: a step that needs them would silently give what it is given.

    Raises: StoreError.
    """
    info = scope.store.info
    if n_levels(info) - int(info.get("summaries", False)) == 1:
        raise StoreError(f"{step!r} needs an index of several levels; index with --recipe 'nest(800, 400, 200)'")


def _given(hits: Sequence[Hit]) -> Retriever:
    """Return a retriever that has these hits only, whatever it is asked."""
    return lambda _query, k: list(hits[:k])


def _most(fits: Callable[[int], bool], limit: int) -> int:
    """Return the largest number up to `limit` that fits, in O(log n) trials: with more hits there is no less text."""
    low, high = 0, 1
    while high <= limit and fits(high):
        low, high = high, 2 * high
    high = min(high, limit + 1)  # does not fit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _together(wide: Sequence[Hit], plain: Sequence[Hit]) -> list[Hit]:
    """Return the hits of both by their scores, without the plain ones whose text is in a wide one."""
    spans = [(hit.chunk.document_id, span) for hit in wide for span in hit.chunk.spans]
    beside = [
        hit
        for hit in plain
        if not any(id == hit.chunk.document_id and contains(span, hit.chunk.body) for id, span in spans)
    ]
    return sorted([*wide, *beside], key=lambda hit: -hit.score)


def _cost(hits: Sequence[Hit], cost: Callable[[Chunk], int] = n_tokens) -> int:
    return sum(cost(hit.chunk) for hit in hits)


def _hits(scored: Sequence[Scored], via: str) -> list[Hit]:
    return [Hit(chunk, float(score), rank, (via,)) for rank, (chunk, score) in enumerate(scored, 1)]
