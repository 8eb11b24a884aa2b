"""Batches: every text once, within bounds, and every vector back in its place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import EncodeError
from chunkwise.embed import batches


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 1000), st.integers(1, 20))
def test_batches_hold_every_text_once_and_stay_within_both_bounds(
    lengths: list[int], most_tokens: int, most_texts: int
) -> None:
    made = list(batches.batches(lengths, most_tokens=most_tokens, most_texts=most_texts))
    assert sorted(index for batch in made for index in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) <= most_texts
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= most_tokens


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40))
def test_vectors_come_back_in_the_order_of_the_texts(lengths: list[int]) -> None:
    angles = np.linspace(0, 1, len(lengths))
    table = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    got = batches.encode_batches(lengths, lambda batch: 3 * table[batch], name="m", most_tokens=100)
    assert np.allclose(got, table, atol=1e-6)


@pytest.mark.parametrize("wrong", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [1e300, 1e300]])
def test_a_vector_without_direction_is_refused_and_its_text_named(wrong: list[float]) -> None:
    table = np.array([[1.0, 2.0], wrong, [1.0, 0.0]])
    with pytest.raises(EncodeError, match=r"texts\[1\]"):
        batches.encode_batches([5, 9, 7], lambda batch: table[batch], name="m", most_tokens=10)


def test_tiny_vectors_keep_their_direction() -> None:
    got = batches.encode_batches([1], lambda batch: np.full((1, 4), 1e-30, np.float32), name="m", most_tokens=10)
    assert np.allclose(got, 0.5)
