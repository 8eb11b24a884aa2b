"""Words hyphenated at a line's end: joined or kept as the text itself writes them elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.text.hyphens import joins
from laws.strategies import texts


def joined(text: str) -> str:
    pieces, start = [], 0
    for span, hyphen in joins(text):
        pieces += [text[start : span.start], hyphen]
        start = span.end
    return "".join([*pieces, text[start:]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("powerful capabili-\nties of its own", "powerful capabilities of its own"),
        ("a well-\nknown weakness", "a well-known weakness"),
        ("a self-\nish act", "a selfish act"),
        ("the high-\r\nlevel view of a level", "the high-level view of a level"),
        ("of\u0002fice and \ufffe", "office and \ufffe"),
        ("infra\ufffe\r\nstructure", "infrastructure"),
        ("infra\u00ad\nstructure", "infrastructure"),
        ("infra\u2010 \n  structure", "infrastructure"),
        ("the Anglo-\nSaxon world", "the Anglo-Saxon world"),
        ("INTRODUC-\nTION", "INTRODUCTION"),
        ("pages 12-\n15", "pages 12-15"),
        ("COVID-\n19 and 19-\nyear", "COVID-19 and 19-year"),
        ("https://example.org/a-\nb/capabili-\nties", "https://example.org/a-b/capabili-ties"),
        ("short-\nand long-term", "short-\nand long-term"),
        ("a dash -\nnot a hyphen --\nnor here", "a dash -\nnot a hyphen --\nnor here"),
        ("a paragraph-\n\nends here", "a paragraph-\n\nends here"),
        ("state-of-the-\nart, and the art", "state-of-the-art, and the art"),
        ("non-governmen-\ntal bodies", "non-governmental bodies"),
        ("hy-\nphen-\nation", "hyphenation"),
        ("die Donau-\nschifffahrt", "die Donauschifffahrt"),
        ("возмож-\nность", "возможность"),
    ],
)
def test_a_word_is_joined_only_where_that_is_plausible(text: str, expected: str) -> None:
    assert joined(text) == expected


def test_the_form_within_a_line_elsewhere_decides() -> None:
    assert joined("price-\ndetermining. The price-determining one.") == "price-determining. The price-determining one."
    assert joined("the non-\nsense. No nonsense, please.") == "the nonsense. No nonsense, please."
    twice = "The lay-out. A layout, a layout, a lay-\nout"
    assert joined(twice).endswith("a layout, a layout")


def test_two_words_of_the_text_are_a_compound_where_the_text_has_such() -> None:
    words = "Data are large. Driven by time-critical needs, "
    assert joined(words + "a data-\ndriven one") == words + "a data-driven one"
    plain = "Data are large. Driven by needs, "
    assert joined(plain + "a data-\ndriven one") == plain + "a datadriven one"


def test_half_a_word_is_no_evidence_for_itself() -> None:
    text = "Big capabili-\nties. Time-tested capabili-\nties."
    assert joined(text) == "Big capabilities. Time-tested capabilities."


@given(st.lists(st.sampled_from(["-\n", "-", "\n", "\u00ad\n", "\u0002", "a", "Ab", "12", " "]) | texts).map("".join))
def test_joins_are_in_order_and_cover_a_hyphen_and_a_break_only(text: str) -> None:
    end = 0
    for span, hyphen in joins(text):
        assert end < span.start < span.end < len(text)
        assert hyphen in ("", "-")
        assert not span.slice(text).strip(
            "-\u2010\u00ad\u0002\ufffe \t\r\n\f\v\x1c\x1d\x1e\x1f\x85\xa0\u2003\u2028\u2029\u3000"
        )
        end = span.end
