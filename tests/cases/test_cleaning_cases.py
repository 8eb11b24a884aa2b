"""Reported bugs about cleaning, and siblings of the kinds blobs, encodings and front matter."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from cases import reported
from chunkwise.core.types import Document, Span
from chunkwise.pipeline import chunk
from chunkwise.readers.read import Reading, read, read_text

PIXELS = base64.b64encode(bytes(i * i % 251 for i in range(3000))).decode()


def blanks_collapse_and_line_breaks_and_tabs_stay(case: reported.Case) -> None:
    text = read_text(case.text, media_type="text/plain", clean="spaces").text
    assert text == "para1\n\npara2\n\tindented code\n spaced"


def a_data_uri_is_one_placeholder_and_listed(case: reported.Case) -> None:
    document = read_text(case.text)
    chunks = chunk(document, reported.recipe({k: v for k, v in case.params.items() if k != "strip_data_uris"}))
    assert len(chunks) <= 2
    assert document.text == "Before.\n\n![plan]([image/jpeg left out])\n\nAfter.\n"
    start, end = case.text.index("data:"), case.text.index(")")
    assert document.meta["removed"] == [{"start": start, "end": end, "reason": "a blob"}]
    assert document.source_span(Span(17, 20)) == (start, end)
    after = document.text.index("After.")
    assert document.source_span(Span(after, after + 6)) == (end + 3, end + 9)


def a_word_hyphenated_at_the_line_end_is_whole(case: reported.Case) -> None:
    text = read_text(case.text, media_type="text/plain", clean="hyphens").text
    assert "powerful capabilities of" in text
    assert "well-known" in text


def a_compound_keeps_its_hyphen_at_the_line_end(case: reported.Case) -> None:
    text = read_text(case.text, media_type="text/plain", clean="hyphens").text
    assert text.count("price-determining factors") == 2
    assert "pricedetermining" not in text


CASES: dict[str, Callable[[reported.Case], None]] = {
    "B077": blanks_collapse_and_line_breaks_and_tabs_stay,
    "B116": a_data_uri_is_one_placeholder_and_listed,
    "B117": a_word_hyphenated_at_the_line_end_is_whole,
    "B118": a_compound_keeps_its_hyphen_at_the_line_end,
}


@pytest.mark.parametrize("id", CASES)
def test_a_reported_bug_of_cleaning_does_not_happen_here(id: str) -> None:
    CASES[id](reported.load()[id])


def of_bytes(folder: Path, name: str, content: bytes, clean: str = "blobs") -> Document:
    (folder / name).write_bytes(content)
    return read(folder / name, reading=Reading(clean=clean))


def test_blobs_by_reference_and_in_html_leave_the_words_around_them() -> None:
    uri = f"data:image/png;base64,{PIXELS}"
    text = f'See ![plan][p] and <img alt="pump" src="{uri}"/>.\n\n[p]: {uri} "The plan"\n\nAfter.\n'
    document = read_text(text)
    assert document.text == text.replace(uri, "[image/png left out]")
    assert [c.text for c in chunk(document)] == [document.text.strip()]


def test_blobs_in_a_fence_and_in_quotes_leave_the_structure_whole() -> None:
    lines = [PIXELS[i : i + 64] for i in range(0, len(PIXELS), 64)]
    text = "# Keys\n\n```pem\n" + "\n".join(lines) + "\n```\n\n> quoted " + PIXELS + "\n\n## Next\n\nText.\n"
    document = read_text(text)
    assert (
        document.text == "# Keys\n\n```pem\n[base64 left out]\n```\n\n> quoted [base64 left out]\n\n## Next\n\nText.\n"
    )
    assert [(b.kind, b.label) for b in document.blocks if b.parent < 0] == [
        ("heading", "Keys"),
        ("code", "pem"),
        ("quote", ""),
        ("heading", "Next"),
        ("paragraph", ""),
    ]


def test_a_byte_order_mark_counts_in_no_offset_of_any_encoding(tmp_path: Path) -> None:
    text = f"Überdruck 水\n\n{PIXELS}\n\nEnde"
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        document = of_bytes(tmp_path, "a.txt", text.encode(encoding))
        start = document.text.index("Ende")
        source = document.source_span(Span(start, start + 4))
        assert source is not None
        assert source.slice(text) == "Ende"
        assert document.text == "Überdruck 水\n\n[base64 left out]\n\nEnde"


def test_offsets_are_those_of_the_text_in_a_guessed_encoding(tmp_path: Path) -> None:
    words = "Die Prüfung der Ölpumpe läuft täglich; größere Schäden fällen die Wärter früh.\n" * 4
    text = f"{words}\nVentil   schließen"
    document = of_bytes(tmp_path, "a.txt", text.encode("cp1252"), "spaces")
    assert document.meta["encoding_guessed"] is True
    start = document.text.index("schließen")
    source = document.source_span(Span(start - 1, start + 9))
    assert source is not None
    assert source.slice(text) == " schließen"


def test_front_matter_is_read_before_it_is_cleaned_and_stays_front_matter() -> None:
    text = (
        f"---\ntitle: Page 3 of 12\ncover: data:image/png;base64,{PIXELS}\nnote:  a   b\n---\n\n# T\n\nBody   text.\n"
    )
    document = read_text(text, clean="all")
    assert document.meta["title"] == "Page 3 of 12"
    assert document.text == (
        "---\ntitle: Page 3 of 12\ncover: [image/png left out]\nnote:  a   b\n---\n\n# T\n\nBody text.\n"
    )
    assert [c.text for c in chunk(document)] == ["# T\n\nBody text."]


def test_front_matter_behind_an_invisible_mark_keeps_its_place() -> None:
    text = "\ufeff---\ntitle: T\u200b\n---\nBody\n"
    document = read_text(text, clean="controls")
    front = document.blocks[0]
    assert (front.kind, front.span.slice(document.text)) == ("front_matter", "---\ntitle: T\n---\n")
    assert document.source_span(front.span) == (1, text.index("Body"))
