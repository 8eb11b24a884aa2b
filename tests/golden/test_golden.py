"""Cuts a person can read: every strategy on a document of its kind, the chunks written out.

After a change that is meant, run `CHUNKWISE_UPDATE_GOLDEN=1 make test` and read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkwise.chunkers.splitters import custom_splitter
from chunkwise.core.recipes import STRATEGIES
from chunkwise.core.types import Chunk
from chunkwise.embed import custom_encoder
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read
from unit.hashing import HashingEncoder
from unit.splitters import careless

FILES = Path(__file__).parent / "files"

custom_encoder("hashing", HashingEncoder())
custom_splitter("paragraphs", careless)
RECIPES = {
    "structural": "structural(size=60) | context(headings=True)",
    "structural-min-size": "structural(size=100, min_size=40)",
    "structural-overlap": "structural(size=60) | overlap(sentences=1) | context(headings=True)",
    "structural-even": "structural(size=60, balance=True)",
    "recursive": "recursive(size=60)",
    "recursive-separators": r"recursive(size=60, separators=[r'\s*[;:]\s+', r'\.\s+'], regex=True, keep='none')",
    "paragraphs": "paragraphs(size=60)",
    "scored": "scored(size=60, scorer=drop(percentile=60), encoder='hashing')",
    "scored-cluster": "scored(size=60, scorer=cluster(piece=15), encoder='hashing')",
    "sentences": "sentences(size=60, max_sentences=2)",
    "fixed": "fixed(size=60)",
    "code": "code(size=60)",
    "density": "density(size=90, least=20)",
    "nest": "nest(120, 40)",
    "random": "random(size=60, least=20)",
    "rows": "rows(size=90)",
    "rows-log": "rows(size=120)",
    "rows-guide": "rows(size=60, max_rows=2)",
    "json": "json(size=80)",
    "pages": "pages(size=50)",
    "clauses": "clauses(size=60) | context(headings=True)",
    "clauses-min-size": "clauses(size=120, min_size=60)",
    "turns": "turns(size=80)",
    "route": "route(prose=structural(size=60), table=rows(size=40))",
    "auto": "auto(size=40)",
    "external": "external('paragraphs', size=60)",
}
# The document of a recipe, where it is not guide.md.
FILES_OF = {
    "code": "till.py",
    "rows": "orders.csv",
    "rows-log": "pump.log",
    "json": "device.json",
    "pages": "handbook.txt",
    "clauses": "lease.txt",
    "clauses-min-size": "lease.txt",
    "turns": "meeting.txt",
}


def written(chunk: Chunk, index: int) -> str:
    spans = " + ".join(f"{start}-{end}" for start, end in chunk.spans)
    meta = "".join(f" | {key}={value}" for key, value in sorted(chunk.meta.items()))
    under = f"\n    under {' > '.join(chunk.headings)}" if chunk.headings else ""
    context = f"\n    context {chunk.context!r}" if chunk.context else ""
    return f"=== {index} | {chunk.token_count} tokens | {spans}{meta}{under}{context}\n{chunk.text}\n"


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_document_is_cut_as_written(name: str) -> None:
    path = FILES / FILES_OF.get(name, "guide.md")
    chunks = chunker(RECIPES[name])(read(path))
    text = f"{RECIPES[name]}\n\n" + "\n".join(written(chunk, index) for index, chunk in enumerate(chunks))
    golden = FILES / f"{path.stem}.{name}.txt"
    if os.environ.get("CHUNKWISE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_every_strategy_has_a_golden() -> None:
    assert set(STRATEGIES) <= set(RECIPES)
