"""The laws of DESIGN: they hold for every registered strategy, on every text."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core.outline import body
from chunkwise.core.recipes import STRATEGIES
from chunkwise.core.types import Document, Span
from chunkwise.pipeline import chunk, chunker
from chunkwise.testing import check_chunker, check_locality, check_within
from chunkwise.text.graphemes import floor
from chunkwise.text.tokens import custom_tokenizer
from laws.strategies import EXAMPLES, PIPES, document, documents, sizes, texts, written

TOKENIZERS = ["characters", "bytes", "words", "cl100k_base", "o200k_base", "all-MiniLM-L6-v2", "letters"]
SCORERS = [
    "drop(threshold=0.9)",
    "drop(percentile=50)",
    "drop(percentile=80, horizon=20)",
    "drop(deviations=0.5, window=2)",
    "gradient(percentile=50)",
    "gradient(percentile=90, window=1, horizon=10)",
    "max_min(threshold=0.1)",
    "double_pass(initial=0.1, appending=0.2, merging=0.2)",
    "double_pass(reach=1)",
    "cluster(piece=2)",
]
LOCAL = [
    recipe
    for recipe in (f"scored(size=40, scorer={scorer}, encoder='hashing')" for scorer in SCORERS)
    if chunker(recipe).scorer.local  # type: ignore[attr-defined]  # a field of this strategy
]
EVEN = ["recursive(size=40, balance=True)", "sentences(size=40, balance=True)"]


def letters(text: str) -> int:
    """A counter that no shortcut fits: it counts nothing for a blank or a mark."""
    return sum(map(str.isalpha, text))


custom_tokenizer("letters", letters)

separators = st.sampled_from(
    [
        r"separators=['\n\n', '\n', ' ']",
        r"separators=['. ', ',']",
        r"separators=['e']",
        r"separators=[r'\s*[;,.]\s*'], regex=True",
        r"separators=[r'(?=[A-Z])', r'\b'], regex=True",
        r"separators=[r'\n{2,}', ' '], regex=True",
        r"separators=['.'], regex=True",
    ]
)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("pipe", PIPES)
@settings(max_examples=EXAMPLES)
@given(document=documents, size=sizes, tokenizer=st.sampled_from(TOKENIZERS))
def test_every_composition_obeys_the_laws(name: str, pipe: str, document: Document, size: int, tokenizer: str) -> None:
    check_chunker(chunker(f"{written(name, size)}{pipe}", tokenizer=tokenizer), document)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("pipe", PIPES)
@settings(max_examples=EXAMPLES)
@given(document=documents, size=sizes, places=st.lists(st.integers(0, 400), max_size=5))
def test_spans_that_are_cut_by_themselves_share_no_chunk(
    name: str, pipe: str, document: Document, size: int, places: list[int]
) -> None:
    start, end = body(document)
    edges = [start, *sorted(floor(document.text, start + place, start) for place in places), end]
    spans = [Span(a, b) for a, b in pairwise(edges)]
    check_within(
        chunker(f"{written(name, size)}{pipe}", tokenizer="words"), document, [s for s in spans if s.length > 0]
    )


@pytest.mark.parametrize("name", ["structural", "recursive", "sentences", "paragraphs"])
@pytest.mark.parametrize("pipe", PIPES)
@settings(max_examples=EXAMPLES)
@given(document=documents, size=sizes, tokenizer=st.sampled_from(TOKENIZERS))
def test_even_chunks_obey_the_laws(name: str, pipe: str, document: Document, size: int, tokenizer: str) -> None:
    check_chunker(chunker(f"{name}(size={size}, balance=True){pipe}", tokenizer=tokenizer), document)


@pytest.mark.parametrize("scorer", SCORERS)
@settings(max_examples=EXAMPLES)
@given(document=documents, size=sizes, pipe=st.sampled_from(PIPES), tokenizer=st.sampled_from(TOKENIZERS))
def test_every_scorer_obeys_the_laws(scorer: str, document: Document, size: int, pipe: str, tokenizer: str) -> None:
    recipe = f"scored(size={size}, scorer={scorer}, encoder='hashing')"
    check_chunker(chunker(f"{recipe}{pipe}", tokenizer=tokenizer), document)


@pytest.mark.parametrize("keep", ["left", "right", "none"])
@pytest.mark.parametrize("pipe", PIPES)
@settings(max_examples=EXAMPLES)
@given(document=documents, size=sizes, tokenizer=st.sampled_from(TOKENIZERS), separators=separators)
def test_own_separators_obey_the_laws(
    keep: str, pipe: str, document: Document, size: int, tokenizer: str, separators: str
) -> None:
    check_chunker(chunker(f"recursive(size={size}, {separators}, keep={keep!r}){pipe}", tokenizer=tokenizer), document)


@pytest.mark.parametrize("recipe", ["structural", "recursive", "sentences", "paragraphs"])
@settings(max_examples=EXAMPLES)
@given(document=documents, size=sizes, min_size=st.integers(0, 40))
def test_a_floor_of_size_keeps_the_laws(recipe: str, document: Document, size: int, min_size: int) -> None:
    check_chunker(chunker(f"{recipe}(size={size}, min_size={min(min_size, size - 1)})", tokenizer="words"), document)


@settings(max_examples=EXAMPLES)
@given(document=documents, unit=st.sampled_from(["words", "characters"]), size=st.integers(1, 50))
def test_fixed_units_obey_the_laws(document: Document, unit: str, size: int) -> None:
    check_chunker(chunker(f"fixed(size={size}, unit={unit!r})"), document)


@pytest.mark.parametrize("unit", ["sentences", "paragraphs"])
@settings(max_examples=EXAMPLES)
@given(document=documents, limit=st.integers(1, 5))
def test_a_bound_on_units_obeys_the_laws(unit: str, document: Document, limit: int) -> None:
    check_chunker(chunker(f"{unit}(size=50, max_{unit}={limit})", tokenizer="cl100k_base"), document)


@pytest.mark.parametrize("recipe", [*(written(name, 40) for name in sorted(STRATEGIES)), *EVEN, *LOCAL])
@settings(max_examples=EXAMPLES)
@given(text=texts, addition=texts)
def test_an_edit_at_the_end_leaves_the_first_chunks_alone(recipe: str, text: str, addition: str) -> None:
    prefix = "The pump runs all day. Valve 7 stays shut.\n\n" * 60
    check_locality(chunker(recipe, tokenizer="words"), document(prefix + text), addition)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("text", ["", " ", "\n\n\t\r\n", "\u00a0\u2003", "\f\f"])
def test_blank_documents_give_no_chunks(name: str, text: str) -> None:
    assert chunk(Document.from_text(text, id="x"), written(name, 20)) == []


@pytest.mark.parametrize("name", sorted(STRATEGIES.keys() - {"external"}))  # there a chunk for every character
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("char", ["a", "\u0335", "水", "_", "\U0001f1eb", "\n"])
def test_a_word_of_a_hundred_thousand_characters_is_cut(name: str, tokenizer: str, char: str) -> None:
    text = "See " + char * 100_000 + " end."
    check_chunker(chunker(written(name, 300), tokenizer=tokenizer), Document.from_text(text, id="x"))


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_ids_are_the_same_in_another_process(name: str) -> None:
    program = (
        "import chunkwise as cw, laws.strategies; d = cw.read_text('# A\\n\\n' + 'Check the seal. ' * 40, id='x');"
        f"print([c.id for c in cw.chunk(d, {written(name, 20) + ' | context()'!r})])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert len(eval(outputs.pop())) > 3
