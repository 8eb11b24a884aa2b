"""Hits that are widened: by their parents, their neighbours, or where their edges cut something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core.errors import StoreError
from chunkwise.core.spans import contains, overlaps, union
from chunkwise.core.types import Chunk, Document, Hit, Span
from chunkwise.noting import with_gaps
from chunkwise.pipeline import Index, retriever
from chunkwise.readers.read import read_text
from chunkwise.retrieve.join import cuts, joined
from chunkwise.retrieve.search import spend
from chunkwise.text.tokens import tokenizer
from chunkwise.updating import pooled
from laws.strategies import EXAMPLES, documents
from oracles.spending import slow_spend
from unit.hashing import HashingEncoder

WORDS = tokenizer("words")
FACTS = [f"Fact {name} is here." for name in ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen")]
TEXT = " ".join(FACTS[:4]) + "\n\n" + " ".join(FACTS[4:])
# Of sentences of four words: one a leaf, two the level above, four the highest.
NEST = "nest(16, 8, 4, base=sentences(tokenizer='words'))"


@pytest.fixture(params=["memory", "folder"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return Index("memory:" if request.param == "memory" else tmp_path / "index", encoder=HashingEncoder())


@pytest.fixture
def nested(index: Index) -> Index:
    index.add_documents([Document.from_text(TEXT, id="a")], recipe=NEST)
    return index


def spans(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.text for hit in hits]


def test_a_parent_takes_the_place_of_its_children_once(nested: Index) -> None:
    hits = nested.search("ant cat", k=3, retrieval="lexical() | parent()")
    assert sorted(spans(hits)) == ["Fact ant is here. Fact bee is here.", "Fact cat is here. Fact dog is here."]
    assert all(hit.via == ("lexical", "parent") for hit in hits)
    leaves = nested.search("ant cat", k=3, mode="lexical")
    assert {hit.score for hit in hits} == {hit.score for hit in leaves}
    (whole,) = nested.search("ant bee cat", k=3, retrieval="lexical() | parent(levels=2)")
    assert whole.chunk.text == " ".join(FACTS[:4])
    assert whole.chunk.meta["level"] == 0
    assert whole.rank == 1
    (top,) = nested.search("ant", k=1, retrieval="lexical() | parent(levels=3)", where={"level": 0})
    assert top.chunk.text == " ".join(FACTS[:4])


def test_children_are_merged_where_enough_of_them_are_hits(nested: Index) -> None:
    one = nested.search("ant", k=1, retrieval="lexical() | auto_merge(threshold=0.5)")
    assert spans(one) == ["Fact ant is here."]  # one of two is half of them, but only one
    two = nested.search("ant bee", k=2, retrieval="lexical() | auto_merge(threshold=1)")
    assert spans(two) == ["Fact ant is here. Fact bee is here."]
    assert two[0].via == ("lexical", "auto_merge")
    assert two[0].score == max(hit.score for hit in nested.search("ant bee", k=2, mode="lexical"))
    some = nested.search("ant bee cat", k=3, retrieval="lexical() | auto_merge(threshold=0.6)")
    assert sorted(spans(some)) == ["Fact ant is here. Fact bee is here.", "Fact cat is here."]


def test_merging_goes_on_upward(nested: Index) -> None:
    all_four = nested.search("ant bee cat dog", k=4, retrieval="lexical() | auto_merge(threshold=1)")
    assert spans(all_four) == [" ".join(FACTS[:4])]
    both = nested.search("ant bee cat dog elk fox", k=6, retrieval="lexical() | auto_merge(threshold=0.9)")
    assert sorted(spans(both)) == [" ".join(FACTS[:4]), "Fact elk is here. Fact fox is here."]


def test_hits_of_several_levels_in_a_merged_parent_are_given_once(nested: Index) -> None:
    hits = nested.search(
        "ant bee cat dog", k=20, retrieval="lexical() | auto_merge(threshold=1)", where={"level": [1, 2]}
    )
    assert spans(hits) == [" ".join(FACTS[:4])]


def test_levels_are_needed(index: Index) -> None:
    index.add_documents([Document.from_text(TEXT, id="a")], recipe="sentences(size=20)")
    for step in ("parent()", "auto_merge()"):
        with pytest.raises(StoreError, match=r"needs an index of several levels; .*nest\("):
            index.search("ant", retrieval=f"lexical() | {step}")


def test_a_window_is_the_exact_text_around_a_hit(index: Index) -> None:
    index.add_documents([Document.from_text(TEXT, id="a")], recipe="sentences(max_sentences=1)")
    (hit,) = index.search("dog", k=1, retrieval="lexical() | window()")
    assert hit.chunk.text == "Fact cat is here. Fact dog is here.\n\nFact elk is here."
    assert hit.chunk.spans == (Span(TEXT.index("Fact cat"), TEXT.index(" Fact fox")),)
    assert hit.chunk.token_count == index.encoder.tokenizer.count(hit.chunk.text)
    (first,) = index.search("ant", k=1, retrieval="lexical() | window(n=2)")
    assert first.chunk.text == "Fact ant is here. Fact bee is here. Fact cat is here."


def test_windows_that_overlap_are_one_hit_in_the_place_of_the_best(index: Index) -> None:
    index.add_documents([Document.from_text(TEXT, id="a")], recipe="sentences(max_sentences=1)")
    before = index.search("bee cat hen", k=3, mode="lexical")
    hits = index.search("bee cat hen", k=3, retrieval="lexical() | window()")
    assert spans(hits) == [" ".join(FACTS[:4]), " ".join(FACTS[6:])]
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].score == max(hit.score for hit in before)
    (twice,) = index.search("ant", k=1, retrieval="lexical() | window() | window()")
    assert twice.chunk.text == " ".join(FACTS[:3])


def test_levels_have_windows_of_their_own(nested: Index) -> None:
    (hit,) = nested.search("ant bee", k=2, retrieval="lexical() | auto_merge() | window()")
    assert hit.chunk.text == " ".join(FACTS[:4])
    assert hit.chunk.meta["level"] == 1


def test_a_tables_header_is_kept_once(index: Index) -> None:
    rows = "".join(f"| pump {i} | {100 + i} litres |\n" for i in range(12))
    text = f"# Pumps\n\n| name | flow |\n|---|---|\n{rows}\nAll are checked daily.\n"
    document = read_text(text, id="a", media_type="text/markdown")
    index.add_documents([document], recipe="structural(size=40)")
    chunks = index.chunks("a")
    assert sum(len(chunk.spans) > 1 for chunk in chunks) > 1
    inner = next(chunk for chunk in chunks[1:] if len(chunk.spans) > 1)
    word = inner.text.rstrip().rpartition("pump ")[2].partition(" ")[0]
    (hit,) = index.search(f"pump {word}", k=1, retrieval="lexical() | window()")
    assert hit.chunk.text.count("| name | flow |") == 1
    assert hit.chunk.text == "".join(span.slice(text) for span in hit.chunk.spans)


def test_a_chunk_that_rides_far_below_its_header_stays_two_spans() -> None:
    text = "HEAD\n1\n2\n3\n4\n"
    chunks = [Chunk("a", (Span(0, 5), Span(7, 9)), "HEAD\n2\n"), Chunk("a", (Span(0, 5), Span(9, 11)), "HEAD\n3\n")]
    made = joined(chunks, WORDS)
    assert made.spans == (Span(0, 5), Span(7, 11))
    assert made.text == "HEAD\n2\n3\n" == "".join(span.slice(text) for span in made.spans)
    assert joined(chunks[:1], WORDS) is chunks[0]


def test_what_a_joined_chunk_tells_of_its_place_is_of_all_its_parts() -> None:
    first = Chunk("a", (Span(0, 4),), "One.", headings=("A",), pages=(1,), parent="p", context="A\n")
    meta = {"source_spans": [[10, 14]], "cells": "S!A1:B2", "noted": {"gap": " ", "ends": [7]}}
    second = Chunk("a", (Span(5, 9),), "Two.", headings=("B",), pages=(1, 2), parent="q")
    later = {"source_spans": [[17, 21]], "cells": "S!A3:B3", "noted": {"gap": "\n", "ends": []}}
    made = joined([replace(first, meta=meta), replace(second, meta=later)], WORDS)
    assert (made.text, made.context, made.headings, made.pages, made.parent) == ("One. Two.", "A\n", ("A",), (1, 2), "")
    assert made.meta == {"source_spans": [[10, 21]], "cells": "S!A1:B2, S!A3:B3", "noted": {"gap": "\n"}}
    assert made.token_count == WORDS.count("A\nOne. Two.")


SEAMS = [
    ("The pump is checked", " ", "every week.", True),
    ("The pump is checked.", " ", "The valve rests.", False),
    ("As Dr.", " ", "Okafor said.", True),
    ("The pump is checked", "\n", "every week.", True),
    ("The pump is checked", "\n", "Every week", False),
    ("The pump is checked", "\n\n", "every week.", False),
    ("The pump", "", "s run.", True),
    ("- one", "\n", "- two", True),
    ("- one.", "\n\n", "- two.", True),
    ("1. One.", "\n", "2. Two.", True),
    ("There are two:", "\n\n", "- one", True),
    ("There are two.", "\n\n", "- one", False),
    ("- one.", "\n\n", "Running text.", False),
    ("Text.\n\n## Seals", "\n\n", "They wear out.", True),
    ("| a | 1 |", "\n", "| b | 2 |", False),
    ("水泵每周检查一次。", "", "阀门必须关闭！", False),
    ("水泵每周", "", "检查一次。", True),
    ("The pump is checked", "", " every week.", True),
    ("The pump is checked. ", "", "The valve rests.", False),
]


@pytest.mark.parametrize(("one", "gap", "other", "expected"), SEAMS)
def test_a_seam_is_seen_for_what_it_cuts(one: str, gap: str, other: str, expected: bool) -> None:
    document = Document.from_text(one + gap + other, id="a")
    start = len(one) + len(gap)
    before = Chunk("a", (Span(0, len(one)),), one)
    after = Chunk("a", (Span(start, start + len(other)),), other)
    assert cuts(*with_gaps([before, after], document)) is expected


def test_a_heading_without_a_mark_is_known_by_the_path_and_a_hole_is_no_seam() -> None:
    before, after = (
        Chunk("a", (Span(0, 5),), "Seals", meta={"noted": {"gap": "\n"}}),
        Chunk("a", (Span(6, 13),), "They go"),
    )
    assert not cuts(before, after)
    assert cuts(before, Chunk("a", (Span(6, 13),), "They go", headings=("Pumps", "Seals")))
    assert not cuts(Chunk("a", (Span(0, 5),), "Seals"), Chunk("a", (Span(9, 16),), "they go"))


def test_only_hits_whose_edges_cut_something_grow(index: Index) -> None:
    text = "The red pump is checked by two people every week. The blue valve rests. It is never opened at all."
    index.add_documents([Document.from_text(text, id="a")], recipe="fixed(size=8, tokenizer='words')")
    assert index.chunks("a")[0].text == "The red pump is checked by two people"
    (hit,) = index.search("two people", k=1, retrieval="lexical() | edges()")
    assert hit.chunk.text == "The red pump is checked by two people every week. The blue valve rests. It is"
    assert hit.via == ("lexical", "edges")
    index.delete("a")
    index.add_documents([Document.from_text(TEXT, id="b")], recipe="fixed(size=8, tokenizer='words')")
    (whole,) = index.search("cat", k=1, retrieval="lexical() | edges(n=2)")
    assert whole.chunk.text == "Fact cat is here. Fact dog is here."
    assert whole.via == ("lexical",)


RECIPES = [
    "sentences(size={n})",
    "fixed(size={n})",
    "structural(size={n}) | context(headings=True)",
    "structural(size={n}) | overlap(ratio=0.3)",
    "rows(size={n})",
    "nest({m}, {n})",
]
WIDENING = ["window()", "window(n=2)", "edges(n=3)", "edges() | window()", "auto_merge()", "parent() | edges()"]


@settings(max_examples=EXAMPLES)
@given(document=documents, recipe=st.sampled_from(RECIPES), step=st.sampled_from(WIDENING), size=st.integers(8, 40))
def test_widened_hits_are_the_exact_text_of_their_spans(document: Document, recipe: str, step: str, size: int) -> None:
    index = Index("memory:", encoder=HashingEncoder())
    index.add_documents([document], recipe=recipe.format(n=size, m=3 * size))
    if not len(index) or ("nest" not in recipe and ("merge" in step or "parent" in step)):
        return
    plain = index.search("the pump runs", k=4, mode="vector")
    hits = index.search("the pump runs", k=4, retrieval=f"vector() | {step}")
    assert 1 <= len(hits) <= len(plain)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    for hit in hits:
        chunk = hit.chunk
        assert chunk.text == "".join(span.slice(document.text) for span in chunk.spans)
        assert chunk.token_count == index.encoder.tokenizer.count(chunk.embed_text)
        assert all(not overlaps(one, other) and one < other for one, other in pairwise(chunk.spans))
    covered = union(span for hit in hits for span in hit.chunk.spans)
    for hit in plain:
        assert any(contains(span, hit.chunk.body) for span in covered)
    within = index.search("the pump runs", tokens=3 * size, retrieval=f"vector() | {step}")
    assert sum(hit.chunk.token_count for hit in within) <= 3 * size


def test_a_budget_is_spent_on_what_hits_become(nested: Index) -> None:
    pair = 8  # in words, which the recipe counts
    hits = nested.search("ant cat", tokens=2 * pair, retrieval="lexical() | parent()")
    assert sorted(spans(hits)) == ["Fact ant is here. Fact bee is here.", "Fact cat is here. Fact dog is here."]
    assert len(nested.search("ant cat", tokens=pair, retrieval="lexical() | parent()")) == 1


def test_a_hit_that_does_not_fit_widened_is_given_as_it_was_found(nested: Index) -> None:
    hits = nested.search("ant cat", tokens=12, retrieval="lexical() | parent()")
    assert sorted(hit.chunk.token_count for hit in hits) == [4, 8]
    assert [hit.rank for hit in hits] == [1, 2]
    assert len(nested.search("ant cat", tokens=7, retrieval="lexical() | parent()")) == 1
    assert nested.search("ant cat", tokens=3, retrieval="lexical() | parent()") == []
    # The second is a part of what the first becomes, so it takes nothing and is not given twice.
    (both,) = nested.search("ant bee", tokens=8, retrieval="lexical() | parent()")
    assert both.chunk.text == "Fact ant is here. Fact bee is here."


@pytest.mark.parametrize("step", ["parent()", "auto_merge(threshold=0.5)", "window(n=1)", "edges()"])
@given(
    asked=st.lists(st.sampled_from(["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"]), min_size=1, max_size=6),
    tokens=st.integers(1, 40),
)
def test_a_budget_is_spent_as_if_each_hit_were_tried_after_the_other(step: str, asked: list[str], tokens: int) -> None:
    index = Index("memory:", encoder=HashingEncoder())
    index.add_documents([Document.from_text(TEXT, id="a"), Document.from_text(TEXT[::-1], id="b")], recipe=NEST)
    how, query = retriever(f"hybrid() | {step}"), " ".join(asked)
    found = spend(how, query, scope=index.scope(how, {}), tokens=tokens)
    assert found == slow_spend(how, query, scope=index.scope(how, {}), tokens=tokens)


def test_a_parents_vector_is_the_mean_of_its_childrens_by_their_tokens() -> None:
    top = Chunk("a", (Span(0, 9),), "one two x", token_count=12)
    middle = Chunk("a", (Span(0, 7),), "one two", token_count=4, parent=top.id)
    leaves = [
        Chunk("a", (Span(0, 3),), "one", token_count=3, parent=middle.id),
        Chunk("a", (Span(4, 7),), "two", token_count=1, parent=middle.id),
        Chunk("a", (Span(8, 9),), "x", token_count=4, parent=top.id),
    ]
    vectors = np.eye(3, dtype=np.float32)
    found = pooled([top, middle, *leaves], vectors)
    assert found[2:].tolist() == vectors.tolist()
    assert found[1] == pytest.approx(np.array([3, 1, 0]) / np.sqrt(10))
    assert found[0] == pytest.approx(np.array([3, 1, 4]) / np.sqrt(26))
    assert pooled(leaves, vectors) is vectors


def test_only_the_smallest_chunks_are_encoded(nested: Index) -> None:
    assert isinstance(nested.encoder, HashingEncoder)
    assert nested.encoder.seen == FACTS
    assert len(nested) == 2 + 4 + 8
    by_level = {hit.chunk.meta["level"] for hit in nested.search("fact", k=50, mode="vector", where={"level": 1})}
    assert by_level == {1}


def test_derived_chunks_take_no_part_in_a_hierarchy() -> None:
    text = "One. Two."
    whole = Chunk("a", (Span(0, 9),), text, token_count=2)
    fact = Chunk("a", (Span(0, 4),), "One.", context="A fact.\n", parent=whole.id, meta={"derived": "proposition"})
    vectors = np.eye(2, dtype=np.float32)
    assert pooled([whole, fact], vectors) is vectors
    made = with_gaps([whole, fact, Chunk("a", (Span(10, 13),), "End")], Document.from_text("One. Two. End", id="a"))
    assert [chunk.gap for chunk in made] == [" ", "", ""]
