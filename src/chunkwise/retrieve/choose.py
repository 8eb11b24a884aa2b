"""Choose among hits: unlike ones, one of each text, those of the best sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeAlias

import numpy as np

from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import Retriever
from chunkwise.core.recipes import Range
from chunkwise.core.retrievals import Scope, step
from chunkwise.core.spans import overlaps
from chunkwise.core.types import Chunk, Hit, Span
from chunkwise.retrieve.search import Hybrid, check_levels, ranked, scaled
from chunkwise.text.duplicates import SIMILAR, shingles

Section: TypeAlias = tuple[str, tuple[str, ...]]
"""A document, and the path or the id of a part of it."""

# How many hits of a section count for its score. Source: as a part of a chunk's score 1, 3 and 8 were level on covidqa;
# a section of one hit is likelier to be there by chance.
_POOLED = 3


@step
@dataclass(frozen=True, slots=True)
class Mmr:
    """Choose hits that are near the question and unlike those chosen before: maximal marginal relevance.

    The score is `1 - diversity` times the relevance, scaled to 0..1 over the best `depth` hits, less `diversity` times
    the highest cosine with a hit chosen before. Cost: the vectors of `depth` chunks are read.
    Source: Carbonell & Goldstein 1998, doi:10.1145/290941.291025.
    """

    diversity: Annotated[float, Range(0.1, 0.7, least=0, most=1)] = 0.3
    depth: Annotated[int, Range(20, 200, log=True, least=1)] = 50

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]:
        hits = inner(query, max(k, self.depth))
        if not hits:
            return []
        vectors = scope.store.vectors([hit.chunk.id for hit in hits])
        worth = (1 - self.diversity) * scaled([hit.score for hit in hits])
        nearest = np.zeros(len(hits))  # to any that is chosen; the first is chosen by its relevance alone
        left = np.ones(len(hits), np.bool_)
        chosen: list[Hit] = []
        while len(chosen) < min(k, len(hits)):
            scores = np.where(left, worth - self.diversity * nearest, -np.inf)
            best = int(scores.argmax())
            cosines = vectors @ vectors[best]
            nearest = np.maximum(nearest, cosines) if chosen else cosines
            chosen.append(replace(hits[best], score=float(scores[best])))
            left[best] = False
        return ranked(chosen)


@step
@dataclass(frozen=True, slots=True)
class TwoStage:
    """Choose the best sections first, then the best chunks in them.

    A section is a document's chunks under the same headings, or the whole document; among the best `depth` hits it has
    the mean score of its three best. `by="parent"` searches the level above by words and meaning for the best parents
    instead, which needs hits that have parents, as of an index by `nest(...)`; `by="summary"` the summaries of
    sections, which needs an index with them. There may be fewer hits than are asked for.
    """

    sections: Annotated[int, Range(2, 20, log=True, least=1)] = 5
    by: Literal["section", "document", "parent", "summary"] = "section"
    depth: Annotated[int, Range(50, 400, log=True, least=1)] = 200

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]:
        hits = inner(query, max(k, self.depth))
        if self.by == "summary":
            chosen = self._summarised(query, scope)
            return ranked([hit for hit in hits if _lies_in(hit.chunk, chosen)][:k])
        best = self._parents(query, hits, scope) if self.by == "parent" else self._pooled(hits)
        return ranked([hit for hit in hits if self._section(hit.chunk) in best][:k])

    def _parents(self, query: str, hits: Sequence[Hit], scope: Scope) -> set[Section]:
        check_levels(scope, self)
        levels = {hit.chunk.meta.get("level") for hit in hits}
        around = sorted(level - 1 for level in levels if isinstance(level, int) and level)
        if hits and not around:
            raise StoreError(
                f"{self!r} needs a level above the one that is searched, which is the first; search a lower one, as "
                "with --where level=1, or index with --recipe 'nest(800, 400, 200)'"
            )
        above = replace(scope, where={**scope.where, "level": around})
        return {(hit.chunk.document_id, (hit.chunk.id,)) for hit in Hybrid()(query, self.sections, scope=above)}

    def _summarised(self, query: str, scope: Scope) -> Sequence[Chunk]:
        """Return the best summaries, which say where their sections are."""
        info = scope.store.info
        if not info.get("summaries"):
            raise StoreError(
                f"{self!r} needs an index with summaries; make one with Index(summaries=True), --summaries"
            )
        coarse = replace(scope, where={**scope.where, "level": info["levels"] - 1})
        return [hit.chunk for hit in Hybrid()(query, self.sections, scope=coarse)]

    def _pooled(self, hits: Sequence[Hit]) -> set[Section]:
        scores: dict[Section, list[float]] = {}
        least = min((hit.score for hit in hits), default=0.0)
        floor = min(least, 0.0)  # else a hit that is not there would be worth more than one below 0
        for hit in hits:
            scores.setdefault(self._section(hit.chunk), []).append(hit.score - floor)  # the best come first
        mean = {section: sum(own[:_POOLED]) / _POOLED for section, own in scores.items()}
        return set(sorted(mean, key=lambda section: -mean[section])[: self.sections])

    def _section(self, chunk: Chunk) -> Section:
        parts = {"section": chunk.headings, "document": (), "parent": (chunk.parent,)}
        return chunk.document_id, parts[self.by]


def _lies_in(chunk: Chunk, chosen: Sequence[Chunk]) -> bool:
    """Tell whether a chunk has a part of one of the sections of these summaries."""
    places = (one.meta["section"] for one in chosen if one.document_id == chunk.document_id)
    return any(isinstance(place, list) and overlaps(Span(*place), chunk.body) for place in places)


@step
@dataclass(frozen=True, slots=True)
class Fold:
    """Keep the best of hits whose texts are nearly the same, and list the others in its `folded`.

    `similarity` is the share of runs of three words that two texts have in common (their Jaccard index).
    Cost: the inner retriever is asked for twice as many hits, and again for four times more while too few are left.
    """

    similarity: Annotated[float, Range(0.5, 0.95, least=0.01, most=1)] = SIMILAR

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]:
        n_asked = 2 * k
        while True:
            hits = inner(query, n_asked)
            kept = self._folded(hits)
            if len(kept) >= k or len(hits) < n_asked:
                return ranked(kept[:k])
            n_asked *= 4

    def _folded(self, hits: Sequence[Hit]) -> list[Hit]:
        kept: list[Hit] = []
        sizes: list[int] = []
        having: dict[int, list[int]] = {}  # which of the kept have a run of words
        for hit in hits:
            own: list[int] = shingles(hit.chunk.text).tolist()
            shared = Counter(i for run in own for i in having.get(run, ()))
            alike = (i for i, n in shared.items() if n >= self.similarity * (len(own) + sizes[i] - n))
            twin = min(alike, default=None)
            if twin is not None:
                kept[twin] = replace(kept[twin], folded=(*kept[twin].folded, hit.chunk, *hit.folded))
                continue
            for run in own:
                having.setdefault(run, []).append(len(kept))
            kept.append(hit)
            sizes.append(len(own))
        return kept
