"""Tables with ruled lines, found by pdfplumber where it is installed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from chunkwise.core.errors import require
from chunkwise.readers.pdf.aligned import Table, n_header
from chunkwise.readers.pdf.words import TABLE, Box, Word

# In points: a path that is thinner is a line; rows and columns are larger.
_THIN, _LONG, _HIGH = 3.0, 12.0, 6.0
# A table with rules has so many lines across and down at least, those of its frame included.
_FEWEST_ACROSS, _FEWEST_DOWN = 3, 2
# A path of so many segments may be a whole grid.
_GRID = 8
# No more objects of a page are looked at, and none deeper in forms that are drawn as one.
_MOST_OBJECTS, _DEEPEST = 4000, 3
# The share of its cells that holds text in a table that is one, and not a drawing.
_FILLED = 0.4

Cell = Box | None


class Ruled(NamedTuple):
    """A table, and the box that it fills on the page, in points."""

    box: Box
    table: Table


class RuledTables:
    """The tables with rules of one file; pdfplumber opens it when the first page is asked for."""

    def __init__(self, content: bytes, password: str) -> None:
        self._content, self._password = content, password
        self._file: Any = None

    def on_page(self, number: int, words: Sequence[Word], top: float) -> list[Ruled]:
        """Return the tables of a page, counted from 0, with the words inside them; `top` is the page's upper edge.

        Cost: about a tenth of a second a page. Raises: MissingExtraError where the extra is not installed.
        """
        found = self._find(number)
        tables = (_table([[_turned(cell, top) for cell in row] for row in rows], words) for rows in found)
        return [table for table in tables if table is not None]

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _find(self, number: int) -> list[list[list[Cell]]]:
        pdfplumber = require("pdfplumber", extra="pdf-tables")
        if self._file is None:
            self._file = pdfplumber.open(BytesIO(self._content), password=self._password)
        page = self._file.pages[number]
        found = [[row.cells for row in table.rows] for table in page.find_tables()]
        page.close()
        return found


def replaced(words: Sequence[Word], tables: Sequence[Ruled]) -> list[Word]:
    """Return the words with one word of its size for each table, where its first one was drawn."""
    kept: list[Word] = []
    placed: set[int] = set()
    for word in words:
        place = next((index for index, table in enumerate(tables) if holds(table.box, word)), None)
        if place is None:
            kept.append(word)
        elif place not in placed:
            placed.add(place)
            kept.append(Word(TABLE, *tables[place].box, True, True, word.char))
    return kept


def has_rules(page: Any) -> bool:
    """Tell whether a page has lines across and down that may be a table's. Cost: a call or two an object."""
    across = down = 0
    for path in _paths(page):
        left, bottom, right, top = _bounds(path)
        width, height = right - left, top - bottom
        if width >= _LONG and height >= _HIGH:
            n_lines = 3 if pdfium.FPDFPath_CountSegments(path) >= _GRID else 1
            across, down = across + n_lines, down + n_lines
        elif width >= _LONG and height <= _THIN:
            across += 1
        elif height >= _HIGH and width <= _THIN:
            down += 1
        if across >= _FEWEST_ACROSS and down >= _FEWEST_DOWN:
            return True
    return False


def _paths(page: Any) -> Iterator[Any]:
    """Yield the paths of a page and of the forms on it."""
    waiting = [(pdfium.FPDFPage_GetObject(page, index), 0) for index in range(_n_objects(page))]
    waiting.reverse()
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


def _n_objects(page: Any) -> int:
    return min(int(pdfium.FPDFPage_CountObjects(page)), _MOST_OBJECTS)


def _bounds(drawn: Any) -> Box:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value


def _turned(cell: Cell, top: float) -> Cell:
    """Turn a box that is measured from the top of the page."""
    return None if cell is None else (cell[0], top - cell[3], cell[2], top - cell[1])


def _table(rows: Sequence[Sequence[Cell]], words: Sequence[Word]) -> Ruled | None:
    """Return a table with the words that lie in its cells, if it is one."""
    boxes = [cell for row in rows for cell in row if cell is not None]
    if len(rows) < 2 or max(map(len, rows)) < 2 or not boxes:
        return None
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    box = (min(lefts), min(bottoms), max(rights), max(tops))
    inside = [word for word in words if holds(box, word)]
    texts = tuple(tuple(_text(cell, inside) if cell else "" for cell in row) for row in rows)
    filled = [row for row in texts if any(row)]
    n_filled = sum(cell != "" for row in filled for cell in row)
    if len(filled) < 2 or n_filled < _FILLED * sum(map(len, filled)) or max(map(len, filled)) < 2:
        return None
    columns = [
        column for column in range(max(map(len, filled))) if any(row[column : column + 1] != ("",) for row in filled)
    ]
    if len(columns) < 2:
        return None
    kept = tuple(tuple(row[column] for column in columns if column < len(row)) for row in filled)
    return Ruled(box, Table(kept, n_header(kept)))


def holds(box: Box, word: Word) -> bool:
    """Tell whether the middle of a word lies in a box."""
    return box[0] <= (word.left + word.right) / 2 <= box[2] and box[1] <= (word.bottom + word.top) / 2 <= box[3]


def _text(cell: Box, words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words if holds(cell, word))
