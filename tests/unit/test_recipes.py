"""Recipes: strings that parse back to what printed them, and errors that name the remedy."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import RecipeError
from chunkwise.core.recipes import STRATEGIES, TRANSFORMS, Range, parameters
from chunkwise.pipeline import chunker, parse

VALID = [
    "structural(size=400, min_size=80) | overlap(sentences=1) | context(headings=True)",
    "recursive(size=64, fill=0.0, tokenizer='cl100k_base')",
    "sentences(size=200, max_sentences=3, language='de')",
    "fixed(size=100, unit='words') | overlap(ratio=0.15)",
    "structural(size=200)",
]


@pytest.mark.parametrize("recipe", VALID)
def test_a_recipe_prints_as_it_parses(recipe: str) -> None:
    assert repr(parse(recipe)) == recipe


def test_a_bare_name_takes_the_defaults() -> None:
    assert repr(parse("structural")) == "structural(size=200)"
    assert parse("structural()") == parse("structural")


def test_white_space_and_position_do_not_matter() -> None:
    assert parse(" structural( 400,80 )|overlap( sentences = 1 )") == parse(VALID[0].rpartition(" | ")[0])


@given(size=st.integers(101, 4096), min_size=st.integers(0, 100), fill=st.floats(0, 0.9))
def test_every_value_survives_repr_and_pickle(size: int, min_size: int, fill: float) -> None:
    made = STRATEGIES["structural"](size=size, min_size=min_size, fill=fill)
    assert parse(repr(made)) == made
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(parse(repr(made))) == hash(made)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("strutural()", ["no strategy 'strutural'", "did you mean 'structural'"]),
        ("structural(siz=2)", ["no parameter 'siz'", "did you mean 'size'"]),
        ("structural(size=0)", ["size=0", "at least 1", "try size="]),
        ("structural(size=-5)", ["size=-5", "at least 1"]),
        ("structural(size=2)", ["size=2 leaves no room", "2 tokens", "try size=200"]),
        ("structural(size=100, min_size=100)", ["min_size=100 must be less than size=100", "try min_size=25"]),
        ("structural(fill=3)", ["fill=3 must be at most 1"]),
        ("structural(language=5)", ["language=5 must be a string"]),
        ("structural(size=100, size=200)", ["given twice", "size"]),
        ("structural() | overlap(sentences=1) | overlap(tokens=9)", ["another of its kind"]),
        ("structural(size=2.5)", ["size=2.5", "integer"]),
        ("structural(size='big')", ["size='big'", "integer"]),
        ("structural(size=True)", ["size=True", "integer"]),
        ("fixed(unit='token')", ["unit='token'", "did you mean 'tokens'"]),
        ("fixed(1, 'words', 'x', 4)", ["takes 3 parameters"]),
        ("structural(tokenizer='gpt2')", ["no tokenizer 'gpt2'", "cl100k_base", "nothing is downloaded"]),
        ("structural() | overlap(tokens=300)", ["tokens=300", "less than size", "try tokens="]),
        ("structural(size=100) | overlap(ratio=1.5)", ["ratio=1.5", "less than 1"]),
        ("structural() | overlap()", ["takes one of", "try overlap(sentences=1)"]),
        ("structural() | overlap(sentences=1, tokens=3)", ["takes one of"]),
        ("structural() | context(headings='no')", ["headings='no'", "True or False"]),
        ("overlap(sentences=1)", ["no strategy 'overlap'", "after a strategy"]),
        ("structural() | recursive()", ["no transform 'recursive'", "comes first"]),
        ("structural(", ["can't read the recipe"]),
        ("", ["can't read the recipe"]),
        ("structural(size=[x])", ["'[x]'"]),
        ("structural(**{'size': 1})", ["** is not allowed"]),
        ("__import__('os').system('true')", ["can't read"]),
        ("structural.size", ["can't read"]),
    ],
)
def test_a_wrong_recipe_says_what_is_wrong_and_what_to_do(recipe: str, words: list[str]) -> None:
    with pytest.raises(RecipeError) as caught:
        parse(recipe)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_tokenizer_counts_where_the_recipe_names_none() -> None:
    assert repr(chunker("structural(size=400) | overlap(sentences=1)", tokenizer="cl100k_base")) == (
        "structural(size=400, tokenizer='cl100k_base') | overlap(sentences=1)"
    )
    named = "recursive(size=400, tokenizer='words')"
    assert repr(chunker(named, tokenizer="cl100k_base")) == named


def test_numbers_carry_the_range_that_a_tuner_may_search() -> None:
    for stage in (*STRATEGIES.values(), *TRANSFORMS.values()):
        for name, (kind, _, bounds) in parameters(stage).items():
            if kind in (int, float):
                assert isinstance(bounds, Range), f"{stage.__name__}.{name} has no range"
                assert bounds.low < bounds.high


def test_stages_join_with_a_bar_in_python_too() -> None:
    joined = STRATEGIES["structural"](size=400) | TRANSFORMS["overlap"](sentences=1)
    assert joined == parse("structural(size=400) | overlap(sentences=1)")
    assert (joined | TRANSFORMS["context"]()) == parse("structural(size=400) | overlap(sentences=1) | context()")
