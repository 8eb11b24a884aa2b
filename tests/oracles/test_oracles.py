"""The fast against the slow: the engine against its twin, the plan against every path, engine against engine."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.chunkers.balance import plan
from chunkwise.core.types import Document
from chunkwise.pipeline import chunker
from chunkwise.text.bytepairs import BytePairs
from chunkwise.text.engines import BYTE_PAIRS, engine
from chunkwise.text.sentences import SentenceEnds
from chunkwise.text.tokens import tokenizer
from laws.strategies import texts
from oracles import pack as slow

long_texts = st.lists(texts, max_size=4).map("".join)


@pytest.mark.parametrize("name", ["characters", "words"])
@given(text=texts, size=st.integers(1, 60))
def test_the_engine_cuts_like_its_slow_twin(name: str, text: str, size: int) -> None:
    counter = tokenizer(name)
    cut = chunker(f"recursive(size={size})", tokenizer=counter)
    chunks = cut(Document.from_text(text, id="x"))
    assert [chunk.body for chunk in chunks] == slow.pack(text, counter.count, size)


@given(
    steps=st.lists(st.integers(0, 9), max_size=40),
    costs=st.lists(st.integers(0, 12), min_size=41, max_size=41),
    most=st.integers(1, 40),
    part=st.floats(0.1, 1),
)
def test_no_path_is_cheaper_than_the_plan(steps: list[int], costs: list[float], most: int, part: float) -> None:
    tokens = [0, *itertools.accumulate(steps)]
    target = max(1, int(most * part))
    path = plan(tokens, costs, most=most, target=target)
    last, cost = slow.least_cost(tokens, costs, most=most, target=target)
    assert (path or [0])[-1] == last
    assert slow.plan_cost(tokens, costs, path, target) == pytest.approx(cost)


# Blank lines and indents wider than what is looked at at once; paragraphs longer than a window.
_WIDE = ["The pump runs. ", "x", "水泵。", "\n", "\r\n", "\n\n", " " * 40, " " * 200, "\n" + " " * 40, "- item "]
wide_texts = st.lists(st.tuples(st.sampled_from(_WIDE), st.sampled_from([1, 2, 40])), min_size=12).map(
    lambda drawn: "".join(piece * times for piece, times in drawn)
)


@given(
    text=st.one_of(long_texts, wide_texts).filter(bool),
    places=st.lists(st.tuples(st.integers(0, 1 << 14), st.sampled_from([1, 20, 80, 800, 2000])), max_size=12),
)
def test_sentences_found_on_demand_are_those_of_the_whole_text(text: str, places: list[tuple[int, int]]) -> None:
    ends = SentenceEnds(text).all()
    lazy = SentenceEnds(text)
    for place, width in places:
        lo = place % len(text)
        hi = min(lo + width, len(text))
        assert lazy.last(lo, hi) == max((end for end in ends if lo < end <= hi), default=None)


@pytest.mark.parametrize("encoding", BYTE_PAIRS)
@given(text=long_texts)
def test_the_fast_engine_gives_the_tokens_of_the_reference(encoding: str, text: str) -> None:
    fast, reference = engine(encoding, "toktok"), engine(encoding, "tiktoken")
    assert fast.encode(text).tolist() == reference.encode(text).tolist()
    assert fast.count(text) == reference.count(text) == len(fast.encode(text))


@pytest.mark.parametrize("encoding", BYTE_PAIRS)
@given(text=long_texts, start=st.integers(0, 300), length=st.integers(0, 300))
def test_a_recipe_gives_the_same_with_either_engine(encoding: str, text: str, start: int, length: int) -> None:
    fast, reference = (BytePairs(encoding, engine=name) for name in ("toktok", "tiktoken"))
    start, end = min(start, len(text)), min(start + length, len(text))
    assert fast.measure(text).count(start, end) == reference.measure(text).count(start, end)
    assert fast == reference
