"""Places where a text may be cut, or trimmed, without breaking what a reader sees as one character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import regex

from chunkwise.core.types import Span

# UAX #29 puts no bound on a grapheme. UAX #15 (Stream-Safe Text Format) calls more than 30
# combining marks in a row no sensible text, so a longer cluster may be cut between code points.
LONGEST = 32

# \X looks back over a whole run of flags to pair them, which is quadratic; pairing forward is not.
_CLUSTER = regex.compile(r"\p{Regional_Indicator}{2}[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]*|\X")
# What joins to the character before it, be that white space.
_MARK = regex.compile(r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]")
_FIRST_MARK = "\u0300"
# The standard library's \S, unlike that of regex, agrees with str.strip on every character.
_INK = re.compile(r"\S")
# Between two of these a grapheme always ends: neither joins to the left nor to the right. And it ends
# after a line feed (UAX #29, GB4), and before any control.
_PLAIN = " -~\u00c0-\u02ff\u0370-\u0482\u3001-\u3029\u3041-\u3096\u309b-\u30ff\u4e00-\u9fff\uff01-\uff60"
_SPLIT = re.compile(rf"(?<=[{_PLAIN}])(?=[\t\r\n{_PLAIN}])|(?<=\n)")


def grapheme_spans(text: str) -> list[Span]:
    """Partition a text into graphemes; one longer than `LONGEST` is cut there."""
    ends = list(_ends(text, 0, len(text)))
    return [Span(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def floor(text: str, position: int, lowest: int) -> int:
    """Return the last grapheme boundary in `[lowest, position]`; `lowest` must be one itself.

    Cost: O(LONGEST) beside plain text, O(position - lowest) at worst.
    """
    if position >= len(text):
        return len(text)
    if position <= lowest:
        return lowest
    if _SPLIT.match(text, position):
        return position
    last = anchor = _anchor(text, position, lowest) or lowest
    for end in _ends(text, anchor, position + LONGEST):
        if end > position:
            break
        last = end
    return last


def ceiling(text: str, position: int) -> int:
    """Return the end of the grapheme that starts at `position`, a boundary itself."""
    return next(_ends(text, position, position + LONGEST), len(text))


def following(text: str, position: int, end: int) -> int:
    """Return the first grapheme boundary in `[position, end]`; `end` where none is sure."""
    anchor = _anchor(text, position, 0)
    if anchor is None or anchor == position:
        return end if anchor is None else position
    return next((edge for edge in _ends(text, anchor, end) if edge >= position), end)


def first_ink(text: str, start: int, end: int) -> int:
    """Return the first place in `[start, end)` that is not white space, or `end`.

    White space that carries a combining mark is one character with it to a reader, and counts as ink.
    """
    found = _INK.search(text, start, end)
    if found is None:
        return end
    ink = found.start()
    return ink - 1 if ink > start and joins(text, ink) else ink


def inked(text: str, span: Span) -> Span:
    """Return a span without the white space at its ends."""
    start = first_ink(text, *span)
    return Span(start, last_ink(text, start, span.end))


def last_ink(text: str, start: int, end: int) -> int:
    """Return the end of `text[start:end]` without the white space at its end."""
    width = 64
    while end > start:
        low = max(start, end - width)
        kept = len(text[low:end].rstrip())
        if kept:
            return low + kept
        end, width = low, width * 2
    return start


def joins(text: str, position: int) -> bool:
    """Tell whether the character at `position` is a mark on the one before it, be that a blank.

    A mark does not join to a tab or a line break, which are controls (UAX #29, GB4).
    """
    if not 0 < position < len(text) or text[position] < _FIRST_MARK or not _MARK.match(text, position):
        return False
    return unicodedata.category(text[position - 1]) not in ("Cc", "Zl", "Zp")


def _anchor(text: str, position: int, lowest: int) -> int | None:
    """Return a place at or before `position`, not far, where a grapheme surely ends."""
    for place in range(position, max(lowest, position - 4 * LONGEST) - 1, -1):
        if place <= lowest or place >= len(text) or _SPLIT.match(text, place):
            return place
    return None


def _ends(text: str, start: int, stop: int) -> Iterator[int]:
    """Yield the grapheme boundaries after `start`, a boundary itself, at least up to `stop`."""
    for cluster in _CLUSTER.finditer(text, start, min(len(text), stop + LONGEST)):
        begin, end = cluster.span()
        yield from range(begin + LONGEST, end, LONGEST)
        yield end
