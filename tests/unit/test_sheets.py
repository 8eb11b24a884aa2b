"""Spreadsheets: every value as a person sees it, the tables in each sheet, and the cells that each row fills."""

from __future__ import annotations

import datetime
import struct
from contextlib import suppress
from pathlib import Path

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Limits, Source
from chunkwise.pipeline import chunk
from chunkwise.readers.read import read
from chunkwise.readers.sheets import read_sheets
from unit.workbooks import Cell, archive, changed, fill, ods_cell, ods_of, ods_row, xls_of, xlsb_of, xlsx, xlsx_of

ORDERS: list[list[Cell]] = [["id", "item", "price"], [1, "pump", 9.5], [2, "valve", 12]]
LOG: list[list[Cell]] = [["id", "note"]]
LOG += [[i, "checked and found in order"] for i in range(40)]
SHEET = "xl/worksheets/sheet1.xml"
DIMENSIONS = b"\0\2\x0e\0" + struct.pack("<IIHH", 0, 3, 0, 3)
ENCRYPTED_ODS = changed(ods_of({"a": ods_row(ods_cell(1))}), "META-INF/manifest.xml", "<", "<encryption-data")


def sheets(content: bytes, **limits: int) -> Document:
    return read_sheets(Source("book", content, limits=Limits(**limits)))


def found(document: Document, *kinds: str) -> list[tuple[str, str, str]]:
    return [
        (block.kind, block.label, block.span.slice(document.text).rstrip("\n"))
        for block in document.blocks
        if block.kind in (kinds or ("heading", "paragraph", "header", "row"))
    ]


def test_a_sheet_is_a_page_and_its_rows_know_their_cells() -> None:
    document = sheets(xlsx_of(ORDERS))
    assert document.text == "id | item | price\n1 | pump | 9.5\n2 | valve | 12\n"
    assert found(document) == [
        ("header", "A1:C1", "id | item | price"),
        ("row", "A2:C2", "1 | pump | 9.5"),
        ("row", "A3:C3", "2 | valve | 12"),
    ]
    (page,) = (block for block in document.blocks if block.kind == "page")
    assert (page.level, page.label, page.span) == (1, "Sheet1", (0, len(document.text)))


def test_a_sheet_with_a_name_of_its_own_and_each_of_several_has_a_heading() -> None:
    assert found(sheets(xlsx_of(ORDERS, sheet="Orders")), "heading") == [("heading", "Orders", "Orders")]

    def write(workbook: xlsxwriter.Workbook) -> None:
        for name in ("Sheet1", "Sheet2"):
            fill(workbook.add_worksheet(name), ORDERS)

    document = sheets(xlsx(write))
    assert found(document, "heading") == [("heading", "Sheet1", "Sheet1"), ("heading", "Sheet2", "Sheet2")]
    assert [block.level for block in document.blocks if block.kind == "page"] == [1, 2]


def test_values_are_written_as_they_are_meant() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet()
        formats = [workbook.add_format({"num_format": shown}) for shown in ("yyyy-mm-dd hh:mm", "hh:mm:ss", "[h]:mm")]
        fill(sheet, [[1, 1.0, 0.1 + 0.2, 1e300, -3, True, "007", datetime.date(2024, 2, 29), "two\nlines"]])
        sheet.write_datetime(1, 0, datetime.datetime(2024, 2, 29, 13, 5), formats[0])
        sheet.write_datetime(1, 1, datetime.time(7, 30), formats[1])
        sheet.write_number(1, 2, 1.25, formats[2])

    document = sheets(xlsx(write))
    assert document.text.split("\n")[:2] == [
        "1 | 1 | 0.3 | 1e+300 | -3 | TRUE | 007 | 2024-02-29 | two lines",
        "2024-02-29 13:05:00 | 07:30:00 | 30:00:00 |  |  |  |  |  |",
    ]


def test_errors_are_kept_and_formulas_without_a_value_are_told() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet("Costs & more")
        fill(sheet, ORDERS)
        sheet.write_formula("D2", "=1/0", None, "#DIV/0!")
        sheet.write_formula("D3", "=C3*2", None, 24)

    document = sheets(changed(xlsx(write), SHEET, "<v>24</v>", ""))
    assert [text for _, _, text in found(document, "row")] == ["1 | pump | 9.5 | #DIV/0!", "2 | valve | 12 |"]
    assert document.meta["warnings"] == [
        "sheet Costs & more: formulas without a value: 1, the first in D3; "
        "open the workbook in its program and save it, which computes them"
    ]


def test_titles_and_notes_are_lines_around_the_table() -> None:
    rows: list[list[Cell]] = [["Orders of 2024"], ["as of", "March"], ["id", "item", "price", "note"]]
    rows += [[1, "pump", 9.5], [2, "valve", 12, "late"], [], ["Source: the till"]]
    assert found(sheets(xlsx_of(rows))) == [
        ("paragraph", "A1", "Orders of 2024"),
        ("paragraph", "A2:B2", "as of March"),
        ("header", "A3:D3", "id | item | price | note"),
        ("row", "A4:D4", "1 | pump | 9.5 |"),
        ("row", "A5:D5", "2 | valve | 12 | late"),
        ("paragraph", "A7", "Source: the till"),
    ]


def test_tables_are_found_where_they_stand() -> None:
    below: list[list[Cell]] = [[None, None, *row] for row in [["name", "town"], ["Ann", "Rome"], ["Bob", "Oslo"]]]
    document = sheets(xlsx_of([[], *ORDERS, [], [], *below]))
    assert [label for kind, label, _ in found(document, "header", "row")] == [
        *("A2:C2", "A3:C3", "A4:C4"),
        *("C7:D7", "C8:D8", "C9:D9"),
    ]
    assert len([block for block in document.blocks if block.kind == "table"]) == 2


def test_rows_after_an_empty_one_go_on_under_the_header_above() -> None:
    rows: list[list[Cell]] = [ORDERS[0], [], *ORDERS[1:], [], ["returned"], [3, "seal", 1], [], [None, "total", 22.5]]
    document = sheets(xlsx_of(rows))
    assert len([block for block in document.blocks if block.kind == "table"]) == 1
    assert found(document)[0] == ("header", "A1:C1", "id | item | price")
    assert found(document)[-1] == ("row", "A9:C9", "| total | 22.5")


def test_columns_without_any_value_are_left_out_and_tables_side_by_side_keep_their_rows_whole() -> None:
    rows: list[list[Cell]] = [["id", None, "price", None, "town", "zip"], [1, None, 2, None, "Rome", 7]]
    document = sheets(xlsx_of(rows))
    assert found(document) == [("header", "A1:F1", "id | price | town | zip"), ("row", "A2:F2", "1 | 2 | Rome | 7")]


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        (["id", "item", "price"], True),
        (["", "item", "price"], True),  # a corner
        (["land", 2023, 2024], True),
        (["land", "2023", "2024"], True),
        (["land", datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)], True),
        (["id", "item", "item"], False),
        (["x", 2023, 2023], False),
        (["x", 1.5, 2], False),
        ([1, 2023, 2024], False),
        (["x", "12.50", "3"], False),
        (["a", "b", True], False),
    ],
)
def test_a_header_names_its_columns(first: list[Cell], is_header: bool) -> None:
    rows: list[list[Cell]] = [[None if value == "" else value for value in first], ["a", 5, 6], ["b", 7, 8]]
    assert bool(found(sheets(xlsx_of(rows)), "header")) == is_header


def test_a_header_has_something_under_it() -> None:
    assert found(sheets(xlsx_of([["id", "item", "price"]]))) == [("row", "A1:C1", "id | item | price")]


def test_merged_titles_over_groups_of_columns_are_the_first_row_of_a_header_of_two() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet()
        fill(sheet, [["Sales"], [], [None, "Q1", "Q2", "Q1", "Q2"], ["north", 1, 2, 3, 4], ["south", 5, 6, 7, 8]])
        sheet.merge_range("B2:C2", "2023")
        sheet.merge_range("D2:E2", "2024")

    document = sheets(xlsx(write))
    assert found(document, "paragraph", "header") == [
        ("paragraph", "A1", "Sales"),
        ("header", "A2:E3", "| 2023 |  | 2024 |\n| Q1 | Q2 | Q1 | Q2"),
    ]


@pytest.mark.parametrize("format", ["xlsx", "ods"])
def test_a_value_merged_over_rows_is_in_each_and_one_merged_over_columns_is_there_once(format: str) -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet()
        fill(sheet, [["land", "town", "size", "note"], [None, "Rome", 3], [None, "Bari", 1], ["Norway", "Oslo", 1]])
        sheet.merge_range("A2:A3", "Italy")
        sheet.merge_range("C4:D4", "unknown")

    content = {
        "xlsx": lambda: xlsx(write),
        "ods": lambda: ods_of(
            {
                "Sheet1": ods_row(*map(ods_cell, ("land", "town", "size", "note")))
                + ods_row(ods_cell("Italy", down=2), ods_cell("Rome"), ods_cell(3), ods_cell(None))
                + ods_row(ods_cell(None), ods_cell("Bari"), ods_cell(1))
                + ods_row(ods_cell("Norway"), ods_cell("Oslo"), ods_cell("unknown", across=2))
            }
        ),
    }[format]()
    assert [text for _, _, text in found(sheets(content), "row")] == [
        "Italy | Rome | 3 |",
        "Italy | Bari | 1 |",
        "Norway | Oslo | unknown |",
    ]


def test_one_column_is_a_list_of_short_entries_or_else_lines_of_text() -> None:
    names: list[list[Cell]] = [["name"], ["Ann"], ["Bob"], ["Cleo"]]
    assert [kind for kind, _, _ in found(sheets(xlsx_of(names)))] == ["header", "row", "row", "row"]
    words: list[list[Cell]] = [["This sheet lists what was sold in the year, by land."], ["Ask the till."] * 1]
    assert [kind for kind, _, _ in found(sheets(xlsx_of(words)))] == ["paragraph", "paragraph"]


def test_old_workbooks_and_open_document_are_read_alike() -> None:
    rows: list[list[Cell]] = [*ORDERS, [3, "seal", None, datetime.date(2024, 2, 29)]]
    made = "".join(ods_row(*map(ods_cell, row)) for row in rows)
    texts = [sheets(content).text for content in (xlsx_of(rows), xls_of({"Sheet1": rows}), ods_of({"Sheet1": made}))]
    assert texts == ["id | item | price |\n1 | pump | 9.5 |\n2 | valve | 12 |\n3 | seal |  | 2024-02-29\n"] * 3


def test_the_binary_format_is_read_alike() -> None:
    assert sheets(xlsb_of(ORDERS)).text == sheets(xlsx_of(ORDERS)).text


def test_hidden_sheets_and_charts_are_left_out_and_told() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        fill(workbook.add_worksheet("Orders"), ORDERS)
        hidden, chart = workbook.add_worksheet("Prices"), workbook.add_chart({"type": "bar"})
        fill(hidden, ORDERS)
        hidden.hide()
        chart.add_series({"values": "=Orders!$C$2:$C$3"})
        workbook.add_chartsheet("Picture").set_chart(chart)

    document = sheets(xlsx(write))
    assert document.meta["left_out"] == ["hidden sheet: Prices", "chart or macro sheet: Picture"]
    assert document.text.startswith("Orders\n\nid | item")
    assert document.text.count("pump") == 1


def test_an_empty_workbook_is_an_empty_text() -> None:
    document = sheets(xlsx_of([]))
    assert (document.text, document.blocks) == ("", ())


def test_a_chunk_says_which_cells_it_holds() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        fill(workbook.add_worksheet("Bob's log"), LOG)
        fill(workbook.add_worksheet("R1C1"), LOG[:2])

    chunks = chunk(sheets(xlsx(write)), "rows(size=60) | overlap(tokens=9) | context()", tokenizer="words")
    cells = [found.meta["cells"] for found in chunks]
    assert cells[0] == "'Bob''s log'!A1:B8"
    assert cells[1].startswith("'Bob''s log'!A9:B")  # type: ignore[attr-defined]  # not what rides along or is repeated
    assert cells[-1] == "'R1C1'!A1:B2"
    joined = chunk(sheets(xlsx_of(ORDERS)), "structural(size=200)")
    assert [found.meta["cells"] for found in joined] == ["Sheet1!A1:C3"]


@pytest.mark.parametrize("recipe", ["rows(size=40)", "structural(size=40)", "auto(size=40)", "recursive(size=40)"])
def test_every_strategy_keeps_the_header_or_the_cells(recipe: str) -> None:
    chunks = chunk(sheets(xlsx_of(LOG, sheet="Log")), recipe)
    assert len(chunks) > 5
    assert all(str(found.meta["cells"]).startswith("Log!A") for found in chunks)
    if not recipe.startswith("recursive"):
        assert all(found.text.startswith(("Log", "id | note")) for found in chunks)


def test_only_sheets_have_cells(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "a.md").write_text("| a | b |\n|---|---|\n| 1 | 2 |\n\nText.\n")
    for path in tmp_path.iterdir():
        assert all("cells" not in found.meta for found in chunk(read(path), "rows(size=60)"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b"<html><table><tr><td>1</td></tr></table></html>", "rename it to .html"),
        (b"id;item\n1;pump\n", "rename it to .csv"),
        (b"\0\1\2" * 100, "no workbook that is known"),
        (archive({"a.txt": "text"}), "a damaged workbook"),
        (xlsx_of(ORDERS)[:-400], "a damaged archive"),
        (xls_of({"a": ORDERS})[:2000], "a damaged file: it ends before its tables"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "an encrypted workbook"),
        (ENCRYPTED_ODS, "an encrypted workbook"),
        (xlsx_of([["a"], *[[]] * 1_048_574, [None] * 300 + ["z"]]), "315,621,376 cells up to KO1048576"),
        (ods_of({"a": ods_row(ods_cell(1, repeated=16384), repeated=100_000)}), "cells up to XFD100000"),
        (
            ods_of({name: ods_row(ods_cell(1, repeated=16384), repeated=300) for name in "ab"}),
            "sheet b: 9,830,400 values",
        ),
        (ods_of({"a": ods_row(ods_cell("x"), repeated=1_000_000) * 6}), "sheet a: 6,000,000 values, more than"),
        (xls_of({"a": ORDERS}).replace(DIMENSIONS, DIMENSIONS[:11] + b"\x20" + DIMENSIONS[12:]), "up to C536870915"),
        (xls_of({"a": ORDERS}).replace(DIMENSIONS, DIMENSIONS[:5] + b"\x20" + DIMENSIONS[6:]), "sheet 1 is damaged"),
        (changed(xlsx_of(ORDERS), SHEET, '"A2"', '"A9"'), "the rows of Sheet1 are out of order"),
        (xlsb_of([["a"], *[[]] * 999_999, [None] * 20 + [1]]), "21,000,021 cells up to U1000001"),
        (changed(xlsb_of(ORDERS), "xl/worksheets/sheet1.bin", "\0" * 21, "\0"), "sheet1.bin is damaged"),
        (
            changed(xlsx_of(ORDERS), SHEET, "<worksheet", "<!DOCTYPE x [<!ENTITY a 'b'>]><worksheet"),
            "declares entities",
        ),
        (changed(xlsx_of(ORDERS), SHEET, "</row>", "</now>"), "sheet1.xml is damaged"),
    ],
)
def test_what_can_not_be_read_is_told_in_one_line(content: bytes, words: str) -> None:
    with pytest.raises(ReadError, match=words) as caught:
        sheets(content)
    assert str(caught.value).startswith("book")
    assert "\n" not in str(caught.value)


def test_a_time_out_of_range_is_told() -> None:
    def write(workbook: xlsxwriter.Workbook) -> None:
        workbook.add_worksheet().write_number("A1", 1e300, workbook.add_format({"num_format": "[h]:mm"}))

    with pytest.raises(ReadError, match=r"a damaged workbook .*magnitude"):
        sheets(xlsx(write))


def test_limits_on_sheets_and_memory_are_kept() -> None:
    with pytest.raises(ReadError, match="2 sheets, over the limit of 1"):
        sheets(xls_of({"a": ORDERS, "b": ORDERS}), pages=1)
    with pytest.raises(ReadError, match="9 cells up to C3, over the 8"):
        sheets(xlsx_of(ORDERS), memory=512)


values = st.one_of(
    st.none(), st.integers(-9, 3000), st.booleans(), st.sampled_from(["a", "b", "name", "2024", "x y", "|"])
)


@given(st.lists(st.lists(values, max_size=5), max_size=12))
def test_no_value_is_lost_or_moved_to_another_row(rows: list[list[Cell]]) -> None:
    document = sheets(xlsx_of(rows))
    written = [str(v).upper() if isinstance(v, bool) else str(v) for row in rows for v in row if v is not None]
    assert [word for word in document.text.split() if word != "|"] == [
        w for v in written for w in v.split() if w != "|"
    ]
    labels = [label for kind, label, _ in found(document) if kind != "heading"]
    numbers = [int(label.partition(":")[0].strip("ABCDE")) for label in labels]
    assert numbers == [i for i, row in enumerate(rows, 1) if any(v is not None for v in row)]


@given(st.data())
def test_a_damaged_workbook_is_read_or_refused(data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from(_WORKBOOKS)))
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with suppress(ReadError):
        assert sheets(bytes(content)).id == "book"


_WORKBOOKS = [
    xlsx_of(ORDERS),
    xlsb_of(ORDERS),
    xls_of({"a": ORDERS}),
    ods_of({"a": ods_row(ods_cell("a"), ods_cell(2))}),
]
