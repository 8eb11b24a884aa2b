"""Chunks that are derived of others: propositions of a language model, and summaries of sections."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings

from chunkwise.core.protocols import LLM, Budget
from chunkwise.core.types import Chunk, Document
from chunkwise.llm import custom_llm
from chunkwise.pipeline import chunk
from chunkwise.readers.read import read_text
from chunkwise.text.tokens import tokenizer
from chunkwise.transforms.propositions import propositions
from chunkwise.transforms.summaries import summaries
from laws.strategies import EXAMPLES, documents

WORDS = Budget(30, tokenizer("words"))
TEXT = """# Pumps

Lena Okafor built the first pump in 1969. She sold it to Rotterdam, and it still runs.

## Seals

This is so. Seals of graphite wear out in spring. Nobody knows why. Seals of graphite cost more than seals of felt, and
felt seals leak. See below.

| Part | Weeks |
|---|---|
| Seal | 4 |
"""


def document() -> Document:
    return read_text(TEXT, id="guide.md", media_type="text/markdown")


def facts(prompt: str) -> str:
    """State every sentence twice, as no one would."""
    lines = re.findall(r"^\[(\d+)\] (.+)", prompt, re.MULTILINE)
    told = [{"sentence": int(n), "text": f"{verb}: {line}"} for n, line in lines for verb in ("Fact", "It is")]
    return json.dumps({"facts": told[::-1]})


def sound(made: Chunk, document: Document, budget: Budget) -> None:
    assert made.text == "".join(span.slice(document.text) for span in made.spans)
    assert made.text.strip()
    assert made.token_count == budget.tokenizer.count(made.embed_text) <= budget.size
    assert all(one.end <= other.start for one, other in pairwise(made.spans))


def test_a_proposition_is_the_context_of_the_sentence_that_states_it() -> None:
    chunks = chunk(document(), "sentences(size=60)", tokenizer="words")
    found = propositions(chunks, document(), budget=WORDS, llm=custom_llm("facts", facts))
    assert found.failures == ()
    felt = [made for made in found.chunks if made.text.startswith("Seals of graphite wear")]
    assert [made.context for made in felt] == [
        "It is: Seals of graphite wear out in spring.\n",
        "Fact: Seals of graphite wear out in spring.\n",
    ]
    for made in found.chunks:
        sound(made, document(), WORDS)
        assert made.meta["derived"] == "proposition"
        assert made.parent in {one.id for one in chunks}
    assert len({made.id for made in found.chunks}) == len(found.chunks)
    starts = [made.start for made in found.chunks]
    assert starts == sorted(starts)


def fixed(answer: str) -> LLM:
    return custom_llm("fixed", lambda prompt: answer)


def test_facts_are_read_from_behind_a_fence() -> None:
    chunks = chunk(document(), "sentences(size=60)", tokenizer="words")
    llm = custom_llm("fenced", lambda prompt: f"```json\n{facts(prompt)}\n```")
    found = propositions(chunks, document(), budget=WORDS, llm=llm)
    assert found.failures == ()
    assert found.chunks


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Fine.", "no JSON"),
        ('{"facts": {"sentence": 1}}', "no list `facts`"),
        ('{"facts": [1]}', "no list `facts`"),
        ('{"facts": [{"sentence": 1}]}', "a fact has no text"),
        ('{"facts": [{"sentence": 99, "text": "x"}]}', "no sentence from 1 to"),
        ('{"facts": [{"sentence": true, "text": "x"}]}', "no sentence from 1 to"),
        ('{"facts": [{"sentence": 1, "text": " "}]}', "a fact has no text"),
        ("", "the answer is empty"),
    ],
)
def test_an_answer_that_makes_no_sense_gives_no_proposition_and_is_told(answer: str, reason: str) -> None:
    chunks = chunk(document(), "sentences(size=60)", tokenizer="words")
    found = propositions(chunks, document(), budget=WORDS, llm=fixed(answer))
    assert found.chunks == ()
    assert len(found.failures) == len(chunks)
    assert found.failures[0].startswith("guide.md, characters 0 to ")
    assert reason in found.failures[0]


def test_a_summary_is_the_first_sentence_and_those_whose_terms_are_the_sections_own() -> None:
    pumps, seals = summaries(document(), budget=Budget(23, WORDS.tokenizer))
    assert pumps.text == "Lena Okafor built the first pump in 1969. She sold it to Rotterdam, and it still runs."
    assert seals.text.startswith("This is so. Seals of graphite wear out in spring. Seals of graphite cost more")
    assert "Nobody" not in seals.text
    assert seals.meta["derived"] == "summary"
    assert seals.headings == ("Pumps", "Seals")
    assert seals.meta["section"] == [TEXT.index("## Seals"), len(TEXT)]


def test_a_section_without_sentences_has_no_summary() -> None:
    table = read_text("# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", id="x", media_type="text/markdown")
    assert summaries(table, budget=WORDS) == []
    assert summaries(Document.from_text(" \n", id="x"), budget=WORDS) == []


@settings(max_examples=EXAMPLES)
@given(document=documents)
def test_derived_chunks_are_sound_on_every_text(document: Document) -> None:
    for made in summaries(document, budget=WORDS):
        sound(made, document, WORDS)
    found = propositions(
        chunk(document, "recursive(size=30)", tokenizer="words"),
        document,
        budget=WORDS,
        llm=custom_llm("facts", facts),
    )
    for made in found.chunks:
        sound(made, document, WORDS)
