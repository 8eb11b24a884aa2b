"""Ruled lines on a page: whether some of them make a grid, as those of a table do."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as pdfium

from chunkwise.readers.pdf.words import Box

# In points: a path that is thinner is a line; edges that are that near are one.
_THIN = 3.0
# In points: how wide and how high the cells of a table are at least.
_WIDE, _HIGH = 12.0, 6.0
# Two rows have three lines, and two columns, too.
_FEWEST = 3
# No more objects of a page and lines of a path are looked at, and no forms that are nested deeper.
_MOST_OBJECTS, _MOST_SEGMENTS, _DEEPEST = 2000, 1000, 3
# A rectangle has that many segments; its box says all.
_RECTANGLE = 5

Point = tuple[float, float]


def has_grid(page: Any) -> bool:
    """Tell whether lines across and down a page make two rows and two columns. Cost: a few calls an object."""
    across: dict[tuple[int, int], set[int]] = {}  # where lines start and end -> how high they are
    down: dict[tuple[int, int], set[int]] = {}
    for box in _boxes(page):
        left, bottom, right, top = (round(edge / _THIN) for edge in box)
        wide, high = box[2] - box[0] >= _WIDE, box[3] - box[1] >= _HIGH
        if wide and (high or top - bottom <= 1):
            across.setdefault((left, right), set()).update((bottom, top) if high else (bottom,))
        if high and (wide or right - left <= 1):
            down.setdefault((bottom, top), set()).update((left, right) if wide else (left,))
    rows = [(ends, places) for ends, places in across.items() if len(places) >= _FEWEST]
    columns = [(ends, places) for ends, places in down.items() if len(places) >= _FEWEST]
    return any(_near(row_ends, xs) and _near(column_ends, ys) for row_ends, ys in rows for column_ends, xs in columns)


def _near(ends: tuple[int, int], places: set[int]) -> bool:
    """Tell whether lines end where some of those that cross them are."""
    return all({end - 1, end, end + 1} & places for end in ends)


def _boxes(page: Any) -> Iterator[Box]:
    """Yield the boxes of the paths of a page; of one that draws many lines, those of the lines."""
    for path in _paths(page):
        n_segments = pdfium.FPDFPath_CountSegments(path)
        if n_segments <= _RECTANGLE:
            yield _bounds(path)
        else:
            yield from _line_boxes(path, min(n_segments, _MOST_SEGMENTS))


def _paths(page: Any) -> Iterator[Any]:
    """Yield the paths of a page and of the forms on it."""
    n_objects = min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)
    waiting = [(pdfium.FPDFPage_GetObject(page, index), 0) for index in range(n_objects)]
    n_seen = 0
    while waiting and n_seen < _MOST_OBJECTS:
        drawn, depth = waiting.pop()
        n_seen += 1
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            yield drawn
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            n_inner = min(pdfium.FPDFFormObj_CountObjects(drawn), _MOST_OBJECTS)
            waiting += [(pdfium.FPDFFormObj_GetObject(drawn, index), depth + 1) for index in range(n_inner)]


def _bounds(drawn: Any) -> Box:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value


def _line_boxes(path: Any, n_segments: int) -> Iterator[Box]:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    last: Point = (0.0, 0.0)
    for index in range(n_segments):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        if pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_LINETO:
            yield min(last[0], point[0]), min(last[1], point[1]), max(last[0], point[0]), max(last[1], point[1])
        last = point
