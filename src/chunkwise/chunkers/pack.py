"""Choose cuts under a token budget: the one engine of every strategy.

A chunk starts where the one before ended. The engine asks the ruler how far the budget reaches,
then searches backwards from there, coarse levels first, for a place that a level allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

import numpy as np

from chunkwise.chunkers.balance import plan
from chunkwise.chunkers.levels import Level, among, followed, heading_ends, in_code, last_resorts
from chunkwise.chunkers.separators import Separators
from chunkwise.core.protocols import Budget, Reserve, Ruler, no_reserve
from chunkwise.core.types import Document, Span
from chunkwise.text import graphemes
from chunkwise.text.graphemes import first_ink, last_ink

# Even chunks are planned so many ahead, and all but two of them are made of a plan that goes on.
_AHEAD = 8
# How many marks a chunk's sizes are looked up at; between them they are interpolated.
_MARKS = 32
# In characters: how far back at once all places are looked for. A level may look through all that it is given.
_STRIDE = 256
# In tokens: how much less than room an even chunk is planned with, so that what is looked up holds when it is
# counted (the seams of one chunk were seen to add four at most); and how far a look-up is never trusted.
_SLACK, _ERROR = 4, 8


_Find: TypeAlias = Callable[[int, int, int], int | None]
"""`find(start, limit, end)` returns the best place up to `limit` to end the chunk that starts at `start`."""


def _nowhere(_position: int) -> bool:
    return False


def _anywhere(_position: int) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Packer:
    """How to cut one text.

    `room` is the most tokens of a chunk, special tokens left out. `reserve(start)` of them stay free,
    unless that would cut a unit that fits without.
    `whole` are levels whose units are cut only if one alone is over the limit, coarse to fine.
    `reluctant` are places that part what belongs together, used before a unit is cut.
    `last_resorts` cut a unit that alone is over the limit; below them stands the grapheme.
    `fill` is how full a chunk must be for a coarser boundary to be preferred to a finer one.
    `min_size` is the fewest tokens that the last chunk of a range should have.
    `balance` makes chunks about even, at the places that part least, instead of filling one after the other.
    `keeps_indent(position)` tells where white space at a line's start is part of the text.
    `separators` are in no chunk where one of them would begin or end it.
    `is_followed(position)` tells whether a cut leaves no heading alone: better a word is cut than that.
    """

    text: str
    ruler: Ruler
    room: int
    whole: Sequence[Level]
    reluctant: Sequence[Level] = ()
    last_resorts: Sequence[Level] = ()
    fill: float = 0.5
    min_size: int = 0
    reserve: Reserve = no_reserve
    balance: bool = False
    keeps_indent: Callable[[int], bool] = _nowhere
    separators: Separators | None = None
    is_followed: Callable[[int], bool] = _anywhere

    def each(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Cut each of the spans by itself."""
        for span in spans:
            yield from self.pack(*span)

    def pack(self, start: int, end: int) -> Iterator[Span]:
        """Yield spans that cover the non-space text of `[start, end)`, trimmed, none over the budget.

        Only a single grapheme that alone is over the budget exceeds it.
        Cost: O(log n) look-ups and about one short encoding a chunk.
        """
        end = self._trimmed(start, end)
        position = start
        while (position := self._first(position, end)) < end:
            planned = list(self._planned(position, end)) if self.balance else []
            for span in planned or [self._next(position, end)]:
                yield span
                position = span.end

    def _planned(self, start: int, end: int) -> Iterator[Span]:
        """Yield chunks of about even size, as far as that can be planned and the plan holds.

        Only so far is looked ahead that an edit further on changes nothing. Sizes are looked up, so
        every chunk is counted; one that is over the budget ends the plan, and if it is the first, there is none.
        """
        room = self.room - self.reserve(start) - _SLACK
        if room <= 0:
            return
        horizon = min(self.ruler.fit(start, _AHEAD * room), end)
        costs = self._costs(start, horizon, room / 8)  # an eighth emptier to end at a coarser place
        if horizon == end:
            costs[end] = 0
        places = sorted(costs)
        position = start
        for cut in self._chosen(start, places, [0, *(costs[place] for place in places)], room, whole=horizon == end):
            position = self._first(position, end)
            span = Span(position, self._trimmed(position, cut))
            if not span.length or self.ruler.count(*span) > self.room - self.reserve(position):
                return
            yield span
            position = span.end

    def _chosen(
        self, start: int, places: Sequence[int], costs: Sequence[float], room: int, *, whole: bool
    ) -> list[int]:
        """Return the places to cut at. `whole` tells that the text ends with the last, and is to be shared out."""
        tokens = [0, *self._sizes(start, places, room)]
        if not whole:
            return [places[i - 1] for i in plan(tokens, costs, most=room, target=room)[: _AHEAD - 2]]
        chosen: list[int] = []
        n_chunks = 0
        while n_chunks < (needed := max(1, len(chosen), ceil(tokens[-1] / room))):  # more may be needed than would do
            n_chunks = needed
            chosen = plan(tokens, costs, most=room, target=ceil(tokens[-1] / n_chunks))
        return [places[i - 1] for i in chosen]

    def _sizes(self, start: int, places: Sequence[int], room: int) -> list[int]:
        """Look up how many tokens each place is from `start`, between marks that are a few tokens apart."""
        step = max(1, room // _MARKS)
        marks = [start]
        while places and marks[-1] < places[-1] and len(marks) < 4 * _AHEAD * _MARKS:
            marks.append(max(marks[-1], self.ruler.fit(start, step * len(marks))))
        return np.interp(places, marks, np.arange(len(marks)) * step).astype(int).tolist()

    def _costs(self, start: int, end: int, step: float) -> dict[int, float]:
        """Return the places in `(start, end]` that leave units whole, with what they cost: the finer, the more."""
        costs: dict[int, float] = {}
        for i, level in enumerate(self.whole):
            hi = end
            while hi > start:
                lo = max(start, hi - _STRIDE)
                place = self._allowed(level, start, lo, hi)
                if place is not None:
                    costs.setdefault(place, i * step)
                hi = lo if place is None else place - 1
        return costs

    def _next(self, start: int, end: int) -> Span:
        """Return the chunk that starts at `start`, where the text is not white space."""
        free = max(1, self.room - self.reserve(start))
        limits = self._limits(start, end, free)
        for find in self._ways():
            span = self._whole_span(start, end, limits, budget=free, find=find)
            if span is None and free < self.room and self._starts_unit(start):
                # What a transform wishes to add gives way to a unit that fits without it.
                span = self._least_span(start, end, find)
            if span is not None:
                return span
        span = self._forced_span(start, end, free)
        if free < self.room and self._cuts_first_unit(span, end):
            span = self._forced_span(start, end, self.room)
        return span

    def _cuts_first_unit(self, span: Span, end: int) -> bool:
        """Tell whether a chunk ends within its first unit, which fits alone: an opener before a line over the limit."""
        reach = first_ink(self.text, span.end, end)
        parted = any(level(span.start, reach) is not None for level in (*self.whole, *self.reluctant))
        return not parted and self._starts_unit(span.start) and self._unit_fits(span.start, end)

    def _ways(self) -> tuple[_Find, ...]:
        if not self.whole:
            return ()
        return (self._whole_cut, self._reluctant_cut) if self.reluctant else (self._whole_cut,)

    def _least_span(self, start: int, end: int, find: _Find) -> Span | None:
        """Return the shortest chunk within the room that ends where `find` allows."""
        limits = self._limits(start, end, self.room)
        least, span = None, self._whole_span(start, end, limits, budget=self.room, find=find)
        while span is not None:
            least = span
            span = self._whole_up_to(span.end - 1, start, end, budget=self.room, reach=_beyond(self.room), find=find)
        return least

    def _limits(self, start: int, end: int, budget: int) -> tuple[int, int]:
        """Look up where a chunk ends at the latest; and where surely, for a look-up may fall short of what fits."""
        return min(self.ruler.fit(start, budget), end), min(self.ruler.fit(start, _beyond(budget)), end)

    def _whole_span(self, start: int, end: int, limits: tuple[int, int], *, budget: int, find: _Find) -> Span | None:
        """Return the best chunk within the budget that ends where `find` allows, if there is one."""
        for limit, reach in zip(limits, (budget, _beyond(budget)), strict=True):
            span = self._whole_up_to(limit, start, end, budget=budget, reach=reach, find=find)
            if span is not None:
                return span
        return None

    def _whole_up_to(self, limit: int, start: int, end: int, *, budget: int, reach: int, find: _Find) -> Span | None:
        """Return the best chunk that ends at `limit` or before, within the budget, where `find` allows.

        `reach` is how many tokens were looked up to find the limit.
        """
        if limit == end and self.ruler.count(start, end) <= budget:
            return Span(start, end)
        while limit > start:
            cut = find(start, self._leave_enough(start, limit, end, budget), end) if self.min_size else None
            cut = cut or find(start, limit, end)
            span = Span(start, self._trimmed(start, cut)) if cut is not None else Span(start, start)
            if not span.length:  # no cut, or one between an indent and what it indents
                return None
            excess = self.ruler.count(*span) - budget
            if excess <= 0:
                return span
            limit = self._lower(span, excess, budget, reach=reach + _ERROR)  # lower, but past no place that may do
        return None

    def _forced_span(self, start: int, end: int, budget: int) -> Span:
        """Return a chunk that cuts the unit at `start`, which is over the budget; at least one grapheme."""
        limit = min(self.ruler.fit(start, budget), end)
        while True:
            cut = self._forced_cut(start, limit, end)
            span = Span(start, self._trimmed(start, cut))
            if span.end <= start:
                return Span(start, graphemes.ceiling(self.text, first_ink(self.text, start, end)))
            excess = self.ruler.count(*span) - budget
            if excess <= 0:
                return span
            limit = self._lower(span, excess, budget, reach=budget)

    def _lower(self, span: Span, excess: int, budget: int, *, reach: int) -> int:
        """Return a lower limit for a span that is over the budget: tokens are neither additive nor monotone."""
        limit = min(span.end - 1, self.ruler.fit(span.start, max(1, reach - excess)))
        if excess > reach:  # a look-up that is so far off is no help; go by length
            limit = min(limit, span.start + 3 * span.length * budget // (2 * (budget + excess)))
        return limit

    def _starts_unit(self, start: int) -> bool:
        """Tell whether a unit starts here, or in the white space right before; the text's first one ends none."""
        before = last_ink(self.text, max(0, start - _STRIDE), start)
        ends = any(level(before - 1, start) is not None for level in (*self.whole, *self.reluctant))
        return ends or first_ink(self.text, 0, start) == start

    def _whole_cut(self, start: int, limit: int, end: int) -> int | None:
        """Return the best place up to `limit` that leaves every unit whole."""
        reach = first_ink(self.text, limit, end)  # white space after the limit is trimmed, so it is free
        well_filled = start + int((reach - start) * self.fill)
        for level in self.whole:
            if (cut := self._allowed(level, start, well_filled, reach)) is not None:
                return cut
        cuts = [cut for level in self.whole if (cut := self._allowed(level, start, start, well_filled)) is not None]
        return max(cuts, default=None)

    def _reluctant_cut(self, start: int, limit: int, end: int) -> int | None:
        """Return a place that parts what belongs together, if that spares the unit after it."""
        reach = first_ink(self.text, limit, end)
        parts = (self._allowed(level, start, start, reach) for level in self.reluctant)
        return next((cut for cut in parts if cut is not None and self._unit_fits(cut, end)), None)

    def _unit_fits(self, start: int, end: int) -> bool:
        """Tell whether the unit at `start` fits a chunk of its own; parting it from what it belongs to spares it."""
        start = first_ink(self.text, start, end)
        reach = first_ink(self.text, self.ruler.fit(start, _beyond(self.room)), end)
        levels = (*self.whole, *self.reluctant)
        while reach > start:
            found = [level(start, reach) for level in levels] if reach < end else [end]
            place = max((place for place in found if place is not None), default=None)
            if place is None:
                return False
            if self.ruler.count(start, self._trimmed(start, place)) <= self.room:
                return True
            reach = place - 1
        return False

    def _forced_cut(self, start: int, limit: int, end: int) -> int:
        """Return where to cut a unit that alone is over the limit; `start` if not even a grapheme fits."""
        reach = first_ink(self.text, limit, end)
        for lowest in (start + (reach - start) // 2, start):
            for level in self.last_resorts:
                cut = self._allowed(level, start, lowest, reach)
                if cut is not None and (lowest > start or self.is_followed(cut)):
                    return cut
        return graphemes.floor(self.text, limit, start)

    def _allowed(self, level: Level, start: int, lo: int, hi: int) -> int | None:
        """Return the level's last cut in `(lo, hi]` that leaves a grapheme whole."""
        while (cut := level(lo, hi)) is not None:
            if self._is_edge(cut, start):
                return cut
            hi = cut - 1
        return None

    def _is_edge(self, position: int, lowest: int) -> bool:
        """Tell whether no grapheme is cut at a position; `lowest` is an edge before it."""
        return graphemes.floor(self.text, position, lowest) == position

    def _leave_enough(self, start: int, limit: int, end: int, budget: int) -> int:
        """Lower the limit where less than `min_size` would be left for the last chunk."""
        if self.ruler.fit(limit, self.min_size) < end:
            return limit
        half = (self.ruler.count(start, end) + 1) // 2
        return min(limit, self.ruler.fit(start, min(half, budget)))

    def _first(self, start: int, end: int) -> int:
        """Return where the next chunk starts: at the first ink, or at the indent before it."""
        ink = self._after_separators(start, end) if self.separators is not None else first_ink(self.text, start, end)
        if ink == end or not self.keeps_indent(ink):
            return ink
        blank = self.text[start:ink]
        line = start + max(blank.rfind("\n"), blank.rfind("\r")) + 1
        if line == ink:
            return ink
        # An indent so deep that nothing fits beside it is given up.
        needed = self.ruler.count(line, graphemes.ceiling(self.text, ink))
        return line if needed <= self.room - self.reserve(line) else ink

    def _after_separators(self, start: int, end: int) -> int:
        """Return the first ink that belongs to no separator, which may begin in the white space before it."""
        ink = first_ink(self.text, start, end)
        while self.separators is not None and ink < end:
            ends = (self.separators.after(place) for place in range(start, ink + 1))
            start = next((after for after in ends if after > ink and self._is_edge(after, ink)), end + 1)
            if start > end:
                break
            ink = first_ink(self.text, start, end)
        return ink

    def _trimmed(self, start: int, cut: int) -> int:
        """Return the end of the text from `start` to `cut`, without the white space at its end."""
        end = last_ink(self.text, start, cut)
        while self.separators is not None:
            starts = (self.separators.before(place) for place in range(end, cut + 1))
            before = next((place for place in starts if start < place < end and self._is_edge(place, start)), start)
            shorter = last_ink(self.text, start, before)
            if shorter == start:  # no separator, or nothing but separators, the first of them not whole
                break
            end, cut = shorter, before
        return end


def packer(
    document: Document,
    budget: Budget,
    *,
    ruler: Ruler,
    whole: Sequence[Level],
    reserve: Reserve,
    reluctant: Sequence[Level] | None = None,
    fill: float = 0.5,
    min_size: int = 0,
    balance: bool = False,
    separators: Separators | None = None,
) -> Packer:
    """Return the engine for a document, with what is the same for all strategies that leave units whole.

    Left out, `reluctant` are the places between headings and what is under them.
    """
    parting = [level for ends in heading_ends(document) for level in among(ends)] if reluctant is None else reluctant
    return Packer(
        document.text,
        ruler,
        budget.room,
        whole=whole,
        reluctant=parting,
        last_resorts=last_resorts(document.text),
        is_followed=followed(document),
        fill=fill,
        min_size=min_size,
        reserve=reserve,
        balance=balance,
        keeps_indent=in_code(document),
        separators=separators,
    )


def fits(text: str, ruler: Ruler, room: int) -> Callable[[Span], bool]:
    """Return a function that tells whether a span fits, white space at its end left out.

    It is counted only where a look-up leaves a doubt.
    """
    doubt = _ERROR + room // 8

    def fit(span: Span) -> bool:
        end = last_ink(text, *span)
        if end <= ruler.fit(span.start, room - doubt):
            return True
        return end <= ruler.fit(span.start, room + doubt) and ruler.count(span.start, end) <= room

    return fit


def _beyond(budget: int) -> int:
    """Return so many tokens that a look-up of them reaches whatever fits the budget."""
    return budget + _ERROR + budget // 8
