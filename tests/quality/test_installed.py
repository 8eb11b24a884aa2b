"""Real files that nobody wrote for us: what comes with the packages that the tests run on.

READMEs (in the packages' metadata), source, tables, licences. Whatever the versions, every law holds,
and nothing that would have fitted is cut.
"""

from __future__ import annotations

import ast
import random
import sysconfig
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import pytest

from chunkwise.core.types import Chunk, Document, Span
from chunkwise.pipeline import chunk, chunker, stream
from chunkwise.readers.read import read, read_text
from chunkwise.testing import check_chunker
from chunkwise.text.records import record_starts
from chunkwise.text.words import line_spans

PACKAGES = Path(sysconfig.get_path("purelib"))
SIZE = 200
LONGEST = 60_000  # characters: a few very long files would take most of the time


@cache
def readmes() -> tuple[Document, ...]:
    found = {}
    for package in distributions():
        if "markdown" in (package.metadata["Description-Content-Type"] or ""):
            _, _, body = (package.read_text("METADATA") or "").partition("\n\n")
            found[package.name] = read_text(body[:LONGEST], id=package.name)
    return tuple(found[name] for name in sorted(found))


@cache
def sources() -> tuple[Document, ...]:
    paths = sorted(path for path in PACKAGES.rglob("*.py") if 500 < path.stat().st_size < LONGEST)
    return tuple(map(read, random.Random(7).sample(paths, 80)))


def is_cut(document: Document, span: Span, chunks: Sequence[Chunk]) -> bool:
    """Tell whether a chunk starts or ends between the first and the last ink of a span."""
    text = span.slice(document.text)
    start, end = span.start + len(text) - len(text.lstrip()), span.start + len(text.rstrip())
    places = sorted({place for chunk in chunks for place in chunk.own})
    index = bisect_right(places, start)
    return index < len(places) and places[index] < end


def definitions(document: Document) -> Iterator[Span]:
    lines = line_spans(document.text)
    for node in ast.walk(ast.parse(document.text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            yield Span(lines[first].start, lines[(node.end_lineno or 1) - 1].end)


@pytest.mark.parametrize("recipe", ["structural", "auto", "code"])
@pytest.mark.parametrize("pipe", ["", " | overlap(sentences=1) | context(headings=True)"])
def test_readmes_are_cut_by_the_laws_and_no_fence_or_row_that_fits_is_cut(recipe: str, pipe: str) -> None:
    cut, seen = chunker(f"{recipe}(size={SIZE}){pipe}", tokenizer="cl100k_base"), {"code": 0, "row": 0}
    for document in readmes():
        chunks = check_chunker(cut, document)
        for block in document.blocks:
            if block.kind in seen:
                seen[block.kind] += 1
                fits = cut.budget.tokenizer.count(block.span.slice(document.text)) <= SIZE
                assert not (fits and is_cut(document, block.span, chunks)), (document.id, block)
    assert seen["code"] > 50, "too few packages with fences to tell"
    assert seen["row"] > 50, "too few packages with tables to tell"


@pytest.mark.parametrize("recipe", ["code", "auto"])
def test_source_is_cut_by_the_laws_and_no_definition_that_fits_is_cut(recipe: str) -> None:
    cut, n_definitions = chunker(f"{recipe}(size={SIZE})", tokenizer="cl100k_base"), 0
    for document in sources():
        chunks = check_chunker(cut, document)
        for span in definitions(document):
            n_definitions += 1
            fits = cut.budget.tokenizer.count(span.slice(document.text).rstrip()) <= SIZE  # its indent belongs to it
            assert not (fits and is_cut(document, span, chunks)), (document.id, span.slice(document.text)[:80])
    assert n_definitions > 300


def test_pieces_of_a_class_name_it() -> None:
    pieces = [c for document in sources() for c in chunk(document, "code(size=120)", tokenizer="cl100k_base")]
    riding = [c for c in pieces if len(c.spans) > 1]
    assert len(riding) > 50
    assert all(c.headings for c in riding)
    assert all(c.text.lstrip().startswith(("class ", "def ", "async ", "@", "if ", "try", "with ")) for c in riding)


@pytest.mark.parametrize("strategy", ["rows", "auto"])
def test_tables_of_numbers_keep_their_rows(strategy: str) -> None:
    paths = sorted(PACKAGES.glob("numpy/random/tests/data/*.csv"))
    assert paths, "numpy is installed without its test data"
    for path in paths:
        document = read(path)
        chunks = check_chunker(chunker(f"{strategy}(size={SIZE})", tokenizer="cl100k_base"), document)
        starts = set(record_starts(document.text, 0, len(document.text), ","))
        assert {c.body.start for c in chunks} <= starts


def test_the_clauses_of_the_apache_licence_are_found_in_order() -> None:
    texts = [path.read_text("utf-8") for path in sorted(PACKAGES.rglob("LICENSE*")) if path.is_file()]
    licences = [text for text in texts if "Apache License" in text and "APPENDIX: How to apply" in text]
    assert licences, "no package under the Apache licence is installed"
    chunks = chunk(read_text(licences[0], media_type="text/plain"), "clauses(size=400)", tokenizer="words")
    numbers = list(dict.fromkeys(str(c.meta["clause"]) for c in chunks if "clause" in c.meta))
    assert [number for number in numbers if number.isdigit()] == ["1", "2", "3", "4", "5", "6", "7", "8", "9"]


@pytest.mark.parametrize("recipe", ["recursive(size=120)", "structural(size=200) | overlap(sentences=1)"])
def test_a_licence_in_pieces_gives_the_chunks_of_the_whole(recipe: str) -> None:
    text = max((path.read_text("utf-8") for path in sorted(PACKAGES.rglob("LICENSE.txt"))), key=len)[:LONGEST]
    whole = chunk(Document.from_text(text, id="licence"), recipe)
    for size in (1, 37, 4096):
        pieces = (text[start : start + size] for start in range(0, len(text), size))
        assert list(stream(recipe, id="licence").over(pieces)) == whole
