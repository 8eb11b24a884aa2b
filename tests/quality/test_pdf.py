"""PDF against what the files are known to hold: order, headings, what must not be left, and what it costs."""

from __future__ import annotations

import os
import re
import time
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pypdfium2
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Source
from chunkwise.pipeline import chunk
from chunkwise.readers.pdf import read_pdf

SHARED = Path(os.environ.get("CHUNKWISE_SHARED", Path(__file__).resolve().parents[3] / "shared"))
DATA = SHARED / "data" / "pdf"

# Those that have text, but for i1040nr, whose pages of 1000 words in 350 lines take a tenth more.
TIMED = [
    "bookmark",
    "copy_protected",
    "interleaved",
    "made2col",
    "naacl06",
    "nougat_002",
    "nougat_005",
    "rtl01",
    "tables",
    "tracemonkey",
]


def pdf(name: str, password: str = "") -> Document:
    content = (DATA / f"{name}.pdf").read_bytes()
    return read_pdf(Source(f"{name}.pdf", content, media_type="application/pdf", password=password))


def tables(document: Document) -> list[list[str]]:
    """Return the rows of each table."""
    return [block.span.slice(document.text).strip().split("\n") for block in document.blocks if block.kind == "table"]


def in_order(text: str) -> int:
    """Count the tags that follow the one that they should."""
    tags = [int(tag) for tag in re.findall(r"\bS(\d{4})\b", text)]
    return sum(after == before + 1 for before, after in pairwise(tags))


@pytest.mark.parametrize(("name", "floor"), [("made2col", 195), ("interleaved", 395)])
def test_columns_are_read_one_after_the_other_however_they_are_drawn(name: str, floor: int) -> None:
    text = pdf(name).text
    assert in_order(text) >= floor
    assert "RUNNINGHEAD" not in text
    assert not re.search("[\u00ad\u0002\ufffe]|Page \\d", text)


def test_what_is_left_out_is_told() -> None:
    assert pdf("made2col").meta["left_out"] == [
        "page number, 7 pages: Page #",
        "running head, 6 pages: RUNNINGHEAD Journal of Tests Vol. 7",
    ]


def test_headings_are_those_of_the_source_and_no_others() -> None:
    source = (DATA / "made2col.tex").read_text("utf-8")
    titles = re.findall(r"\\(sub)?section\{([^}]*)\}", source)
    expected = [(2 if sub else 1, title) for sub, title in titles]
    found = [(block.level, block.label) for block in pdf("made2col").blocks if block.kind == "heading"]
    assert [(level, re.sub(r"^[\d.]+ ", "", title)) for level, title in found] == expected
    assert len(expected) == 16


def test_a_word_parted_at_a_line_end_is_whole() -> None:
    document = pdf("made2col")
    source = (DATA / "made2col.tex").read_text("utf-8")
    words = set(re.findall(r"[a-z]{5,}", source))
    body = document.text[document.text.index("S0197") :]
    assert set(re.findall(r"[a-z]{5,}", body)) <= words
    assert "-" not in re.sub(r"^- ", "", body, flags=re.MULTILINE)


def test_booktabs_tables_are_tables_with_their_header() -> None:
    document = pdf("made2col")
    headers = [block.span.slice(document.text) for block in document.blocks if block.kind == "header"]
    rows = [block.span.slice(document.text) for block in document.blocks if block.kind == "row"]
    assert headers == ["Name | Score | Time\n"] * 2
    assert rows[:2] == ["Alpha3 | 1.5 | 20\n", "Beta3 | 2.5 | 30\n"]


@pytest.mark.parametrize(
    ("name", "password", "words"),
    [
        ("enc_lo", "", "enc_lo.pdf: encrypted; give its password with --password or CHUNKWISE_PASSWORD"),
        ("enc_aes256", "wrong", "enc_aes256.pdf: the password is wrong; .*--password or CHUNKWISE_PASSWORD"),
        ("corrupt_trunc", "", "corrupt_trunc.pdf: no PDF, or damaged; save it anew"),
        ("scanned", "", "scanned.pdf: no text layer in its 1 page .*OCR.*--on-error skip"),
    ],
)
def test_what_can_not_be_read_gives_one_clear_line(name: str, password: str, words: str) -> None:
    with pytest.raises(ReadError, match=words) as caught:
        pdf(name, password)
    assert "\n" not in str(caught.value)


def test_what_is_damaged_or_protected_is_read_as_far_as_it_can_be() -> None:
    assert "Beautiful is better than ugly." in pdf("corrupt_zen").text
    assert "LayoutParser" in pdf("copy_protected").text
    assert pdf("enc_aes256", "foo").text.startswith("Secret!")


def test_text_that_runs_from_right_to_left_is_in_logical_order() -> None:
    text = pdf("rtl01").text
    assert text.startswith("تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R")
    assert "اإل" not in text  # lam and alef of one glyph, turned around


def test_text_outside_the_edges_of_the_page_is_left_out() -> None:
    document = pdf("nougat_005")
    assert len(document.text) < 10_000
    assert any("outside the edges" in str(line) for line in document.meta["left_out"])  # type: ignore[attr-defined]


def test_a_table_of_a_paper_has_its_rows_and_a_drawing_is_none() -> None:
    rows = {name: tables(pdf(name)) for name in ("naacl06", "tracemonkey", "nougat_005")}
    assert rows["naacl06"][:2] == [
        [
            "Article | dump | be-hit",
            "2005-09-23 | Katrina | New Orleans",
            "2005-10-02 | Longwang | Taiwan",
            "2005-11-20 | Gamma | Florida",
        ],
        ["article A | Katrina | New Orleans", "article B | Longwang | Taiwan"],
    ]
    assert len(rows["naacl06"]) == 9
    assert "2005-10-19 (3) | Wilma | Florida" in rows["naacl06"][6]
    assert [table[0] for table in rows["tracemonkey"]] == [
        "Tag | JS Type | Description",
        "| Loops | Trees | Traces | Aborts | Flushes | Trees/Loop | Traces/Tree | Traces/Loop | Speedup",
    ]
    assert rows["nougat_005"] == []


def test_bookmarks_give_the_levels() -> None:
    headings = [(block.level, block.label) for block in pdf("bookmark").blocks if block.kind == "heading"]
    assert headings[:3] == [(1, "PART I - DEFINITIONS"), (2, "1. Interpretation"), (2, "2. Construction of Terms")]
    assert (3, "3.1 Payment Schedule") in headings


def test_pages_of_chunks_are_those_whose_words_they_hold() -> None:
    style = getSampleStyleSheet()["BodyText"]
    story = []
    for page in range(1, 301):
        for part in range(1 + page % 5):  # pages of different fill, so that chunks end anywhere
            words = f"Part {part} of leaf P{page:03d}X tells of pumps, valves and seals in order. " * 4
            story.append(Paragraph(words, style))
        story.append(PageBreak())
    buffer = BytesIO()
    SimpleDocTemplate(buffer, pagesize=A4).build(story)
    document = read_pdf(Source("long.pdf", buffer.getvalue()))
    chunks = chunk(document, "structural(size=120)")
    assert document.meta["n_pages"] == 300
    seen: set[int] = set()
    for one in chunks:
        marked = {int(number) for number in re.findall(r"P(\d{3})X", one.text)}
        assert set(one.pages) == marked
        seen |= marked
    assert seen == set(range(1, 301))


@pytest.mark.parametrize("name", TIMED)
def test_a_page_takes_little_more_than_its_text_takes_pdfium(name: str) -> None:
    content = (DATA / f"{name}.pdf").read_bytes()
    alone, ours = [], []
    for _ in range(5):  # one after the other, and the best of each: the machine is not ours alone
        alone.append(_seconds(lambda: _plain_text(content)))
        ours.append(_seconds(lambda: read_pdf(Source(name, content))))
    n_pages = len(pypdfium2.PdfDocument(content))
    assert min(ours) / n_pages <= 1.5 * min(alone) / n_pages + 0.010


def _seconds(work: object) -> float:
    start = time.process_time()
    assert callable(work)
    work()
    return time.process_time() - start


def _plain_text(content: bytes) -> None:
    file = pypdfium2.PdfDocument(content)
    for page in file:
        textpage = page.get_textpage()
        textpage.get_text_range()
        textpage.close()
        page.close()
    file.close()
