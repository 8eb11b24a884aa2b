"""Find the tables of a sheet, their headers, and the lines of text around them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple, TypeAlias

from chunkwise.readers.sheet_xml import Merged
from chunkwise.readers.tabular import NUMBER, are_years

Value: TypeAlias = str | float | bool | datetime.date | datetime.time | datetime.timedelta

# How many rows of titles and notes may stand above a header: as in delimited text, see readers/tabular.py.
_PREAMBLE = 20
# In characters: a sheet of one column whose cells are shorter on average is a list, one of longer ones is prose.
_LONGEST_ENTRY = 40
# Above it not every integer is a float.
_MOST_EXACT = 1 << 53


class Row(NamedTuple):
    """A row that is not empty, its number counted from 0. There is a value for each column that is read, or ""."""

    number: int
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class Line:
    """A row that is text by itself: a title above a table, a note."""

    text: str
    row: int
    columns: set[int]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: its rows, the columns that hold anything, and how many rows at its start are its header."""

    rows: list[Row]
    columns: set[int]
    n_header: int

    @property
    def texts(self) -> Iterator[list[str]]:
        """The text of every cell, row by row."""
        columns = sorted(self.columns)
        for row in self.rows:
            yield [written(row.values[column]) for column in columns]

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """The number of each row, twice; but of the first one and the last one of the header, if there is one."""
        for index, row in enumerate(self.rows):
            last = self.rows[self.n_header - 1] if index == 0 and self.n_header else row
            yield row.number, last.number


def layout(rows: Iterable[Row], merged: Sequence[Merged]) -> Iterator[Line | Grid]:
    """Yield the lines and tables of a sheet in order.

    Empty rows part them; but rows in the columns of the table above, without a header of their own, go on with it.
    Columns in which a table has nothing are left out; tables side by side are one, so that its rows stay whole.
    """
    wide = _wide(merged)
    table: Grid | None = None
    for region in _regions(rows):
        *lines, last = _parts(region, wide)
        if table is not None and _goes_on(table, last):
            if len(table.rows) == 1 and not table.n_header and _is_header(table.rows[0], table.columns):
                table = replace(table, n_header=1)
            table.rows.extend(region)
            table.columns.update(_columns(region))
            continue
        if table is not None:
            yield table
        yield from lines
        table = last if isinstance(last, Grid) else None
        if table is None:
            yield last
    if table is not None:
        yield table


def written(value: Value) -> str:
    """Return a value as text: whole numbers without a point, dates and times as in ISO 8601 with a blank between."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _MOST_EXACT else repr(value)
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return str(value.date())
    return str(value)


def _duration(value: datetime.timedelta) -> str:
    minutes, seconds = divmod(abs(value).total_seconds(), 60)
    hours, minutes = divmod(int(minutes), 60)
    sign = "-" if value < datetime.timedelta() else ""
    return f"{sign}{hours}:{minutes:02}:{written(round(seconds, 3)).zfill(2)}"


def _regions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the runs of rows between empty ones."""
    for _, run in groupby(enumerate(rows), key=lambda pair: pair[1].number - pair[0]):
        yield [row for _, row in run]


def _wide(merged: Iterable[Merged]) -> dict[int, list[tuple[int, int]]]:
    """Return the merged cells that are wider than a column: of each row, their first and last columns, in order.

    What overlaps another one, as no program writes it, is left out.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for first, last in sorted(merged):
        row = found.setdefault(first.row, [])
        if last.column > first.column and (not row or row[-1][1] < first.column):
            row.append((first.column, last.column))
    return found


def _parts(region: list[Row], wide: Mapping[int, list[tuple[int, int]]]) -> Iterator[Line | Grid]:
    """Yield the lines of text at the start of a region, and then the table, if there is one."""
    columns = _columns(region)
    if len(columns) == 1:
        yield from _entries(region, columns)
        return
    start = next((i for i, row in enumerate(region[:_PREAMBLE]) if 2 * _n_filled(row) > len(columns)), None)
    if start is None:
        start = next((i for i, row in enumerate(region) if _n_filled(row) > 1), len(region))
        n_header = 0
    else:
        start, n_header = _header(region, start, columns, wide)
    yield from map(_line, region[:start])
    if start < len(region):
        yield Grid(region[start:], _columns(region[start:]), n_header)


def _entries(region: list[Row], columns: set[int]) -> Iterator[Line | Grid]:
    """Yield what one column holds: a list of short entries as a table, else lines of text."""
    (column,) = columns
    values = [row.values[column] for row in region]
    if len(region) > 2 and sum(len(written(value)) for value in values) <= _LONGEST_ENTRY * len(region):
        yield Grid(region, columns, int(_is_header(region[0], columns)))
    else:
        yield from map(_line, region)


def _line(row: Row) -> Line:
    columns = _columns([row])
    words = [written(row.values[column]) for column in sorted(columns)]
    return Line(" ".join(words), row.number, columns)


def _header(
    region: list[Row], start: int, columns: set[int], wide: Mapping[int, list[tuple[int, int]]]
) -> tuple[int, int]:
    """Return where the table of a region starts whose first row that is mostly filled is `start`, and its header rows.

    A row with titles over groups of columns, each merged, and the row under it are a header of two rows.
    """
    for first in (start - 1, start):
        groups = _groups(region[first], columns, wide) if 0 <= first < len(region) - 2 else {}
        if groups and _is_header(region[first + 1], columns, groups):
            return first, 2
    return start, int(start < len(region) - 1 and _is_header(region[start], columns))


def _groups(row: Row, columns: set[int], wide: Mapping[int, list[tuple[int, int]]]) -> dict[int, str]:
    """Return the title over each column that a merged cell of a row spans with others, but not with all."""
    return {
        column: written(row.values[first])
        for first, last in wide.get(row.number, ())
        if not (first <= min(columns) and max(columns) <= last)
        for column in range(first, last + 1)
        if column in columns
    }


def _is_header(row: Row, columns: set[int], groups: Mapping[int, str] | None = None) -> bool:
    """Tell whether a row names most of its columns by different texts, or by years or dates that rise or fall."""
    named = {column: row.values[column] for column in sorted(columns) if row.values[column] != ""}
    if 2 * len(named) <= len(columns):
        return False
    titles = {column: written(value).strip() for column, value in named.items()}
    counted = [column for column in titles if column != min(columns)]
    if len(counted) > 1 and _rise_or_fall([named[column] for column in counted], [titles[c] for c in counted]):
        return isinstance(named.get(min(columns), ""), str)
    if not all(isinstance(value, str) for value in named.values()) or any(map(NUMBER.fullmatch, titles.values())):
        return False
    return len({((groups or {}).get(column), title) for column, title in titles.items()}) == len(titles)


def _rise_or_fall(values: Sequence[Value], titles: Sequence[str]) -> bool:
    if not all(isinstance(value, datetime.date) for value in values):
        return are_years(titles)
    # In ISO 8601 dates compare as their texts do.
    return all(a < b for a, b in pairwise(titles)) or all(a > b for a, b in pairwise(titles))


def _goes_on(table: Grid, other: Line | Grid) -> bool:
    """Tell whether a table has no header, and lies in the columns of the one above it."""
    if not isinstance(other, Grid) or other.n_header or len(other.columns) < 2:
        return False
    return min(table.columns) <= min(other.columns) and max(other.columns) <= max(table.columns)


def _columns(rows: Iterable[Row]) -> set[int]:
    """Return the columns that hold anything."""
    return {column for row in rows for column, value in enumerate(row.values) if value != ""}


def _n_filled(row: Row) -> int:
    return sum(value != "" for value in row.values)
