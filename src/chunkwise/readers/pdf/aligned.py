"""Tables without rules: rows whose cells stand under each other in columns."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from statistics import median
from typing import NamedTuple

from chunkwise.readers.pdf.lines import Line

# A table has so many rows and columns at least, its header included, and so many columns at most.
_FEWEST_ROWS, _FEWEST_COLUMNS, _MOST_COLUMNS = 3, 2, 50
# In characters: the cells of a table are mostly shorter; longer ones are columns of prose.
_LONGEST_CELL = 40
# The share of its places that a table fills.
_FILLED = 0.6
# In sizes of the font: the lines of a table are not farther apart.
_APART = 3.0
_NUMBER = re.compile(r"[-+(<>=~\u2212]?[$\u20ac\u00a3\u00a5]?\s?\d[\d.,'\s]*(?:\s?[%)]|\s?\u00b1\s?[\d.,]+)?")
_MARK = re.compile(r"[\u2022\u2013\u2014\uf0b7-]|\(?(?:\d{1,3}|\w)[.)]")
_LEADER = re.compile(r"[.\u2026\s]*")


class Table(NamedTuple):
    """The cells of a table by row, and how many rows are its header."""

    rows: tuple[tuple[str, ...], ...]
    n_header: int


class Aligned(NamedTuple):
    """A table in the lines of a page from `start` up to `end`."""

    start: int
    end: int
    table: Table


def aligned_tables(lines: Sequence[Line], code: Set[int]) -> list[Aligned]:
    """Return the tables among the lines of a page, in order; the lines at the places of `code` are in none."""
    tables: list[Aligned] = []
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and end not in code and _is_row(lines[end]) and _follows(lines, start, end):
            end += 1
        if end - start >= _FEWEST_ROWS and (table := _table(lines, start, end)):
            tables.append(table)
        start = max(end, start + 1)
    return tables


def _is_row(line: Line) -> bool:
    return _FEWEST_COLUMNS <= len(line.cells) <= _MOST_COLUMNS


def _follows(lines: Sequence[Line], start: int, index: int) -> bool:
    if index == start:
        return True
    step = lines[index - 1].bottom - lines[index].bottom
    return 0 < step <= _APART * lines[index].size


def _table(lines: Sequence[Line], start: int, end: int) -> Aligned | None:
    columns = _columns(lines[start:end])
    if len(columns) < _FEWEST_COLUMNS:
        return None
    rows: list[tuple[str, ...]] = []
    for line in lines[start:end]:
        row = [""] * len(columns)
        for cell in line.cells:
            place = next(i for i, (left, right) in enumerate(columns) if left <= cell.left <= cell.right <= right)
            if row[place]:
                return None  # two cells of a row in one column: no columns at all
            row[place] = cell.text
        rows.append(tuple(row))
    cells = [cell for row in rows for cell in row if cell]
    if len(cells) < _FILLED * len(rows) * len(columns) or not _is_tabular(rows, cells):
        return None
    bold = lines[start].bold and not any(line.bold for line in lines[start + 1 : end])
    # Where all is words, nothing tells a header from a row.
    return Aligned(start, end, Table(tuple(rows), int(bold or (_has_numbers(rows[1:]) and n_header(rows) > 0))))


def _columns(lines: Sequence[Line]) -> list[tuple[float, float]]:
    """Return the left and right edges of what the cells cover, from left to right."""
    columns: list[tuple[float, float]] = []
    for left, right in sorted((cell.left, cell.right) for line in lines for cell in line.cells):
        if columns and left <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _is_tabular(rows: Sequence[tuple[str, ...]], cells: Sequence[str]) -> bool:
    """Tell whether cells are no columns of prose, no items with their marks, and no lines of a table of contents."""
    if median(len(cell) for cell in cells) > _LONGEST_CELL:
        return False
    if all(_MARK.fullmatch(row[0]) for row in rows if row[0]):
        return False
    if any(_LEADER.fullmatch(cell) for cell in cells):
        return False
    widths = [len(cell) for row in rows for cell in row]
    return len(rows[0]) > 2 or max(widths) <= 2 * _LONGEST_CELL


def n_header(rows: Sequence[Sequence[str]]) -> int:
    """Tell whether the first row is a header: words in all columns but for the first, and all different."""
    first = rows[0]
    titles = first[1:] if len(first) > 2 and not first[0] else first
    return int(all(titles) and len(set(titles)) == len(titles) and not any(map(_NUMBER.fullmatch, titles)))


def _has_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return any(_NUMBER.fullmatch(cell) for row in rows for cell in row if cell)
