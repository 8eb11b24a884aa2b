"""Reported bugs about PDF, each with two siblings: files of our own with the same fault in another form."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from statistics import median

import pytest
from reportlab.pdfgen.canvas import Canvas

from cases import reported
from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Source
from chunkwise.pipeline import chunk
from chunkwise.readers.pdf import read_pdf

Placed = tuple[float, float, str]
Case = reported.Case


def drawn(*pages: Sequence[Placed]) -> Document:
    """Return what is read of pages on which each text is drawn by itself."""
    buffer = BytesIO()
    canvas = Canvas(buffer)
    for texts in pages:
        for x, y, text in texts:
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return read_pdf(Source("case.pdf", buffer.getvalue()))


def lines(*texts: str, left: float = 72, top: float = 760) -> list[Placed]:
    """Return lines under each other; an empty one leaves a gap."""
    return [(left, top - 14 * number, text) for number, text in enumerate(texts) if text]


def wide(document: Document) -> float:
    """Return how many tokens the median chunk has."""
    return median(c.token_count for c in chunk(document, "structural(size=200)"))


def fragments_make_chunks_as_large_as_lines_do(case: Case) -> None:
    fragments = [(50 + 6 * j, 700 - 12 * i, f"w{i * 40 + j}") for i in range(20) for j in range(15)]
    assert case.params["size"] == 200
    assert wide(drawn(fragments)) >= 50


def words_of_two_columns_make_chunks_too(case: Case) -> None:
    words = [(x + 40 * j, 700 - 12 * i, "pumps") for i in range(20) for x in (60, 330) for j in range(5)]
    document = drawn(words)
    assert wide(document) >= 50
    assert document.text.count("pumps") == 200


def letters_make_words(case: Case) -> None:
    letters = [(60 + 7.2 * j, 700 - 12 * i, letter) for i in range(20) for j, letter in enumerate("thevalvemustopen")]
    assert wide(drawn(letters)) >= 50


def paragraphs_stay_apart_and_pages_without_text_are_told(case: Case) -> None:
    document = drawn(lines("First para line one of the text that", "line two.", "", "Second para."), [], [])
    assert document.text == "First para line one of the text that line two.\n\nSecond para."
    assert document.meta["warnings"] == ["pages 2, 3: no extractable text"]


def an_indent_parts_paragraphs_too(case: Case) -> None:
    first = lines("The pump runs all day and all night, and", "it stops for nobody at all, not even once.")
    second = [(84, 732, "Now and then a valve opens, and then it"), (72, 718, "closes again as it should do.")]
    assert drawn([*first, *second]).text.count("\n\n") == 1


def a_scan_is_no_empty_success(case: Case) -> None:
    buffer = BytesIO()
    canvas = Canvas(buffer)
    for _ in range(2):
        canvas.rect(100, 100, 300, 300, fill=1)  # as good as an image: something is drawn, and no text
        canvas.showPage()
    canvas.save()
    with pytest.raises(ReadError, match=r"case\.pdf: no text layer in its 2 pages \(a scan\?\)"):
        read_pdf(Source("case.pdf", buffer.getvalue()))


TESTS: dict[str, list[reported.Test]] = {
    "B120": [fragments_make_chunks_as_large_as_lines_do, words_of_two_columns_make_chunks_too, letters_make_words],
    "B121": [
        paragraphs_stay_apart_and_pages_without_text_are_told,
        an_indent_parts_paragraphs_too,
        a_scan_is_no_empty_success,
    ],
}


@pytest.mark.parametrize(("id", "test"), [(id, test) for id, tests in TESTS.items() for test in tests])
def test_a_reported_bug_of_pdf_does_not_happen_here(id: str, test: reported.Test) -> None:
    test(reported.load()[id])
