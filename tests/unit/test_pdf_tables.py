"""Tables in PDF: columns that are aligned, lines that make cells, and lines that make none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reportlab.lib.colors import black, grey, lightgrey, red
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph

from unit.pdf_pages import GRID, PARTS, PROSE, Page, flowing, found, platypus


def test_columns_that_stand_under_each_other_make_a_table_and_prose_does_not() -> None:
    page = Page().text(*PROSE).gap()
    for row in (("Part", "Price", "Stock"), ("Seal", "2.50", "14"), ("Valve", "11.00", "3")):
        for place, cell in enumerate(row):
            page.canvas.drawString(72 + 120 * place, page.y, cell)
        page.y -= 12
    document = page.gap().text(*PROSE).read()
    assert found(document, "header", "row") == [
        ("header", "Part | Price | Stock\n"),
        ("row", "Seal | 2.50 | 14\n"),
        ("row", "Valve | 11.00 | 3\n"),
    ]


def test_a_table_with_rules_takes_its_cells_whole() -> None:
    page = Page().text(*PROSE).gap(30)
    rows = [("Step", "What to do"), ("Open", "Turn left until it"), ("", "stops; then wait"), ("Close", "Turn right")]
    for number, (name, text) in enumerate(rows):
        page.canvas.drawString(76, page.y - 12 * number, name)
        page.canvas.drawString(156, page.y - 12 * number, text)
    top, bottom = page.y + 10, page.y - 40
    for y in (top, page.y - 3, page.y - 27, bottom):
        page.canvas.line(72, y, 300, y)
    for x in (72, 150, 300):
        page.canvas.line(x, top, x, bottom)
    assert found(page.read(), "header", "row") == [
        ("header", "Step | What to do\n"),
        ("row", "Open | Turn left until it stops; then wait\n"),
        ("row", "Close | Turn right\n"),
    ]


def test_cells_that_span_rows_stand_in_each_and_those_across_columns_once() -> None:
    rows = [
        ["Parts", "", "Stores", ""],
        ["Name", "Price", "North", "South"],
        ["Seal", "2.50", "14", "3"],
        ["", "2.60", "15", "4"],
        ["Valve", "11.00", "9", "8"],
    ]
    document = flowing(
        platypus(rows, GRID, ("SPAN", (0, 0), (1, 0)), ("SPAN", (2, 0), (3, 0)), ("SPAN", (0, 2), (0, 3)))
    )
    assert found(document, "header", "row") == [
        ("header", "Parts |  | Stores |\nName | Price | North | South\n"),
        ("row", "Seal | 2.50 | 14 | 3\n"),
        ("row", "Seal | 2.60 | 15 | 4\n"),
        ("row", "Valve | 11.00 | 9 | 8\n"),
    ]


@pytest.mark.parametrize(
    "style",
    [
        [("BOX", (0, 0), (-1, -1), 1, red), ("INNERGRID", (0, 0), (-1, -1), 0.25, grey)],
        [("INNERGRID", (0, 0), (-1, -1), 0.25, grey)],  # its outer sides are where the lines end
        [("LINEBELOW", (0, 0), (-1, -1), 1, black)],
        [("ROWBACKGROUNDS", (0, 0), (-1, -1), [lightgrey, grey]), ("LINEBEFORE", (0, 0), (-1, -1), 1, black)],
        [("BACKGROUND", (x, y), (x, y), (lightgrey, grey)[(x + y) % 2]) for x in range(3) for y in range(3)],
    ],
)
def test_lines_boxes_and_backgrounds_part_cells(style: list[tuple[object, ...]]) -> None:
    document = flowing(platypus(PARTS, *style))
    assert found(document, "header", "row") == [
        ("header", "Part | Price | Stock\n"),
        ("row", "Seal ring | 2.50 | 14\n"),
        ("row", "Valve | 11.00 | 3\n"),
    ]


def test_rows_without_a_line_between_them_stay_rows_and_wrapped_cells_whole() -> None:
    body = [["Part", "Price"], ["Seal\nValve\nPump", "2.50\n11.00\n30.00"]]
    style = getSampleStyleSheet()["BodyText"]
    texts = ["Open the main valve at the side", "Turn it to the left until it stops"]
    wrapped = [["Step", "How"], [Paragraph(text, style) for text in texts], ["Close", "right"]]
    assert found(flowing(platypus(body, GRID)), "row") == [
        ("row", "Seal | 2.50\n"),
        ("row", "Valve | 11.00\n"),
        ("row", "Pump | 30.00\n"),
    ]
    document = flowing(platypus(wrapped, GRID, widths=[100, 100]))
    assert found(document, "row") == [("row", " | ".join(texts) + "\n"), ("row", "Close | right\n")]


def test_a_table_over_two_pages_has_its_header_on_each() -> None:
    rows = [["No", "Name"], *([str(number), f"Seal {number}"] for number in range(60))]
    document = flowing(platypus(rows, GRID, repeat=1))
    assert found(document, "header") == [("header", "No | Name\n")] * 2
    assert len(found(document, "row")) == 60


def test_a_table_in_a_form_that_is_placed_larger_is_read() -> None:
    page = Page()
    page.canvas.beginForm("inset")
    page.canvas.grid([0, 100, 200], [0, 20, 40])
    for x, y, text in ((4, 24, "Part"), (104, 24, "Price"), (4, 4, "Seal"), (104, 4, "2.50")):
        page.canvas.drawString(x, y, text)
    page.canvas.endForm()
    page.canvas.translate(100, 300)
    page.canvas.scale(1.5, 1.5)
    page.canvas.doForm("inset")
    assert found(page.read(), "header", "row") == [("header", "Part | Price\n"), ("row", "Seal | 2.50\n")]


def test_a_table_inside_a_cell_is_part_of_that_cell() -> None:
    page = Page()
    page.canvas.grid([60, 160, 460], [500, 600, 620])
    page.canvas.grid([180, 240, 300], [520, 540, 560])
    texts = [(64, 604, "Part"), (164, 604, "Sizes"), (64, 550, "Seal")]
    for x, y, text in [*texts, (184, 544, "inner"), (244, 544, "outer"), (184, 524, "12"), (244, 524, "14")]:
        page.canvas.drawString(x, y, text)
    assert found(page.read(), "header", "row") == [
        ("header", "Part | Sizes\n"),
        ("row", "Seal | inner outer 12 14\n"),
    ]


def framed(page: Page) -> None:
    """Draw a frame around the page with a line between two columns of prose."""
    page.canvas.rect(50, 50, 500, 740)
    page.canvas.line(50, 740, 550, 740)
    page.canvas.line(300, 50, 300, 740)
    page.canvas.drawString(60, 760, "Pumps")
    for x in (60, 310):
        page.y = 720
        page.text(*[line[:40] for line in PROSE * 10], x=x)


def boxed(page: Page) -> None:
    """Draw a box with a mark in front of a paragraph."""
    page.canvas.grid([60, 80, 500], [640, 720])
    page.canvas.drawString(66, 690, "!")
    page.text(*PROSE, x=90)


def charted(page: Page) -> None:
    """Draw bars on lines across and down, with words beside them."""
    page.canvas.grid(list(range(100, 501, 80)), list(range(200, 451, 50)))
    for number in range(6):
        page.canvas.drawString(70, 200 + 50 * number, str(number))
        page.canvas.drawString(90 + 80 * number, 185, str(2000 + number))
    page.canvas.rect(120, 200, 30, 140, fill=1)
    page.canvas.drawString(260, 320, "sold")


def asked(page: Page) -> None:
    """Draw a form that nobody has filled in."""
    page.canvas.grid([70, 150, 250, 330, 430], [600, 620, 640, 660, 680])
    page.canvas.drawString(74, 664, "Name")
    page.canvas.drawString(254, 664, "Town")


def sketched(page: Page) -> None:
    """Draw boxes aslant that lines join, with words that run over these."""
    for x in range(100, 400, 60):
        page.canvas.line(x, 500, x, 700)
        page.canvas.line(x, 500, x + 100, 700)
        page.canvas.line(80, x + 340, 420, x + 340)
        page.canvas.drawString(x - 25, x + 350, "outer tree calls inner tree")


@pytest.mark.parametrize("draw", [framed, boxed, charted, asked, sketched])
def test_lines_that_are_none_of_a_table_make_none(draw: Callable[[Page], None]) -> None:
    page = Page()
    draw(page)
    assert not found(page.read(), "table")
