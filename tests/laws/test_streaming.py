"""L13: a text that comes in pieces gives the chunks that it gives as a whole."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.chunkers.stream import Stream
from chunkwise.core.recipes import STRATEGIES
from chunkwise.core.types import Chunk, Document
from chunkwise.pipeline import chunk, chunker, stream
from laws.strategies import texts
from laws.test_laws import EXAMPLES, PIPES, sizes

TOKENIZERS = ["characters", "bytes", "words", "cl100k_base", "o200k_base", "all-MiniLM-L6-v2"]
STREAMABLE = [name for name in sorted(STRATEGIES) if chunker(f"{name}(size=20)").streamable]
CORPUS = sorted((Path(__file__).parents[2] / "examples" / "corpus").iterdir())

# White space wider than what is looked at at once, paragraphs longer than a window of sentences, marks that may join
# to what a piece ends with, and enough of each that most chunks are made before the end.
_SPREAD = [
    *["The pump runs. ", "Valve 7 is shut", "\n", "\r\n", "\r", "\n\n", " " * 40, "\n" + " " * 40, "- item ", "1. x "],
    *["水泵。", "ไทย ", "\u0301", "\u200d", "\U0001f1eb", "\f", "no, never; ", "Die Pumpe und das Ventil. ", "\ufeff"],
]
_repeated = st.lists(
    st.tuples(st.one_of(st.sampled_from(_SPREAD), texts), st.sampled_from([1, 3, 40])), min_size=3, max_size=20
)
long_texts = _repeated.map(lambda drawn: "".join(piece * times for piece, times in drawn)[:8000])
piece_sizes = st.one_of(st.just([1]), st.lists(st.integers(1, 400), min_size=1, max_size=8))


def pieces(text: str, sizes: Sequence[int]) -> Iterator[str]:
    start = 0
    for size in cycle(sizes):
        if start >= len(text):
            return
        yield text[start : start + size]
        start += size


def check_stream(recipe: str, text: str, sizes: Sequence[int], tokenizer: str | None = None) -> None:
    whole = chunk(Document.from_text(text, id="stream"), recipe, tokenizer=tokenizer)
    assert list(stream(recipe, tokenizer=tokenizer).over(pieces(text, sizes))) == whole


def prose(length: int, seed: int = 0) -> str:
    """Return sentences and paragraphs of uneven length."""
    drawn, parts, n = random.Random(seed), [], 0
    while n < length:
        words = drawn.choices(["pump", "valve", "runs", "the", "never", "checked,", "weekly", "12", "sealing"], k=9)
        parts.append(" ".join(words[: drawn.randint(2, 9)]).capitalize() + drawn.choice([". ", "? ", ". ", ".\n\n"]))
        n += len(parts[-1])
    return "".join(parts)


def test_most_strategies_are_streamable() -> None:
    assert {"fixed", "paragraphs", "recursive", "sentences", "structural"} <= set(STREAMABLE)


@pytest.mark.parametrize("name", STREAMABLE)
@settings(max_examples=EXAMPLES)
@given(
    text=long_texts,
    size=sizes,
    pipe=st.sampled_from(PIPES),
    tokenizer=st.sampled_from(TOKENIZERS),
    piece_sizes=piece_sizes,
)
def test_pieces_give_the_chunks_of_the_whole(
    name: str, text: str, size: int, pipe: str, tokenizer: str, piece_sizes: list[int]
) -> None:
    check_stream(f"{name}(size={size}){pipe}", text, piece_sizes, tokenizer)


@pytest.mark.parametrize(
    "recipe",
    [
        "recursive(size={size}, min_size={least}, language='de') | overlap(sentences=1)",
        "sentences(size={size}, min_size={least}, language='zh')",
        "structural(size={size}, min_size={least}, fill=0.9)",
        "fixed(size={size}, unit='words') | overlap(ratio=0.4)",
        "fixed(size={size}, unit='bytes') | overlap(sentences=3)",
    ],
)
@settings(max_examples=EXAMPLES)
@given(text=long_texts, size=sizes, least=st.integers(0, 4), piece_sizes=piece_sizes)
def test_parameters_keep_that(recipe: str, text: str, size: int, least: int, piece_sizes: list[int]) -> None:
    check_stream(recipe.format(size=size, least=least), text, piece_sizes, "o200k_base")
