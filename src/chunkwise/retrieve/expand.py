"""Widen hits: by the chunk around them, by their neighbours, or only where their edges cut something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, NamedTuple

from chunkwise.core.protocols import Retriever
from chunkwise.core.recipes import Range
from chunkwise.core.retrievals import Scope, Siblings, step
from chunkwise.core.spans import contains
from chunkwise.core.types import Chunk, Hit
from chunkwise.retrieve.join import cuts, joined
from chunkwise.retrieve.search import FAILED, check_levels, ranked


@step
@dataclass(frozen=True, slots=True)
class Parent:
    """Give the chunk of the level above in place of each hit, once, with the score of its best one.

    A hit of the highest level stays. Needs an index by `nest(...)`, or of propositions.
    """

    levels: Annotated[int, Range(1, 3, least=1)] = 1

    widens: ClassVar[bool] = True

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]:
        hits = inner(query, k)
        if not any(hit.chunk.parent for hit in hits):
            check_levels(scope, self)
        for _ in range(self.levels):
            hits = [_put(hit, _parent(hit.chunk, scope), "parent") for hit in hits]
        return ranked(_once(hits))


@step
@dataclass(frozen=True, slots=True)
class AutoMerge:
    """Give a parent in place of its children where so many of them are hits that they are at least `threshold` of all.

    At least two of them, unless it has only one. A parent that was put in place counts for its own parent in turn.
    Its score is that of its best child. Needs an index by `nest(...)`.
    """

    threshold: Annotated[float, Range(0.3, 0.8, least=0.01, most=1)] = 0.5

    widens: ClassVar[bool] = True

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]:
        hits = inner(query, k)
        check_levels(scope, self)
        while True:
            merged = self._merged(hits, scope)
            if [hit.chunk for hit in merged] == [hit.chunk for hit in hits]:
                return ranked(hits)
            hits = merged

    def _merged(self, hits: Sequence[Hit], scope: Scope) -> list[Hit]:
        """Put the parents in place that have enough children among the hits, one level up."""
        found = Counter((hit.chunk.document_id, hit.chunk.parent) for hit in hits if hit.chunk.parent)
        full = {(id, parent) for (id, parent), n in found.items() if self._is_full(n, scope.n_children(id)[parent])}
        grown = [
            _put(hit, _parent(hit.chunk, scope), "auto_merge")
            if (hit.chunk.document_id, hit.chunk.parent) in full
            else hit
            for hit in hits
        ]
        given = {hit.chunk.id for hit in grown}
        # What is deeper down in a parent that was put in place is in its text already.
        return [hit for hit in _once(grown) if not given.intersection(_above(hit.chunk, scope))]

    def _is_full(self, n_found: int, n_children: int) -> bool:
        return 0 < min(2, n_children) <= n_found and n_found >= self.threshold * n_children


@step
@dataclass(frozen=True, slots=True)
class Window:
    """Widen each hit by `n` neighbouring chunks on either side, and join hits that then overlap."""

    n: Annotated[int, Range(1, 3, least=1)] = 1

    widens: ClassVar[bool] = True

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]:
        def around(siblings: Sequence[Chunk], first: int, last: int) -> tuple[int, int]:
            return max(0, first - self.n), min(len(siblings) - 1, last + self.n)

        return _widened(inner(query, k), scope, around, "window")


@step
@dataclass(frozen=True, slots=True)
class Edges:
    """Widen a hit by a neighbour only where its edge cuts a sentence or a list, or parts a heading from its text.

    At most `n` neighbours on either side; hits that then overlap are joined.
    Source: selective expansion, arXiv:2606.16661, which holds recall with a fifth fewer chunks than always expanding.
    """

    n: Annotated[int, Range(1, 3, least=1)] = 1

    widens: ClassVar[bool] = True

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]:
        def around(siblings: Sequence[Chunk], first: int, last: int) -> tuple[int, int]:
            low, high = first, last
            while low > max(0, first - self.n) and cuts(siblings[low - 1], siblings[low]):
                low -= 1
            while high < min(len(siblings) - 1, last + self.n) and cuts(siblings[high], siblings[high + 1]):
                high += 1
            return low, high

        return _widened(inner(query, k), scope, around, "edges")


Around = Callable[[Sequence[Chunk], int, int], tuple[int, int]]
"""Return the first and the last of the siblings to give, for a hit that is those from a first to a last one."""


class _Run(NamedTuple):
    """A hit, and the siblings that it is to be: those of a document and level from a first to a last one."""

    key: tuple[str, object]
    first: int
    last: int
    hit: Hit

    def overlaps(self, other: _Run) -> bool:
        return self.key == other.key and self.first <= other.last and other.first <= self.last


def _widened(hits: Sequence[Hit], scope: Scope, around: Around, name: str) -> list[Hit]:
    """Return the hits, each as the siblings around it; those that overlap as one, in the place of the best one."""
    runs: list[_Run] = []
    alone: list[Hit] = []
    for hit in hits:
        key = (hit.chunk.document_id, hit.chunk.meta.get("level"))
        siblings = scope.siblings(*key)
        places = _places(hit.chunk, siblings)
        if not places:
            alone.append(hit)
            continue
        run = _Run(key, *around(siblings.chunks, places[0], places[-1]), hit)
        for rival in [other for other in runs if other.overlaps(run)]:
            runs.remove(rival)
            best = min(rival.hit, run.hit, key=lambda one: one.rank)
            other = run.hit if best is rival.hit else rival.hit
            run = _Run(key, min(run.first, rival.first), max(run.last, rival.last), _with(best, other))
        runs.append(run)
    grown = [
        _put(run.hit, joined(scope.siblings(*run.key).chunks[run.first : run.last + 1], scope.tokenizer), name)
        for run in runs
    ]
    return ranked(sorted([*grown, *alone], key=lambda hit: hit.rank))


def _places(chunk: Chunk, siblings: Siblings) -> list[int]:
    """Return which siblings a chunk is, or is made of; none for a derived one."""
    if chunk.is_derived:
        return []
    if (same := siblings.place.get(chunk.id)) is not None:
        return [same]
    return [i for i, other in enumerate(siblings.chunks) if any(contains(span, other.body) for span in chunk.spans)]


def _parent(chunk: Chunk, scope: Scope) -> Chunk:
    """Return the chunk around a chunk, or itself where there is none."""
    return scope.chunks(chunk.document_id).get(chunk.parent, chunk)


def _above(chunk: Chunk, scope: Scope) -> Iterator[str]:
    """Yield the ids of the chunks around a chunk, innermost first."""
    while (around := _parent(chunk, scope)) is not chunk:
        yield around.id
        chunk = around


def _put(hit: Hit, chunk: Chunk, name: str) -> Hit:
    """Return the hit with another chunk, and who has put it there."""
    same = name in hit.via or chunk.text == hit.chunk.text  # as the parent of one child has its text
    if FAILED in hit.chunk.meta:
        chunk = replace(chunk, meta={**chunk.meta, FAILED: hit.chunk.meta[FAILED]})
    return replace(hit, chunk=chunk, via=hit.via if same else (*hit.via, name))


def _with(best: Hit, other: Hit) -> Hit:
    """Return the better one of two hits that become one, with all that found or was folded into either."""
    via, folded = dict.fromkeys((*best.via, *other.via)), dict.fromkeys((*best.folded, *other.folded))
    return replace(best, via=tuple(via), folded=tuple(folded))


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, those of one chunk as one, in the place of the best one."""
    found: dict[str, Hit] = {}
    for hit in hits:
        id = hit.chunk.id
        found[id] = _with(found[id], hit) if id in found else hit
    return list(found.values())
