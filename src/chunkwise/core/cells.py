"""Name the cells of a sheet as spreadsheets do: A1 is the first, `'My sheet'!B2:C9` a range in a sheet."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_REFERENCE = re.compile(r"([A-Za-z]{1,3})(\d{1,7})")
# A name that can stand unquoted before the exclamation mark: no blank or mark in it, and no cell of either notation.
_BARE = re.compile(r"(?![A-Za-z]{1,3}\d+$)(?![Rr]\d*(?:[Cc]\d*)?$|[Cc]\d*$)[^\W\d][\w.]*")

# A range with its sheet, as `cells` of a chunk lists them.
_RANGE = re.compile(r"((?:'(?:[^']|'')*'|[^',!]+)!)?([A-Za-z]{1,3}\d{1,7}(?::[A-Za-z]{1,3}\d{1,7})?)(?:, |$)")


class Place(NamedTuple):
    """A cell, its row and column counted from 0."""

    row: int
    column: int


def place_of(reference: str) -> Place | None:
    """Return the cell that a reference such as B7 names; None if it names none."""
    match = _REFERENCE.fullmatch(reference)
    return Place(int(match[2]) - 1, _column(match[1])) if match else None


def cell_range(first: Place, last: Place) -> str:
    """Return the cells from the first to the last.

    >>> cell_range(Place(1, 0), Place(1, 27)), cell_range(Place(6, 1), Place(6, 1))
    ('A2:AB2', 'B7')
    """
    start, end = (f"{column_name(column)}{row + 1}" for row, column in (first, last))
    return start if start == end else f"{start}:{end}"


def hull(ranges: Iterable[str]) -> str:
    """Return the smallest range around some.

    >>> hull(["A2:C2", "B3:D3"])
    'A2:D3'
    """
    found = (place_of(reference) for one in ranges for reference in one.split(":"))
    places = [place for place in found if place is not None]
    if not places:
        return ""
    rows, columns = [place.row for place in places], [place.column for place in places]
    return cell_range(Place(min(rows), min(columns)), Place(max(rows), max(columns)))


def united(cells: Iterable[str]) -> str:
    """Return the cells that some chunks name, as one range for each sheet.

    >>> united(["'My sheet'!A2:C2", "'My sheet'!B3:D3, Notes!A1"])
    "'My sheet'!A2:D3, Notes!A1"
    """
    found: dict[str, list[str]] = {}
    for sheet, reference in (match for one in cells for match in _RANGE.findall(one)):
        found.setdefault(sheet, []).append(reference)
    return ", ".join(sheet + hull(references) for sheet, references in found.items())


def sheet_prefix(name: str) -> str:
    """Return what stands before the cells of a sheet: its name, quoted where it has to be; nothing without a name.

    >>> sheet_prefix("Orders"), sheet_prefix("Bob's 2024")
    ('Orders!', "'Bob''s 2024'!")
    """
    if not name:
        return ""
    return f"{name}!" if _BARE.fullmatch(name) else "'" + name.replace("'", "''") + "'!"


@lru_cache(maxsize=1 << 15)
def column_name(column: int) -> str:
    """Return the letters of a column counted from 0.

    >>> column_name(0), column_name(27)
    ('A', 'AB')
    """
    letters, number = "", column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


@lru_cache(maxsize=1 << 15)  # a sheet has 16,384 columns at most
def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
