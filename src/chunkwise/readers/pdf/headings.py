"""Headings: the entries of a document's outline, else lines that are large, bold or numbered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from chunkwise.readers.pdf.lines import Line
from chunkwise.readers.pdf.paragraphs import CAPTION, LEADERS, Body
from chunkwise.readers.pdf.pieces import Piece

# Markdown and HTML know six levels.
_DEEPEST = 6
# A title runs over so many lines at most, and is no longer, in characters; one that is only bold is shorter.
_MOST_LINES, _LONGEST, _LONGEST_BOLD = 4, 200, 120
# The outline is believed where so many of its entries are found on their pages.
_FOUND = 0.5
# No more entries are looked for on one page.
_MOST_ENTRIES = 200
_NUMBERED = re.compile(
    r"(?:(?:chapter|part|section|appendix|article|kapitel|chapitre)\s+)?"
    r"(?P<number>\d{1,3}(?:\.\d{1,3})*|[A-Z](?:\.\d{1,3})+|[A-Z](?=\.\s)|[IVX]{1,5})[.:)]?\s+(?=\S)",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2}")
_NO_END = re.compile(r"[.,;:\u3002]\Z")
_SEPARATORS = re.compile(r"[\W_]+")


class Entry(NamedTuple):
    """A bookmark: its level from 1, and the page that it leads to, from 0."""

    title: str
    level: int
    page: int


def outline_lines(entries: Sequence[Entry], pages: Sequence[Sequence[Line]]) -> dict[tuple[int, int], int]:
    """Return the lines that are titles of the outline, by page and row, with the number of their entry."""
    numbers = {entry.page for entry in entries}
    by_page = {
        lines[0].page: [_Bare.of(line) for line in lines] for lines in pages if lines and lines[0].page in numbers
    }
    found: dict[tuple[int, int], int] = {}
    n_found = 0
    tried: Counter[int] = Counter()
    for number, entry in enumerate(entries):
        tried[entry.page] += 1
        if tried[entry.page] > _MOST_ENTRIES:
            continue
        matches = _matches(entry.title, by_page.get(entry.page, ()), found)
        if matches:
            n_found += 1
            best = max(matches, key=lambda lines: (lines[0].size, lines[0].bold))
            found |= {(line.page, line.row): number for line in best}
    return found if n_found >= _FOUND * len(entries) else {}


def with_headings(pieces: Sequence[Piece], entries: Sequence[Entry], body: Body) -> None:
    """Make headings of the paragraphs that look like some, and give all headings their levels.

    The outline decides, unless it names fewer headings than there are that look like some. Then larger letters stand
    over smaller ones, bold ones over others, and fewer numbers over more.
    """
    named = [piece for piece in pieces if piece.entry >= 0]
    alike = [piece for index, piece in enumerate(pieces) if _is_title(piece, pieces[index + 1 : index + 2], body)]
    if len(named) > len(alike):
        for piece in named:
            piece.level = min(entries[piece.entry].level, _DEEPEST)
        return
    looks = _Looks([*named, *alike])
    for piece in [*named, *alike]:
        piece.kind = "heading"
        piece.level = looks.level(piece)


class _Bare(NamedTuple):
    """A line's letters and digits, and how many of them are its number."""

    line: Line
    text: str
    number: int

    @classmethod
    def of(cls, line: Line) -> _Bare:
        """Return the letters and digits of a line."""
        text = _bare(line.text)
        number = _NUMBERED.match(line.text)
        return cls(line, text, len(_bare(number[0])) if number else 0)


def _matches(title: str, lines: Sequence[_Bare], taken: dict[tuple[int, int], int]) -> list[list[Line]]:
    """Return the runs of lines that a title may be, with or without its number."""
    number = _NUMBERED.match(title)
    wanted = {_bare(title), _bare(title[number.end() :] if number else title)} - {""}
    longest = max(map(len, wanted), default=0)
    found: list[list[Line]] = []
    for start, first in enumerate(lines):
        text = ""
        for end in range(start, min(start + _MOST_LINES, len(lines))):
            line = lines[end].line
            if (line.page, line.row) in taken or line.size != first.line.size:
                break
            text += lines[end].text
            if text in wanted or text[first.number :] in wanted:
                found.append([one.line for one in lines[start : end + 1]])
            if len(text) > longest + first.number:
                break
    return found


def _bare(text: str) -> str:
    return _SEPARATORS.sub("", text).casefold()


def _is_title(piece: Piece, following: Sequence[Piece], body: Body) -> bool:
    text = piece.text
    if piece.kind != "paragraph" or len(piece.lines) > _MOST_LINES or len(text) > _LONGEST:
        return False
    if not _LETTERS.search(text) or CAPTION.match(text) or LEADERS.search(text):
        return False
    if all(body.is_large(line) for line in piece.lines):
        return not text.endswith((",", ";"))
    if _NO_END.search(text) or len(text) > _LONGEST_BOLD or len(piece.lines) > 2 or not following:
        return False
    if piece.lines[0].size < 0.95 * body.size:
        return False
    number = _NUMBERED.match(text)
    start = text[number.end() if number else 0 :][:1]
    if not (start.isupper() or (start.isalpha() and not start.islower())):
        return False
    if all(body.is_bold(line) for line in piece.lines):
        return following[0].kind != "table"
    return number is not None and "." in number["number"] and len(piece.lines) == 1


class _Looks:
    """The levels of headings by how they look: larger, then bold, then with fewer numbers is higher."""

    def __init__(self, headings: Sequence[Piece]) -> None:
        depths: dict[tuple[float, bool], Counter[int]] = {}
        for piece in headings:
            if depth := _depth(piece):
                depths.setdefault(_font(piece), Counter())[depth] += 1
        # One without a number stands beside those with numbers that look alike.
        self._usual = {font: min(counts, key=lambda depth: (-counts[depth], depth)) for font, counts in depths.items()}
        self._ranked = sorted({self._look(piece) for piece in headings})

    def level(self, piece: Piece) -> int:
        """Return a heading's level."""
        return min(self._ranked.index(self._look(piece)) + 1, _DEEPEST)

    def _look(self, piece: Piece) -> tuple[float, bool, int]:
        font = _font(piece)
        return *font, _depth(piece) or self._usual.get(font, 1)


def _font(piece: Piece) -> tuple[float, bool]:
    line = piece.lines[0]
    return -round(line.size), not line.bold


def _depth(piece: Piece) -> int:
    """Return how many numbers a heading has, as 2.1 has two."""
    number = _NUMBERED.match(piece.text)
    return number["number"].count(".") + 1 if number else 0
