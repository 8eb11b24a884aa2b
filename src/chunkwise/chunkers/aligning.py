"""Find the strings that a splitter made in the text that they were made of, and what is wrong with them.

White space is left out of both before they are compared, so that stripped or joined lines are found exactly. Pieces
go forward in a text and may overlap; each is looked for from where the one before it ended, then further off.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from chunkwise.chunkers.splitters import Piece
from chunkwise.core.spans import gaps, union
from chunkwise.core.types import Span
from chunkwise.text.graphemes import joins

Fault: TypeAlias = Literal[
    "whitespace",
    "altered",
    "out_of_order",
    "repeated",
    "nested",
    "wrong_offset",
    "lost_before",
    "lost_after",
    "not_found_before",
    "not_found_after",
    "over_size",
]

# In characters other than white space: of a piece that is not in the text as it is, parts of so many are looked for.
_PART = 24
# A piece is looked for so many times its length, and so many characters, ahead before it is sought behind.
_AHEAD, _AT_LEAST = 4, 2000


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a piece stands, and its faults: of each kind how many, which for lost text are characters."""

    span: Span
    faults: dict[Fault, int]


class _Found(NamedTuple):
    """A piece in the ink of the text."""

    start: int
    end: int
    faults: frozenset[Fault]


def align(text: str, pieces: Sequence[Piece]) -> list[Placed]:
    r"""Return where pieces stand in a text, in the order of the text. What is blank, or not in the text, is left out.

    Cost: one pass over the text, and for each piece that is not where it is expected, one more at most.

    >>> [placed.span for placed in align("One. Two.\nThree.", [Piece("One. Two."), Piece("Two. Three.")])]
    [Span(start=0, end=9), Span(start=5, end=16)]
    """
    places = [place for place, character in enumerate(text) if not character.isspace()]
    ink = _Ink("".join(text.split()))
    placed: list[Placed] = []
    n_not_found = 0
    for piece in pieces:
        if not piece.text.strip():
            continue
        found = _said(piece, text, places, ink) or ink.find("".join(piece.text.split()))
        if found is None:
            n_not_found += 1
            continue
        ink.take(found)
        start = places[found.start]
        if start and text[start - 1].isspace() and joins(text, start):
            start -= 1  # an accent on a blank
        span = Span(start, places[found.end - 1] + 1)
        faults: dict[Fault, int] = dict.fromkeys(sorted(found.faults), 1)
        if "altered" not in faults and span.slice(text) != piece.text.strip():
            faults["whitespace"] = 1
        if piece.start is not None and (piece.start < 0 or bisect_left(places, piece.start) != found.start):
            faults["wrong_offset"] = 1
        if n_not_found:
            faults["not_found_before"], n_not_found = n_not_found, 0
        placed.append(Placed(span, faults))
    if placed and n_not_found:
        placed[-1] = replace(placed[-1], faults={**placed[-1].faults, "not_found_after": n_not_found})
    return list(_with_losses(text, sorted(placed, key=lambda one: one.span)))


class _Ink:
    """The text without white space, and how far pieces have been found in it."""

    def __init__(self, ink: str) -> None:
        self._ink = ink
        self._low = ink.lower() if len(ink.lower()) == len(ink) else ink
        self._start = -1
        self._end = 0

    def goes_on(self, start: int) -> bool:
        """Tell whether a piece that starts there comes after the one before."""
        return start > self._start

    def take(self, found: _Found) -> None:
        """Go on from a piece."""
        self._start, self._end = found.start, found.end

    def find(self, piece: str) -> _Found | None:
        """Return where a piece stands: as it is, else in another case or without broken ends, else by parts of it."""
        if (found := self._exact(self._ink, piece)) is not None:
            return found
        whole = piece.strip("\ufffd")
        found = self._exact(self._low, whole.lower()) if whole else None
        found = found or self._by_parts(piece)
        return found and _Found(found.start, found.end, found.faults | {"altered"})

    def _exact(self, ink: str, piece: str) -> _Found | None:
        """Return the likeliest place: next, across the end of the piece before, ahead, inside it, far ahead, behind."""
        n = len(piece)
        if ink.startswith(piece, self._end):
            return _Found(self._end, self._end + n, frozenset())
        inside = ink.rfind(piece, max(self._start, 0), max(self._end + n - 1, 0))
        if inside > self._start and inside + n > self._end:
            return _Found(inside, inside + n, frozenset())
        near = ink.find(piece, self._end, self._end + (_AHEAD + 1) * n + _AT_LEAST)
        if near >= 0:
            return _Found(near, near + n, frozenset())
        if inside >= 0:
            same = (inside, inside + n) == (self._start, self._end)
            return _Found(inside, inside + n, frozenset({"repeated" if same else "nested"}))
        if (far := ink.find(piece, self._end)) >= 0:
            return _Found(far, far + n, frozenset())
        behind = ink.find(piece)
        return _Found(behind, behind + n, frozenset({"out_of_order"})) if behind >= 0 else None

    def _by_parts(self, piece: str) -> _Found | None:
        """Return from the first to the last part of a piece that is in the text not far ahead, as far as they go."""
        found = self._parts(piece, self._end)
        if len(found) < len(piece) // _PART / 2:  # else what comes before is repeated, as the header of a table
            found = self._parts(piece, max(self._start, 0))
        if not found:
            return None
        (start, first), (last_start, last) = found[0], found[-1]
        least = self._end if first >= self._end else self._start + 1
        while start and first > least and piece[start - 1] == self._ink[first - 1]:
            start, first = start - 1, first - 1
        stop, end = last_start + _PART, last + _PART
        while stop < len(piece) and end < len(self._ink) and piece[stop] == self._ink[end]:
            stop, end = stop + 1, end + 1
        return _Found(first, end, frozenset()) if end - first <= 2 * len(piece) else None

    def _parts(self, piece: str, place: int) -> list[tuple[int, int]]:
        """Return which parts of a piece are in the text from a place on, in order, and where."""
        limit = self._end + (_AHEAD + 1) * len(piece) + _AT_LEAST
        found: list[tuple[int, int]] = []
        for start in range(0, len(piece) - _PART + 1, _PART):
            at = self._ink.find(piece[start : start + _PART], place, limit)
            if at >= 0:
                found.append((start, at))
                place = at + _PART
        return found


def _said(piece: Piece, text: str, places: Sequence[int], ink: _Ink) -> _Found | None:
    """Return where a splitter says that a piece starts, if the piece is there and comes after the one before."""
    start = piece.start
    if start is None or start < 0 or not text.startswith(piece.text, start):
        return None
    first = bisect_left(places, start)
    found = _Found(first, bisect_left(places, start + len(piece.text)), frozenset())
    return found if ink.goes_on(first) else None


def _with_losses(text: str, placed: Sequence[Placed]) -> Iterator[Placed]:
    """Yield the pieces in order, each with what stands in none of them before it, and the last with what follows."""
    covered = union(one.span for one in placed)
    lost = {gap.end: sum(map(len, gap.slice(text).split())) for gap in gaps(covered, Span(0, len(text)))}
    for number, one in enumerate(placed):
        faults = dict(one.faults)
        if before := lost.pop(one.span.start, 0):
            faults["lost_before"] = before
        if number == len(placed) - 1 and (after := lost.pop(len(text), 0)):
            faults["lost_after"] = after
        yield replace(one, faults=faults)
