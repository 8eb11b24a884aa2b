"""How few chunks cut by meaning are below the floor: a ceiling that must not rise, on speech, papers, chats and tables.

Chunks of a few words are what sinks cutting by meaning in end-to-end comparisons: FloTorch 2026, whose semantic chunks
have 43 tokens in the mean.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from chunkwise.core.types import Document
from chunkwise.pipeline import chunk
from chunkwise.readers.read import read

SHARED = Path(os.environ.get("CHUNKWISE_SHARED", Path(__file__).resolve().parents[3] / "shared"))

# The last three part nearly every sentence from the next, so that the floor alone decides.
SCORERS = [
    "drop()",
    "drop(percentile=95)",
    "drop(percentile=95, horizon=100)",
    "drop(deviations=3)",
    "gradient()",
    "gradient(horizon=100)",
    "max_min()",
    "double_pass()",
    "cluster()",
    "drop(threshold=1)",
    "max_min(threshold=1)",
    "double_pass(initial=1, appending=1, merging=1)",
]


@cache
def documents() -> list[Document]:
    return [read(path) for path in sorted((SHARED / "data" / "chroma" / "documents").iterdir())]


@pytest.mark.parametrize("scorer", SCORERS)
def test_at_most_two_in_a_hundred_chunks_are_below_the_floor(scorer: str) -> None:
    recipe = f"scored(size=200, scorer={scorer}, encoder='static')"
    sizes = [made.token_count for document in documents() for made in chunk(document, recipe)]
    assert len(sizes) > 1000
    assert sum(size < 200 // 4 for size in sizes) <= 0.02 * len(sizes)
