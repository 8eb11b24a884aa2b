"""Marks of lists: bullets, and numbers and letters that count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from chunkwise.readers.pdf.lines import Line

# U+F0A7, U+F0B7 and U+F0D8 are bullets of fonts of symbols, U+0088 of TeX's.
_BULLET = re.compile(
    r"(?:[\u2022\u2023\u25aa\u25ab\u25cf\u25cb\u25a0\u25a1\u25c6\u25e6\u25b6\u25ba\u2043\u2219\uf0a7\uf0b7\uf0d8\u0088]\s*|(?P<dash>[-*\u2013\u2014\u00b7])\s+)(?=\S)"
)
_NUMBER = re.compile(r"(\(?(?:\d{1,3}|[a-z]|[ivx]{2,5})[.)])\s+(?=\S)", re.IGNORECASE)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv")
# In points: the marks of one list stand that near under each other.
_LEVEL = 4.0
# How many lines a list's item has at most, for its number to count on.
_LONGEST_ITEM = 40


class Mark(NamedTuple):
    """What begins an item as it is written, how many characters of its line it takes, and what others are like it."""

    text: str
    length: int
    form: str  # the mark with 1 for a number and a for a letter


class _Numbered(NamedTuple):
    place: int
    line: Line
    values: tuple[int, ...]
    form: str


def marks(lines: Iterable[Line]) -> dict[tuple[int, int], Mark]:
    """Return the marks of items by the page and the row of their lines.

    A number is a mark only where the one before it or after it begins another item of the same form, and a dash where
    another one begins a line near by.
    """
    found: dict[tuple[int, int], Mark] = {}
    latest: dict[str, _Numbered] = {}
    for index, line in enumerate(lines):
        bullet = _BULLET.match(line.text)
        if bullet and not bullet["dash"]:
            found[line.page, line.row] = Mark("-", bullet.end(), "-")
        elif bullet:
            item = _Numbered(index, line, (), bullet["dash"])
            before = latest.get(item.form)
            if before is not None and _is_near(before, item):
                found |= {(one.line.page, one.line.row): Mark("-", bullet.end(), "-") for one in (before, item)}
            latest[item.form] = item
        elif number := _NUMBER.match(line.text):
            bare = number[1].strip("().").lower()
            form = number[1].replace(number[1].strip("()."), "1" if bare.isdigit() else "a")
            item = _Numbered(index, line, _values(bare), form)
            before = latest.get(form)
            if before is not None and _counts_on(before, item):
                for one in (before, item):
                    match = _NUMBER.match(one.line.text)
                    if match:
                        found[one.line.page, one.line.row] = Mark(match[1], match.end(), form)
            latest[form] = item
    return found


def _values(bare: str) -> tuple[int, ...]:
    """Return what a number or a letter may count as: `i` is one or nine."""
    if bare.isdigit():
        return (int(bare),)
    letters = (ord(bare) - ord("a") + 1,) if len(bare) == 1 else ()
    return (*letters, *(value for value, roman in enumerate(_ROMAN, 1) if roman == bare))


def _counts_on(before: _Numbered, item: _Numbered) -> bool:
    return _is_near(before, item) and any(value + 1 in item.values for value in before.values)


def _is_near(before: _Numbered, item: _Numbered) -> bool:
    """Tell whether two marks may be of one list: not far apart, and under each other or in different columns."""
    level = abs(before.line.left - item.line.left) <= _LEVEL or before.line.bottom < item.line.bottom
    return level and item.place - before.place <= _LONGEST_ITEM
