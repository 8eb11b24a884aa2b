"""Make the rows of a table out of cells that may be merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# A table of more cells than this, most of which are between those that it has, is no table that a person made.
_MOST_PADDED, _MOST_PADDING = 1_000_000, 10


@dataclass(frozen=True, slots=True)
class Grid:
    """The rows of a table, of which the first `n_header` are its header."""

    rows: list[list[str]]
    n_header: int


def compact(rows: Sequence[Mapping[int, str]], *, n_header: int) -> Grid:
    """Return the rows, each given by its texts and the columns that they begin in, without what is empty.

    A column in which no text begins is none, and neither is a row without text. No cell is empty at the end of a row,
    so that a title over all columns stands alone.
    Columns are not kept apart where that would take ten times the cells that there are.
    """
    columns = sorted({column for row in rows for column, text in row.items() if text})
    n_texts = sum(map(len, rows))
    if len(rows) * len(columns) > max(_MOST_PADDED, _MOST_PADDING * n_texts):
        texts = [[text for text in row.values() if text] for row in rows]
    else:
        texts = [_padded([row.get(column, "") for column in columns]) for row in rows]
    return Grid([row for row in texts if row], sum(bool(row) for row in texts[:n_header]))


def _padded(row: list[str]) -> list[str]:
    while row and not row[-1]:
        row.pop()
    return row
