"""Tokens, sentences, words and graphemes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Tokenizer
from chunkwise.core.types import Span
from chunkwise.text.graphemes import LONGEST, ceiling, floor, following, grapheme_spans
from chunkwise.text.huggingface import MINILM, huggingface
from chunkwise.text.sentences import guess_language, sentence_spans
from chunkwise.text.tokens import DEFAULT_TOKENIZER, tokenizer
from chunkwise.text.words import last_clause, last_line, last_word, line_spans, next_word, word_spans
from laws.strategies import texts

NAMES = ["characters", "words", "cl100k_base", "o200k_base", MINILM]


def pieces(text: str, spans: list[Span]) -> list[str]:
    return [span.slice(text) for span in spans]


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("characters", "水 a", 3),
        ("words", "no, never 水泵", 4),
        ("cl100k_base", "hello world", 2),
        ("o200k_base", "hello world", 2),
        ("cl100k_base", "<|endoftext|>", 7),
        (MINILM, "hello world", 4),
        (MINILM, "", 2),
        ("cl100k_base", "", 0),
    ],
)
def test_counts_are_those_of_the_published_tokenizers(name: str, text: str, count: int) -> None:
    assert tokenizer(name).count(text) == count


def test_special_tokens_in_a_text_are_text() -> None:
    ids = huggingface(MINILM).encode("[SEP]", add_special_tokens=False).ids
    assert 102 not in ids
    assert len(ids) > 1


def test_the_default_tokenizer_adds_as_many_tokens_as_it_says() -> None:
    assert DEFAULT_TOKENIZER.n_special == huggingface(MINILM).num_special_tokens_to_add(False)


@pytest.mark.parametrize("name", NAMES)
@given(text=texts, start=st.integers(0, 200), budget=st.integers(0, 40))
def test_a_ruler_counts_slices_as_if_alone_and_looks_up_within_the_text(
    name: str, text: str, start: int, budget: int
) -> None:
    counter = tokenizer(name)
    ruler = counter.measure(text)
    start = min(start, len(text))
    end = ruler.fit(start, budget)
    assert start <= end <= len(text)
    assert ruler.count(start, end) == counter.count(text[start:end]) - counter.n_special
    back = ruler.fit_back(start, budget)
    assert 0 <= back <= start


@pytest.mark.parametrize("name", NAMES)
@given(
    text=st.lists(texts, max_size=4).map("".join),
    start=st.integers(0, 400),
    length=st.integers(0, 400),
    before=st.sampled_from(["", "A > B\n", "| a |\n|---|\n", "x", "foo ", "水"]),
)
def test_a_ruler_counts_exactly_with_any_text_put_before(
    name: str, text: str, start: int, length: int, before: str
) -> None:
    counter = tokenizer(name)
    start = min(start, len(text))
    end = min(start + length, len(text))
    expected = counter.count(before + text[start:end]) - counter.n_special
    assert counter.measure(text).count(start, end, before=before) == expected


def test_a_long_text_is_encoded_in_segments_that_meet_where_tokens_do() -> None:
    text = "The pump was checked on Tuesday; 水泵每周检查一次。\n\nValve 7 was shut. " * 12_000
    for name in NAMES:
        counter = tokenizer(name)
        assert counter.measure(text).count(0, len(text)) == counter.count(text) - counter.n_special


@pytest.mark.parametrize("name", NAMES)
def test_a_ruler_reaches_nearly_as_far_as_the_budget_allows(name: str) -> None:
    text = "The pump was checked on Tuesday; valve 7 was shut. " * 40
    ruler = tokenizer(name).measure(text)
    assert 47 <= ruler.count(0, ruler.fit(0, 50)) <= 50
    assert 47 <= ruler.count(ruler.fit_back(len(text), 50), len(text)) <= 50
    assert ruler.fit(0, 10**6) == len(text)
    assert ruler.fit_back(len(text), 10**6) == 0


@pytest.mark.parametrize("name", NAMES)
def test_tokenizers_of_one_name_are_equal_and_pickle(name: str) -> None:
    made = tokenizer(name)
    assert isinstance(made, Tokenizer)
    assert pickle.loads(pickle.dumps(made)) == made == tokenizer(name)
    assert hash(made) == hash(tokenizer(name))


def test_a_lone_surrogate_counts_as_one_unknown_character() -> None:
    for name in NAMES:
        assert tokenizer(name).measure("a\ud800b").count(0, 3) >= 1


def test_a_tokenizer_file_is_found_by_path_and_a_bad_one_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(huggingface(MINILM).to_str(), encoding="utf-8")
    assert tokenizer(str(tmp_path)).count("hello world") == 4
    assert tokenizer(str(tmp_path / "tokenizer.json")).n_special == 2
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RecipeError, match=r"no tokenizer\.json of Hugging Face"):
        tokenizer(str(tmp_path / "bad.json")).count("x")


@given(texts)
def test_sentences_partition_the_text(text: str) -> None:
    assert "".join(pieces(text, sentence_spans(text))) == text


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("Dr. Okafor met Mr. Lind at 3 p.m. on Elm St. near the U.S. Embassy. They left early.", "auto", 2),
        ("The reading was 98.6 in v3.14.2 today (see fig. 2). It fell to 3.05 later.", "auto", 2),
        ("Am 3. Mai spielte der Verein in der 1. Bundesliga. Er verlor am 21. Spieltag.", "auto", 2),
        ("They left\r\nearly. He came.", "auto", 2),
        ("They left\rearly. He came.", "auto", 2),
        ("水泵每周检查一次。阀门必须关闭。记录压力读数。", "auto", 3),
        ("他问：“水泵好吗？”站长说没有。“关上阀门！”他们关了。", "zh", 3),
        ("圣罗斯季斯拉夫(St. Rastislav)在此。他走了。", "zh", 2),
        ("1. Read the pressure at valve 7. It should lie below 3.\n2. Listen to both pumps.", "auto", 3),
        ("Vol. 3 and No. 7 are by Ms. Lee. See p. 4.\n- One\n- Two", "auto", 4),
        ("第一文です．第二文です。", "auto", 2),
        ("점검은 매주 한다. 밸브를 닫는다. 3호기는 쉰다.", "auto", 3),
        ("คนงานตรวจปั๊ม น้ำทุกวัน", "auto", 2),
        ("One line\n\nAnother without a stop", "auto", 2),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, language: str, count: int) -> None:
    assert len(sentence_spans(text, language)) == count, pieces(text, sentence_spans(text, language))


@pytest.mark.parametrize(
    "blank", ["\u00a0", "\u2003", "\u202f", "\u3000", "\u2028", "\u0085", "\n\u00a0", "\u00a0\u2003"]
)
@pytest.mark.parametrize("language", ["en", "de", "fr", "ru", "ja"])
def test_an_initial_and_a_wide_blank_before_a_stop_are_text_like_any(blank: str, language: str) -> None:
    text = f"Asked J{blank}. A{blank}.{blank} Smith came."
    assert "".join(text[start:end] for start, end in sentence_spans(text, language)) == text


def test_white_space_belongs_to_the_sentence_before_it() -> None:
    assert pieces("A b. \n\n\n C d.\n", sentence_spans("A b. \n\n\n C d.\n")) == ["A b. \n\n\n", " C d.\n"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Der Verein und die Mannschaft spielen nicht mit dem Ball", "de"),
        ("The crew and the captain left the ship", "en"),
        ("Les ouvriers et le chef sont dans une usine", "fr"),
        ("Привет, мир, как дела", "ru"),
        ("", "en"),
    ],
)
def test_the_language_is_guessed_from_script_and_common_words(text: str, language: str) -> None:
    assert guess_language(text) == language


@given(texts)
def test_graphemes_partition_the_text_and_are_short(text: str) -> None:
    spans = grapheme_spans(text)
    assert "".join(pieces(text, spans)) == text
    assert all(span.length <= LONGEST for span in spans)


@given(text=texts, position=st.integers(0, 300))
def test_floor_and_ceiling_agree_with_the_partition(text: str, position: int) -> None:
    edges = {0, *(span.end for span in grapheme_spans(text))}
    position = min(position, len(text))
    below = floor(text, position, 0)
    assert below == max(edge for edge in edges if edge <= position)
    if text and below < len(text):
        assert ceiling(text, below) == min(edge for edge in edges if edge > below)
    found = following(text, position, len(text))
    assert found == len(text) or found == min(edge for edge in edges if edge >= position)


def test_what_a_reader_sees_as_one_character_stays_whole() -> None:
    family, flags = "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea"
    text = family + flags + "e\u0301\r\n"
    assert pieces(text, grapheme_spans(text)) == [family, flags[:2], flags[2:], "e\u0301", "\r\n"]


@given(texts)
def test_every_ink_belongs_to_one_word(text: str) -> None:
    covered = {place for span in word_spans(text) for place in range(*span)}
    assert all(text[place].isspace() or not text[place].isprintable() for place in set(range(len(text))) - covered)


@given(texts)
def test_lines_partition_the_text(text: str) -> None:
    assert "".join(pieces(text, line_spans(text))) == text


def test_last_and_next_find_places_far_and_near() -> None:
    text = "one, two\n" + "x" * 500 + " end"
    assert last_word(text, 0, len(text)) == len(text) - 3
    assert last_word(text, 0, 400) == 9
    assert last_clause(text, 0, 400) == 5
    assert last_line(text, 0, 400) == 9
    assert last_line(text, 9, 400) is None
    assert next_word(text, 1, 100) == 5
    assert next_word(text, 10, 100) is None
