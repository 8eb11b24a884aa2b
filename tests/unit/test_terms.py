"""The words that a lexical search compares."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from chunkwise.text.terms import LONGEST, STOP_WORDS, terms


def test_words_are_folded_stemmed_and_in_order() -> None:
    assert terms("Running Foxes JUMPED over 7 boxes") == ["run", "fox", "jump", "over", "7", "box"]


def test_stop_words_are_left_out() -> None:
    assert terms("What is the size of a chunk?") == ["size", "chunk"]


def test_stop_words_stay_where_there_is_nothing_else() -> None:
    assert terms("to be or not to be") == ["to", "be", "or", "not", "to", "be"]


@pytest.mark.parametrize("text", ["", " \n", "?!", "___", "\U0001f600", "--- | --- |"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert terms(text) == []


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("max_tokens", "max_tokens"),
        ("E1234", "e1234"),
        ("3.14", "3.14"),
        ("v1.2.3", "v1.2.3"),
        ("1.0.0rc1", "1.0.0rc1"),
        ("python3.11", "python3.11"),
        ("192.168.0.1", "192.168.0.1"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("x\u00b2", "x2"),
    ],
)
def test_numbers_and_identifiers_stay_whole(text: str, whole: str) -> None:
    assert whole in terms(f"See ({text}), please.")


@pytest.mark.parametrize("text", ["max_tokens", "maxTokens", "MaxTokens", "MAX_TOKENS", "__max_tokens__"])
def test_identifiers_are_found_by_their_parts(text: str) -> None:
    assert {"max", "token"} <= set(terms(text))


def test_an_acronym_in_an_identifier_is_a_part() -> None:
    assert terms("parseHTTPResponse") == ["parsehttprespons", "pars", "http", "respons"]


def test_a_name_in_camel_case_equals_its_plain_spelling() -> None:
    assert terms("youtube")[0] in terms("YouTube")


def test_emphasis_marks_are_no_part_of_a_word() -> None:
    assert terms("_chunk_") == terms("chunk")


def test_a_number_at_the_end_of_a_sentence_has_no_stop() -> None:
    assert terms("It took 3.14. Then 7.") == ["took", "3.14", "7"]


def test_thousands_are_found_with_and_without_commas() -> None:
    assert terms("1,000,000") == terms("1000000") == ["1000000"]
    assert terms("1,000, then 2") == ["1000", "2"]
    assert terms("1,2,3") == ["1", "2", "3"]


def test_apostrophes_leave_the_word() -> None:
    assert terms("the dog's bowl, l'eau, qu\u2019il, we\u2019ll") == ["dog", "bowl", "eau", "il"]
    assert terms("don't") == ["do"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u6771\u4eac\u90fd", ["\u6771\u4eac", "\u4eac\u90fd"]),
        ("\u732b", ["\u732b"]),
        ("\u30bf\u30ef\u30fc", ["\u30bf\u30ef", "\u30ef\u30fc"]),
        ("\uff80\uff9c\uff70", ["\u30bf\u30ef", "\u30ef\u30fc"]),
        ("\u7b2c3\u7ae0", ["\u7b2c", "3", "\u7ae0"]),
        ("hello\u4e16\u754c", ["hello", "\u4e16\u754c"]),
        ("\u4f60\u597d\u3002\u4e16\u754c", ["\u4f60\u597d", "\u4e16\u754c"]),
        ("\u0e44\u0e17\u0e22", ["\u0e44\u0e17", "\u0e17\u0e22"]),
        ("\u0e17\u0e35\u0e48", ["\u0e17\u0e35\u0e48"]),
    ],
)
def test_unspaced_scripts_give_bigrams_of_characters(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ud55c\uad6d\uc5b4", ["\ud55c\uad6d\uc5b4", "\ud55c\uad6d", "\uad6d\uc5b4"]),
        ("\ud55c\uad6d", ["\ud55c\uad6d"]),
        ("\uc9d1", ["\uc9d1"]),
    ],
)
def test_hangul_gives_the_word_and_its_bigrams(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Stra\u00dfe", "STRASSE"),
        ("\ufb01ne", "fine"),
        ("exam\u00adple", "example"),
        ("caf\u00e9", "cafe\u0301"),
        ("\u041f\u0440\u0438\u0432\u0435\u0442", "\u043f\u0440\u0438\u0432\u0435\u0442"),
        ("\ud55c", "\u1112\u1161\u11ab"),
    ],
)
def test_spellings_of_one_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other)


def test_words_of_other_alphabets_are_not_stemmed() -> None:
    assert terms("\u043c\u0438\u0440\u044b na\u00efves") == ["\u043c\u0438\u0440\u044b", "na\u00efves"]


def test_no_term_holds_white_space() -> None:
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x11000)]))
    found = terms(every)
    assert found
    assert not [term for term in found if len(term.split()) != 1]


@pytest.mark.parametrize("text", ["a1" * 10**5, "1." * 10**5, "1," + "000," * 10**5, "a_" * 10**5, "'" * 10**5])
def test_a_long_run_of_one_kind_gives_terms_of_bounded_length(text: str) -> None:
    assert max(map(len, terms(text)), default=0) <= max(LONGEST, 24)


def test_stop_words_are_words_as_they_are_compared() -> None:
    assert {word.casefold() for word in STOP_WORDS} == STOP_WORDS


def test_threads_share_the_stemmer_safely() -> None:
    text = " ".join(f"running{'s' * (i % 5)} boxes{i}" for i in range(2000))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(terms, [text] * 8))
    assert all(each == found[0] for each in found)


def test_importing_needs_no_stemmer() -> None:
    code = "import sys, chunkwise.text.terms; print('Stemmer' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
