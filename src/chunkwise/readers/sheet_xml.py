"""Survey a spreadsheet's XML: how far its cells reach, and what the parser of their values does not tell.

That parser lays a sheet out as a table from its first cell to its last, so a cell in a far corner would take all
memory; and it leaves out errors, formulas that were never computed, and the merged cells of OpenDocument.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import IO, NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import unescape
from zipfile import ZipFile

from chunkwise.core.cells import Place, place_of
from chunkwise.core.errors import ReadError
from chunkwise.readers.archive import DAMAGED as DAMAGED_ARCHIVE

# In bytes: how much of a part is unpacked at once.
_PIECE = 1 << 20
# In bytes: a longer list of sheets is none.
_MOST_OF_PART = 1 << 24
# What reading a part of an archive raises; a LookupError for an encoding that is none.
DAMAGED = (expat.ExpatError, *DAMAGED_ARCHIVE)
_QUOTES = {"&quot;": '"', "&apos;": "'"}
_ATTRIBUTES = re.compile(r"""([^\s=<>"']+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_REST = r"""\s((?:[^"'>]|"[^"]*"|'[^']*')*+)>"""
_SHEET = re.compile(rf"<(?:\w+:)?sheet{_REST}")
_RELATION = re.compile(rf"<(?:\w+:)?Relationship{_REST}")


class Merged(NamedTuple):
    """Cells that are shown as one, from the first to the last, which belongs to it."""

    first: Place
    last: Place


@dataclass(slots=True)
class Survey:
    """What the XML of one sheet says.

    `n_cells` is how many the table around its values would have, `n_values` how many hold one, each as often as it is
    repeated; `uncomputed` the formulas without a value, and the
    first of them; `in_order` whether no row comes after a later one.
    """

    name: str = ""
    errors: dict[Place, str] = field(default_factory=dict)
    merged: list[Merged] = field(default_factory=list)
    n_values: int = 0
    n_uncomputed: int = 0
    in_order: bool = True
    first_uncomputed: Place | None = None
    _first: Place | None = None
    _last: Place | None = None

    @property
    def n_cells(self) -> int:
        """How many cells there are from the first value to the last, empty ones among them."""
        if self._first is None or self._last is None:
            return 0
        return (self._last.row - self._first.row + 1) * (self._last.column - self._first.column + 1)

    @property
    def last(self) -> Place:
        """The last row and the last column that hold a value; the first ones where nothing does."""
        return self._last or Place(0, 0)

    def holds(self, row: int, column: int, *, last_row: int | None = None, last_column: int | None = None) -> None:
        """Note a value, or one that is repeated up to a row and a column."""
        below, right = row if last_row is None else last_row, column if last_column is None else last_column
        self.n_values += (below - row + 1) * (right - column + 1)
        first, last = self._first or Place(row, column), self._last or Place(-1, -1)
        if last_row is None and row < last.row:
            self.in_order = False
        if not (first.row <= row and first.column <= column and below <= last.row and right <= last.column):
            self._first = Place(min(first.row, row), min(first.column, column))
            self._last = Place(max(last.row, below), max(last.column, right))

    def lacks(self, row: int, column: int) -> None:
        """Note a formula without a value."""
        self.n_uncomputed += 1
        self.first_uncomputed = self.first_uncomputed or Place(row, column)


def survey_xlsx(archive: ZipFile, id: str) -> list[Survey]:
    """Return the survey of every sheet of a workbook, in its order; an empty one for what is no sheet of cells.

    After them come those of parts that the workbook does not name.

    Raises: ReadError.
    """
    parts = targets(archive, "xl/_rels/workbook.xml.rels", id)
    surveys = []
    for sheet in _tags(archive, "xl/workbook.xml", id, _SHEET):
        part = parts.get(next((value for name, value in sheet.items() if name.endswith(":id")), ""))
        survey = Survey(sheet.get("name", ""))
        if part is not None:
            _parse(archive, part, id, partial(_follow_xlsx, survey=survey))
        surveys.append(survey)
    for part in sorted(unnamed(archive, parts.values())):
        surveys.append(Survey(part))
        _parse(archive, part, id, partial(_follow_xlsx, survey=surveys[-1]))
    return surveys


def unnamed(archive: ZipFile, named: Iterable[str]) -> set[str]:
    """Return the parts where sheets are by custom, but for those that are named: a parser may yet find them."""
    return {name for name in archive.namelist() if name.lower().startswith("xl/worksheets/sheet")} - {*named}


def targets(archive: ZipFile, part: str, id: str) -> dict[str, str]:
    """Return the parts that the relationships of a workbook name, by their ids, as the parser of values finds them."""
    parts = {name.lower(): name for name in archive.namelist()}
    found = {}
    for relation in _tags(archive, part, id, _RELATION):
        path = relation.get("Target", "").replace("\\", "/").removeprefix("/")
        target = parts.get((path if path.startswith("xl/") else f"xl/{path}").lower())
        if target is not None:
            found[relation.get("Id", "")] = target
    return found


def survey_ods(archive: ZipFile, id: str) -> list[Survey]:
    """Return the survey of every sheet of an OpenDocument file, in its order.

    Raises: ReadError.
    """
    surveys: list[Survey] = []
    if "content.xml" in archive.NameToInfo:
        _parse(archive, "content.xml", id, partial(_follow_ods, surveys=surveys))
    return surveys


def _follow_xlsx(parser: expat.XMLParserType, survey: Survey) -> None:
    row, column = -1, -1
    kind, formula, value = "", False, False
    error: list[str] | None = None  # the text of an error that is being read

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal row, column, kind, formula, value, error
        if name in ("c", "x:c"):
            place = place_of(attributes.get("r", ""))
            row, column = place or (row, column + 1)
            kind, formula, value = attributes.get("t", ""), False, False
        elif name in ("v", "is", "x:v", "x:is"):
            value = True
            survey.holds(row, column)
            if kind == "e":
                error = []
                parser.CharacterDataHandler = error.append
        elif name in ("f", "x:f"):
            formula = True
        elif name in ("row", "x:row"):
            number = attributes.get("r", "")
            row, column = int(number) - 1 if number.isdecimal() else row + 1, -1

    def end(name: str) -> None:
        nonlocal error
        if error is not None and name in ("v", "x:v"):
            survey.errors[Place(row, column)] = "".join(error)
            error = parser.CharacterDataHandler = None
        elif formula and not value and name in ("c", "x:c"):
            survey.lacks(row, column)

    parser.StartElementHandler, parser.EndElementHandler = start, end


def _follow_ods(parser: expat.XMLParserType, surveys: list[Survey]) -> None:
    row, column, n_rows, n_columns = 0, 0, 1, 1
    held: list[tuple[int, int]] = []  # the columns of the row that hold values
    cell: Mapping[str, str] = {}
    words: list[str] | None = None  # the text of a cell that is being read

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal row, column, n_rows, n_columns, cell, words
        if name == "table:table":
            surveys.append(Survey(attributes.get("table:name", "")))
            row = 0
        elif name == "table:table-row":
            n_rows, column = _count(attributes, "rows-repeated"), 0
            held.clear()
        elif name in ("table:table-cell", "table:covered-table-cell"):
            n_columns, cell, words = _count(attributes, "columns-repeated"), attributes, []

    def end(name: str) -> None:
        nonlocal row, column, words
        if name in ("table:table-cell", "table:covered-table-cell") and words is not None and surveys:
            survey = surveys[-1]
            if "office:value-type" in cell or words:
                held.append((column, column + n_columns - 1))
            elif "table:formula" in cell:
                survey.lacks(row, column)
            if cell.get("calcext:value-type") == "error":
                survey.errors[Place(row, column)] = "".join(words)
            last = Place(row + _count(cell, "rows-spanned") - 1, column + _count(cell, "columns-spanned") - 1)
            if last != (row, column):
                survey.merged.append(Merged(Place(row, column), last))
            column, words = column + n_columns, None
        elif name == "table:table-row" and surveys:
            for first, last_held in held:
                surveys[-1].holds(row, first, last_row=row + n_rows - 1, last_column=last_held)
            row += n_rows

    def text(characters: str) -> None:
        if words is not None:
            words.append(characters)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text


def _count(attributes: Mapping[str, str], what: str) -> int:
    number = attributes.get(f"table:number-{what}", "")
    return max(int(number), 1) if number.isdecimal() and len(number) < 10 else 1


def _parse(archive: ZipFile, part: str, id: str, follow: Callable[[expat.XMLParserType], None]) -> None:
    """Parse one part of an archive with the handlers that `follow` sets, a piece at a time. No entity is expanded."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    follow(parser)

    def refuse(*_declaration: object) -> None:
        raise ReadError(f"{id}: {part} declares entities, which no spreadsheet needs; not read")

    parser.EntityDeclHandler = refuse
    try:
        with archive.open(part) as unpacked:
            for piece in _pieces(unpacked):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
    except DAMAGED as err:
        raise damaged(id, part, err) from err


def damaged(id: str, part: str, err: Exception) -> ReadError:
    """Return what to raise for a part that can't be read."""
    return ReadError(f"{id}: {part} is damaged ({err}); open it in its program and save it anew")


def _pieces(unpacked: IO[bytes]) -> Iterator[bytes]:
    while piece := unpacked.read(_PIECE):
        yield piece


def part_of(archive: ZipFile, part: str, id: str) -> bytes:
    """Return what a part that is small by its nature holds; nothing where there is no such part.

    Raises: ReadError if it is damaged.
    """
    if part not in archive.NameToInfo:
        return b""
    try:
        with archive.open(part) as unpacked:
            return unpacked.read(_MOST_OF_PART)
    except DAMAGED as err:
        raise damaged(id, part, err) from err


def _tags(archive: ZipFile, part: str, id: str, tag: re.Pattern[str]) -> list[dict[str, str]]:
    """Return the attributes of all tags of one kind."""
    return [
        {name: unescape(double or single, _QUOTES) for name, double, single in _ATTRIBUTES.findall(found[1])}
        for found in tag.finditer(part_of(archive, part, id).decode("utf-8", "replace"))
    ]
