"""Hits that are chosen among: unlike ones, one of each text. By hand-computed scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import Floats2d, Store
from chunkwise.core.retrievals import Scope
from chunkwise.core.types import Chunk, Document, Hit, Span
from chunkwise.pipeline import Index
from chunkwise.retrieve import Fold, Mmr, TwoStage
from chunkwise.stores import open_store
from unit.entries import INFO, X, Y, chunk, pack
from unit.hashing import HashingEncoder


def given(chunks: Sequence[Chunk], scores: Sequence[float]) -> list[Hit]:
    return [Hit(one, score, i, ("given",)) for i, (one, score) in enumerate(zip(chunks, scores, strict=True), 1)]


def scope_of(chunks: Sequence[Chunk], vectors: Sequence[Floats2d], url: str = "memory:") -> Scope:
    store: Store = open_store(url)
    store.describe(INFO)
    store.replace([pack("a", chunks, vectors)])
    return Scope(store, HashingEncoder(), HashingEncoder.tokenizer)


@pytest.mark.parametrize("kind", ["memory", "lance"])
def test_mmr_weighs_relevance_against_the_nearest_chosen(kind: str, tmp_path: Path) -> None:
    chunks = [chunk("a", text) for text in ("best", "its copy", "another", "worst")]
    half = ((X + Y) / np.sqrt(2)).astype(np.float32)
    scope = scope_of(chunks, [X, X, Y, half], "memory:" if kind == "memory" else str(tmp_path / "i"))
    hits = given(chunks, [10, 9, 6, 2])  # scaled: 1, 0.875, 0.5, 0
    chosen = Mmr(diversity=0.4)("q", 4, inner=lambda _q, k: hits[:k], scope=scope)
    # First 0.6 * 1. Then the copy has 0.6 * 0.875 - 0.4 = 0.125, the other 0.6 * 0.5 - 0 = 0.3; the copy stays at that,
    # and the worst has 0 - 0.4 * 0.7071.
    assert [hit.chunk.text for hit in chosen] == ["best", "another", "its copy", "worst"]
    assert [hit.score for hit in chosen] == pytest.approx([0.6, 0.3, 0.125, -0.4 / np.sqrt(2)], abs=1e-6)
    assert [hit.rank for hit in chosen] == [1, 2, 3, 4]
    assert [hit.chunk.text for hit in Mmr(diversity=0)("q", 2, inner=lambda _q, k: hits[:k], scope=scope)] == [
        "best",
        "its copy",
    ]


def test_mmr_looks_at_more_than_it_gives_and_gives_no_more_than_there_are() -> None:
    chunks = [chunk("a", f"copy {i}") for i in range(20)] + [chunk("a", "unlike")]
    scope = scope_of(chunks, [X] * 20 + [Y])
    hits = given(chunks, [30 - i for i in range(21)])
    chosen = Mmr(diversity=0.5)("q", 2, inner=lambda _q, k: hits[:k], scope=scope)
    assert [hit.chunk.text for hit in chosen] == ["copy 0", "unlike"]
    assert len(Mmr()("q", 50, inner=lambda _q, k: hits[:k], scope=scope)) == 21
    assert Mmr()("q", 5, inner=lambda _q, _k: [], scope=scope) == []


def test_mmr_of_a_chunk_that_is_not_in_the_index_is_told() -> None:
    scope = scope_of([chunk("a", "one")], [X])
    with pytest.raises(StoreError, match="search again"):
        Mmr()("q", 1, inner=lambda _q, _k: given([chunk("a", "gone")], [1]), scope=scope)


NOTICE = "This document is confidential and may not be copied without the written consent of the owner in any form."


def test_nearly_equal_texts_are_folded_into_the_best_one() -> None:
    documents = [
        Document.from_text(NOTICE, id="a"),
        Document.from_text(NOTICE.replace("owner in any form", "owner in any way"), id="b"),
        Document.from_text(NOTICE.upper(), id="c"),
        Document.from_text("The written consent of the owner is on file.", id="d"),
    ]
    index = Index("memory:", encoder=HashingEncoder())
    index.add_documents(documents)
    plain = index.search("written consent of the owner", k=2)
    hits = index.search("written consent of the owner", k=2, retrieval="hybrid() | fold(similarity=0.7)")
    assert len(hits) == 2
    assert {hit.chunk.document_id for hit in plain} < {"a", "b", "c", "d"}
    by_id = {hit.chunk.document_id: hit for hit in hits}
    assert by_id["d"].folded == ()
    (notice,) = (hit for hit in hits if hit.chunk.document_id != "d")
    assert {notice.chunk.document_id, *(one.document_id for one in notice.folded)} == {"a", "b", "c"}
    strict = index.search("written consent of the owner", k=9, retrieval="hybrid() | fold(similarity=1)")
    assert sorted(len(hit.folded) for hit in strict) == [0, 0, 1]  # only case differs


def test_the_share_of_common_runs_decides_to_the_last_one() -> None:
    one, other = chunk("a", "w0 w1 w2 w3 w4 w5"), chunk("a", "w0 w1 w2 w3 w4 x")
    hits = given([one, other], [2, 1])  # runs of three: 4 and 4, of which 3 are common: 3 of 5
    scope = scope_of([one, other], [X, Y])
    assert len(Fold(similarity=0.6)("q", 5, inner=lambda _q, k: hits[:k], scope=scope)) == 1
    assert len(Fold(similarity=0.61)("q", 5, inner=lambda _q, k: hits[:k], scope=scope)) == 2


def test_folding_asks_on_until_there_are_enough() -> None:
    chunks = [chunk("a", "the same words again", ordinal=i) for i in range(40)] + [chunk("a", "something else")]
    scope = scope_of(chunks, [X] * 41)
    hits = given(chunks, [50 - i for i in range(41)])
    asked: list[int] = []

    def inner(query: str, k: int) -> list[Hit]:
        asked.append(k)
        return hits[:k]

    found = Fold()("q", 2, inner=inner, scope=scope)
    assert [hit.chunk.text for hit in found] == ["the same words again", "something else"]
    assert len(found[0].folded) == 39
    assert asked == [4, 16, 64]
    twice = [replace(hits[0], folded=(chunks[5],)), replace(hits[1], folded=(chunks[6],))]
    assert Fold()("q", 2, inner=lambda _q, _k: twice, scope=scope)[0].folded == (chunks[5], chunks[1], chunks[6])


def test_sections_are_chosen_by_their_three_best_hits() -> None:
    chunks = [
        Chunk("a", (Span(0, 1),), "best of a lonely section", headings=("A",)),
        Chunk("a", (Span(1, 2),), "good", headings=("B",)),
        Chunk("a", (Span(2, 3),), "good too", headings=("B",)),
        Chunk("a", (Span(3, 4),), "poor", headings=("C",)),
    ]
    hits = given(chunks, [1.0, 0.9, 0.8, 0.1])
    scope = scope_of([chunk("a", "x")], [X])

    def found(step: TwoStage, k: int = 9) -> list[str]:
        return [hit.chunk.text for hit in step("q", k, inner=lambda query, k: hits[:k], scope=scope)]

    # Means of three, where there are fewer of nothing: A 0.33, B 0.57, C 0.03.
    assert found(TwoStage(sections=1)) == ["good", "good too"]
    assert found(TwoStage(sections=2)) == ["best of a lonely section", "good", "good too"]
    assert found(TwoStage(sections=2), 1) == ["best of a lonely section"]
    assert len(found(TwoStage(sections=1, by="document"))) == 4


def test_two_stages_prefer_three_good_hits_to_a_bad_one_whatever_the_scale() -> None:
    chunks = [chunk("good", text) for text in ("one", "two", "three")] + [chunk("bad", "four")]
    scope = Scope(open_store("memory:"), HashingEncoder(), HashingEncoder.tokenizer)
    for shift in (0, -5):
        hits = given(chunks, [score + shift for score in (4, 4, 4, 2.5)])
        best = TwoStage(sections=1, by="document")("q", 9, inner=lambda _q, k, hits=hits: hits[:k], scope=scope)
        assert {hit.chunk.document_id for hit in best} == {"good"}


def test_parents_are_searched_before_their_children() -> None:
    index = Index("memory:", encoder=HashingEncoder())
    text = "The pump hums. The pump leaks oil.\n\nThe pump. A valve rests. It is blue."
    index.add_documents([Document.from_text(text, id="flat")], recipe="sentences(size=8, tokenizer='words')")
    with pytest.raises(StoreError, match="several levels"):
        index.search("pump", retrieval="hybrid() | two_stage(by='parent')")
    index = Index("memory:", encoder=HashingEncoder())
    index.add_documents([Document.from_text(text, id="a")], recipe="nest(9, 4, base=paragraphs(tokenizer='words'))")
    plain = {hit.chunk.text for hit in index.search("pump", k=9, mode="lexical")}
    hits = index.search("pump leaks oil", k=9, retrieval="lexical() | two_stage(sections=1, by='parent')")
    assert "The pump." in plain
    assert hits
    assert {hit.chunk.parent for hit in hits} == {index.chunks("a")[0].id}


def test_parents_are_those_of_the_level_that_is_searched() -> None:
    index = Index("memory:", encoder=HashingEncoder())
    text = "The pump hums. The pump leaks oil.\n\nThe pump. A valve rests. It is blue."
    recipe = "nest(9, base=paragraphs(tokenizer='words'), sentences=True)"
    index.add_documents([Document.from_text(text, id="a")], recipe=recipe)
    how = "lexical() | two_stage(sections=1, by='parent')"
    hits = index.search("pump leaks oil", k=9, retrieval=how, where={"level": 1})
    assert hits
    assert {hit.chunk.parent for hit in hits} == {index.chunks("a")[0].id}
    with pytest.raises(StoreError, match="needs a level above"):  # a plain search ranks the first
        index.search("pump leaks oil", retrieval=how)
