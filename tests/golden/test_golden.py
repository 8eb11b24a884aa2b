"""Cuts a person can read: one document, every strategy, the chunks written out.

After a change that is meant, run `CHUNKWISE_UPDATE_GOLDEN=1 make test` and read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkwise.core.recipes import STRATEGIES
from chunkwise.core.types import Chunk
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read

FILES = Path(__file__).parent / "files"
RECIPES = {
    "structural": "structural(size=60) | context(headings=True)",
    "structural-min-size": "structural(size=100, min_size=40)",
    "structural-overlap": "structural(size=60) | overlap(sentences=1) | context(headings=True)",
    "structural-even": "structural(size=60, balance=True)",
    "recursive": "recursive(size=60)",
    "recursive-separators": r"recursive(size=60, separators=[r'\s*[;:]\s+', r'\.\s+'], regex=True, keep='none')",
    "paragraphs": "paragraphs(size=60)",
    "sentences": "sentences(size=60, max_sentences=2)",
    "fixed": "fixed(size=60)",
    "code": "code(size=60)",
    "density": "density(size=90, least=20)",
    "nest": "nest(120, 40)",
}


def written(chunk: Chunk, index: int) -> str:
    spans = " + ".join(f"{start}-{end}" for start, end in chunk.spans)
    meta = "".join(f" | {key}={value}" for key, value in sorted(chunk.meta.items()))
    under = f"\n    under {' > '.join(chunk.headings)}" if chunk.headings else ""
    context = f"\n    context {chunk.context!r}" if chunk.context else ""
    return f"=== {index} | {chunk.token_count} tokens | {spans}{meta}{under}{context}\n{chunk.text}\n"


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_the_guide_is_cut_as_written(name: str) -> None:
    chunks = chunker(RECIPES[name])(read(FILES / "guide.md"))
    text = f"{RECIPES[name]}\n\n" + "\n".join(written(chunk, index) for index, chunk in enumerate(chunks))
    golden = FILES / f"guide.{name}.txt"
    if os.environ.get("CHUNKWISE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_every_strategy_has_a_golden() -> None:
    assert set(STRATEGIES) <= set(RECIPES)
