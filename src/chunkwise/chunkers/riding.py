"""Text that rides along: what a piece from the middle of a block needs to be read, as spans before its own.

The rows of a table ride with its header, lines of a fence with the line that opens it, methods with
the signature of their class, the rest of a turn with the speaker's name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Reserve, Ruler
from chunkwise.core.spans import Nested
from chunkwise.core.types import Chunk, Document, Meta, Span


class Rider(NamedTuple):
    """A span that rides along with every chunk that starts after it inside `scope`."""

    scope: Span
    span: Span


def header_riders(document: Document) -> Iterator[Rider]:
    """Yield the headers of tables, which ride along with rows that are cut off from them."""
    for block in outline(document).blocks("header"):
        yield Rider(document.blocks[block.parent].span, block.span)


def row_at(document: Document) -> Callable[[int], Span | None]:
    """Return a function to the row of a table that holds an offset."""
    rows = [block.span for block in outline(document).blocks("row")]

    def row(start: int) -> Span | None:
        index = bisect_right(rows, (start, len(document.text))) - 1
        return rows[index] if index >= 0 and start < rows[index].end else None

    return row


class Riders:
    """The riders of one document, whose scopes nest like a tree."""

    def __init__(
        self,
        riders: Iterable[Rider],
        ruler: Ruler,
        budget: Budget,
        reserve: Reserve,
        unit: Callable[[int], Span | None] = lambda _: None,
        share: float = 0.5,
    ) -> None:
        """Keep riders in order.

        `unit(start)` is the row or line that holds an offset: what rides leaves room for the one that starts there.
        Where no unit starts, riders may take `share` of the room.
        """
        self._riders = sorted(riders, key=lambda rider: (rider.scope.start, -rider.scope.end))
        self._scopes = Nested([rider.scope for rider in self._riders])
        self._ruler, self._budget, self._reserve = ruler, budget, reserve
        self._count = cache(lambda span: ruler.count(*span) + 1)  # and one for the seam
        self._unit, self._share = unit, share
        self.at = lru_cache(maxsize=16)(self._found)  # a packer asks more than once for the same start
        """Return what rides along with a chunk that starts here, outermost first; outer ones give way to inner ones."""

    def _found(self, start: int) -> tuple[Span, ...]:
        room, spans, cost = self._room(start), list[Span](), 0
        for rider in self._enclosing(start):
            cost += self._count(rider)
            if cost > room:
                break
            spans.append(rider)
        return tuple(reversed(spans))

    def cost(self, start: int) -> int:
        """Return the tokens of what rides along with a chunk that starts here."""
        return sum(map(self._count, self.at(start))) if self._riders else 0

    def reserve(self, start: int) -> int:
        """Return the tokens to leave free in a chunk that starts here: for what rides along, and what was asked for."""
        return self._reserve(start) + self.cost(start)

    def chunk(self, cut: Callable[..., Chunk], span: Span, meta: Meta | None = None) -> Chunk:
        """Make a chunk of a span and what rides along; outer riders are left where together they count too much."""
        riding = self.at(span.start) if self._riders else ()
        for i in range(len(riding)):
            chunk = cut(*riding[i:], span, meta=meta)
            if chunk.token_count <= self._budget.size - self._reserve(span.start):
                return chunk
        return cut(span, meta=meta)

    def _enclosing(self, start: int) -> Iterator[Span]:
        """Yield the riders of the scopes around an offset, innermost first."""
        for index in self._scopes.at(start):
            if self._riders[index].span.end <= start:
                yield self._riders[index].span

    def _room(self, start: int) -> int:
        """Return the tokens that riders may take of a chunk that starts here."""
        room, unit = self._budget.room - self._reserve(start), self._unit(start)
        most = int(self._budget.room * self._share)
        if unit is None:
            return most
        beside = room - self._ruler.count(start, max(start, unit.end))
        return max(beside, most if start > unit.start else 0)
