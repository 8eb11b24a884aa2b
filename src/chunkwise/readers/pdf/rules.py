"""Ruled lines on a page: those that its paths draw across and down, and the sides of their rectangles."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from chunkwise.readers.pdf.words import Box

# In points: a path that is thinner is a line; lines that are that near are one, and touch what is that near to them.
THIN = 3.0
# In points: how wide and how high the cells of a table are at least, and how long its lines.
WIDE, HIGH = 12.0, 6.0
# No more objects of a page and lines of a path are looked at, and no forms that are nested deeper.
_MOST_OBJECTS, _MOST_SEGMENTS, _DEEPEST = 5000, 1000, 3
# A line has two segments, a rectangle four or five, the box of either says all; three show whether one has corners.
_LINE, _CORNER, _RECTANGLE = 2, 3, 5
# A path with more lines aslant, or points of curves, is a drawing's.
_MOST_ASLANT = 16
# More lines one way are a drawing's.
_MOST_LINES = 500

Point = tuple[float, float]
Matrix = tuple[float, float, float, float, float, float]


class Rule(NamedTuple):
    """A line across the page, whose `place` is how high it is, or down it, where that is how far to the right."""

    place: float
    start: float
    end: float


def page_rules(page: Any) -> tuple[list[Rule], list[Rule]]:
    """Return the lines across a page and those down it, or none where they are those of a drawing.

    Cost: a few calls an object of the page.
    """
    across: list[Rule] = []
    down: list[Rule] = []
    for left, bottom, right, top in _boxes(page):
        wide, high = right - left > THIN, top - bottom > THIN
        if wide and high:
            across += (Rule(bottom, left, right), Rule(top, left, right))
            down += (Rule(left, bottom, top), Rule(right, bottom, top))
        elif wide:
            across.append(Rule((bottom + top) / 2, left, right))
        elif high:
            down.append(Rule((left + right) / 2, bottom, top))
    across, down = _merged(across, WIDE), _merged(down, HIGH)
    return (across, down) if max(len(across), len(down)) <= _MOST_LINES else ([], [])


def _merged(rules: Iterable[Rule], shortest: float) -> list[Rule]:
    """Join the rules that lie on one line and touch; what is too short then is left out."""
    lines: list[list[Rule]] = []
    for rule in sorted(rules):
        if lines and rule.place - lines[-1][0].place <= THIN:
            lines[-1].append(rule)
        else:
            lines.append([rule])
    merged: list[Rule] = []
    for line in lines:
        place = sum(rule.place for rule in line) / len(line)
        line.sort(key=lambda rule: rule.start)
        _, start, end = line[0]
        for rule in line:
            if rule.start > end + THIN:
                merged.append(Rule(place, start, end))
                _, start, end = rule
            end = max(end, rule.end)
        merged.append(Rule(place, start, end))
    # A damaged file may hold numbers that are none.
    return [rule for rule in merged if rule.end - rule.start >= shortest and math.isfinite(sum(rule))]


def _boxes(page: Any) -> Iterator[Box]:
    """Yield the boxes of the lines and rectangles of a page; those of lines aslant and of curves are left out."""
    edges = [ctypes.c_float() for _ in range(4)]
    # Looked up once, because a drawing has thousands of paths.
    bounds, pointers = pdfium.FPDFPageObj_GetBounds, [ctypes.byref(edge) for edge in edges]
    for path, placing in _paths(page):
        bounds(path, *pointers)
        left, bottom, right, top = [edge.value for edge in edges]
        box = (left, bottom, right, top) if placing is None else _placed((left, bottom, right, top), placing)
        wide, high = box[2] - box[0], box[3] - box[1]
        if min(wide, high) <= THIN:  # a line, which may be dashed
            yield box
        elif max(wide, high) >= WIDE:  # no mark, arrow or letter
            n_segments = pdfium.FPDFPath_CountSegments(path)
            if n_segments > _RECTANGLE:
                yield from _lines(path, min(n_segments, _MOST_SEGMENTS), placing)
            elif n_segments > _LINE and len(list(_lines(path, _CORNER, placing))) == _CORNER - 1:
                yield box  # which holds its stroke, too


def _paths(page: Any) -> Iterator[tuple[Any, Matrix | None]]:
    """Yield the paths of a page, and those of the forms on it with what places these on the page."""
    n_objects = min(pdfium.FPDFPage_CountObjects(page), _MOST_OBJECTS)
    waiting: list[tuple[Any, Matrix | None, int]]
    waiting = [(pdfium.FPDFPage_GetObject(page, index), None, 0) for index in range(n_objects)]
    n_seen = 0
    while waiting and n_seen < _MOST_OBJECTS:
        drawn, placing, depth = waiting.pop()
        n_seen += 1
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            yield drawn, placing
        elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            inner = _product(_matrix(drawn), placing)
            n_inner = min(pdfium.FPDFFormObj_CountObjects(drawn), _MOST_OBJECTS)
            waiting += [(pdfium.FPDFFormObj_GetObject(drawn, index), inner, depth + 1) for index in range(n_inner)]


def _matrix(drawn: Any) -> Matrix:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(drawn, matrix)
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _product(first: Matrix, then: Matrix | None) -> Matrix:
    """Return the matrix that places by one and then by another."""
    if then is None:
        return first
    a, b, c, d, e, f = first
    g, h, i, j, k, m = then
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _lines(path: Any, n_segments: int, placing: Matrix | None) -> Iterator[Box]:
    """Yield the boxes of the lines of a path that run across or down."""
    a, b, c, d, e, f = _product(_matrix(path), placing)
    x, y = ctypes.c_float(), ctypes.c_float()
    start: Point = (0.0, 0.0)
    last: Point = (0.0, 0.0)
    n_aslant = 0
    for index in range(n_segments):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        across, up = x.value, y.value
        point = (a * across + c * up + e, b * across + d * up + f)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO and _is_straight(last, point):
            yield _box(last, point)
        else:
            n_aslant += 1
            if n_aslant > _MOST_ASLANT:
                return
        if point != start and _is_straight(point, start) and pdfium.FPDFPathSegment_GetClose(segment):
            yield _box(point, start)
        last = point


def _placed(box: Box, placing: Matrix) -> Box:
    """Return where a box of a form lies on the page."""
    a, b, c, d, e, f = placing
    left, bottom, right, top = box
    return _box(
        (a * left + c * bottom + e, b * left + d * bottom + f), (a * right + c * top + e, b * right + d * top + f)
    )


def _is_straight(one: Point, other: Point) -> bool:
    return abs(one[0] - other[0]) <= THIN or abs(one[1] - other[1]) <= THIN


def _box(one: Point, other: Point) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])
