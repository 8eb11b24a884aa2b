"""Rulers: how many tokens any slice of a text has, after one pass over the whole.

Token counts are neither additive nor monotone. But at a *sync point* a tokenizer always parts the
text, whatever stands around it, so that counts add up there. A slice is counted as the tokens
between its first and its last sync point, known from the one pass, and its two short ends, encoded
alone. Where there is no sync point the whole slice is encoded: exact always, fast where provable.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from chunkwise.text.segments import Encoding, token_ends
from chunkwise.text.unicode import encodable

# A shorter slice is encoded at once: looking for sync points would cost as much.
_SHORT = 24
# How far a blank is looked for before the full pattern is. Words are shorter.
_NEAR = 48
# Ends of slices whose counts are kept, and the longest that is: the same words end many chunks.
_KEPT, _LONGEST_KEPT = 4096, 256


def token_ruler(text: str, encoding: Encoding) -> TokenRuler:
    """Encode a text once and return a ruler over it."""
    return TokenRuler(text, ends=token_ends(text, encoding), count=encoding.count, sync=encoding.sync)


class CharacterRuler:
    """Measure in characters."""

    def __init__(self, length: int) -> None:
        self._length = length

    def count(self, start: int, end: int, *, before: str = "") -> int:
        """Return the characters of a slice, with `before` put in front of it."""
        return len(before) + end - start

    def fit(self, start: int, budget: int) -> int:
        """Return the end of the longest slice from `start` within `budget`."""
        return min(start + max(budget, 0), self._length)

    def fit_back(self, end: int, budget: int) -> int:
        """Return the start of the longest slice to `end` within `budget`."""
        return max(end - max(budget, 0), 0)


class ByteRuler:
    """Measure in bytes of UTF-8. Memory: 4 bytes a character, none for ASCII."""

    def __init__(self, text: str) -> None:
        self._ends: Sequence[int] = range(1, len(text) + 1)
        if not text.isascii():
            codes = np.frombuffer(encodable(text).encode("utf-32-le"), np.uint32)
            widths = 1 + (codes > 0x7F) + (codes > 0x7FF) + (codes > 0xFFFF)
            self._ends = array("i", np.cumsum(widths, dtype=np.int32).tobytes())

    def count(self, start: int, end: int, *, before: str = "") -> int:
        """Return the bytes of a slice, with `before` put in front of it."""
        return len(encodable(before).encode()) + self._to(end) - self._to(start)

    def fit(self, start: int, budget: int) -> int:
        """Return the end of the longest slice from `start` within `budget`."""
        return max(start, bisect_right(self._ends, self._to(start) + budget))

    def fit_back(self, end: int, budget: int) -> int:
        """Return the start of the longest slice to `end` within `budget`."""
        lowest = self._to(end) - budget
        return min(end, bisect_left(self._ends, lowest) + 1) if lowest > 0 else 0

    def _to(self, position: int) -> int:
        return self._ends[position - 1] if position else 0


class TokenRuler:
    """Measure in tokens, given where the tokens of the whole text end.

    `sync` matches, with no width, where the tokenizer always parts a text; None if no such place is known.
    `count` encodes a text alone.
    Cost: `fit` and `fit_back` look up O(log n); `count` does so twice and encodes a few characters.
    """

    def __init__(
        self,
        text: str,
        *,
        ends: array[int],
        count: Callable[[str], int],
        sync: re.Pattern[str] | None,
    ) -> None:
        self._text = text
        self._ends = ends
        self._sync = sync
        self._parts = sync.match if sync is not None else None
        self._encode = count
        self._kept = lru_cache(maxsize=_KEPT)(count)
        self._asked = (0, 0, "")
        self._answer = 0

    def count(self, start: int, end: int, *, before: str = "") -> int:
        """Return the tokens of a slice, with `before` put in front of it, exactly."""
        asked = (start, end, before)
        if asked != self._asked:  # whoever cuts a slice counts it, and whoever makes a chunk of it once more
            self._asked, self._answer = asked, self._counted(start, end, before)
        return self._answer

    def fit(self, start: int, budget: int) -> int:
        """Return where `budget` tokens from `start` end, by the pass over the whole text."""
        if budget <= 0:
            return start
        stop = bisect_right(self._ends, start) + budget
        # What stands after a token, such as white space, may cost nothing.
        return max(start, self._ends[stop - 1]) if stop < len(self._ends) else len(self._text)

    def fit_back(self, end: int, budget: int) -> int:
        """Return where `budget` tokens to `end` start, by the pass over the whole text."""
        if budget <= 0:
            return end
        before = bisect_right(self._ends, end) - 1 - budget
        return min(self._ends[before], end) if before >= 0 else 0

    def _counted(self, start: int, end: int, before: str) -> int:
        text, ends = self._text, self._ends
        if self._parts is None or end - start <= _SHORT:
            return self._alone(before + text[start:end])
        first: int | None = start
        if before or not self._parts(text, start):
            first = self._sync_from(start + 1 if before else start, end)
        last = end if first is not None and self._parts(text, end) else self._sync_to(end, first)
        if first is None or last is None:
            return self._alone(before + text[start:end])
        count = bisect_right(ends, last) - bisect_right(ends, first)
        if before or first > start:
            count += self._alone(before + text[start:first])
        return count + self._alone(text[last:end]) if last < end else count

    def _alone(self, piece: str) -> int:
        return self._kept(piece) if len(piece) <= _LONGEST_KEPT else self._encode(piece)

    def _sync_from(self, start: int, end: int) -> int | None:
        """Return the first sync point in `[start, end]`, or one not far after it."""
        text, sync = self._text, self._sync
        if sync is None:
            return None
        blank = text.find(" ", start, min(end, start + _NEAR))
        if blank > start and not text[blank - 1].isspace():
            return blank
        # The end is put one further, for a pattern that looks at the character after it.
        found = sync.search(text, start, min(end + 1, len(text)))
        return found.start() if found and found.start() <= end else None

    def _sync_to(self, end: int, lowest: int | None) -> int | None:
        """Return the last sync point in `[lowest, end]`, or one not far before it."""
        text, sync = self._text, self._sync
        if sync is None or lowest is None:
            return None
        for place in range(end - 1, max(lowest, end - 3), -1):  # what ends a chunk is often a mark or two
            if sync.match(text, place):
                return place
        blank = text.rfind(" ", max(lowest, end - _NEAR), end)
        if blank > 0 and not text[blank - 1].isspace():
            return blank
        return max(self._syncs_before(end, lowest), default=None)

    def _syncs_before(self, end: int, lowest: int) -> Iterator[int]:
        """Yield the sync points of the last stretch before `end` that has any."""
        sync, high, width = self._sync, end, _NEAR
        while sync is not None and high > lowest:
            low = max(lowest, high - width)
            places = (match.start() for match in sync.finditer(self._text, low, min(high + 1, len(self._text))))
            found = [place for place in places if place <= end]
            if found:
                yield from found
                return
            high, width = low, width * 2
