"""Where each part of a text was before the text was edited."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field


def _no_edges() -> array[int]:
    return array("q")


@dataclass(frozen=True, slots=True)
class Origin:
    """The edits that made a text of a raw one. Without any, the text is the raw one.

    `raw` and `text` hold the start and the end of every edit in turn, as offsets in the one and in the other.
    Memory: 32 bytes an edit. A look-up costs O(log n).
    """

    raw: array[int] = field(default_factory=_no_edges, hash=False)
    text: array[int] = field(default_factory=_no_edges, hash=False)

    @classmethod
    def of(cls, edits: Iterable[tuple[int, int, int]]) -> Origin:
        """Return the origin of a text whose parts were replaced: start, end, and the length of what came there.

        The edits are disjoint and in order, and none is empty.

        >>> Origin.of([(0, 2, 0), (5, 9, 1)]).source(3, 4)
        (5, 9)
        """
        raw, text, shift = _no_edges(), _no_edges(), 0
        for start, end, length in edits:
            raw.extend((start, end))
            text.extend((start + shift, start + shift + length))
            shift += length - (end - start)
        return cls(raw, text)

    def __bool__(self) -> bool:
        """Whether there are edits."""
        return bool(self.raw)

    def source(self, start: int, end: int) -> tuple[int, int]:
        """Return the smallest part of the raw text that `text[start:end]` was made of."""
        return _across(start, end, self.text, self.raw)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the smallest part of the text that holds all that was made of `raw[start:end]`."""
        return _across(start, end, self.raw, self.text)

    def touches(self, start: int, end: int) -> bool:
        """Tell whether anything of `raw[start:end]` was edited."""
        n_before = bisect_right(self.raw, start)
        return n_before % 2 == 1 or n_before < bisect_left(self.raw, end)

    def around(self, start: int, end: int) -> Origin:
        """Return the edits that tell the source of any part of `text[start:end]`: those in it, and the last before."""
        first = max(bisect_right(self.text, start) - 1, 0) // 2 * 2
        last = (bisect_left(self.text, end) + 1) // 2 * 2
        return Origin(self.raw[first:last], self.text[first:last])

    def then(self, later: Origin) -> Origin:
        """Return the origin of a text that was made by `later` of this one's text. Edits that overlap become one."""
        if not self or not later:
            return self or later
        first = zip(self.text[::2], self.text[1::2], self.raw[::2], self.raw[1::2], strict=True)
        second = zip(later.raw[::2], later.raw[1::2], later.text[::2], later.text[1::2], strict=True)
        between = [(start, end, *raw, *later.place(start, end)) for start, end, *raw in first]
        between += [(start, end, *self.source(start, end), *text) for start, end, *text in second]
        raw, text, reached = _no_edges(), _no_edges(), -1
        for start, end, raw_start, raw_end, text_start, text_end in sorted(between):
            if start < reached:
                raw[-2:] = array("q", (min(raw[-2], raw_start), max(raw[-1], raw_end)))
                text[-2:] = array("q", (min(text[-2], text_start), max(text[-1], text_end)))
            else:
                raw.extend((raw_start, raw_end))
                text.extend((text_start, text_end))
            reached = max(reached, end)
        return Origin(raw, text)


def _across(start: int, end: int, here: array[int], there: array[int]) -> tuple[int, int]:
    """Carry offsets over the edits: what begins or ends inside an edit holds all of it."""
    n_before = bisect_right(here, start)  # odd inside an edit
    n_passed = bisect_left(here, end)
    first = there[n_before - 1] if n_before % 2 else _shifted(start, here, there, n_before)
    last = there[n_passed] if n_passed % 2 else _shifted(end, here, there, n_passed)
    return first, max(first, last)


def _shifted(position: int, here: array[int], there: array[int], n_before: int) -> int:
    return position + (there[n_before - 1] - here[n_before - 1] if n_before else 0)
