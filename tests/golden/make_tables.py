"""Make the spreadsheets and tables that readers are tested on; run: python tests/golden/make_tables.py."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import xlsxwriter

sys.path.insert(0, str(Path(__file__).parents[1]))
from unit.workbooks import Cell, fill, ods_cell, ods_of, ods_row, xls_of, xlsx

FILES = Path(__file__).parent / "files" / "readers"


def main() -> None:
    """Write every file anew."""
    FILES.mkdir(exist_ok=True)
    (FILES / "orders.xlsx").write_bytes(xlsx(_orders))
    (FILES / "stock.xls").write_bytes(xls_of({"Stock": _STOCK, "Prices": _PRICES}))
    (FILES / "towns.ods").write_bytes(ods_of({"Towns": _TOWNS}))
    for name, text in _TEXTS.items():
        (FILES / name).write_bytes(text.encode())


def _orders(workbook: xlsxwriter.Workbook) -> None:
    title = workbook.add_format({"bold": True, "align": "center"})
    sales = workbook.add_worksheet("Sales by land")
    sales.merge_range("A1:E1", "Sales by land and quarter", title)
    fill(sales, [["as of", datetime.date(2024, 7, 1)], [], ["land", None, None, None, None]], row=1)
    sales.merge_range("B4:C4", "2023", title)
    sales.merge_range("D4:E4", "2024", title)
    fill(sales, [[None, "Q1", "Q2", "Q1", "Q2"], ["Italy", 120, 130.5, 140, 150], ["Norway", 80, 75, 90]], row=4)
    sales.write_formula("E7", "=D7/0", None, "#DIV/0!")
    fill(sales, [["Source: the till of each shop"]], row=8)
    orders = workbook.add_worksheet("Orders")
    fill(orders, [["id", "day", "customer", "item", "pieces", "paid"]])
    fill(orders, [[7, datetime.date(2024, 5, 2), "Ann, Rome", "pump", 2, True]], row=1)
    orders.write_datetime(
        "B3", datetime.datetime(2024, 5, 2, 14, 30), workbook.add_format({"num_format": "d.m.yy h:mm"})
    )
    fill(orders, [[8, None, "Ann, Rome", "valve\n(brass)", 12, False]], row=2)
    fill(orders, [[], ["returned"], [9, None, "Bob | Oslo", "seal", 0.5, None]], row=3)
    costs = workbook.add_worksheet("Costs")
    fill(costs, [["secret", 1], ["more", 2]])
    costs.hide()


_STOCK: list[list[Cell]] = [
    ["item", "shelf", "pieces", "counted"],
    ["pump", "A1", 3, datetime.date(2024, 1, 31)],
    ["valve", "B7", 120.0, datetime.date(2024, 2, 1)],
]
_PRICES: list[list[Cell]] = [[None, "pump", "valve"], ["2023", 99.9, 0.3], ["2024", 105, 1e-7]]
_TOWNS = "".join(
    [
        ods_row(*map(ods_cell, ("land", "town", "people", "founded"))),
        ods_row(ods_cell("Italy", down=2), ods_cell("Rome"), ods_cell(2_748_000), ods_cell(None)),
        ods_row(ods_cell(None), ods_cell("Latina"), ods_cell(127_000), ods_cell(datetime.date(1932, 12, 18))),
        ods_row(ods_cell(None, repeated=4), repeated=3),
        ods_row(ods_cell("Norway"), ods_cell("Oslo"), ods_cell(717_000), ods_cell(None)),
        ods_row(ods_cell(None, repeated=16_384), repeated=1_048_000),
    ]
)
_TEXTS = {
    "preamble.csv": 'Orders of May\n3 June\n\nid,item,note\n7,pump,"two\nlines"\n8,valve,"say ""now"""\n',
    "excel.csv": "\ufeffsep=;\r\nland;2022;2023\r\nItaly;1,5;2,5\r\nNorway;0,5;0,7\r\n",
    "shelves.tsv": 'shelf\titem, size\tpieces\nA1\tpump, 5" wide\t3\nB7\tvalve\t120\n',
    "events.jsonl": '{"at": 1, "what": "open"}\n{"at": 2, "what": {"valve": [1, 2]}}\n{"at": 3, "wha\n{"at": 4}\n',
}

if __name__ == "__main__":
    main()
