"""Tables in a page: the grid that their cells fill, and which tables only lay out the page."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from chunkwise.readers.html.dom import BLOCKS, SILENT, Node, attribute, children, is_permalink, visit
from chunkwise.readers.html.inline import Inline, Link
from chunkwise.readers.html.math import superscript, tex

# What only a table that lays out a page holds, where nothing marks it as one of data.
_PAGE_PARTS = "h1,h2,h3,h4,h5,h6,pre,article,section,main,nav,form"
# So many paragraphs in one cell are text, not a value.
_PARAGRAPHS = 3
# In characters: what is longer stands in the first of the rows that its cell spans, and is not repeated.
_LONGEST_REPEATED = 500
# In characters: what cells that span rows may add to one table.
_MOST_REPEATED = 1 << 20
# How many places of a table its cells may fill beside their own.
_MOST_CELLS = 1_000_000
_SECTIONS = ("thead", "tbody", "tfoot")


@dataclass(slots=True)
class Cell:
    """The text of a cell, and the links in it."""

    text: str = ""
    links: list[Link] = field(default_factory=list)


@dataclass(slots=True)
class Grid:
    """The rows of a table, all of one width, of which the first `n_header` are its header."""

    caption: str
    rows: list[list[Cell]]
    n_header: int


def is_layout(table: Node) -> bool:
    """Tell whether a table only lays out the page, so that what is in its cells are blocks of the page."""
    if attribute(table, "role") in ("presentation", "none"):
        return True
    rows = _rows(table)
    if _is_note(rows):
        return True
    headed = any(next(children(row, "th"), None) is not None for row, _ in rows)
    if headed or next(children(table, "caption", "thead"), None) is not None:
        return False
    cells = [list(children(row, "td", "th")) for row, _ in rows]
    if max(map(len, cells), default=0) < 2 or table.css_first(_PAGE_PARTS) is not None:
        return True
    return any(sum(1 for _ in children(cell, "p")) >= _PARAGRAPHS for row in cells for cell in row)


def _is_note(rows: list[tuple[Node, str]]) -> bool:
    """Tell whether an image beside all rows is the first cell: the sign of a note, as some documentation has it."""
    first = next(children(rows[0][0], "td", "th"), None) if len(rows) > 1 else None
    if first is None or first.css_first("img") is None or first.text().strip():
        return False
    return _spanned(attribute(first, "rowspan"), len(rows)) == len(rows)


def grid(table: Node, left_out: Container[int], link: Callable[[Node], str]) -> Grid:
    """Return the cells of a table in rows of one width.

    A cell that spans rows is in each of them; of one that spans columns the others are empty. `link` returns where
    an `a` leads.
    """
    rows = _rows(table)
    cells = [[cell for cell in children(row, "td", "th") if cell.mem_id not in left_out] for row, _ in rows]
    n_header = _n_header(rows, cells)
    spans = _Spans(len(rows), max(map(len, cells), default=0))
    written: list[list[Cell]] = []
    for row in cells:
        line: list[Cell] = []
        for node in row:
            spans.carry(line)
            spans.fill(line, _cell(node, left_out, link), node.attributes)
        spans.carry(line)
        written.append(line)
    caption = next((_cell(node, left_out, link).text for node in children(table, "caption")), "")
    n_header -= sum(1 for line in written[:n_header] if not any(cell.text for cell in line))
    kept = [line for line in written if any(cell.text for cell in line)]
    width = max(map(len, kept), default=0)
    if width * len(kept) <= _MOST_CELLS:
        kept = [line + [Cell()] * (width - len(line)) for line in kept]
    return Grid(caption, kept, n_header)


class _Spans:
    """The cells of one table that reach into other rows and columns."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        self._most_rows, self._most_columns = n_rows, n_columns
        self._n_cells, self._n_characters = _MOST_CELLS, _MOST_REPEATED
        self._carried: dict[int, tuple[Cell, int]] = {}  # column -> what it says in the next rows, how many these are

    def carry(self, line: list[Cell]) -> None:
        """Add the cells of rows above that reach into this row where it is written to."""
        while (above := self._carried.pop(len(line), None)) is not None:
            cell, n_rows = above
            self._keep(len(line), cell, n_rows - 1)
            line.append(cell)

    def fill(self, line: list[Cell], cell: Cell, attributes: Mapping[str, str | None]) -> None:
        """Add a cell, and the empty ones of the columns that it spans."""
        n_rows = _spanned(attributes.get("rowspan"), self._most_rows) - 1
        if n_rows:
            is_short = len(cell.text) <= min(_LONGEST_REPEATED, self._n_characters // n_rows)
            self._n_characters -= len(cell.text) * n_rows * is_short
            self._keep(len(line), Cell(cell.text) if is_short else Cell(), n_rows)
        line.append(cell)
        for _ in range(min(_spanned(attributes.get("colspan"), self._most_columns) - 1, self._n_cells)):
            self._n_cells -= 1
            self._keep(len(line), Cell(), n_rows)
            line.append(Cell())

    def _keep(self, column: int, cell: Cell, n_rows: int) -> None:
        if n_rows and self._n_cells > 0:
            self._n_cells -= 1
            self._carried[column] = cell, n_rows


def _rows(table: Node) -> list[tuple[Node, str]]:
    """Return the rows of a table as they are shown, each with the section that it is in."""
    found: dict[str, list[tuple[Node, str]]] = {section: [] for section in _SECTIONS}
    for part in children(table, "tr", *_SECTIONS):
        section = part.tag if part.tag in _SECTIONS else "tbody"
        rows = [part] if part.tag == "tr" else children(part, "tr")
        found[section or "tbody"].extend((row, section or "tbody") for row in rows)
    return [row for section in _SECTIONS for row in found[section]]


def _n_header(rows: list[tuple[Node, str]], cells: list[list[Node]]) -> int:
    """Return how many rows are the header: those of `thead`, else the first of which every cell is a `th`."""
    n_header = sum(1 for _, section in rows if section == "thead")
    if not n_header:
        n_header = next((i for i, row in enumerate(cells) if any(cell.tag != "th" for cell in row)), len(cells))
    return n_header if n_header < len(rows) else min(n_header, 1)


def _spanned(value: str | None, most: int) -> int:
    """Return how many rows or columns a cell spans, `most` of them counted; 0 stands for all."""
    digits = (value or "").strip()[:5]
    return min(int(digits) or most, most) if digits.isdecimal() else 1


def _cell(node: Node, left_out: Container[int], link: Callable[[Node], str]) -> Cell:
    """Return a cell's text as one line; the rows and items in it are parted by semicolons."""
    inline = Inline()
    child = node.first_child
    if child is not None and child.next is None and child.tag == "-text":  # as most are
        return Cell(" ".join((child.text_content or "").replace("\xad", "").replace("\0", "").split()))

    def enter(inner: Node) -> bool:
        tag = inner.tag or ""
        if tag == "-text":
            inline.add(inner.text_content or "")
            return False
        if tag == "math" or tag == "script":
            inline.add(f" {tex(inner)} ")
            return False
        if tag in SILENT or inner.mem_id in left_out or (tag == "a" and is_permalink(inner)):
            return False
        if tag == "sup" and (raised := superscript(inner)):
            inline.add(raised)
            return False
        if tag == "img":
            inline.add(f" {attribute(inner, 'alt')} ")
        elif tag == "a":
            inline.begin_link(link(inner))
        elif tag in BLOCKS or tag == "br":
            inline.part("; " if tag in ("tr", "li", "dt") else ", " if tag in ("td", "th") else " ")
        return True

    def leave(inner: Node) -> None:
        if inner.tag == "a":
            inline.end_link()
        elif inner.tag in BLOCKS:
            inline.part(" ")

    while child is not None:
        visit(child, enter, leave)
        child = child.next
    text, links = inline.done()
    plain = " ".join(text.split())
    return Cell(plain, links if plain == text else [])
