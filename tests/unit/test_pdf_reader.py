"""The PDF reader on files that the tests draw: blocks, order, what is left out, and files that are no good."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Limits, Source
from chunkwise.readers import READERS
from chunkwise.readers.pdf import read_pdf
from unit.pdf_pages import PROSE, Page, found


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
