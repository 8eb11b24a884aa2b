"""Lines of a page: words on one baseline, with the size and the weight of their letters."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from chunkwise.readers.pdf.words import TABLE, Word, address_of, unchecked

# Words whose boxes overlap by this share of the lower one stand on one line, as a superscript does.
_OVERLAP = 0.5
# In heights of a line. A word that starts so much before the end of the one before is on another line.
_BACKWARDS = 0.7
# In heights of a line. Letters nearer than that to each other belong together although PDFium breaks the line there.
_TOUCHING = 0.1
# In heights of a line. A wider gap is no blank between two words, but one between columns.
_COLUMN_GAP = 0.9
_BOLD = re.compile(rb"bold|black|heavy|cmbx|cmb\d|-bd|demi", re.IGNORECASE)
# The weight from which on a font is bold, of 100 to 900.
_BOLD_WEIGHT = 600
_MONOSPACED = re.compile(rb"mono|courier|consol|cmtt|typewriter|menlo", re.IGNORECASE)
_LEFT, _RIGHT = attrgetter("left"), attrgetter("right")
_LETTER = re.compile(r"[^\W\d_]")
RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff]")


# In bytes: no font has a longer name.
_LONGEST_NAME = 128
_font_size = unchecked(pdfium.FPDFText_GetFontSize, ctypes.c_double)
_font_weight = unchecked(pdfium.FPDFText_GetFontWeight)
_font_matrix = unchecked(pdfium.FPDFText_GetMatrix, ctypes.c_int, ctypes.c_void_p)
_font_info = unchecked(pdfium.FPDFText_GetFontInfo, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p)


class Line(NamedTuple):
    """Words on one baseline without a wide gap; or, joined, all of a row, with its parts as `cells`.

    Boxes and sizes are in points. `page` counts from 0, `row` within the page; `lead` is the width of the first word.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    bold: bool
    monospaced: bool
    lead: float
    page: int
    row: int
    cells: tuple[Line, ...] = ()

    def in_row(self, row: int) -> Line:
        """Return it with another row; `_replace` takes three times as long."""
        return Line(*self[:10], row, self.cells)

    def moved_to(self, left: float) -> Line:
        """Return it with another left edge."""
        return Line(self.text, left, *self[2:])

    @property
    def right_to_left(self) -> bool:
        """Whether its first letter is one of a script that runs so."""
        letter = None if self.text.isascii() else _LETTER.search(self.text)
        return letter is not None and RIGHT_TO_LEFT.match(letter[0]) is not None


def page_lines(textpage: Any, words: Sequence[Word], page: int) -> list[Line]:
    """Join words to lines, in the order in which they come; a row of columns gives several."""
    style = _Style(textpage)
    lines: list[Line] = []
    start, row = 0, 0
    for index, (before, word) in enumerate(pairwise(words), 1):
        plain = not (word.breaks or word.turned or before.turned) and word.bottom == before.bottom  # most words
        same_row = (plain and before.text != TABLE) or _same_row(words[start], before, word)
        if not same_row or _parts_columns(before, word):
            lines.append(_line(words[start:index], style, page, row))
            start, row = index, row if same_row else row + 1
    if words:
        lines.append(_line(words[start:], style, page, row))
    return lines


def joined_rows(lines: Iterable[Line]) -> list[Line]:
    """Join lines that follow each other in one row."""
    rows = (list(row) for _, row in groupby(lines, key=lambda line: line.row))
    return [joined(row) for row in rows]


def joined(cells: Sequence[Line]) -> Line:
    """Return one line of several in a row; the longest gives its size."""
    if len(cells) == 1:
        return cells[0]
    merged = [cells[0]]
    for cell in cells[1:]:  # pieces that were drawn out of order may touch now
        near = cell.left - merged[-1].right <= _COLUMN_GAP * min(
            cell.top - cell.bottom, merged[-1].top - merged[-1].bottom
        )
        if near:
            merged[-1] = _merged([merged[-1], cell])
        else:
            merged.append(cell)
    return _merged(merged)._replace(cells=tuple(merged)) if len(merged) > 1 else merged[0]


def _merged(lines: Sequence[Line]) -> Line:
    return max(lines, key=lambda line: len(line.text))._replace(
        text=" ".join(line.text for line in lines),
        left=min(line.left for line in lines),
        right=max(line.right for line in lines),
        bold=all(line.bold for line in lines),
        monospaced=all(line.monospaced for line in lines),
        lead=lines[0].lead,
    )


def _same_row(first: Word, before: Word, word: Word) -> bool:
    """Tell whether a word stands on the line of the word before it."""
    if before.turned or word.turned:
        return before.turned and word.turned
    if before.text == TABLE or word.text == TABLE:
        return False
    if not (_overlap(first, word) or _overlap(before, word)):
        return False
    if not word.breaks or word.left >= before.right - _BACKWARDS * max(min(before.height, word.height), 1):
        return True
    return RIGHT_TO_LEFT.search(before.text + word.text) is not None


def _overlap(one: Word, other: Word) -> bool:
    height = min(one.top - one.bottom, other.top - other.bottom)
    return min(one.top, other.top) - max(one.bottom, other.bottom) >= _OVERLAP * height


def _parts_columns(one: Word, other: Word) -> bool:
    return _gap(one, other) > _COLUMN_GAP * min(one.top - one.bottom, other.top - other.bottom)


def _gap(one: Word, other: Word) -> float:
    """Return how far apart two words of a row are, whichever is left; below 0 if they overlap."""
    return other.left - one.right if other.left >= one.left else one.left - other.right


def _line(words: Sequence[Word], style: _Style, page: int, row: int) -> Line:
    if len(words) == 1:  # as in most cells of a table
        (word,) = words
        text, left, bottom, right, top, *_ = word
        return Line(text, left, bottom, right, top, style.size(word), *style.font(word.char), right - left, page, row)
    body = max(words, key=_width)  # no superscript
    bold, monospaced = style.font(words[0].char)
    if bold or monospaced:  # most lines are neither
        last_bold, last_monospaced = style.font(words[-1].char)
        bold, monospaced = bold and last_bold, monospaced and last_monospaced
    return Line(
        _text(words),
        min(map(_LEFT, words)),
        body.bottom,
        max(map(_RIGHT, words)),
        body.top,
        style.size(body),
        bold,
        monospaced,
        words[0].right - words[0].left,
        page,
        row,
    )


def _width(word: Word) -> float:
    return word.right - word.left


def _text(words: Sequence[Word]) -> str:
    pieces = [words[0].text]
    for before, word in pairwise(words):
        if word.breaks:
            level = abs(before.height - word.height) < 1 and before.bottom == word.bottom
            pieces.append("" if level and _gap(before, word) < _TOUCHING * word.height else " ")
        elif word.parted:
            pieces.append(" ")
        pieces.append(word.text)
    return "".join(pieces)


class _Style:
    """The fonts of a page's characters."""

    def __init__(self, textpage: Any) -> None:
        self._page = address_of(textpage)
        self._name, self._matrix = ctypes.create_string_buffer(_LONGEST_NAME), pdfium.FS_MATRIX()
        self._name_address, self._matrix_address = ctypes.addressof(self._name), ctypes.addressof(self._matrix)
        self._fonts: dict[bytes, tuple[bool, bool]] = {}

    def size(self, word: Word) -> float:
        """Return the size of a word's font as it is drawn, to a tenth of a point."""
        size = _font_size(self._page, word.char)
        if _font_matrix(self._page, word.char, self._matrix_address):
            size *= math.hypot(self._matrix.c, self._matrix.d)
        return round(size if 0 < size < math.inf else word.height, 1)

    def font(self, index: int) -> tuple[bool, bool]:
        """Tell whether a character's font is bold, and whether all of its letters are equally wide."""
        _font_info(self._page, index, self._name_address, _LONGEST_NAME, None)
        name = self._name.value
        if name not in self._fonts:
            heavy = _font_weight(self._page, index) >= _BOLD_WEIGHT
            self._fonts[name] = (heavy or _BOLD.search(name) is not None, _MONOSPACED.search(name) is not None)
        return self._fonts[name]
