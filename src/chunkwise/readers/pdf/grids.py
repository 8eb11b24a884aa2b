"""Grids of ruled lines: what lines that cross each other part, cells that span several rows or columns among it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.readers.pdf.rules import HIGH, THIN, WIDE, Rule

# Two rows have three edges, and two columns, too.
_FEWEST = 3
# A header over two columns has three cells; a frame has fewer.
_FEWEST_CELLS = 3
# A grid with more slots is a drawing, or squared paper.
_MOST_SLOTS = 4000

Flags = NDArray[np.bool_]


class Grid(NamedTuple):
    """The edges of columns, from left to right, of rows, from the top down, and the number of each slot's cell.

    Slots that no line parts have one number; `cells` is by row and column.
    """

    lefts: list[float]
    tops: list[float]
    cells: list[list[int]]


def grids(across: Sequence[Rule], down: Sequence[Rule]) -> list[Grid]:
    """Return the grids that lines make, each from lines that touch, with two rows and two columns or more."""
    found: list[Grid] = []
    for rows, columns in _connected(across, down):
        lefts = _edges(columns, rows, WIDE)
        bottoms = _edges(rows, columns, HIGH)
        n_slots = (len(lefts) - 1) * (len(bottoms) - 1)
        if min(len(lefts), len(bottoms)) >= _FEWEST and n_slots <= _MOST_SLOTS:
            tops = bottoms[::-1]
            cells = _cells(lefts, tops, rows, columns)
            if len(set().union(*cells)) >= _FEWEST_CELLS:
                found.append(Grid(lefts, tops, cells))
    return found


def _connected(across: Sequence[Rule], down: Sequence[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield the lines across and down that touch each other, directly or through others."""
    if not across or not down:
        return
    y, left, right = np.array(across).T[:, :, None]
    x, bottom, top = np.array(down).T[:, None, :]
    touches = (left - THIN <= x) & (x <= right + THIN) & (bottom - THIN <= y) & (y <= top + THIN)
    waiting: Flags = touches.any(axis=1)
    while waiting.any():
        rows: Flags = np.zeros(len(across), bool)
        rows[waiting.argmax()] = True
        n_rows = 0
        while n_rows < rows.sum():
            n_rows = int(rows.sum())
            columns = touches[rows].any(axis=0)
            rows = touches[:, columns].any(axis=1)
        yield (
            [across[index] for index in np.flatnonzero(rows).tolist()],
            [down[index] for index in np.flatnonzero(columns).tolist()],
        )
        waiting &= ~rows


def _edges(rules: Sequence[Rule], crossing: Sequence[Rule], least: float) -> list[float]:
    """Return where lines are, and where those that cross them end together beyond: a side that is not drawn."""
    edges = sorted({rule.place for rule in rules})
    start, end = min(rule.start for rule in crossing), max(rule.end for rule in crossing)
    if start < edges[0] - least and _together(rule.start - start for rule in crossing):
        edges.insert(0, start)
    if end > edges[-1] + least and _together(end - rule.end for rule in crossing):
        edges.append(end)
    return edges


def _together(distances: Iterable[float]) -> bool:
    """Tell whether two lines or more are as near as that."""
    return sum(distance <= THIN for distance in distances) > 1


def _cells(lefts: list[float], tops: list[float], across: Sequence[Rule], down: Sequence[Rule]) -> list[list[int]]:
    """Number the slots, row by row; one that no line parts from that above or on its left has its number."""
    x, y = np.array(lefts), np.array(tops)
    above: Flags = np.zeros((len(tops), len(lefts) - 1), bool)  # whether a line is drawn above a slot
    for rule in across:
        above[tops.index(rule.place)] |= (rule.start <= x[:-1] + THIN) & (rule.end >= x[1:] - THIN)
    before: Flags = np.zeros((len(tops) - 1, len(lefts)), bool)  # whether one is drawn on its left
    for rule in down:
        before[:, lefts.index(rule.place)] |= (rule.start <= y[1:] + THIN) & (rule.end >= y[:-1] - THIN)
    names: list[int] = []  # of each number, that which it was found to be the same as
    cells: list[list[int]] = []
    for row, (is_above, is_before) in enumerate(zip(above.tolist(), before.tolist(), strict=False)):
        cells.append([])
        for column in range(len(lefts) - 1):
            upper = None if row == 0 or is_above[column] else _name(names, cells[row - 1][column])
            left = None if column == 0 or is_before[column] else _name(names, cells[row][column - 1])
            if upper is None and left is None:
                names.append(len(names))
                cells[row].append(names[-1])
                continue
            name = min(number for number in (upper, left) if number is not None)
            for number in (upper, left):
                if number is not None:
                    names[number] = name
            cells[row].append(name)
    return [[_name(names, number) for number in line] for line in cells]


def _name(names: list[int], number: int) -> int:
    while names[number] != number:
        names[number] = names[names[number]]
        number = names[number]
    return number
