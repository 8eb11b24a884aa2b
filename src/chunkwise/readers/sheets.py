"""Read spreadsheets: Excel's of all ages, and OpenDocument's. A sheet is a page; its rows know their cells."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from chunkwise.core.cells import Place, cell_range
from chunkwise.core.errors import ReadError, require
from chunkwise.core.types import Document, Source
from chunkwise.readers.archive import unpacked
from chunkwise.readers.compound import check_chains
from chunkwise.readers.sheet_layout import Line, Row, Value, layout
from chunkwise.readers.sheet_records import survey_xls, survey_xlsb
from chunkwise.readers.sheet_xml import Merged, Survey, part_of, survey_ods, survey_xlsx
from chunkwise.readers.writer import Writer

# What Excel files before 2007 begin with, and encrypted ones after.
_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
# In BIFF: FILEPASS (47) after the beginning of the workbook, with at most a mark of write protection between.
# Source: [MS-XLS] 2.1.7.20.3 and 2.4.117.
_FILEPASS = re.compile(rb"\x09\x08\x10\x00\x00\x06.{14}(?:\x86\x00\x00\x00)?\x2f\x00", re.DOTALL)

# In bytes: what a cell takes while a sheet is read: 32 in the parser's table, the rest in a list of values.
_BYTES_A_CELL = 64
# In bytes: what a cell that holds a value takes, its text and its row's place in the document included.
_BYTES_A_VALUE = 200

# What programs call the only sheet of a new workbook, in the languages with most speakers among their users.
_DEFAULT_NAME = re.compile(
    r"(?:sheet|tabelle|feuil|feuille|hoja|foglio|planilha|folha|blad|ark|arkusz|list|лист|シート|시트|工作表|"
    r"page|table|worksheet)[ _-]?\d*",
    re.IGNORECASE,
)


def read_sheets(source: Source) -> Document:
    """Read a workbook. Each sheet is a page, and a section of its own where there are several, or one with a name.

    Hidden sheets and charts are left out and listed in `meta["left_out"]`; rows and columns that are hidden are not.
    A value that is merged over rows is repeated in each of them. Errors are known in XLSX and ODS only.
    Raises: ReadError.
    """
    surveys = _surveys(source)
    calamine = require("python_calamine", extra="office")
    workbook = _parsed(source, partial(calamine.CalamineWorkbook.from_filelike, io.BytesIO(source.content)))
    sheets = list(workbook.sheets_metadata)
    if len(sheets) > source.limits.pages:
        raise ReadError(f"{source.id}: {len(sheets):,} sheets, over the limit of {source.limits.pages:,}: pages")
    hidden = [sheet.visible != calamine.SheetVisibleEnum.Visible for sheet in sheets]
    shown = [i for i, sheet in enumerate(sheets) if not hidden[i] and sheet.typ == calamine.SheetTypeEnum.WorkSheet]
    writer, warnings = Writer(), list[str]()
    for number, index in enumerate(shown, 1):
        name, survey = sheets[index].name, surveys[index] if index < len(surveys) else Survey()
        sheet = _parsed(source, partial(workbook.get_sheet_by_index, index))
        rows = iter(partial(_parsed, source, partial(next, sheet.iter_rows(), None)), None)
        writer.begin_page(number, label=name)
        titled = len(shown) > 1 or not _DEFAULT_NAME.fullmatch(name)
        _write(writer, sheet, rows, survey=survey, title=name if titled else "")
        warnings += _warnings(survey, name)
    left_out = [
        f"{'hidden' if hidden[i] else 'chart or macro'} sheet: {sheet.name}"
        for i, sheet in enumerate(sheets)
        if i not in shown
    ]
    notes = {"left_out": left_out, "warnings": warnings}
    return writer.document(source, {name: found for name, found in notes.items() if found})


def _surveys(source: Source) -> list[Survey]:
    """Return what the XML of each sheet says, as far as the file is made of XML.

    Raises: ReadError for what is encrypted, or no workbook, or has a sheet that would take too much memory.
    """
    content = source.content
    if content.startswith(_OLE2):
        if _ENCRYPTED_PACKAGE in content or _FILEPASS.search(content):
            raise ReadError(f"{source.id}: an encrypted workbook; save it without a password")
        check_chains(content, source.id)
        _check(source, survey_xls(content, source.id), together=True)
        return []
    if not content.startswith(b"PK"):
        raise ReadError(f"{source.id}: no workbook{_instead(content)}")
    archive = unpacked(source)
    if "xl/workbook.bin" in archive.NameToInfo:
        _check(source, survey_xlsb(archive, source.id))
        return []
    if "content.xml" not in archive.NameToInfo:
        surveys = survey_xlsx(archive, source.id)
        _check(source, surveys)
        return surveys
    if b"encryption-data" in part_of(archive, "META-INF/manifest.xml", source.id):
        raise ReadError(f"{source.id}: an encrypted workbook; save it without a password")
    surveys = survey_ods(archive, source.id)
    _check(source, surveys, together=True)
    return surveys


def _check(source: Source, surveys: Sequence[Survey], *, together: bool = False) -> None:
    """Raise ReadError for a sheet that would take too much memory; `together` with those before it.

    Of some formats all sheets are laid out when the workbook is opened.
    """
    most, n_cells, n_values = source.limits.memory // _BYTES_A_CELL, 0, 0
    for survey in surveys:
        if not survey.in_order:
            raise _damaged(source, ValueError(f"the rows of {survey.name} are out of order"))
        n_cells = survey.n_cells + (n_cells if together else 0)
        if n_cells > most:
            raise ReadError(
                f"{source.id}, sheet {survey.name}: {n_cells:,} cells up to {cell_range(survey.last, survey.last)}, "
                f"over the {most:,} that the memory limit has room for; delete what stands far out, or save it as CSV"
            )
        n_values += survey.n_values
        if n_values > source.limits.memory // _BYTES_A_VALUE:
            raise ReadError(
                f"{source.id}, sheet {survey.name}: {n_values:,} values, more than the memory limit has room for; "
                "save it as CSV, or raise the limit: memory"
            )


def _instead(content: bytes) -> str:
    """Return what a file that is called a workbook is, where that can be seen."""
    head = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not head:
        return " but an empty file"
    if head.startswith((b"<html", b"<!doctype html", b"<table", b"<meta")):
        return " but HTML; rename it to .html"
    if b"urn:schemas-microsoft-com:office:spreadsheet" in head:
        return " but XML of Excel 2003; open it and save it as .xlsx"
    if b"\0" not in head and (b"," in head or b"\t" in head or b";" in head):
        return "; if it is delimited text, rename it to .csv"
    return " that is known; open it in its program and save it as .xlsx"


def _parsed(source: Source, parse: Callable[[], Any]) -> Any:
    """Return what the parser makes of a workbook, a sheet or a row.

    Raises: ReadError, also for a time that is out of range, and where the parser panics, which is no Exception.
    """
    calamine = require("python_calamine", extra="office")
    try:
        return parse()
    except (calamine.CalamineError, ValueError, OverflowError, OSError) as err:
        raise _damaged(source, err) from err
    except BaseException as err:
        if type(err).__name__ != "PanicException":
            raise
        raise _damaged(source, err) from err


def _damaged(source: Source, err: BaseException) -> ReadError:
    told = " ".join(str(err).split())  # of a panic, several lines
    return ReadError(f"{source.id}: a damaged workbook ({told}); open it in its program and save it anew")


def _write(writer: Writer, sheet: Any, rows: Iterator[list[Value]], *, survey: Survey, title: str) -> None:
    """Write one sheet, whose rows are parsed as they are asked for."""
    if sheet.start is None:
        return
    left = sheet.start[1]
    merged = [*(Merged(Place(*first), Place(*last)) for first, last in sheet.merged_cell_ranges or ()), *survey.merged]
    near = [
        Merged(Place(first.row, max(first.column - left, 0)), Place(last.row, last.column - left))
        for first, last in merged
        if last.column >= left
    ]
    errors = {Place(row, column - left): error for (row, column), error in survey.errors.items() if column >= left}
    if title:
        writer.block("heading", title, level=1, label=title)
    for part in layout(_filled(rows, near, errors), near):
        if isinstance(part, Line):
            writer.block("paragraph", part.text, label=_cells((part.row, part.row), part.columns, left))
        else:
            labels = [_cells(rows, part.columns, left) for rows in part.places]
            writer.table(list(part.texts), n_header=part.n_header, labels=labels)


def _filled(rows: Iterable[list[Value]], merged: Sequence[Merged], errors: Mapping[Place, str]) -> Iterator[Row]:
    """Yield the rows that are not empty, with errors, and in each row a value that is merged over it."""
    starts: dict[int, list[Merged]] = {}
    for one in merged:
        if one.last.row > one.first.row:
            starts.setdefault(one.first.row, []).append(one)
    failed: dict[int, list[int]] = {}
    for row, column in errors:
        failed.setdefault(row, []).append(column)
    reaching: dict[int, tuple[int, Value]] = {}  # of each column: the last row of a merged value, and the value
    for number, values in enumerate(rows):
        for column in failed.get(number, ()):
            if column < len(values):
                values[column] = errors[Place(number, column)]
        if not any(value != "" for value in values):
            continue
        for column, (last, value) in list(reaching.items()):
            if number > last:
                del reaching[column]
            elif values[column] == "":
                values[column] = value
        for one in starts.get(number, ()):
            if one.first.column < len(values):
                reaching[one.first.column] = (one.last.row, values[one.first.column])
        yield Row(number, values)


def _cells(rows: tuple[int, int], columns: set[int], left: int) -> str:
    """Return the cells of some rows, in columns that count from `left`."""
    return cell_range(Place(rows[0], left + min(columns)), Place(rows[1], left + max(columns)))


def _warnings(survey: Survey, name: str) -> list[str]:
    if survey.first_uncomputed is None:
        return []
    first = cell_range(survey.first_uncomputed, survey.first_uncomputed)
    return [
        f"sheet {name}: formulas without a value: {survey.n_uncomputed:,}, the first in {first}; "
        "open the workbook in its program and save it, which computes them"
    ]
