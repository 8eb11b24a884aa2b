"""What a search of a store finds: one suite that every store passes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pytest

from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import Floats2d, Store
from chunkwise.core.types import Chunk
from unit.entries import DIM, X, Y, chunk, entry, pack, texts, vector_of


def places(found: Sequence[tuple[Chunk, float]]) -> list[tuple[str, int]]:
    return [(chunk.document_id, chunk.ordinal) for chunk, _ in found]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["a0", "a1", "b0", "c0"]),
    ({"document_id": "a.md"}, ["a0", "a1"]),
    ({"document_id": ["a.md", "c'c.md"]}, ["a0", "a1", "c0"]),
    ({"language": "de"}, ["a0", "a1", "c0"]),
    ({"language": ["de", "fr"]}, ["a0", "a1", "b0", "c0"]),
    ({"language": ["de", "fr"], "document_id": "b.md"}, ["b0"]),
    ({"language": "fr", "document_id": "a.md"}, []),
    ({"year": 2024}, ["b0"]),
    ({"year": "2024"}, ["b0"]),
    ({"draft": True}, ["b0"]),
    ({"draft": "true"}, ["b0"]),
    ({"draft": 1}, []),
    ({"topics": "x y"}, ["b0"]),
    ({"topics": ["nope", "z"]}, ["b0", "c0"]),
    ({"part": "intro"}, ["a1"]),
    ({"title": 'it\'s "50%" = half'}, ["c0"]),
    ({"k=1": "v"}, ["c0"]),
    ({"k": "1=v"}, []),
    ({"empty": ""}, ["c0"]),
    ({"nothing": "None"}, []),
    ({"unknown": "x"}, []),
    ({"language": []}, []),
    ({"language": "d"}, []),
    ({"Language": "de"}, []),
    ({"day": "2024-05-01"}, ["c0"]),
]


@pytest.mark.parametrize(("where", "expected"), FILTERS, ids=str)
def test_a_filter_asks_for_all_keys_and_any_value(store: Store, where: dict[str, Any], expected: list[str]) -> None:
    half_in = [chunk("a.md", "a0"), chunk("a.md", "a1", meta={"part": "intro"})]
    strange = {"title": 'it\'s "50%" = half', "k=1": "v", "empty": "", "nothing": None, "day": date(2024, 5, 1)}
    store.replace(
        [
            pack("a.md", half_in, meta={"language": "de", "part": "body"}),
            entry("b.md", "b0", meta={"language": "fr", "year": 2024, "draft": True, "topics": ["x y", "z"]}),
            entry("c'c.md", "c0", meta={"language": "de", "draft": False, "topics": ("z",), **strange}),
        ]
    )
    store.finish()
    assert sorted(texts(store.nearest(X, 10, where))) == expected
    assert sorted(texts(store.matching("a0 a1 b0 c0", 10, where))) == expected


def test_a_filter_is_applied_before_the_best_are_taken(store: Store) -> None:
    many = [chunk("a.md", "word " * (i + 1)) for i in range(30)]
    store.replace([pack("a.md", many, [X] * 30), pack("b.md", [chunk("b.md", "word and more")], [Y])])
    assert texts(store.nearest(X, 1, {"document_id": "b.md"})) == ["word and more"]
    assert texts(store.matching("word", 1, {"document_id": "b.md"})) == ["word and more"]


@pytest.mark.parametrize("k", [1, 2, 3, 30, 41, 42, 100])
def test_equals_come_in_document_order_wherever_they_are_cut(store: Store, k: int) -> None:
    copies = {id: [chunk(id, "equal words", ordinal=i) for i in range(20)] for id in ("b", "c", "a/10", "a/9")}
    for id in ("c", "a/9", "b", "a/10"):
        store.replace([pack(id, copies[id], [X] * 20)])
    store.finish()
    store.replace([pack("b", copies["b"], [X] * 20), pack("0", [chunk("0", "other")], [Y])])
    expected = [(id, i) for id in ("a/10", "a/9", "b", "c") for i in range(20)]
    assert places(store.nearest(X, k, {}))[:80] == expected[:k]
    assert places(store.nearest(X, k, {"document_id": ["c", "b"]})) == expected[40:][:k]
    store.finish()
    assert places(store.matching("words", k, {})) == expected[:k]


def test_scores_of_nearest_are_cosines_best_first(store: Store) -> None:
    words = [f"word{i}" for i in range(60)]
    store.replace([entry("a.md", *words)])
    query = vector_of("query")
    cosines = np.array([float(vector_of(word) @ query) for word in words])
    order = np.argsort(-cosines)[:10]
    found = store.nearest(query, 10, {})
    assert texts(found) == [words[i] for i in order]
    assert [score for _, score in found] == pytest.approx(cosines[order], abs=1e-5)
    assert store.nearest(query * 7, 10, {}) == found


def test_vectors_that_point_nowhere_are_near_to_nothing(store: Store) -> None:
    store.replace([pack("a.md", [chunk("a.md", "here"), chunk("a.md", "nowhere")], [X, np.zeros(DIM, np.float32)])])
    assert texts(store.nearest(X, 5, {})) == ["here"]
    assert store.nearest(np.zeros(DIM, np.float32), 5, {}) == []
    assert texts(store.matching("nowhere", 5, {})) == ["nowhere"]


@pytest.mark.parametrize("query", [np.ones(5), np.ones((1, DIM)), np.full(DIM, np.nan)], ids=["long", "2d", "nan"])
def test_a_query_vector_that_does_not_fit_is_refused(store: Store, query: Floats2d) -> None:
    store.replace([entry("a.md", "one")])
    with pytest.raises(StoreError, match="query vector"):
        store.nearest(query, 1, {})


@pytest.mark.parametrize("k", [0, -1])
def test_none_are_found_where_none_are_asked_for(store: Store, k: int) -> None:
    store.replace([entry("a.md", "one")])
    assert store.nearest(X, k, {}) == []
    assert store.matching("one", k, {}) == []


def test_matching_returns_only_chunks_that_share_a_word(store: Store) -> None:
    store.replace([entry("a.md", "red apples", "green pears", "", "the of"), entry("b.md", "an apple a day")])
    store.finish()
    found = store.matching("apples, and the weather", 10, {})
    assert sorted(texts(found)) == ["an apple a day", "red apples"]
    assert all(score > 0 for _, score in found)
    assert store.matching("weather", 10, {}) == []
    assert store.matching("?!", 10, {}) == []


def test_matching_reads_the_context_of_a_chunk(store: Store) -> None:
    store.replace([pack("a.md", [chunk("a.md", "It costs 5 euros.", context="Parking \u203a Fees\n")])])
    assert texts(store.matching("parking fee", 1, {})) == ["It costs 5 euros."]


def test_a_store_without_any_word_matches_nothing(store: Store) -> None:
    store.replace([entry("a.md", "---", "***")])
    assert store.matching("word", 3, {}) == []


@pytest.mark.parametrize(
    "query",
    [
        '"max_tokens',
        "(max_tokens",
        "max_tokens:",
        "+max_tokens -x",
        "max_tokens AND",
        "terms:max_tokens^2 ~1",
        "[max_tokens TO",
    ],
)
def test_no_character_of_a_query_is_syntax(store: Store, query: str) -> None:
    store.replace([entry("a.md", "Set max_tokens first.", "Nothing of the kind.")])
    assert texts(store.matching(query, 5, {})) == ["Set max_tokens first."]


def test_a_query_of_a_thousand_words_is_answered(store: Store) -> None:
    store.replace([entry("a.md", "needle", "hay")])
    query = " ".join(f"word{i}" for i in range(1000)) + " needle"
    assert texts(store.matching(query, 5, {})) == ["needle"]


def test_a_word_longer_than_any_is_found(store: Store) -> None:
    store.replace([entry("a.md", "x" * 5000, "y" * 5000)])
    store.finish()
    assert texts(store.matching("x" * 5000, 5, {})) == ["x" * 5000]
