"""Algebra of spans: every function takes and gives half-open intervals."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from chunkwise.core.types import Span


def overlaps(one: Span, other: Span) -> bool:
    """Tell whether two spans share a position."""
    return one.start < other.end and other.start < one.end


def contains(outer: Span, inner: Span) -> bool:
    """Tell whether `inner` lies in `outer`."""
    return outer.start <= inner.start and inner.end <= outer.end


def intersect(one: Span, other: Span) -> Span | None:
    """Return what two spans share, or None."""
    start, end = max(one.start, other.start), min(one.end, other.end)
    return Span(start, end) if start < end else None


def union(spans: Iterable[Span]) -> list[Span]:
    """Return disjoint spans, sorted, that cover the same positions. Touching spans are joined.

    >>> union([Span(5, 9), Span(0, 3), Span(3, 6)])
    [Span(start=0, end=9)]
    """
    joined: list[Span] = []
    for span in sorted(span for span in spans if span.length):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def gaps(spans: Iterable[Span], within: Span) -> Iterator[Span]:
    """Yield the parts of `within` that no span covers.

    >>> list(gaps([Span(2, 4)], Span(0, 6)))
    [Span(start=0, end=2), Span(start=4, end=6)]
    """
    position = within.start
    for span in union(spans):
        if span.start > position:
            yield Span(position, min(span.start, within.end))
        position = max(position, span.end)
        if position >= within.end:
            return
    if position < within.end:
        yield Span(position, within.end)


def pieces(spans: Sequence[Span], within: Span) -> list[Span]:
    """Return what lies `within` of these spans, which are disjoint and in order."""
    first, last = bisect_right(spans, (within.start, within.start)) - 1, bisect_left(spans, (within.end, within.end))
    shared = (Span(max(span.start, within.start), min(span.end, within.end)) for span in spans[max(first, 0) : last])
    return [piece for piece in shared if piece.start < piece.end]


def join(text: str, spans: Sequence[Span]) -> str:
    """Return the text of the spans, one after the other."""
    return "".join(text[span.start : span.end] for span in spans)


class Nested:
    """Spans that nest like a tree, looked up by position in O(log n + depth)."""

    def __init__(self, spans: Sequence[Span]) -> None:
        """Take spans in order of their starts, the outer one first of two that start together."""
        self._spans = spans
        self._starts = [span.start for span in spans]
        self._around: list[int] = []
        for i, span in enumerate(spans):
            around = i - 1
            while around >= 0 and spans[around].end < span.end:
                around = self._around[around]
            self._around.append(around)

    def at(self, position: int) -> Iterator[int]:
        """Yield the indices of the spans that hold a position, innermost first."""
        index = bisect_right(self._starts, position) - 1
        while index >= 0:
            if position < self._spans[index].end:
                yield index
            index = self._around[index]
