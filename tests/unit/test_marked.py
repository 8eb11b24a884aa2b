"""Boundaries of a language model, as a strategy cuts at them."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings

from chunkwise.core.errors import RecipeError
from chunkwise.core.types import Document
from chunkwise.llm import custom_llm
from chunkwise.pipeline import chunk, chunker
from chunkwise.testing import check_chunker, check_locality
from laws.strategies import EXAMPLES, documents, sizes

TEXT = " ".join(f"{'Pumps' if n // 7 % 2 else 'Valves'} matter, says number {n}." for n in range(60))


def subjects(prompt: str) -> str:
    """Mark the sentences whose first word is not that of the one before, as a good model would."""
    lines = re.findall(r"^\[(\d+)\] (\w+)", prompt, re.MULTILINE)
    starts = [int(n) for (_, before), (n, word) in pairwise(lines) if word != before]
    return json.dumps({"starts": starts})


def babble(prompt: str) -> str:
    return "Let me think."


for answer in (subjects, babble):
    custom_llm(answer.__name__, answer)


def test_chunks_are_cut_where_the_model_says_that_the_subject_changes() -> None:
    recipe = "scored(size=60, min_size=5, scorer=marked(llm='subjects'), encoder='hashing')"
    chunks = chunk(Document.from_text(TEXT, id="x"), recipe, tokenizer="words")
    assert [made.text.split()[0] for made in chunks] == ["Valves", "Pumps"] * 4 + ["Valves"]


def test_an_answer_that_makes_no_sense_is_told_and_cut_without() -> None:
    document = Document.from_text(TEXT, id="x")
    recipe = "scored(size=60, scorer=marked(llm='babble'), encoder='hashing')"
    with pytest.warns(UserWarning, match=r"babble marked nothing in sentences 1 to 40: .*no JSON.* \(and 1 more\)"):
        found = chunk(document, recipe, tokenizer="words")
    plain = chunk(document, "recursive(size=60, min_size=15)", tokenizer="words")
    assert [made.text for made in found] == [made.text for made in plain]


def test_a_scorer_without_a_model_says_how_to_name_one() -> None:
    with pytest.raises(RecipeError, match="no llm is named; try scored"):
        chunk(Document.from_text(TEXT, id="x"), "scored(scorer=marked())")


@settings(max_examples=EXAMPLES)
@given(document=documents, size=sizes)
def test_marks_obey_the_laws(document: Document, size: int) -> None:
    recipe = f"scored(size={size}, scorer=marked(llm='subjects'), encoder='hashing')"
    check_chunker(chunker(recipe, tokenizer="words"), document)


def test_an_edit_at_the_end_leaves_the_first_marks_alone() -> None:
    recipe = chunker("scored(size=40, scorer=marked(llm='subjects'), encoder='hashing')", tokenizer="words")
    check_locality(recipe, Document.from_text(f"{TEXT}\n\n" * 4, id="x"), "Pumps again.")
