"""Excerpts are found where they stand, whatever copying did to them, but for numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.types import Span
from chunkwise.evaluate.locate import Places, is_short
from chunkwise.text.sentences import sentence_spans
from chunkwise.text.words import WORD

ROOT = Path(__file__).resolve().parents[2]
SPEECH = (ROOT / "examples" / "corpus" / "state_of_the_union_2024.md").read_text("utf-8")
SENTENCES = [Span(start, start + len(SPEECH[start:end].rstrip())) for start, end in sentence_spans(SPEECH, "en")]
LONG = [span for span in SENTENCES if not is_short(span.slice(SPEECH)) and SPEECH.count(span.slice(SPEECH)) == 1]
NUMBERED = [span for span in LONG if re.search(r"\d", span.slice(SPEECH))]
PLACES = Places(SPEECH)

_QUOTES = {"'": "\u2018\u2019\u00b4", "\u2019": "'\u2018\u00b4", '"': "\u201c\u201d\u00ab", "\u2014": "-\u2013\u2212"}


def covered(found: list[Span], span: Span) -> bool:
    """Tell whether a span was found, and nothing else; marks at its edges may be left out."""
    (one,) = found
    bare = SPEECH[span.start : span.end].strip("\"'\u201c\u201d\u2018\u2019\u2014- ")
    return span.start <= one.start and one.end <= span.end and bare in one.slice(SPEECH)


@given(span=st.sampled_from(LONG), draw=st.data())
def test_white_space_put_in_between_words_or_taken_out_keeps_the_span(span: Span, draw: st.DataObject) -> None:
    words = [match[0] for match in WORD.finditer(span.slice(SPEECH))]
    blanks = st.sampled_from(["", " ", "\n", "  \n\t", "\u00a0", "\u200b"])
    copy = words[0]
    for word in words[1:]:
        # Two numbers must not become one.
        blank = draw.draw(blanks)
        copy += (blank.strip("\u200b") or (" " if copy[-1].isdigit() and word[0].isdigit() else blank)) + word
    assert covered(PLACES.of(copy), span)


@given(span=st.sampled_from(LONG), draw=st.data())
def test_another_style_of_quotation_marks_and_dashes_keeps_the_span(span: Span, draw: st.DataObject) -> None:
    copy = "".join(
        draw.draw(st.sampled_from(_QUOTES[char])) if char in _QUOTES else char for char in span.slice(SPEECH)
    )
    assert covered(PLACES.of(copy), span)


@given(span=st.sampled_from(LONG), draw=st.data())
def test_soft_hyphens_hyphens_at_line_ends_and_capitals_keep_the_span(span: Span, draw: st.DataObject) -> None:
    text = span.slice(SPEECH)
    inner = [match.start() + 1 for match in re.finditer(r"(?<=[a-z])[a-z](?=[a-z])", text)] or [0]
    place = draw.draw(st.sampled_from(inner))
    hyphen = draw.draw(st.sampled_from(["\u00ad", "-\n", "\u2010\n  "]))
    copy = text[:place] + hyphen + text[place:] if place else text
    assert covered(PLACES.of(draw.draw(st.sampled_from([copy, copy.upper(), copy.lower()]))), span)


@given(span=st.sampled_from(NUMBERED), draw=st.data())
def test_a_changed_added_or_parted_digit_loses_the_span(span: Span, draw: st.DataObject) -> None:
    text = span.slice(SPEECH)
    place = draw.draw(st.sampled_from([match.start() for match in re.finditer(r"\d", text)]))
    other = draw.draw(st.sampled_from([digit for digit in "0123456789" if digit != text[place]]))
    changed = [text[:place] + other + text[place + 1 :], text[:place] + other + text[place:]]
    if text[place + 1 : place + 2].isdigit():
        changed.append(f"{text[: place + 1]} {text[place + 1 :]}")
    for copy in changed:
        assert not any(found.start <= span.start + place < found.end for found in PLACES.of(copy))


@given(draw=st.data())
def test_what_stands_in_a_text_is_found_where_it_stands(draw: st.DataObject) -> None:
    words = [Span(*match.span()) for match in WORD.finditer(SPEECH)]
    first = draw.draw(st.integers(0, len(words) - 40))
    span = Span(words[first].start, words[first + draw.draw(st.integers(5, 39))].end)
    text = span.slice(SPEECH)
    assert any(
        found.start <= span.start + 3 and span.end - 3 <= found.end and found.slice(SPEECH) in text
        for found in PLACES.of(text)
    )


@pytest.mark.parametrize(
    ("excerpt", "text", "found"),
    [
        ("8", "It is $18, 8.5 or 1,8, not 8.", ["8"]),
        ("1.5", "1.55 and 1.5. Or 11.5", ["1.5"]),
        ("10 m", "10⁶ m", []),
        ("106", "10⁶", []),
        ("12", "1 2", []),
        ("1000", "1,000 or 1 000", []),
        ("fell to 5 degrees", "fell to -5 degrees", []),
        ("fell to -5 degrees", "fell to \u22125 degrees", ["fell to \u22125 degrees"]),
        ("art", "party, Art, art", ["art"]),
        ("ART", "party, Art", ["Art"]),
        ("art", "party", []),
        ("art", "party, Art", ["art", "Art"]),
        ("the art of war in the", "of the art\nof *war* in THE\nfield", ["the art\nof *war* in THE"]),
        ("finding", "\ufb01nd\u00ading", ["\ufb01nd\u00ading"]),
        ("cafe\u0301 noir", "caf\u00e9 noir", ["caf\u00e9 noir"]),
        ('"Yes," he said', "Then: \u201cYes,\u201d he said. No.", ["\u201cYes,\u201d he said"]),
        ('" Yes "', 'I " Yes " you', ['" Yes "']),
        ("wait...", "wait\u2026 what", ["wait\u2026"]),
        ("北京", "他在北京工作", ["北京"]),
        ("서울", "서울은 크다", ["서울"]),
        ("\u0130stanbul'da", "\u0130stanbul\u2019da", ["\u0130stanbul\u2019da"]),
        ("---", "a --- b", []),
        ("", "a", []),
    ],
)
def test_an_excerpt_is_found_here_and_not_there(excerpt: str, text: str, found: list[str]) -> None:
    assert [span.slice(text) for span in Places(text).of(excerpt)] == found
