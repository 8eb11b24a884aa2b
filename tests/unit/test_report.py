"""The page that draws chunks: every character once, hostile text stays text, nothing is loaded."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.types import Chunk, Document, Span
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read_text
from chunkwise.report.page import drawn
from chunkwise.text.unicode import encodable, printable
from laws.strategies import documents

HOSTILE = "# <script>alert(1)</script>\n\n"
HOSTILE += "</style></div><img src=x onerror=alert(1)> \u202egnp.exe \x1b]0;x\x07 &amp; \ud800\n"
RECIPES = [
    "structural(size=20) | context()",
    "structural(size=30) | overlap(sentences=1) | context()",
    "recursive(size=12) | overlap(tokens=3)",
    "recursive(size=12, separators=['. ', ' '], keep='none')",
    "fixed(size=6)",
]
_VOID = {"meta"}


class Page(HTMLParser):
    """The text of a page by what it stands in."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.open: list[tuple[str, str]] = []
        self.once: list[str] = []
        self.repeated: list[str] = []
        self.reasons: list[str] = []
        self.labels: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") or name in ("src", "action") for name, _ in attrs)
        assert all((value or "").startswith("#") for name, value in attrs if name == "href")
        if tag not in _VOID:
            self.open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tags, classes = {tag for tag, _ in self.open}, {name for _, names in self.open for name in names.split()}
        if "aside" in tags:
            self.labels.append(data)
        elif "why" in classes:
            self.reasons.append(data)
        elif "main" in tags and classes & {"text", "left", "blank"} and "context" not in classes:
            (self.repeated if "mark" in tags else self.once).append(data)


def page(document: Document, recipe: str) -> Page:
    cut = chunker(recipe, tokenizer="words")
    return Page(drawn(document, list(cut(document)), cut))


def shown(text: str) -> str:
    return encodable(printable(text.replace("\r\n", "\n")))


@pytest.mark.parametrize("recipe", RECIPES)
@given(document=documents, hostile=st.booleans())
def test_every_character_is_drawn_once(recipe: str, document: Document, hostile: bool) -> None:
    if hostile:
        document = read_text(HOSTILE + document.text, id="<b>x</b>")
    assert "".join(page(document, recipe).once) == shown(document.text)


def test_hostile_text_stays_text() -> None:
    made = page(read_text(HOSTILE, id="<script>x</script>"), RECIPES[0])
    assert not made.tags & {"script", "img", "link", "iframe", "object", "form", "base"}
    text = "".join(made.once)
    assert "<script>alert(1)</script>" in text
    assert "</style></div><img src=x onerror=alert(1)> gnp.exe \u241b]0;x\u2407 &amp; \ufffd" in text


def test_nothing_is_loaded_and_nothing_runs() -> None:
    cut = chunker("fixed(size=6)")
    html = drawn(read_text("Text.", id="x"), [], cut)
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"" in html
    assert not re.search(r"https?://|url\(|@import|<script", html)


def test_repeats_are_marked() -> None:
    document = read_text("One is here. Two is here. Three is here.", id="x")
    made = page(document, "sentences(size=10, max_sentences=1) | overlap(tokens=2)")
    assert made.repeated == ["is here.", "is here."]
    table = read_text("| a | b |\n|---|---|\n" + "| one | two |\n" * 6, id="x")
    assert page(table, "structural(size=20)").repeated == ["| a | b |\n|---|---|\n"] * 2


def test_what_is_in_no_chunk_is_told_with_its_reason() -> None:
    made = page(read_text("---\ntitle: T\n---\n\n# A\n\nText.\n", id="x"), RECIPES[0])
    assert made.reasons == ["front matter, kept as metadata"]


def test_labels_name_tokens_headings_and_pages() -> None:
    document = read_text("# Pumps\n\nOld.\n\n## Seals\n\nSeals are old. " + "They are old. " * 20, id="x")
    made = "".join(page(document, RECIPES[0]).labels)
    assert "Pumps › Seals" in made
    paged = read_text("One.\fTwo.", id="x", media_type="text/plain")
    assert "pages 1-2" in "".join(page(paged, "structural(size=20)").labels)


def test_chunks_out_of_the_ordinary_are_drawn_all_the_same() -> None:
    document = Document.from_text("abcdef", id="x")
    cut = chunker("fixed(size=6)")
    chunks = [
        Chunk("x", (Span(0, 4),), "abcd", context="A summary.\n", token_count=900, meta={"level": 1}),
        Chunk("x", (Span(2, 5),), "cde", token_count=3, meta={"level": 1}),
        Chunk("x", (Span(0, 6),), "abcdef", token_count=6, meta={"level": 0}),
    ]
    html = drawn(document, chunks, cut)
    made = Page(html)
    assert ("".join(made.once), "".join(made.repeated)) == ("abcdef", "cd")
    assert '<mark class="context">A summary.</mark>' in html
    assert "of the deepest level, 3 in all" in html
    assert made.reasons == ["in no chunk"]


def test_show_writes_a_page_and_never_over_its_source(tmp_path: Path) -> None:
    source, out = tmp_path / "a.md", tmp_path / "a.html"
    source.write_text("# A\n\nText.\n")

    def show(target: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "chunkwise", "show", str(source), "--html", str(target)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = show(out)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"in {out}" in done.stderr
    assert out.read_text("utf-8").startswith("<!doctype html>")
    assert show(source).returncode == 2
    assert source.read_text() == "# A\n\nText.\n"
