"""The order in which the lines of a page are read: as they are drawn, unless columns are drawn row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from chunkwise.readers.pdf.lines import Line
from chunkwise.readers.pdf.words import Floats

# The share of consecutive lines that must jump from column to column, and how many lines a column has at least.
_JUMPING, _COLUMN = 0.3, 10
# The share of lines that may run across the gap between columns, as titles do.
_CROSSING = 0.25
# In characters: the lines of a column of prose are longer, the cells of a table shorter.
_PROSE = 20
# The share of a column's width that most of its lines fill; cells don't.
_FILLED = 0.6
# In points: lines whose left edges are that near start at one edge.
_EDGE = 2.0
# So many left edges, the most frequent ones, are tried.
_MOST_EDGES = 50
# In points: no column is narrower.
_NARROWEST = 60.0


def in_reading_order(lines: list[Line]) -> list[Line]:
    """Return the lines of a page in the order in which they are read.

    The order of drawing is right for most producers. Where it leads across the columns row by row, the page is cut
    along the gaps between its columns, and each of the parts is read from its top to its bottom.
    """
    if len(lines) < 2 * _COLUMN:
        return lines
    jumps = sum(_jumps(before, after) for before, after in pairwise(lines))
    if jumps < _JUMPING * len(lines):
        return lines
    gutters = _gutters(lines)
    right_to_left = sum(line.right_to_left for line in lines) * 2 > len(lines)
    ordered = _cut(lines, gutters, right_to_left)
    return [line.in_row(row) for row, line in _numbered(ordered)] if gutters else lines


def _jumps(before: Line, after: Line) -> bool:
    """Tell whether a line stands beside the one before it."""
    beside = after.left >= before.right or after.right <= before.left
    height = before.top - before.bottom
    return beside and abs(before.bottom - after.bottom) < height


def _gutters(lines: Sequence[Line]) -> list[float]:
    """Return the left edges of the columns of prose that have another one on their left, the clearest first."""
    lefts = Counter(round(line.left / _EDGE) for line in lines)
    edges = [edge for edge, _ in lefts.most_common(_MOST_EDGES) if lefts[edge] + lefts[edge + 1] >= _COLUMN]
    found: list[tuple[int, float]] = []
    starts, ends, lengths = np.array([(line.left, line.right, len(line.text)) for line in lines], np.float64).T
    widths = ends - starts
    for x in sorted((edge - 0.5) * _EDGE for edge in edges):
        left, right = ends <= x, starts >= x
        n_crossing = len(lines) - int(left.sum()) - int(right.sum())
        if n_crossing > _CROSSING * len(lines):
            continue
        if _is_prose(widths[left], lengths[left]) and _is_prose(widths[right], lengths[right]):
            found.append((n_crossing, x))
    gutters: list[float] = []
    for _, x in sorted(found):
        if all(abs(x - other) >= _NARROWEST for other in gutters):
            gutters.append(x)
    return gutters


def _is_prose(widths: Floats, lengths: Floats) -> bool:
    """Tell whether lines, by their widths in points and lengths in characters, are those of a column of prose."""
    if len(widths) < _COLUMN:
        return False
    ordered = np.sort(widths)
    widest = ordered[int(0.9 * len(widths))]  # a title may be wider than what is under it
    return _middle(ordered) >= _FILLED * widest and _middle(np.sort(lengths)) >= _PROSE


def _middle(ordered: Floats) -> float:
    """Return the median of numbers in order; numpy's own takes ten times as long for so few."""
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _cut(lines: Sequence[Line], gutters: Sequence[float], right_to_left: bool) -> list[Line]:
    """Order lines band by band, which those across a gutter part, and column by column in each."""
    if not gutters:
        return _rows(lines)
    x, *others = gutters
    ordered: list[Line] = []
    band: list[Line] = []

    def columns() -> list[Line]:
        left = _cut([line for line in band if line.left < x], [other for other in others if other < x], right_to_left)
        right = _cut([line for line in band if line.left >= x], [other for other in others if other > x], right_to_left)
        return right + left if right_to_left else left + right

    for line in sorted(lines, key=lambda line: -line.bottom):
        if line.left < x < line.right:
            ordered += [*columns(), line]
            band = []
        else:
            band.append(line)
    return ordered + columns()


def _rows(lines: Sequence[Line]) -> list[Line]:
    """Order lines from top to bottom, and those of a row from left to right."""
    ordered: list[Line] = []
    row: list[Line] = []
    for line in sorted(lines, key=lambda line: -line.bottom):
        if row and row[0].bottom - line.bottom > (row[0].top - row[0].bottom) / 2:
            ordered += sorted(row, key=lambda line: line.left)
            row = []
        row.append(line)
    return ordered + sorted(row, key=lambda line: line.left)


def _numbered(lines: Sequence[Line]) -> list[tuple[int, Line]]:
    """Number the rows anew: lines are of one where they follow each other to the right."""
    numbered: list[tuple[int, Line]] = []
    row = 0
    for index, line in enumerate(lines):
        before = lines[index - 1] if index else None
        if before is not None and not (_jumps(before, line) and line.left >= before.right):
            row += 1
        numbered.append((row, line))
    return numbered
