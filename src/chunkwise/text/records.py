"""Records of delimited text (CSV, TSV): lines, but that a quoted field may hold line breaks.

Source: RFC 4180. Outside of it, as spreadsheets do: a quote counts only at a field's start, what follows its
closing quote is part of the field, and a field whose quote is not closed is ordinary text.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from chunkwise.core.types import Span
from chunkwise.text.words import last_line

# In characters: how far at most one quote is from the next; a lone one is a stray quote, and ordinary text.
_LONGEST = 1 << 16
_BREAK = r"\r\n|\n|\r"
_BREAKS = re.compile(_BREAK)


class Records:
    """The records of `text[start:end]`.

    In a text without quotes they are lines, looked for as they are asked for; else they are found in one pass.
    """

    def __init__(self, text: str, start: int, end: int, delimiter: str) -> None:
        self._text, self._start, self._end, self._delimiter = text, start, end, delimiter
        quoted = text.find('"', start, end) >= 0
        self._starts = array("q", record_starts(text, start, end, delimiter)) if quoted else None

    def last(self, lo: int, hi: int) -> int | None:
        """Return the last place in `(lo, hi]` where a record starts."""
        lo, hi = max(lo, self._start - 1), min(hi, self._end - 1)
        if self._starts is None:
            return last_line(self._text, max(lo, self._start), hi) or (self._start if lo < self._start <= hi else None)
        index = bisect_right(self._starts, hi) - 1
        return self._starts[index] if index >= 0 and self._starts[index] > lo else None

    def at(self, offset: int) -> Span:
        """Return the record that holds an offset."""
        if self._starts is None:
            start = last_line(self._text, self._start, offset) or self._start
            following = _BREAKS.search(self._text, offset, self._end)
            return Span(start, following.end() if following else self._end)
        index = max(bisect_right(self._starts, offset) - 1, 0)
        return Span(self._starts[index], self._starts[index + 1] if index + 1 < len(self._starts) else self._end)

    def starts(self) -> Iterator[int]:
        """Yield where every record starts."""
        if self._starts is None:
            return record_starts(self._text, self._start, self._end, self._delimiter)
        return iter(self._starts)


def record_starts(text: str, start: int, end: int, delimiter: str) -> Iterator[int]:
    """Yield where the records of `text[start:end]` start, blank ones among them. Linear in the text."""
    yield start
    for match in _pattern(delimiter, _BREAK).finditer(text, start, end):
        if text[match.start()] in "\r\n" and match.end() < end:
            yield match.end()


class Sure(NamedTuple):
    """Where records start whatever follows a text, and whether a quote before the last of them is never closed."""

    starts: list[int]
    stray: bool


def sure_records(text: str, start: int, delimiter: str) -> Sure:
    """Return where records start after `start`, which is the start of one, as far as no text that follows moves them.

    A quoted field at the end of the text may go on, and so may a quote that is not closed there.
    """
    found, stray, position = list[int](), False, start
    pattern = _open_pattern(delimiter)
    while (match := pattern.search(text, position)) is not None:
        position = match.end()
        if text[match.start()] in "\r\n":
            if match[0] == "\r" and position == len(text):
                break
            found.append(position)
        elif position == len(text):
            break
        elif match["closed"] is None:
            stray, position = True, match.start() + 1
    return Sure(found, stray)


def cells(text: str, record: Span, delimiter: str) -> list[Span]:
    """Return the cells of a record, with quotes, without delimiters; the line break is part of the last."""
    found, start = [], record.start
    for match in _pattern(delimiter, re.escape(delimiter)).finditer(text, *record):
        if text[match.start()] == delimiter:
            found.append(Span(start, match.start()))
            start = match.end()
    return [*found, Span(start, record.end)]


@lru_cache(maxsize=8)
def _pattern(delimiter: str, wanted: str) -> re.Pattern[str]:
    """Return the pattern of what is wanted, and of quoted fields, in which it does not count.

    After a quote that is not closed all quotes come in pairs, and each pair is a field that is empty: looking on
    from there goes over nothing twice.
    """
    return re.compile(rf'{_quoted(delimiter)}"|{wanted}')


@lru_cache(maxsize=4)
def _open_pattern(delimiter: str) -> re.Pattern[str]:
    """Return the pattern of line breaks and of quoted fields, closed or not."""
    return re.compile(rf'{_quoted(delimiter)}(?P<closed>")?+|{_BREAK}')


def _quoted(delimiter: str) -> str:
    """Return what matches a quoted field up to the quote that closes it."""
    opening = rf"(?:(?<=[\r\n\ufeff{re.escape(delimiter)}])|\A)"
    inner = rf'[^"]{{0,{_LONGEST}}}+'
    return rf'{opening}"{inner}(?:""{inner})*+'
