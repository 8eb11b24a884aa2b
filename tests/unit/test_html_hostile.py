"""Web pages that are made to bring a reader down, and any tags that follow each other."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Limits, Source
from chunkwise.readers.html.read import read_html
from unit.html_pages import RUNNING, fragment, links, page

BOMBS = {
    "div": "<div>" * 10_000,
    "tables": "<table><tr><td>a<td>" * 10_000,
    "lists": "<ul><li>" * 10_000,
    "terms": "<dl><dt>a<dd>" * 2_000,
    "bold": "<b>" * 10_000,
    "quotes": "<blockquote>" * 10_000,
    "headings": "<div><h1>" * 2_000,
    "spans of cells": "<table>" + ("<tr>" + "<td rowspan=65534 colspan=1000>x" * 50) * 500,
    "entities": "<!DOCTYPE a [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><p>&b;",
    "attribute": f"<p class='{'a-' * 500_000}' id={'b' * 500_000}>",
    "opened": "<" * 100_000,
    "blanks": "<p>a" + " \n\t" * 100_000,
    "line": "<p>" + "word " * 500_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_page_is_read_in_bounded_space(name: str) -> None:
    document = page(f"{BOMBS[name]}<p>{RUNNING}</p>")
    assert RUNNING.strip() in document.text
    assert len(document.text) < 5 * len(BOMBS[name]) + 2_000_000


def test_blocks_deeper_than_the_limit_are_written_without() -> None:
    html = "<ul><li>a" * 40 + "<p>b"
    document = read_html(Source("x", html.encode(), media_type="text/html", limits=Limits(nesting=10)))
    assert len(document.blocks) == 10
    assert document.text.count("- a") == 40
    assert document.text.endswith("b")


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("<div>" * 30_000, "more than 20000 elements inside each other"),
        ("".join(f"<p><font c={i}>" for i in range(3_000)), "3000 elements of formatting are never closed"),
        ("<p " + " ".join(f"a{i}=1" for i in range(20_000)) + ">", "more than 10000 attributes"),
    ],
)
def test_a_page_that_no_parser_would_end_with_is_refused(html: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        fragment(html)


TAGS = """
    a article aside b blockquote br caption code dd div dl dt figcaption figure footer form h1 h2 header hr img li main
    math nav ol p pre q section span table tbody td tfoot th thead tr ul
"""
_TAG = re.compile(r"</?[a-z0-9]+(?: [a-z]+=(?:'[^']*'|[^ >]*))?>")
PIECES = st.one_of(
    st.sampled_from(TAGS.split()).map(lambda tag: f"<{tag}>"),
    st.sampled_from(TAGS.split()).map(lambda tag: f"</{tag}>"),
    st.sampled_from(
        ["word ", " ", "\n", "&nbsp;", "<a href=x>", "<td rowspan=3>", "<th colspan=2>", "<img alt='x y'>"]
    ),
    st.text(max_size=5),
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_whatever_tags_follow_each_other_blocks_nest_and_links_lie_in_the_text(html: str) -> None:
    document = fragment(html)
    text = document.text
    for index, block in enumerate(document.blocks):
        assert block.parent < index
        assert 0 <= block.span.start < block.span.end <= len(text)
        if block.parent >= 0:
            outer = document.blocks[block.parent].span
            assert outer.start <= block.span.start <= block.span.end <= outer.end
    assert all(word and word == word.strip() for word, _ in links(document))
    stray = "<" in _TAG.sub("", html)  # which begins a tag that nobody meant
    parted = any(tag in html for tag in ("<table", "<caption", "<a"))
    assert stray or parted or text.count("word") == html.count("word")
