"""Say why a question missed its evidence: because of the cut, the ranking, or the budget.

Evidence that was not found whole is tried as a chunk of its own among all others (see counterfactual): by itself, then
with the sentences around it, as another cut might have left it.

- over budget: it costs more than the budget; or what ranks high enough, the chunk that holds it or itself, is larger
  than what is left there, where a chunk of usual size, the median of the index, would have fitted.
- outranked: however it is cut, it ranks too low. The ranking does not find it.
- diluted: cut otherwise it is found; a chunk holds it whole, together with other text, and ranks too low.
- fragmented: cut otherwise it is found, and no chunk holds it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.retrievals import Retrieval, Scope
from chunkwise.core.spans import pieces, union
from chunkwise.core.types import Chunk, Document, Evidence, Hit, Query, Span
from chunkwise.evaluate.counterfactual import WIDTHS, Embed, Indexed, Unit, holds, stretches
from chunkwise.evaluate.misses import Blame, Cause, Miss
from chunkwise.retrieve.search import candidates, n_tokens, spend, within
from chunkwise.text.graphemes import inked


@dataclass(frozen=True, slots=True)
class Search:
    """How hits are found: by a retrieval, as many as `tokens` pay for at the `cost` of each, or `k` of them."""

    retrieval: Retrieval
    tokens: int | None = None
    k: int | None = None
    cost: Callable[[Chunk], int] = n_tokens

    def __post_init__(self) -> None:
        if (self.tokens is None) == (self.k is None):
            raise ChunkwiseError("give one of tokens and k: what bounds the hits, such as tokens=800")
        if (self.tokens if self.tokens is not None else self.k or 0) < 1:
            raise ChunkwiseError(f"{self.budget} must be at least 1; try tokens=800")

    @property
    def budget(self) -> str:
        """What bounds the hits, for a person."""
        return f"{self.tokens} tokens" if self.tokens is not None else f"{self.k} hits"

    def __call__(self, query: str, scope: Scope) -> tuple[list[Hit], list[Hit]]:
        """Return the hits that are given, and the candidates that they were chosen from, by rank."""
        ranked = candidates(self.retrieval, query, scope=scope, tokens=self.tokens or 0, k=self.k or 0)
        if self.tokens is None:
            return self.retrieval.over(scope)(query, self.k or 1), ranked
        if any(step.widens for step in self.retrieval.steps):
            return spend(self.retrieval, query, scope=scope, tokens=self.tokens, cost=self.cost), ranked
        return within(ranked, self.tokens, self.cost), ranked


def blame(
    queries: Sequence[Query],
    documents: Mapping[str, Document],
    *,
    search: Search,
    scope: Scope,
    embed: Embed,
    widths: Sequence[int] = WIDTHS,
) -> Blame:
    """Search for every question, and say of all evidence that was not found whole why.

    `documents` are those of the index, by their ids. A slot of evidence is found if one of its alternatives is; if
    none is, the one is told that is nearest to being found. Without `widths` evidence is tried by itself only.
    Cost: for evidence that is missed, up to four more searches and embeddings; the index is read once.
    Raises: ChunkwiseError for evidence that is in no document, EncodeError, StoreError.
    """
    indexed = Indexed(scope.store, scope.where, search.cost)
    missed: list[tuple[int, Missed, list[Hit]]] = []
    for number, query in enumerate(queries):
        hits, ranked = search(query.text, scope)
        missed += [(number, one, ranked) for one in missing(query, hits, documents)]
    count = indexed.counter(scope.encoder).count

    def tries(one: Evidence) -> list[Evidence]:
        spans = stretches(documents[one.document_id].text, one.span, widths=widths, count=count)
        return [replace(one, span=span) for span in spans]

    tried = [tries(one.evidence) for _, one, _ in missed]
    units = iter(indexed.units([one for some in tried for one in some], documents, scope.encoder, embed))
    judged: dict[tuple[int, int], Miss] = {}
    for (number, one, ranked), some in zip(missed, tried, strict=True):
        trial = _Trial(queries[number], one, [next(units) for _ in some], ranked, indexed, search)
        miss, key = trial.miss(scope, documents), (number, one.slot)
        if key not in judged or nearness(miss) > nearness(judged[key]):
            judged[key] = miss
    recipe = str(scope.store.info.get("recipe", ""))
    return Blame(recipe, repr(search.retrieval), search.budget, len(queries), tuple(judged.values()))


class Missed(NamedTuple):
    """An alternative of a slot of evidence of which none was found whole, and the share that the slot has lost."""

    slot: int
    evidence: Evidence
    lost: float


def missing(query: Query, hits: Sequence[Hit], documents: Mapping[str, Document]) -> Iterator[Missed]:
    """Yield the evidence that hits do not hold whole, blank text at its ends aside.

    Raises: ChunkwiseError for a question without evidence, or evidence that is in no document.
    """
    found = covered(hits, documents)
    slots = [[_trimmed(one, query, documents) for one in slot] for slot in query.evidence]
    if not slots or not all(slots):
        raise ChunkwiseError(f"question {query.id!r} has no evidence, so nothing can be missed; leave it out")
    lengths = [max(one.span.length for one in slot) for slot in slots]
    for number, slot in enumerate(slots):
        shares = [_share(one.span, found.get(one.document_id, [])) for one in slot]
        if max(shares) < 1:
            lost = (1 - max(shares)) * lengths[number] / sum(lengths)
            yield from (Missed(number, one, lost) for one in slot)


def covered(hits: Sequence[Hit], documents: Mapping[str, Document]) -> dict[str, list[Span]]:
    """Return what hits cover of each document, with the blank text between two spans, which no chunk has."""
    spans: dict[str, list[Span]] = {}
    for hit in hits:
        spans.setdefault(hit.chunk.document_id, []).extend(hit.chunk.spans)
    return {id: _closed(own, documents[id].text) for id, own in spans.items() if id in documents}


def nearness(miss: Miss) -> tuple[bool, int]:
    """Return how near evidence is to being found: whether another cut finds it, and how high it ranks by itself."""
    return miss.cut is not None, -(miss.rank_alone if miss.rank_alone is not None else 1 << 30)


class _Found(NamedTuple):
    """A chunk in a ranking: where it stands, if it is there at all, and whether it is given for its rank."""

    hit: Hit | None
    ranked: Sequence[Hit]
    is_given: bool = False


class _Trial(NamedTuple):
    """Evidence that was missed, the units to try it as, the first one by itself, and what is needed to try them."""

    query: Query
    missed: Missed
    units: Sequence[Unit]
    ranked: Sequence[Hit]
    indexed: Indexed
    search: Search

    def miss(self, scope: Scope, documents: Mapping[str, Document]) -> Miss:
        """Search with each unit among the chunks, until one of them is found."""
        evidence = self.missed.evidence
        holding = {chunk.id for chunk in self.indexed.holding(evidence)}
        holder = _Found(next((hit for hit in self.ranked if hit.chunk.id in holding), None), self.ranked)
        alone = self._tried(self.units[0], scope, documents)
        given = (unit for unit in self.units[1:] if self._tried(unit, scope, documents).is_given)
        cut = self.units[0] if alone.is_given else next(given, None)
        return Miss(
            query_id=self.query.id,
            evidence=evidence,
            cause=self._cause(holder, alone, whole=bool(holding), found=cut is not None),
            lost=self.missed.lost,
            n_holding=len(holding),
            rank=holder.hit.rank if holder.hit else None,
            rank_alone=alone.hit.rank if alone.hit else None,
            tokens=self.search.cost(self.units[0].chunk),
            cut=cut.chunk.body if cut else None,
        )

    def _tried(self, unit: Unit, scope: Scope, documents: Mapping[str, Document]) -> _Found:
        evidence = self.missed.evidence
        given, ranked = self.search(self.query.text, replace(scope, store=self.indexed.with_unit(unit)))
        hit = next((hit for hit in ranked if hit.chunk.id == unit.chunk.id), None)
        whole = holds(covered(given, documents).get(evidence.document_id, ()), evidence.span)
        return _Found(hit, ranked, whole and hit is not None and self._is_reached(hit, ranked))

    def _cause(self, holder: _Found, alone: _Found, *, whole: bool, found: bool) -> Cause:
        tokens = self.search.tokens
        if tokens is not None and (
            self.search.cost(self.units[0].chunk) > tokens
            or self._is_too_large(holder.hit, holder.ranked, tokens)
            or self._is_too_large(alone.hit, alone.ranked, tokens)
        ):
            return "over budget"
        if not found:
            return "outranked"
        return "diluted" if whole else "fragmented"

    def _is_too_large(self, hit: Hit | None, ranked: Sequence[Hit], tokens: int) -> bool:
        """Tell whether a hit does not fit what those above it leave, while a chunk of usual size would."""
        if hit is None:
            return False
        cost = self.search.cost
        left = tokens - sum(cost(other.chunk) for other in within(ranked[: hit.rank - 1], tokens, cost))
        return self.indexed.usual_cost <= left < cost(hit.chunk)

    def _is_reached(self, hit: Hit, ranked: Sequence[Hit]) -> bool:
        """Tell whether a hit is given for its rank: no chunk of usual size or less was passed over above it.

        What is left of a budget is filled up with whatever is small enough, of any rank.
        """
        if self.search.tokens is None:
            return True
        above = ranked[: hit.rank - 1]
        taken = {other.rank for other in within(above, self.search.tokens, self.search.cost)}
        return all(other.rank in taken or self.search.cost(other.chunk) > self.indexed.usual_cost for other in above)


def _trimmed(evidence: Evidence, query: Query, documents: Mapping[str, Document]) -> Evidence:
    text = documents[evidence.document_id].text if evidence.document_id in documents else ""
    span = inked(text, evidence.span)
    if not span.length or evidence.span.end > len(text):
        raise ChunkwiseError(
            f"question {query.id!r}: the evidence {tuple(evidence.span)} is no text of {evidence.document_id!r}; "
            "index that document, or mend the question"
        )
    return Evidence(evidence.document_id, span)


def _closed(spans: Sequence[Span], text: str) -> list[Span]:
    closed: list[Span] = []
    for span in union(spans):
        if closed and not text[closed[-1].end : span.start].strip():
            closed[-1] = Span(closed[-1].start, span.end)
        else:
            closed.append(span)
    return closed


def _share(span: Span, found: Sequence[Span]) -> float:
    return sum(piece.length for piece in pieces(found, span)) / span.length
