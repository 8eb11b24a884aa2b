"""Running heads, feet and page numbers: what stands at the edge of page after page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from statistics import median
from typing import NamedTuple

from chunkwise.readers.pdf.lines import Line, joined

# The share of a page's height, at its top and at its bottom, in which running heads stand.
_BAND = 0.12
# In points: a running head stands at the same height on its pages, but for that.
_DRIFT = 4.0
# A head is on so many pages at least, and on that share of those from its first to its last (left pages, right pages).
_FEWEST, _SHARE = 3, 0.4
# In heights of a line: the space between a head and the text is wider, that between the rows of a table is not.
_SPACE = 0.8
# A line with a number in it that is on that share of all pages needs no such space.
_NEARLY_ALL = 0.5
_NUMBER = re.compile(r"\d+|(?<!\w)[ivxlc]+(?!\w)", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|p\.|seite|página|стр\.)\s*)?#(?:\s*(?:of|/|von|de|из|\|)\s*#)?(?:\s*\|?\s*p\s?a\s?g\s?e)?\W*"
)


class Edge(NamedTuple):
    """A row in the top or bottom band of a page; `apart` tells whether space parts it from the text."""

    page: int
    row: int
    text: str
    distance: float
    top: bool
    apart: bool

    @property
    def pattern(self) -> str:
        """Its text with # for numbers, in lower case."""
        return _NUMBER.sub("#", self.text).lower()


def edges(lines: Sequence[Line], bottom: float, top: float) -> list[Edge]:
    """Return the rows of a page that may be a running head or foot, by their place alone."""
    rows = [joined(list(row)) for _, row in groupby(lines, key=lambda line: line.row)]
    found: list[Edge] = []
    for at_top in (True, False):
        inward = sorted(rows, key=lambda row: -row.top if at_top else row.bottom)
        near: list[Line] = []
        for index, row in enumerate(inward):
            distance = top - row.top if at_top else row.bottom - bottom
            if distance > _BAND * (top - bottom):
                break
            near.append(row)
            following = inward[index + 1] if index + 1 < len(inward) else None
            space = _space(row, following, at_top)
            if space > _SPACE * (row.top - row.bottom) or following is None:
                found += [_edge(line, bottom, top, at_top, apart=True) for line in near]
                near = []
        found += [_edge(line, bottom, top, at_top, apart=False) for line in near]
    return found


def repeated(rows: Sequence[Edge], n_pages: int) -> tuple[set[tuple[int, int]], list[str]]:
    """Return the page and the row of each running head, foot and page number, and what they are, for a person."""
    groups: dict[tuple[str, bool], list[Edge]] = {}
    for edge in rows:
        groups.setdefault((edge.pattern, edge.top), []).append(edge)
    gone: set[tuple[int, int]] = set()
    told: list[str] = []
    numbers: list[Edge] = []
    for (pattern, top), group in groups.items():
        if _PAGE_NUMBER.fullmatch(pattern):
            numbers += group
            continue
        level = _level(group, n_pages)
        if any(char.isalpha() for char in pattern) and _is_frequent({edge.page for edge in level}, n_pages):
            gone |= {(edge.page, edge.row) for edge in level}
            told.append(_told("running head" if top else "running foot", level))
    counted = _page_numbers(numbers)
    if counted:
        gone |= {(edge.page, edge.row) for edge in counted}
        told.append(_told("page number", counted))
    return gone, told


def _space(row: Line, following: Line | None, at_top: bool) -> float:
    if following is None:
        return 0.0
    return row.bottom - following.top if at_top else following.bottom - row.top


def _edge(line: Line, bottom: float, top: float, at_top: bool, *, apart: bool) -> Edge:
    distance = top - line.top if at_top else line.bottom - bottom
    return Edge(line.page, line.row, line.text, distance, at_top, apart)


def _level(group: Sequence[Edge], n_pages: int) -> list[Edge]:
    """Return the rows of a group that stand where most of it does, and apart from what is no head."""
    usual = median(edge.distance for edge in group)
    varies = "#" in group[0].pattern and len(group) >= max(_FEWEST, _NEARLY_ALL * n_pages)
    return [edge for edge in group if abs(edge.distance - usual) <= _DRIFT and (edge.apart or varies)]


def _is_frequent(pages: set[int], n_pages: int) -> bool:
    if not pages or len(pages) < min(_FEWEST, max(n_pages, 2)):
        return False
    return len(pages) >= _SHARE * (max(pages) - min(pages) + 1)


def _page_numbers(rows: Sequence[Edge]) -> list[Edge]:
    """Return the rows whose first number counts the pages."""
    ahead = {edge: value - edge.page for edge in rows if (value := _value(edge.text)) is not None}
    common = {offset for offset, n_rows in Counter(ahead.values()).items() if n_rows >= 2 or offset == 1}
    return [edge for edge in rows if edge.apart and ahead.get(edge) in common]


def _value(text: str) -> int | None:
    match = _NUMBER.search(text)
    if match is None:
        return None
    return int(match[0]) if match[0].isdecimal() and len(match[0]) < 7 else _roman(match[0])


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}.get(letter, 0) for letter in text.lower()]
    return sum(-value if value < max(values[index:]) else value for index, value in enumerate(values))


def _told(what: str, rows: Sequence[Edge]) -> str:
    n_pages = len({row.page for row in rows})
    text = _NUMBER.sub("#", rows[0].text)
    return f"{what}, {n_pages} page{'s' * (n_pages != 1)}: {text}"
