"""The PDF reader on files that the tests draw: blocks, order, what is left out, and files that are no good."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.colors import black, grey, lightgrey, red
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Limits, Source
from chunkwise.readers import READERS
from chunkwise.readers.pdf import read_pdf

PROSE = [
    "The pump moves water from the well to the tank on the roof of the",
    "house. It runs for an hour each morning and stops when the float in",
    "the tank has risen to its mark. Nobody has to be there for that to",
    "work as it should.",
]


class Page:
    """A file that is drawn line by line, from the top of its page."""

    def __init__(self, **options: object) -> None:
        self._buffer = BytesIO()
        self.canvas = Canvas(self._buffer, pageCompression=0, **options)
        self.y = 700.0

    def text(self, *lines: str, size: float = 10, bold: bool = False, x: float = 72, font: str = "Helvetica") -> Page:
        """Draw lines under each other."""
        for line in lines:
            self.canvas.setFont(font + "-Bold" * bold, size)
            self.canvas.drawString(x, self.y, line)
            self.y -= 1.2 * size
        return self

    def gap(self, points: float = 12) -> Page:
        """Leave space."""
        self.y -= points
        return self

    def turn(self) -> Page:
        """Begin a page."""
        self.canvas.showPage()
        self.y = 700.0
        return self

    def content(self) -> bytes:
        """Return the file."""
        self.canvas.save()
        return self._buffer.getvalue()

    def read(self, password: str = "", limits: Limits | None = None) -> Document:
        """Read the file."""
        return read_pdf(Source("a.pdf", self.content(), password=password, limits=limits or Limits()))


GRID = ("GRID", (0, 0), (-1, -1), 0.5, black)
PARTS = [["Part", "Price", "Stock"], ["Seal ring", "2.50", "14"], ["Valve", "11.00", "3"]]


def platypus(
    rows: list[list[Any]], *style: tuple[object, ...], widths: list[float] | None = None, repeat: int = 0
) -> Table:
    """Return a table for a page."""
    return Table(rows, style=style, colWidths=widths, repeatRows=repeat)


def flowing(table: Table) -> Document:
    """Return what is read of pages with prose and a table."""
    buffer = BytesIO()
    SimpleDocTemplate(buffer).build([Paragraph(" ".join(PROSE)), Spacer(1, 20), table])
    return read_pdf(Source("a.pdf", buffer.getvalue()))


def found(document: Document, *kinds: str) -> list[tuple[str, str]]:
    return [(block.kind, block.span.slice(document.text)) for block in document.blocks if block.kind in kinds]


def test_the_suffix_is_registered_and_read_in_another_process() -> None:
    assert READERS[".pdf"].reader is read_pdf
    assert READERS[".pdf"].isolated


def test_larger_letters_make_headings_whose_levels_follow_their_size() -> None:
    page = Page().text("Waterworks", size=20).gap().text("Pumps", size=14).text(*PROSE).gap()
    document = page.text("Valves", size=14).text(*PROSE).read()
    assert [(block.level, block.label) for block in document.blocks if block.kind == "heading"] == [
        (1, "Waterworks"),
        (2, "Pumps"),
        (2, "Valves"),
    ]
    assert found(document, "paragraph")[0][1] == " ".join(PROSE)


def test_bold_and_numbered_lines_are_headings_by_the_depth_of_their_numbers() -> None:
    page = Page()
    for title in ("1 Pumps", "1.1 Water", "1.2 Oil", "2 Valves"):
        page.text(title, bold=True).gap(4).text(*PROSE).gap()
    headings = [(block.level, block.label) for block in page.read().blocks if block.kind == "heading"]
    assert headings == [(1, "1 Pumps"), (2, "1.1 Water"), (2, "1.2 Oil"), (1, "2 Valves")]


def test_bookmarks_decide_which_lines_are_headings() -> None:
    page = Page()
    page.canvas.bookmarkPage("a")
    page.canvas.addOutlineEntry("The pump", "a", 0)
    page.text("The pump", size=12).gap().text(*PROSE).gap().text("NOTE WELL", bold=True).gap().text(*PROSE)
    page.turn()
    page.canvas.bookmarkPage("b")
    page.canvas.addOutlineEntry("Its valve", "b", 1)
    page.text("Its valve").gap().text(*PROSE)
    headings = [(block.level, block.label) for block in page.read().blocks if block.kind == "heading"]
    assert headings == [(1, "The pump"), (2, "Its valve")]


def test_a_paragraph_runs_over_a_page_whose_blocks_cut_through_it() -> None:
    document = Page().text(*PROSE[:2]).turn().text(*PROSE[2:]).read()
    assert document.text == " ".join(PROSE)
    assert [kind for kind, _ in found(document, "paragraph")] == ["paragraph"]
    first, second = (block for block in document.blocks if block.kind == "page")
    assert second.span.slice(document.text) == " ".join(PROSE[2:])
    assert first.span.end == second.span.start
    assert (first.level, second.level) == (1, 2)


def test_a_word_parted_by_a_page_is_joined_and_belongs_to_both_pages() -> None:
    document = (
        Page().text("The water runs from the well to the tank, whose capabili-").turn().text("ties are known.").read()
    )
    assert "whose capabilities are known." in document.text
    assert [block.span.slice(document.text)[:4] for block in document.blocks if block.kind == "page"] == [
        "The ",
        "ties",
    ]


def test_bullets_and_numbers_make_lists_that_nest() -> None:
    page = Page().text("Do this:").gap(4)
    page.text("\u2022 open the valve that is above the pump and wait until the water has", x=80)
    page.text("run for a minute", x=88).text("\u2022 close it", x=80).text("\u2022 slowly", x=100).text(
        "\u2022 fully", x=100
    )
    document = page.gap().text("1. Oil", "2. Water").read()
    assert document.text.endswith(
        "- open the valve that is above the pump and wait until the water has run for a minute\n"
        "- close it\n  - slowly\n  - fully\n\n1. Oil\n2. Water"
    )
    assert [block.level for block in document.blocks if block.kind == "item"] == [1, 1, 3, 3, 1, 1]


def test_a_number_that_nothing_counts_on_is_no_item() -> None:
    document = Page().text("3. July was the day when the pump was first put to work, and it has run since.").read()
    assert not found(document, "item")


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


def test_code_keeps_its_lines_and_indents() -> None:
    page = Page().text(*PROSE).gap().text("def run(pump):", font="Courier").text("pump.start()", font="Courier", x=96)
    document = page.gap().text(*PROSE).read()
    assert found(document, "code") == [("code", "def run(pump):\n    pump.start()\n")]


def test_running_heads_and_numbers_go_and_are_told_but_repeated_text_stays() -> None:
    page = Page()
    for number in range(1, 5):
        page.canvas.drawString(72, 800, f"Manual, part {number}")
        page.canvas.drawString(300, 30, f"- {number} -")
        page.canvas.setFont("Helvetica", 16)  # the foot may be large, but a large line at the top is a heading
        page.canvas.drawString(72, 60, f"Issue {number} of the manual")
        page.y = 770
        page.text(f"Chapter {number}", size=16).gap()
        page.text("Check the seal.").gap().text(*PROSE).turn()
    document = page.read()
    assert document.meta["left_out"] == [
        "running head, 4 pages: Manual, part #",
        "page number, 4 pages: - # -",
        "running foot, 4 pages: Issue # of the manual",
    ]
    assert [block.label for block in document.blocks if block.kind == "heading"][:2] == ["Chapter 1", "Chapter 2"]
    assert "Manual" not in document.text
    assert document.text.count("Check the seal.") == 4


def test_a_table_of_contents_keeps_its_lines_and_makes_no_headings() -> None:
    page = Page().text("Contents", size=16).gap()
    page.text(
        "1 Pumps . . . . . . . . . . . . . . . . . . . . 4",
        "2 Valves . . . . . . . . . . . . . . . . . . . 12",
        bold=True,
    )
    document = page.gap().text(*PROSE).read()
    assert [block.label for block in document.blocks if block.kind == "heading"] == ["Contents"]
    assert "1 Pumps \u2026 4\n2 Valves \u2026 12\n\n" in document.text


def test_the_first_rows_of_a_table_on_each_page_are_no_running_head() -> None:
    page = Page()
    for number in range(4):
        page.y = 800
        page.text("Part and price", *(f"Seal {number}{row}" for row in range(30))).turn()
    assert page.read().text.count("Part and price") == 4


def test_lines_that_do_not_fill_their_column_keep_their_breaks() -> None:
    document = Page().text("Waterworks Ltd", "12 Well Street", "Springfield").gap().text(*PROSE).read()
    assert document.text.startswith("Waterworks Ltd\n12 Well Street\nSpringfield\n\nThe pump")


def test_a_turned_page_is_read_like_another() -> None:
    page = Page()
    page.canvas.setPageRotation(90)
    page.canvas.rotate(90)
    page.canvas.translate(0, -500)
    page.y = 400
    assert page.text(*PROSE).gap().text("Second.").read().text == " ".join(PROSE) + "\n\nSecond."


def test_metadata_and_names_of_pages_are_kept() -> None:
    page = Page()
    page.canvas.setTitle("Pumps")
    page.canvas.setAuthor("A. Smith")
    page.canvas.addPageLabel(0, style="ROMAN_LOWER", start=4)
    document = page.text(*PROSE).read()
    assert (document.meta["title"], document.meta["author"], document.meta["n_pages"]) == ("Pumps", "A. Smith", 1)
    assert next(block.label for block in document.blocks if block.kind == "page") == "iv"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00", str(document.meta["date"]))


def test_a_missing_and_a_wrong_password_are_told_apart() -> None:
    locked = Page(encrypt=StandardEncryption("open", canPrint=0)).text(*PROSE).content()
    with pytest.raises(ReadError, match=r"a\.pdf: encrypted; give its password with --password"):
        read_pdf(Source("a.pdf", locked))
    with pytest.raises(ReadError, match=r"a\.pdf: the password is wrong"):
        read_pdf(Source("a.pdf", locked, password="shut"))
    assert read_pdf(Source("a.pdf", locked, password="open")).text == " ".join(PROSE)


def test_a_password_that_is_meant_for_other_files_opens_what_needs_none() -> None:
    free = Page(encrypt=StandardEncryption("", ownerPassword="owner", canPrint=0)).text(*PROSE).content()
    assert read_pdf(Source("a.pdf", free, password="for others")).text == " ".join(PROSE)


def test_what_differs_in_numbers_that_count_no_pages_is_no_running_head() -> None:
    page = Page()
    for number, amount in (("27611", "682.18"), ("80155", "211.40"), ("33002", "951.07"), ("11873", "120.66")):
        page.text(f"Invoice {number}").gap(300).text("Bolts and nuts for the pump of the house").gap(280)
        page.text(f"Amount due: {amount} EUR").turn()
    document = page.read()
    assert [text in document.text for text in ("Invoice 27611", "682.18", "Invoice 11873", "120.66")] == [True] * 4


def test_a_file_that_is_nothing_but_what_repeats_is_not_emptied() -> None:
    page = Page()
    for number in range(5):
        page.text(f"Room {number}", "Total 4").turn()
    assert page.read().text.count("Room") == 5


def test_the_titles_of_slides_stay_on_their_pages() -> None:
    page = Page()
    for number in ("one", "two", "three"):
        page.text(f"Results of quarter {number}", size=28).gap(30).text("- pumps sold", "- seals sold", size=16).turn()
    headings = [block for block in page.read().blocks if block.kind == "heading"]
    assert [heading.label for heading in headings] == [f"Results of quarter {n}" for n in ("one", "two", "three")]


def test_more_pages_than_the_limit_are_refused() -> None:
    with pytest.raises(ReadError, match=r"a\.pdf: 3 pages are more than the limit of 2"):
        Page().text("a").turn().text("b").turn().text("c").read(limits=Limits(pages=2))


def test_scanned_pages_among_others_are_told() -> None:
    page = Page().text(*PROSE).turn()
    page.canvas.rect(100, 100, 300, 300, fill=1)
    page.turn()
    assert page.read().meta["warnings"] == ["page 2: no text layer (a scan?)"]


def test_blank_pages_give_empty_text() -> None:
    document = Page().turn().read()
    assert (document.text, document.blocks) == ("", ())
    assert document.meta["warnings"] == ["page 1: no extractable text"]


SAMPLE = Page().text("Pumps", size=20).text(*PROSE).turn().text("1. a", "2. b", *PROSE).content()


@settings(max_examples=60)
@given(
    st.integers(0, len(SAMPLE)), st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), max_size=9)
)
def test_a_damaged_file_is_read_or_refused(length: int, flips: list[tuple[int, int]]) -> None:
    content = bytearray(SAMPLE)
    for place, value in flips:
        content[place] = value
    try:
        document = read_pdf(Source("a.pdf", bytes(content[:length] if length % 2 else content)))
    except ReadError:
        return
    for block in document.blocks:
        assert 0 <= block.span.start < block.span.end <= len(document.text)
        if block.parent >= 0:
            outer = document.blocks[block.parent].span
            assert outer.start <= block.span.start <= block.span.end <= outer.end
