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
# In sizes of most lines: what is larger, at the top, and has another number on each page is a heading.
_LARGE = 1.25
_NUMBER = re.compile(r"\d+|(?<!\w)[ivxlc]+(?!\w)", re.IGNORECASE)
_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:page|p\.|seite|página|стр\.)\s*)?#(?:\s*(?:of|/|von|de|из|\|)\s*#)?(?:\s*\|?\s*p\s?a\s?g\s?e)?\W*"
)
# In characters: a longer line is no number of a page.
_LONGEST_NUMBER = 40
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class Edge(NamedTuple):
    """A row in the top or bottom band of a page; `distance` is how far, in points, it is from the page's edge.

    `apart` tells whether space parts it from the text, `large` whether its letters are larger than the page's.
    """

    page: int
    row: int
    text: str
    distance: float
    top: bool
    apart: bool
    large: bool

    @property
    def pattern(self) -> str:
        """Its text with # for numbers, in lower case."""
        return _NUMBER.sub("#", self.text).lower()


def edges(lines: Sequence[Line], bottom: float, top: float) -> list[Edge]:
    """Return the rows of a page that may be a running head or foot by their place, from the page's edges inward."""
    if not lines:
        return []
    usual = median(line.size for line in lines)
    near_edge = 2 * _BAND * (top - bottom)
    found: list[Edge] = []
    for at_top in (True, False):
        outer = [line for line in lines if (top - line.top if at_top else line.bottom - bottom) < near_edge]
        rows = [joined(list(row)) for _, row in groupby(outer, key=lambda line: line.row)]
        inward = sorted(rows, key=lambda row: -row.top if at_top else row.bottom)
        near: list[Edge] = []
        for index, row in enumerate(inward):
            distance = top - row.top if at_top else row.bottom - bottom
            if distance > _BAND * (top - bottom):
                break
            large = row.size > _LARGE * usual
            near.append(Edge(row.page, row.row, row.text, distance, at_top, apart=False, large=large))
            if index + 1 == len(inward) or _space(row, inward[index + 1]) > _SPACE * (row.top - row.bottom):
                found += [edge._replace(apart=True) for edge in near]
                near = []
        found += near
    return found


def repeated(rows: Sequence[Edge], n_pages: int) -> tuple[set[tuple[int, int]], list[str]]:
    """Return the page and the row of each running head, foot and page number, and what they are, for a person."""
    groups: dict[tuple[str, bool], list[Edge]] = {}
    for edge in rows:
        groups.setdefault((edge.pattern, edge.top), []).append(edge)
    numbers = [edge for (pattern, _), group in groups.items() if _is_page_number(pattern) for edge in group]
    heads: dict[Edge, str] = dict.fromkeys(_page_numbers(numbers), "page number")
    for (pattern, top), group in groups.items():
        if any(char.isalpha() for char in pattern) and not _is_page_number(pattern):
            level = _level(group, n_pages)
            if _is_frequent({edge.page for edge in level}, n_pages) and not _is_data(level):
                heads |= dict.fromkeys(level, "running head" if top else "running foot")
    heads |= _alike(rows, heads)
    gone = _outermost(rows, heads)
    return {(edge.page, edge.row) for edge in gone}, _told(gone, heads)


def _is_page_number(pattern: str) -> bool:
    return len(pattern) <= _LONGEST_NUMBER and _PAGE_NUMBER.fullmatch(pattern) is not None


def _space(row: Line, other: Line) -> float:
    """Return how far apart two rows are that do not overlap."""
    return max(row.bottom - other.top, other.bottom - row.top)


def _level(group: Sequence[Edge], n_pages: int) -> list[Edge]:
    """Return the rows of a group that stand where most of it does, and apart from what is no head."""
    usual = median(edge.distance for edge in group)
    varies = len({edge.text for edge in group}) > 1
    most = varies and len(group) >= max(_FEWEST, _NEARLY_ALL * n_pages)
    return [
        edge
        for edge in group
        if abs(edge.distance - usual) <= _DRIFT and (edge.apart or most) and not (edge.large and edge.top and varies)
    ]


def _is_frequent(pages: set[int], n_pages: int) -> bool:
    if not pages or len(pages) < min(_FEWEST, max(n_pages, 2)):
        return False
    return len(pages) >= _SHARE * (max(pages) - min(pages) + 1)


def _is_data(group: Sequence[Edge]) -> bool:
    """Tell whether rows differ in numbers that count no pages, as the totals of many invoices in one file do."""
    if 2 * len({edge.text for edge in group}) <= len(group):  # as "Chapter 1" does on all of its pages
        return False
    numbers = [[_number(match) for match in _NUMBER.findall(edge.text)] for edge in group]
    return not any(
        2 * Counter(values[place] - edge.page for edge, values in zip(group, numbers, strict=True)).most_common(1)[0][1]
        > len(group)
        for place in range(len(numbers[0]))
    )


def _number(text: str) -> int:
    return int(text[-9:]) if text.isdecimal() else _value(text) or 0


def _page_numbers(rows: Sequence[Edge]) -> list[Edge]:
    """Return the rows whose first number counts the pages."""
    ahead = {edge: value - edge.page for edge in rows if (value := _value(edge.text)) is not None}
    common = {offset for offset, n_rows in Counter(ahead.values()).items() if n_rows >= 2 or offset == 1}
    return [edge for edge in rows if edge.apart and ahead.get(edge) in common]


def _alike(rows: Sequence[Edge], heads: dict[Edge, str]) -> dict[Edge, str]:
    """Return the rows with the number of the page that stand where heads do: those of a chapter of one or two pages."""
    places = Counter((edge.top, round(edge.distance)) for edge in heads)
    ahead = Counter(_last_value(edge.text) - edge.page for edge in heads)
    return {
        edge: "running head" if edge.top else "running foot"
        for edge in rows
        if edge not in heads
        and edge.apart
        and not edge.large
        and places[edge.top, round(edge.distance)] >= _FEWEST
        and ahead[_last_value(edge.text) - edge.page] >= _FEWEST
    }


def _outermost(rows: Sequence[Edge], heads: dict[Edge, str]) -> list[Edge]:
    """Return the heads between which and the edge of the page is nothing but heads."""
    gone: list[Edge] = []
    for _, inward in groupby(rows, key=lambda edge: (edge.page, edge.top)):
        for edge in inward:
            if edge not in heads:
                break
            gone.append(edge)
    return gone


def _value(text: str) -> int | None:
    """Return the first number in a text, which may be Roman."""
    match = _NUMBER.search(text)
    if match is None:
        return None
    if match[0].isdecimal():
        return int(match[0]) if len(match[0]) < 7 else None
    values = [_ROMAN[letter] for letter in match[0].lower()]
    return sum(-value if value < max(values[index:]) else value for index, value in enumerate(values))


def _last_value(text: str) -> int:
    numbers = _NUMBER.findall(text)
    return (_value(numbers[-1]) or 0) if numbers else 0


def _told(gone: Sequence[Edge], heads: dict[Edge, str]) -> list[str]:
    """Return a line for each kind of head: its words where they are the same on all pages, else with # for numbers."""
    groups: dict[tuple[str, str], list[Edge]] = {}
    for edge in gone:
        pattern = "" if heads[edge] == "page number" else edge.pattern
        groups.setdefault((heads[edge], pattern), []).append(edge)
    told: list[str] = []
    for (what, _), group in groups.items():
        n_pages = len({edge.page for edge in group})
        same = len({edge.text for edge in group}) == 1 < n_pages
        text = group[-1].text if same else _NUMBER.sub("#", group[-1].text)
        told.append(f"{what}, {n_pages} page{'s' * (n_pages != 1)}: {text}")
    return told
