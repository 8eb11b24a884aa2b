"""Algebra of spans: every function takes and gives half-open intervals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from chunkwise.core.types import Span

# The standard library's \S, unlike that of the regex package, agrees with str.strip on every character.
_INK = re.compile(r"\S")


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
    for span in sorted(span for span in spans if len(span)):
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


def join(text: str, spans: Sequence[Span]) -> str:
    """Return the text of the spans, one after the other."""
    return "".join(text[span.start : span.end] for span in spans)


def first_ink(text: str, start: int, end: int) -> int:
    """Return the first place in `[start, end)` that is not white space, or `end`.

    White space that carries a combining mark is one character with it to a reader, and counts as ink.
    """
    found = _INK.search(text, start, end)
    if found is None:
        return end
    ink = found.start()
    marked = ink > start and (unicodedata.category(text[ink]).startswith("M") or text[ink] in "\u200c\u200d")
    return ink - 1 if marked and text[ink - 1] not in "\r\n" else ink


def trim(text: str, span: Span, *, keep_indent: bool = False) -> Span:
    """Shrink a span until neither end is white space.

    With `keep_indent` only blank lines are taken from its start, so that code keeps its shape.
    """
    piece = text[span.start : span.end]
    end = span.start + len(piece.rstrip())
    start = first_ink(text, span.start, end)
    if start >= end:
        return Span(span.start, span.start)
    if keep_indent:
        blank = text[span.start : start]
        start = span.start + max(blank.rfind("\n"), blank.rfind("\r")) + 1
    return Span(start, end)
