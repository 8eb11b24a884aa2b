"""Tables with ruled lines, found by pdfplumber where it is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from types import ModuleType
from typing import Any, NamedTuple

from chunkwise.core.errors import ReadError, require
from chunkwise.readers.pdf.aligned import Table, n_header
from chunkwise.readers.pdf.words import TABLE, Box, Word

# The share of its cells that holds text in a table that is one, and not a drawing.
_FILLED = 0.4

# At 0.07 seconds a page, so many take a quarter of the minute that a document has in a batch: see `Limits`.
_MOST_PAGES = 200
# What pdfplumber lets through where a damaged file has something else than it expects.
_STUMBLES = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

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
        self._n_pages = 0

    def on_page(self, number: int, words: Sequence[Word]) -> list[Ruled]:
        """Return the tables of a page, counted from 0, with the words inside them.

        Cost: about a tenth of a second a page.
        Raises: MissingExtraError where the extra is not installed; ReadError where pdfplumber can't read the page, or
        has read many already.
        """
        self._n_pages += 1
        if self._n_pages > _MOST_PAGES:
            raise ReadError(f"page {number + 1}: more than {_MOST_PAGES} pages have ruled lines")
        pdfplumber = require("pdfplumber", extra="pdf-tables")
        exceptions = require("pdfplumber.utils.exceptions", extra="pdf-tables")
        try:
            found = self._find(pdfplumber, number)
        except (exceptions.PdfminerException, exceptions.MalformedPDFException, *_STUMBLES) as err:
            raise ReadError(f"page {number + 1}: {err}") from err
        tables = (_table(rows, words) for rows in found)
        return [table for table in tables if table is not None]

    def _find(self, pdfplumber: ModuleType, number: int) -> list[list[list[Cell]]]:
        if self._file is None:
            self._file = pdfplumber.open(BytesIO(self._content), password=self._password)
        page = self._file.pages[number]
        left, bottom = page.mediabox[:2]  # pdfplumber counts from there, downwards from the page's top
        found = [
            [[_placed(cell, left, bottom + page.height) for cell in row.cells] for row in table.rows]
            for table in page.find_tables()
        ]
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
            kept.append(Word(TABLE, *tables[place].box, True, True, False, word.char))
    return kept


def _placed(cell: Cell, left: float, top: float) -> Cell:
    """Return a box in PDF's coordinates."""
    return None if cell is None else (left + cell[0], top - cell[3], left + cell[2], top - cell[1])


def _table(rows: Sequence[Sequence[Cell]], words: Sequence[Word]) -> Ruled | None:
    """Return a table with the words that lie in its cells, if it is one."""
    boxes = [cell for row in rows for cell in row if cell is not None]
    if not boxes:
        return None
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    box = (min(lefts), min(bottoms), max(rights), max(tops))
    inside = [word for word in words if holds(box, word)]
    width = max(map(len, rows))
    texts = [line for row in rows for line in _lines(row, inside, width) if any(line)]
    used = [column for column in range(width) if any(line[column] for line in texts)]
    n_filled = sum(cell != "" for line in texts for cell in line)
    if len(texts) < 2 or len(used) < 2 or n_filled < _FILLED * len(texts) * len(used):
        return None
    kept = tuple(tuple(line[column] for column in used) for line in texts)
    return Ruled(box, Table(kept, n_header(kept)))


def _lines(row: Sequence[Cell], words: Sequence[Word], width: int) -> list[list[str]]:
    """Return the cells of a row as text; of one whose cells all have as many lines at one height, a row for each."""
    cells = [[word for word in words if cell is not None and holds(cell, word)] for cell in row]
    cells += [[] for _ in range(width - len(row))]
    heights = [list(dict.fromkeys(round(word.bottom) for word in cell)) for cell in cells if cell]
    if heights and len(heights) > 1 and all(others == heights[0] for others in heights):
        return [
            [_text(word for word in cell if round(word.bottom) == height) for cell in cells] for height in heights[0]
        ]
    return [[_text(cell) for cell in cells]]


def holds(box: Box, word: Word) -> bool:
    """Tell whether the middle of a word lies in a box."""
    return box[0] <= (word.left + word.right) / 2 <= box[2] and box[1] <= (word.bottom + word.top) / 2 <= box[3]


def _text(words: Iterable[Word]) -> str:
    return " ".join(word.text for word in words)
