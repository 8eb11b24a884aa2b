"""Make workbooks for tests: of Excel's XML, of Excel's older binary format, and of OpenDocument."""

from __future__ import annotations

import datetime
import io
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

import xlsxwriter
import xlwt

Cell = str | float | bool | datetime.date | None

_NAMESPACES = "".join(
    f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text", "style")
)
_ODS = "application/vnd.oasis.opendocument.spreadsheet"


def xlsx(write: Callable[[xlsxwriter.Workbook], None]) -> bytes:
    """Return the workbook that `write` fills, the same bytes every time."""
    content = io.BytesIO()
    workbook = xlsxwriter.Workbook(content, {"in_memory": True, "default_date_format": "yyyy-mm-dd"})
    workbook.set_properties({"created": datetime.datetime(2026, 1, 1)})
    write(workbook)
    workbook.close()
    return content.getvalue()


def xlsx_of(rows: Sequence[Sequence[Cell]], *, sheet: str = "Sheet1") -> bytes:
    """Return a workbook of one sheet with these rows."""

    def write(workbook: xlsxwriter.Workbook) -> None:
        fill(workbook.add_worksheet(sheet), rows)

    return xlsx(write)


def fill(worksheet: xlsxwriter.worksheet.Worksheet, rows: Sequence[Sequence[Cell]], *, row: int = 0) -> None:
    """Write rows from a row on; None leaves a cell empty."""
    for number, values in enumerate(rows, row):
        for column, value in enumerate(values):
            if value is not None:
                worksheet.write(number, column, value)


def xls_of(sheets: Mapping[str, Sequence[Sequence[Cell]]]) -> bytes:
    """Return a workbook of Excel 97 with these sheets."""
    workbook, content = xlwt.Workbook(), io.BytesIO()
    dated = xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for name, rows in sheets.items():
        worksheet = workbook.add_sheet(name)
        for number, values in enumerate(rows):
            for column, value in enumerate(values):
                if value is not None:
                    style = (dated,) if isinstance(value, datetime.date) else ()
                    worksheet.write(number, column, value, *style)
    workbook.save(content)
    return content.getvalue()


def ods_of(sheets: Mapping[str, str]) -> bytes:
    """Return an OpenDocument workbook; each sheet is given as the XML of its rows."""
    tables = "".join(f"<table:table table:name={quoteattr(name)}>{rows}</table:table>" for name, rows in sheets.items())
    return archive(
        {
            "mimetype": _ODS,
            "content.xml": f"<office:document-content{_NAMESPACES}><office:body><office:spreadsheet>{tables}"
            "</office:spreadsheet></office:body></office:document-content>",
            "META-INF/manifest.xml": "<manifest/>",
        }
    )


def ods_row(*cells: str, repeated: int = 1) -> str:
    """Return a row of cells that `ods_cell` made."""
    return f'<table:table-row table:number-rows-repeated="{repeated}">{"".join(cells)}</table:table-row>'


def ods_cell(value: Cell, *, across: int = 1, down: int = 1, repeated: int = 1) -> str:
    """Return a cell, merged with those right of it and below it, or repeated."""
    name, text = "table:table-cell", str(value)
    sizes = f' table:number-columns-spanned="{across}" table:number-rows-spanned="{down}"' if across * down > 1 else ""
    sizes += f' table:number-columns-repeated="{repeated}"' if repeated > 1 else ""
    if value is None:
        return f"<{name}{sizes}/>"
    if isinstance(value, bool):
        kind = f'office:value-type="boolean" office:boolean-value="{text.lower()}"'
    elif isinstance(value, float | int):
        kind = f'office:value-type="float" office:value="{text}"'
    elif isinstance(value, datetime.date):
        kind = f'office:value-type="date" office:date-value="{value.isoformat()}"'
    else:
        kind = 'office:value-type="string"'
    return f"<{name}{sizes} {kind}><text:p>{escape(text)}</text:p></{name}>"


def xlsb_of(rows: Sequence[Sequence[Cell]]) -> bytes:
    """Return a workbook of Excel's binary format; numbers and texts only. Source: [MS-XLSB] 2.1.4 and 2.4."""
    sheet = [_record(129), _record(148, bytes(16)), _record(145)]
    for number, values in enumerate(rows):
        if not values:
            continue
        sheet.append(_record(0, struct.pack("<I", number) + bytes(21)))
        for column, value in enumerate(values):
            place = struct.pack("<II", column, 0)
            if isinstance(value, str):
                sheet.append(_record(6, place + _wide(value)))
            elif isinstance(value, float | int):
                sheet.append(_record(5, place + struct.pack("<d", value)))
    sheet += [_record(146), _record(130)]
    bundle = _record(156, struct.pack("<II", 0, 1) + _wide("rId1") + _wide("Sheet1"))
    target = '<Relationship Id="rId1" Type="worksheet" Target="worksheets/sheet1.bin"/>'
    return archive(
        {
            "xl/_rels/workbook.bin.rels": f"<Relationships>{target}</Relationships>",
            "xl/workbook.bin": _record(131) + _record(143) + bundle + _record(144) + _record(132),
            "xl/worksheets/sheet1.bin": b"".join(sheet),
        }
    )


def _record(kind: int, content: bytes = b"") -> bytes:
    number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return number + bytes([len(content)]) + content  # which is short


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP archive, the same bytes every time."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, part in parts.items():
            packed.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), part, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def changed(content: bytes, part: str, old: str, new: str) -> bytes:
    """Return an archive in one part of which a text stands instead of another."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    assert old.encode() in parts[part]
    return archive({**parts, part: parts[part].replace(old.encode(), new.encode())})
