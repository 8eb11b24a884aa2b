"""Read the grid of a Word table: merged cells, and which rows are its header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chunkwise.readers.office.docx_styles import Styles
from chunkwise.readers.office.grids import Grid, compact
from chunkwise.readers.office.package import Element, find, integer, is_on, tag, value

# The bit of a table's look that gives its first row a look of its own. Source: ECMA-376, 17.4.55
_FIRST_ROW = 0x20
_LOOK = re.compile("[0-9A-Fa-f]{1,8}")


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a cell; `is_bold`: it is that of a header by its letters."""

    text: str
    is_bold: bool = False


def grid(
    table: Element, styles: Styles, *, read: Callable[[Element], Cell], removed: Callable[[Element], None]
) -> Grid:
    """Return the rows of a table.

    What is merged downward stands in each row, what is merged to the right once.
    Rows that a tracked change took away are given to `removed`.
    """
    rows: list[dict[int, Cell]] = []
    above: dict[int, Cell] = {}
    n_marked = 0
    for row in _parts(table, "w:tr"):
        properties = find(row, "w:trPr")
        if find(properties, "w:del") is not None:
            removed(row)
            continue
        rows.append(_cells(row, above, read))
        n_marked += n_marked == len(rows) - 1 and is_on(properties, "w:tblHeader") is True
    n_header = _n_header(n_marked, rows, table, styles)
    return compact([{column: cell.text for column, cell in row.items()} for row in rows], n_header=n_header)


def cells(table: Element) -> Iterator[Element]:
    """Yield the cells of a table, a row after the other."""
    for row in _parts(table, "w:tr"):
        yield from _parts(row, "w:tc")


def _cells(row: Element, above: dict[int, Cell], read: Callable[[Element], Cell]) -> dict[int, Cell]:
    """Return the cells of a row by the columns that they begin in; `above` are those merged downward, brought along."""
    found: dict[int, Cell] = {}
    column = integer(value(find(row, "w:trPr"), "w:gridBefore"))
    for cell in _parts(row, "w:tc"):
        properties = find(cell, "w:tcPr")
        merged, beside = find(properties, "w:vMerge"), find(properties, "w:hMerge")
        if merged is not None and value(properties, "w:vMerge") != "restart":
            text = above.get(column, Cell(""))
        elif beside is not None and value(properties, "w:hMerge") != "restart":
            text = Cell("")
        else:
            text = read(cell)
        if merged is None:
            above.pop(column, None)
        else:
            above[column] = text
        found[column] = text
        column += max(1, integer(value(properties, "w:gridSpan"), 1))
    return found


def _n_header(n_marked: int, rows: list[dict[int, Cell]], table: Element, styles: Styles) -> int:
    """Return how many rows are the header: those marked as one, else the first if it looks different from the rest."""
    if len(rows) < 2:
        return 0
    if n_marked:
        return min(n_marked, len(rows) - 1)
    filled = [cell for cell in rows[0].values() if cell.text]
    if len(filled) > 1 and _is_bold(rows[0]) and not all(map(_is_bold, rows[1:])):
        return 1
    look = "w:tblPr/w:tblLook"
    is_first = value(table, look, "w:firstRow") in ("1", "true", "on") or _has_first_row(value(table, look))
    return int(is_first and styles.has_header(value(table, "w:tblPr/w:tblStyle")))


def _is_bold(row: dict[int, Cell]) -> bool:
    return all(cell.is_bold for cell in row.values() if cell.text)


def _has_first_row(look: str) -> bool:
    """Tell, from the hexadecimal number that older files have, whether the first row has a look of its own."""
    return bool(_LOOK.fullmatch(look)) and int(look, 16) & _FIRST_ROW > 0


def _parts(element: Element, name: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, also those inside of content controls."""
    waiting = list(reversed(list(element)))
    while waiting:
        part = waiting.pop()
        found = tag(part)
        if found == name:
            yield part
        elif found in ("w:sdt", "w:sdtContent", "w:customXml", "w:ins"):
            waiting += reversed(list(part))
