"""Text that rides along: what a piece from the middle of a block needs to be read, as spans before its own.

The rows of a table ride with its header, lines of a fence with the line that opens it, methods with
the signature of their class, the rest of a turn with the speaker's name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Reserve, Ruler
from chunkwise.core.types import Chunk, Document, Span


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
        self._starts = [rider.scope.start for rider in self._riders]
        self._around: list[int] = []
        for i, rider in enumerate(self._riders):
            around = i - 1
            while around >= 0 and self._riders[around].scope.end < rider.scope.end:
                around = self._around[around]
            self._around.append(around)
        self._ruler, self._budget, self._reserve = ruler, budget, reserve
        self._unit, self._share = unit, share

    def at(self, start: int) -> tuple[Span, ...]:
        """Return what rides along with a chunk that starts here, outermost first; outer ones give way to inner ones."""
        room, spans, cost = self._room(start), list[Span](), 0
        for rider in self._enclosing(start):
            cost += self._ruler.count(*rider) + 1  # and one for the seam
            if cost > room:
                break
            spans.append(rider)
        return tuple(reversed(spans))

    def cost(self, start: int) -> int:
        """Return the tokens of what rides along with a chunk that starts here."""
        return sum(self._ruler.count(*span) + 1 for span in self.at(start)) if self._riders else 0

    def chunk(self, cut: Callable[..., Chunk], span: Span) -> Chunk:
        """Make a chunk of a span and what rides along, or of the span alone where together they count too much."""
        riding = self.at(span.start) if self._riders else ()
        if riding:
            chunk = cut(*riding, span)
            if chunk.token_count <= self._budget.size - self._reserve(span.start):
                return chunk
        return cut(span)

    def _enclosing(self, start: int) -> Iterator[Span]:
        """Yield the riders of the scopes around an offset, innermost first."""
        index = bisect_right(self._starts, start) - 1
        while index >= 0:
            rider = self._riders[index]
            if rider.span.end <= start < rider.scope.end:
                yield rider.span
            index = self._around[index]

    def _room(self, start: int) -> int:
        """Return the tokens that riders may take of a chunk that starts here."""
        room, unit = self._budget.room - self._reserve(start), self._unit(start)
        most = int(self._budget.room * self._share)
        if unit is None:
            return most
        beside = room - self._ruler.count(start, max(start, unit.end))
        return max(beside, most if start > unit.start else 0)
