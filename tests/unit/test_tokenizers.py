"""Tokenizers that are not built in: others' tokenizer.json, functions that count, and the engines of byte pairs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, models, normalizers, pre_tokenizers, trainers

from chunkwise.core.errors import MissingExtraError, RecipeError
from chunkwise.core.protocols import Tokenizer
from chunkwise.core.types import Document
from chunkwise.pipeline import chunk, chunker, parse
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker
from chunkwise.text import engines, huggingface
from chunkwise.text.bytepairs import BytePairs
from chunkwise.text.rulers import TokenRuler
from chunkwise.text.tokens import custom_tokenizer, tokenizer
from laws.strategies import texts

PROSE = [
    "The pump was checked on Tuesday; valve 7 was shut.",
    "水泵每周检查一次。",
    "naïve café don't I'll",
    "a  b\n\nc\t d!?",
]
LLAMA = next(pattern for pattern in huggingface._GPT_PATTERNS if "{1,3}" in pattern and "Lu" not in pattern)


def gpt2() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _trained(made, trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=_bytes()))


def llama3() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(LLAMA), behavior="isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return _trained(made, trainers.BpeTrainer(vocab_size=400, show_progress=False, initial_alphabet=_bytes()))


def sentencepiece() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.Unigram())
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    return _trained(made, trainers.UnigramTrainer(vocab_size=80, show_progress=False, unk_token="<unk>"))


def _bytes() -> list[str]:
    return list(pre_tokenizers.ByteLevel.alphabet())


def _trained(made: tokenizers.Tokenizer, trainer: Any) -> tokenizers.Tokenizer:
    made.train_from_iterator(PROSE * 20, trainer)
    return made


FAMILIES = {"gpt2": gpt2, "llama3": llama3, "sentencepiece": sentencepiece}


@pytest.fixture(scope="module", params=FAMILIES)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tokenizer of one of the families."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    (folder / "tokenizer.json").write_text(FAMILIES[request.param]().to_str(), encoding="utf-8")
    return str(folder)


@given(text=texts, size=st.integers(8, 60))
def test_any_tokenizer_file_keeps_the_laws(path: str, text: str, size: int) -> None:
    check_chunker(chunker(f"recursive(size={size}) | overlap(ratio=0.2)", tokenizer=path), Document("x", text))


@given(text=st.lists(texts, max_size=3).map("".join), start=st.integers(0, 200), length=st.integers(0, 200))
def test_any_tokenizer_file_counts_slices_exactly(path: str, text: str, start: int, length: int) -> None:
    counter = tokenizer(path)
    start, end = min(start, len(text)), min(start + length, len(text))
    assert counter.measure(text).count(start, end) == counter.count(text[start:end]) - counter.n_special


@pytest.mark.parametrize("family", FAMILIES)
def test_one_pass_is_trusted_where_the_definition_proves_it(family: str) -> None:
    definition = json.loads(FAMILIES[family]().to_str())
    assert (huggingface.sync_of(definition) is not None) == (family != "sentencepiece")
    blank = {"content": "a b", "special": False}
    assert huggingface.sync_of({**definition, "added_tokens": [blank]}) is None
    assert huggingface.sync_of({**definition, "added_tokens": [{"content": "C++", "special": False}]}) is None
    assert huggingface.sync_of({**definition, "normalizer": {"type": "Precompiled"}}) is None


def test_bytes_are_those_of_utf_8() -> None:
    text = "aé水\U0001f469 b"
    ruler = tokenizer("bytes").measure(text)
    for start in range(len(text) + 1):
        for end in range(start, len(text) + 1):
            assert ruler.count(start, end, before="ß") == 2 + len(text[start:end].encode())
        for budget in range(13):
            end, back = ruler.fit(start, budget), ruler.fit_back(start, budget)
            assert len(text[start:end].encode()) <= budget or end == start
            assert end == len(text) or len(text[start : end + 1].encode()) > budget
            assert len(text[back:start].encode()) <= budget or back == start
            assert back == 0 or len(text[back - 1 : start].encode()) > budget
    assert [c.text for c in chunk(Document("x", "水泵每周"), "fixed(size=7, tokenizer='bytes')")] == ["水泵", "每周"]


def vowels(text: str) -> int:
    return 2 + sum(letter in "aeiou" for letter in text)


def test_a_function_that_counts_is_a_tokenizer() -> None:
    made = custom_tokenizer("vowels", vowels)
    assert (made.n_special, made.count("level")) == (2, 4)
    assert custom_tokenizer("vowels", vowels) == made == tokenizer("vowels")
    text = "The pump was checked on Tuesday; valve seven was shut. " * 30
    chunks = check_chunker(chunker("sentences(size=40)", tokenizer=made), Document("x", text))
    assert {c.token_count for c in chunks[:-1]} == {32}  # two sentences of 15 vowels, and the two that are added


def test_a_function_takes_no_name_that_is_taken(path: str) -> None:
    custom_tokenizer("taken", len)
    for name in ("taken", "words", " ", path):
        with pytest.raises(RecipeError, match=f"another tokenizer is named {name!r}"):
            custom_tokenizer(name, vowels)


@pytest.mark.parametrize("function", [lambda text: len(text) / 4, lambda text: None, lambda text: -1, "len"])
def test_a_function_that_does_not_count_is_refused(function: Any) -> None:
    with pytest.raises(RecipeError, match="must be a function that returns a whole number"):
        custom_tokenizer("wrong", function)


def test_a_function_is_no_tokenizer_by_itself() -> None:
    with pytest.raises(RecipeError, match=r"make one of a function with custom_tokenizer"):
        chunk(Document("x", "a b"), "recursive", tokenizer=len)  # type: ignore[arg-type]


def test_a_function_may_count_a_hundred_characters_as_one_or_each_as_a_million() -> None:
    text = "The pump was checked on Tuesday; valve 7 was shut. " * 80
    coarse = custom_tokenizer("coarse", lambda text: len(text) // 100)
    assert len(pieces(text, "sentences(size=8)", coarse)) == 5
    assert len(pieces(text[:60], "sentences(size=8)", custom_tokenizer("huge", lambda text: 10**6 * len(text)))) > 40


def pieces(text: str, recipe: str, counter: Tokenizer) -> list[str]:
    return [c.text for c in chunk(Document("x", text), recipe, tokenizer=counter)]


def test_two_halves_of_a_surrogate_pair_are_two_characters_to_every_engine() -> None:
    for name in engines.BYTE_PAIRS:
        counts = {BytePairs(name, engine=which).count("\ud83d\ude00") for which in ("toktok", "tiktoken")}
        assert len(counts) == 1
    halves = "word " * 10 + "\ud83d\ude00" * 9 + " word" * 10
    check_chunker(parse("recursive(size=40)", tokenizer=BytePairs("cl100k_base", engine="tiktoken")), read_text(halves))
    heading = "# a\ud800b\n\n" + "More words are here. " * 10
    check_chunker(
        parse("structural(size=60, tokenizer='bytes') | context()"), read_text(heading, media_type="text/markdown")
    )


def test_a_tokenizer_that_was_trained_with_dropout_counts_without(tmp_path: Path) -> None:
    definition = json.loads(gpt2().to_str())
    definition["model"]["dropout"] = 0.9
    (tmp_path / "tokenizer.json").write_text(json.dumps(definition), encoding="utf-8")
    assert len({tokenizer(str(tmp_path)).count(PROSE[0]) for _ in range(20)}) == 1


def test_a_name_that_nothing_was_made_for_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"no tokenizer 'consonants'.*custom_tokenizer"):
        chunker("recursive(tokenizer='consonants')")


def test_without_the_extra_the_reference_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engines.fastest() == "toktok"
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert engines.fastest() == "tiktoken"
    monkeypatch.setitem(sys.modules, "toktok._toktok", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'chunkwise\[fast\]'"):
        engines.engine.__wrapped__("cl100k_base", "toktok")


def test_an_engine_that_counts_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_tiktoken", lambda encoding: engines.Engine(lambda text: np.zeros(1, np.uint32), len))
    engines.engine.cache_clear()
    try:
        with pytest.raises(RecipeError, match="does not give the tokens of cl100k_base"):
            engines.engine("cl100k_base", "toktok")
    finally:
        engines.engine.cache_clear()


def test_a_long_text_is_encoded_in_threads_as_it_is_in_one_piece(path: str) -> None:
    text = "The pump was checked on Tuesday; valve 7 was shut. " * 12_000
    ruler = tokenizer(path).measure(text)
    assert isinstance(ruler, TokenRuler)
    assert ruler.count(0, 4000) == tokenizer(path).count(text[:4000])
    assert len(ruler._ends) == tokenizer(path).count(text)
