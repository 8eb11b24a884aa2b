"""One suite that every store passes, and what is particular to the one in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import Entry, Floats2d, Store
from chunkwise.core.types import Chunk, Span
from chunkwise.stores import lance, open_store
from chunkwise.stores.lance import LanceStore
from chunkwise.stores.memory import MemoryStore

DIM = 4
INFO = {"recipe": "fixed(size=200)", "encoder": "toy", "fingerprint": "f00", "dim": DIM}
X, Y, Z, W = np.eye(DIM, dtype=np.float32)


@pytest.fixture(params=["memory", "lance"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return open_store("memory:" if request.param == "memory" else str(tmp_path / "index"))


@pytest.fixture
def store(bare: Store) -> Store:
    bare.describe(INFO)
    return bare


def chunk(document_id: str, text: str, **fields: Any) -> Chunk:
    return Chunk(document_id, (Span(0, len(text)),), text, **fields)


def vector_of(text: str) -> Floats2d:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest())
    vector = np.random.default_rng(seed).normal(size=DIM)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def pack(
    document_id: str, chunks: Sequence[Chunk], vectors: Sequence[Floats2d] = (), meta: Mapping[str, Any] | None = None
) -> Entry:
    rows = list(vectors) or [vector_of(chunk.text) for chunk in chunks]
    matrix = np.stack(rows) if rows else np.empty((0, DIM), np.float32)
    return Entry(document_id, f"print of {document_id}", f"/docs/{document_id}", tuple(chunks), matrix, meta or {})


def entry(document_id: str, *texts: str, meta: Mapping[str, Any] | None = None) -> Entry:
    """Return a document with a chunk of each text; equal texts are told apart."""
    chunks = [chunk(document_id, text, ordinal=texts[:i].count(text)) for i, text in enumerate(texts)]
    return pack(document_id, chunks, meta=meta)


def texts(found: Sequence[tuple[Chunk, float]]) -> list[str]:
    return [chunk.text for chunk, _ in found]


def places(found: Sequence[tuple[Chunk, float]]) -> list[tuple[str, int]]:
    return [(chunk.document_id, chunk.ordinal) for chunk, _ in found]


def test_a_new_store_is_empty(bare: Store) -> None:
    assert bare.info == {}
    assert bare.documents() == {}
    assert bare.count() == 0
    assert list(bare.chunks("a.md")) == []
    assert bare.nearest(X, 3, {}) == []
    assert bare.matching("word", 3, {}) == []
    bare.delete(["a.md"])
    bare.finish()
    assert bare.count() == 0


def test_a_description_comes_back_as_json_has_it(bare: Store) -> None:
    bare.describe({**INFO, "sizes": (1, 2)})
    assert bare.info == {**INFO, "sizes": [1, 2]}


@pytest.mark.parametrize("info", [{}, {"dim": 0}, {"dim": "4"}, {"dim": 4, "made": date(2026, 1, 1)}])
def test_a_description_that_can_not_be_kept_is_refused(bare: Store, info: Mapping[str, Any]) -> None:
    with pytest.raises(StoreError, match="description"):
        bare.describe(info)
    assert bare.info == {}


def test_the_length_of_vectors_stays(store: Store) -> None:
    store.describe({**INFO, "recipe": "other"})
    with pytest.raises(StoreError, match="vectors of 4 numbers, not 5"):
        store.describe({**INFO, "dim": 5})
    assert store.info == {**INFO, "recipe": "other"}


def test_documents_need_a_described_store(bare: Store) -> None:
    with pytest.raises(StoreError, match=r"describe\(\)"):
        bare.replace([entry("a.md", "one")])
    assert bare.documents() == {}


def test_documents_are_listed_with_fingerprint_and_source(store: Store) -> None:
    store.replace([entry("a.md", "one", "two"), entry("b.md", "three")])
    assert store.documents() == {"a.md": ("print of a.md", "/docs/a.md"), "b.md": ("print of b.md", "/docs/b.md")}
    assert store.count() == 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["one", "two", "three"], ["one"]),
        (["one"], ["zero", "one", "two"]),
        (["one", "two"], ["two", "one"]),
        (["one", "two"], ["three", "four"]),
        (["one", "one"], ["one"]),
        (["one", "two"], []),
        ([], ["one", "two"]),
        ([], []),
    ],
)
def test_a_document_is_replaced_whole(store: Store, before: list[str], after: list[str]) -> None:
    store.replace([entry("other.md", "four", "one"), entry("a.md", *before)])
    store.replace([replace(entry("a.md", *after), fingerprint="new")])
    assert [chunk.text for chunk in store.chunks("a.md")] == after
    assert store.documents()["a.md"] == ("new", "/docs/a.md")
    assert store.count() == len(after) + 2
    assert sorted(texts(store.nearest(X, 10, {}))) == sorted([*after, "four", "one"])
    assert sorted(texts(store.matching("zero one two three four", 10, {}))) == sorted([*after, "four", "one"])
    assert [chunk.text for chunk in store.chunks("other.md")] == ["four", "one"]


def test_a_document_without_chunks_is_known_but_not_found(store: Store) -> None:
    store.replace([entry("empty.md", meta={"language": "de"})])
    assert store.documents() == {"empty.md": ("print of empty.md", "/docs/empty.md")}
    assert store.count() == 0
    assert list(store.chunks("empty.md")) == []
    assert store.nearest(X, 3, {}) == []
    assert store.matching("no chunks: empty.md", 3, {}) == []
    assert store.nearest(X, 3, {"document_id": "empty.md"}) == []
    store.finish()
    store.delete(["empty.md"])
    assert store.documents() == {}


def test_of_two_entries_for_one_document_the_last_is_kept(store: Store) -> None:
    store.replace([entry("a.md", "one"), entry("a.md", "two", "three")])
    assert [chunk.text for chunk in store.chunks("a.md")] == ["two", "three"]


def test_replacing_nothing_changes_nothing(store: Store) -> None:
    store.replace([entry("a.md", "one")])
    store.replace([])
    assert store.count() == 1


def test_a_chunk_comes_back_equal(store: Store) -> None:
    original = Chunk(
        document_id="Grüße/日本.md",
        spans=(Span(3, 9), Span(20, 31)),
        text="naïve\r\n\tقلم \U0001f9d1\u200d\U0001f680\0 'quoted' \"\\n\" | x",
        context="A > B\n\n",
        token_count=17,
        parent="abc",
        headings=("A", "B 'c'"),
        pages=(3, 4),
        ordinal=2,
        meta={"overlap": 3, "deep": {"list": [1, 2.5, None, True, "ü"], "empty": {}}, "half": "\ud800"},
    )
    store.replace([pack(original.document_id, [original], [X])])
    [read] = store.chunks(original.document_id)
    [(near, _)] = store.nearest(X, 1, {})
    [(match, _)] = store.matching("quoted", 1, {})
    assert read == near == match == original
    assert dict(read.meta) == original.meta
    assert read.id == original.id


def test_chunks_come_in_the_order_of_the_document(store: Store) -> None:
    words = [f"word{i}" for i in range(25)]
    store.replace([entry("a.md", *words)])
    assert [chunk.text for chunk in store.chunks("a.md")] == words


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


STRANGE_IDS = [
    "it's.md",
    "''",
    "a\\b",
    "x\\'; DROP TABLE chunks; --",
    'say "hi"',
    "100%_x",
    "line\nbreak",
    "日本.md",
    "{}?:$1",
]


@pytest.mark.parametrize("id", STRANGE_IDS)
def test_an_id_may_hold_any_character(store: Store, id: str) -> None:
    store.replace([entry(id, "one", "two"), entry("plain.md", "three")])
    store.replace([entry(id, "one")])
    assert [chunk.text for chunk in store.chunks(id)] == ["one"]
    assert texts(store.nearest(X, 5, {"document_id": id})) == ["one"]
    assert set(store.documents()) == {id, "plain.md"}
    store.delete([id])
    assert set(store.documents()) == {"plain.md"}


def test_deleted_documents_are_found_no_more(store: Store) -> None:
    store.replace([entry("a.md", "shared one"), entry("b.md", "shared two"), entry("c.md", "shared three")])
    store.finish()
    store.delete(["a.md", "c.md", "never-there.md"])
    assert set(store.documents()) == {"b.md"}
    assert store.count() == 1
    assert texts(store.nearest(X, 5, {})) == ["shared two"]
    assert texts(store.matching("shared", 5, {})) == ["shared two"]
    store.delete(["b.md"])
    store.finish()
    assert store.matching("shared", 5, {}) == []
    store.replace([entry("a.md", "shared again")])
    assert texts(store.matching("shared", 5, {})) == ["shared again"]


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


BAD: list[tuple[str, Entry, str]] = [
    ("a chunk of another document", pack("a.md", [chunk("b.md", "x")]), "belongs to 'b.md'"),
    ("one chunk twice", pack("a.md", [chunk("a.md", "x"), chunk("a.md", "x")]), "same as chunk 0"),
    ("too few vectors", pack("a.md", [chunk("a.md", "x"), chunk("a.md", "y")], [X]), r"shape \(1, 4\)"),
    ("vectors for no chunks", pack("a.md", [], [X]), r"needs \(0, 4\)"),
    ("a vector of another length", pack("a.md", [chunk("a.md", "x")], [np.ones(5, np.float32)]), "shape"),
    ("a vector that is not unit", pack("a.md", [chunk("a.md", "x")], [X * 2]), "length 2 instead of 1"),
    ("a vector with NaN", pack("a.md", [chunk("a.md", "x")], [X * np.float32("nan")]), "length nan"),
    ("meta that JSON changes", pack("a.md", [chunk("a.md", "x", meta={"t": (1, 2)})]), "would not come back"),
    ("meta that JSON lacks", pack("a.md", [chunk("a.md", "x", meta={"d": date(2026, 1, 1)})]), "JSON can't"),
    ("half a character in a text", pack("a.md", [chunk("a.md", "\ud800")], [X]), "half a character"),
    ("half a character in an id", pack("caf\udce9.md", [], []), "rename the file"),
]


@pytest.mark.parametrize(("bad", "reason"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_an_entry_that_would_not_come_back_is_refused_whole(store: Store, bad: Entry, reason: str) -> None:
    store.replace([entry("a.md", "old")])
    with pytest.raises(StoreError, match=reason):
        store.replace([entry("b.md", "new"), bad])
    assert set(store.documents()) == {"a.md"}
    assert [chunk.text for chunk in store.chunks("a.md")] == ["old"]


CORPUS = {
    "guide/install.md": ["Install the package with pip.", "Set max_tokens in config.toml; the default is 512.", ""],
    "guide/errors.md": ["Error E1234 means that the index is locked.", "Error E1235: no space left.", "---"],
    "guide/chunks.md": ["A chunk is a piece of a document.", "Chunks overlap by 10 tokens.", "Chunk size: 200 tokens."],
    "de/anleitung.md": ["Die Größe eines Abschnitts ist 200.", "Straßenbahn und Index."],
    "ja/tokyo.md": ["東京都は日本の首都です。", "京都は古い都です。"],
    "ko/a.md": ["한국어를 배우는 방법", "한국의 도시"],
    "th/a.md": ["ภาษาไทยเป็นภาษาที่สวยงาม"],
    "api.md": [
        "def chunkText(maxTokens: int)",
        "C++ and C# bindings",
        "version 3.14 of the API",
        "The who, what and why.",
    ],
    "empty.md": [],
}
QUERIES = [
    "How do I install the package?",
    "max_tokens",
    "error e1234",
    "what is the size of a chunk in tokens",
    "Strassenbahn",
    "東京都",
    "한국",
    "ภาษาไทย",
    "C++ version 3.14",
    "the who and the why of index tokens, tokens, tokens",
]


def both(folder: Path) -> tuple[MemoryStore, LanceStore]:
    """Return two stores that went through the same changes."""
    stores = (MemoryStore(), LanceStore(folder))
    for store in stores:
        store.describe(INFO)
        store.replace([entry(id, *pieces) for id, pieces in CORPUS.items()])
        store.finish()
        store.replace([entry("gone.md", "index error"), entry("api.md", "old version 3.14"), entry("later.md", "C#")])
        store.finish()
        store.replace([entry("api.md", *CORPUS["api.md"])])
        store.delete(["gone.md"])
        store.finish()
    return stores


def test_stores_match_the_same_chunks_with_the_same_scores(tmp_path: Path) -> None:
    memory, folder = both(tmp_path / "index")
    for query in QUERIES:
        ours, theirs = memory.matching(query, 5, {}), folder.matching(query, 5, {})
        assert ours, query
        assert [chunk.id for chunk, _ in ours] == [chunk.id for chunk, _ in theirs], query
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-4), query


def test_stores_are_near_the_same_chunks_with_the_same_scores(tmp_path: Path) -> None:
    memory, folder = both(tmp_path / "index")
    for query in QUERIES:
        ours, theirs = memory.nearest(vector_of(query), 5, {}), folder.nearest(vector_of(query), 5, {})
        assert [chunk.id for chunk, _ in ours] == [chunk.id for chunk, _ in theirs], query
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-5), query


def test_a_memory_store_needs_no_finish_to_match_what_is_new() -> None:
    store = MemoryStore()
    store.describe(INFO)
    store.replace([entry("a.md", "one")])
    assert texts(store.matching("two", 5, {})) == []
    store.replace([entry("b.md", "two")])
    assert texts(store.matching("two", 5, {})) == ["two"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def on_disk(folder: Path) -> LanceStore:
    store = LanceStore(folder)
    store.describe(INFO)
    return store


def test_an_index_is_there_when_it_is_opened_again(on_disk: LanceStore, folder: Path) -> None:
    on_disk.replace([entry("a.md", "one", "two"), entry("empty.md")])
    on_disk.finish()
    again = LanceStore(folder)
    assert again.info == INFO
    assert again.documents() == on_disk.documents()
    assert again.chunks("a.md") == on_disk.chunks("a.md")
    assert again.nearest(X, 5, {}) == on_disk.nearest(X, 5, {})
    assert again.matching("two", 5, {}) == on_disk.matching("two", 5, {})


def test_opening_an_index_that_is_not_there_makes_no_folder(folder: Path) -> None:
    assert LanceStore(folder).count() == 0
    assert not folder.exists()


def test_a_reader_sees_what_another_store_writes(on_disk: LanceStore, folder: Path) -> None:
    reader = LanceStore(folder)
    assert reader.count() == 0
    for i in range(1, 4):
        on_disk.replace([entry(f"{i}.md", "word")])
        assert len(reader.matching("word", 5, {})) == reader.count() == i
        on_disk.finish()


def test_one_call_of_replace_is_one_commit(on_disk: LanceStore) -> None:
    on_disk.replace([entry("a.md", "one", "two"), entry("b.md", "three")])
    before = on_disk._table().version
    on_disk.replace([entry("a.md", "four"), entry("b.md"), entry("c.md", "five")])
    assert on_disk._table().version == before + 1


def test_an_index_that_was_never_finished_matches(on_disk: LanceStore, folder: Path) -> None:
    on_disk.replace([entry("a.md", "one"), entry("b.md", "two")])
    killed = LanceStore(folder)
    assert texts(killed.matching("two", 5, {})) == ["two"]
    killed.replace([entry("c.md", "two again")])
    assert texts(killed.matching("two", 5, {})) == ["two", "two again"]


def test_above_a_size_a_graph_finds_the_nearest(on_disk: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance, "APPROXIMATE_FROM", 300)
    words = [f"word{i}" for i in range(400)]
    on_disk.replace([entry("a.md", *words[:300])])
    on_disk.finish()
    assert "vector" not in on_disk._indexed(on_disk._table())
    on_disk.replace([entry("b.md", *words[300:]), entry("empty.md")])
    on_disk.finish()
    assert "vector" in on_disk._indexed(on_disk._table())
    on_disk.replace([entry("c.md", "late")])
    for word in (words[3], words[350], "late"):
        [(found, score)] = on_disk.nearest(vector_of(word), 1, {})
        assert found.text == word
        assert score == pytest.approx(1.0, abs=1e-5)
    assert len(on_disk.nearest(X, 402, {})) == 401


@pytest.mark.parametrize("name", ["notes.md", ".git", "chunks.lance"])
def test_a_folder_of_somebody_else_is_refused_and_left_alone(folder: Path, name: str) -> None:
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(StoreError, match=r"not empty and holds no index; name a new folder .*index\.index"):
        LanceStore(folder)
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "mine"


def test_an_empty_folder_is_a_new_index(folder: Path) -> None:
    folder.mkdir()
    store = LanceStore(folder)
    store.describe(INFO)
    assert LanceStore(folder).info == INFO


def test_a_file_is_no_folder(folder: Path) -> None:
    folder.write_text("text")
    with pytest.raises(StoreError, match="is a file"):
        LanceStore(folder)
    assert folder.read_text() == "text"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"chunkwise_index": 1, "info"', "is damaged"),
        ("", "is damaged"),
        ('{"chunkwise_index": 1}', "does not say `dim`"),
        ('{"chunkwise_index": 99, "info": {"dim": 4}}', "format 99, this version reads 1.*upgrade"),
        ('{"name": "a web page"}', "not written by Chunkwise"),
        ("[]", "not written by Chunkwise"),
    ],
)
def test_an_unreadable_index_json_says_why(on_disk: LanceStore, folder: Path, content: str, reason: str) -> None:
    on_disk.replace([entry("a.md", "one")])
    (folder / "index.json").write_text(content)
    with pytest.raises(StoreError, match=reason):
        LanceStore(folder)
    assert (folder / "index.json").read_text() == content


def test_nobody_is_told_to_move_a_folder_that_may_be_his_own(folder: Path) -> None:
    folder.mkdir()
    (folder / "index.json").write_text("{broken")
    with pytest.raises(StoreError, match="Name another folder"):
        LanceStore(folder)
    assert (folder / "index.json").read_text() == "{broken"


def test_a_kill_while_the_index_is_made_leaves_a_new_index(folder: Path) -> None:
    folder.mkdir()
    (folder / "index.json.4711").write_text('{"chunk')
    store = LanceStore(folder)
    assert store.info == {}
    store.describe(INFO)
    (folder / "chunks.lance" / "_versions").mkdir(parents=True)
    assert store.count() == 0
    store.replace([entry("a.md", "one")])
    assert LanceStore(folder).count() == 1


def test_a_damaged_table_is_an_error_that_names_the_index(on_disk: LanceStore, folder: Path) -> None:
    on_disk.replace([entry("a.md", "one")])
    for path in (folder / "chunks.lance" / "_versions").glob("*.manifest"):
        os.truncate(path, 20)
    with pytest.raises(StoreError, match=r"can't open the index .*move it away and index again"):
        LanceStore(folder).count()


def test_an_index_in_a_place_that_can_not_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = LanceStore(tmp_path / "file" / "index")
    with pytest.raises(StoreError, match="can't write to the index"):
        store.describe(INFO)
    assert store.info == {}


def run(code: str, *args: str) -> subprocess.Popen[str]:
    """Start a process that has this module at hand as `t`."""
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-W", "error", "-c", f"import sys\n{code}", *args]
    env = {**{key: value for key, value in os.environ.items() if "LOG" not in key}, "PYTHONPATH": paths}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


QUIET = """
import numpy as np, test_stores as t
from chunkwise.stores import lance
lance.APPROXIMATE_FROM = 300
store = lance.LanceStore(sys.argv[1])
store.describe(t.INFO)
for round in range(3):
    store.replace([t.entry(f"{i}.md", *[f"word{round} {i} {j}" for j in range(40)]) for i in range(10)])
    store.finish()
store.delete(["0.md"])
store.finish()
print(len(store.nearest(t.X, 5, {"document_id": "1.md"})), len(store.matching("word2", 5, {})))
"""


def test_nothing_is_printed_on_the_way(folder: Path) -> None:
    out, err = run(QUIET, str(folder)).communicate()
    assert (out, err) == ("5 5\n", "")


WRITER = """
import test_stores as t
store = t.LanceStore(sys.argv[1])
store.describe(t.INFO)
for batch in range(1000):
    store.replace([t.written(f"{i}.md", batch) for i in range(batch % 3, 40)])
    print(batch, flush=True)
    if batch % 4 == 3:
        store.finish()
"""


def written(document_id: str, batch: int) -> Entry:
    """Return what the writer stores of a document in a batch: more chunks in one batch, fewer in another."""
    made = entry(document_id, *[f"batch {batch} piece {i}" for i in range(batch * 7 % 5)])
    return replace(made, fingerprint=str(batch))


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has SIGKILL")
@pytest.mark.parametrize("acknowledged", [3, 6, 12])
def test_a_kill_in_the_middle_of_writing_loses_nothing_that_was_acknowledged(folder: Path, acknowledged: int) -> None:
    writer = run(WRITER, str(folder))
    assert writer.stdout is not None
    last = -1
    for line in writer.stdout:
        last = int(line)
        if last >= acknowledged:
            writer.kill()  # SIGKILL; what it had said by then is still read
    assert writer.wait() == -signal.SIGKILL, writer.stderr and writer.stderr.read()
    writer.stdout.close()
    if writer.stderr is not None:
        writer.stderr.close()

    store = LanceStore(folder)
    prints = {id: int(fingerprint) for id, (fingerprint, _) in store.documents().items()}
    newest = max(prints.values())
    assert newest in (last, last + 1)
    for i in range(40):
        # A batch leaves out the first documents; theirs are from the batch before it that did not.
        batch = max(batch for batch in range(newest + 1) if batch % 3 <= i)
        id = f"{i}.md"
        assert prints[id] == batch
        assert tuple(store.chunks(id)) == written(id, batch).chunks
    assert store.count() == sum(len(store.chunks(id)) for id in prints)

    store.replace([entry("after.md", "written after the kill")])
    store.finish()
    assert texts(store.matching("kill", 5, {})) == ["written after the kill"]


RIVAL = """
import test_stores as t
store, me = t.LanceStore(sys.argv[1]), sys.argv[2]
store.describe(t.INFO)
for round in range(8):
    store.replace([t.entry(f"{me}{i}.md", *[f"round {round} {j}" for j in range(3)]) for i in range(5)])
    store.finish()
"""


def test_processes_may_write_to_one_index_at_once(folder: Path) -> None:
    rivals = [run(RIVAL, str(folder), name) for name in ("left", "right", "middle")]
    assert [rival.communicate() for rival in rivals] == [("", "")] * 3
    store = LanceStore(folder)
    assert set(store.documents()) == {f"{name}{i}.md" for name in ("left", "right", "middle") for i in range(5)}
    assert {chunk.text for chunk, _ in store.nearest(X, 100, {})} == {f"round 7 {j}" for j in range(3)}
    assert store.count() == 45


def test_a_store_is_opened_by_its_url(tmp_path: Path) -> None:
    assert isinstance(open_store("memory:"), MemoryStore)
    opened = open_store(str(tmp_path / "index"))
    assert isinstance(opened, LanceStore)
    assert opened.folder == tmp_path / "index"


def test_a_path_may_start_at_home_and_hold_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    opened = open_store("~/index 12:30")
    assert isinstance(opened, LanceStore)
    assert opened.folder == tmp_path / "index 12:30"


@pytest.mark.parametrize("url", ["qdrant://localhost:6333", "postgresql://x/y", "memory://", "memory:x", "", " "])
def test_a_store_that_is_not_supported_is_named(url: str) -> None:
    with pytest.raises(StoreError, match=r"no store for .*give 'memory:', or the path of a folder"):
        open_store(url)


def test_opening_a_store_imports_no_optional_package() -> None:
    code = """
import chunkwise.stores
chunkwise.stores.open_store("memory:").describe({"dim": 4})
print(sorted({"lancedb", "pyarrow", "bm25s", "Stemmer"} & set(sys.modules)))
"""
    out, err = run(code).communicate()
    assert (out, err) == ("[]\n", "")


def test_index_json_says_what_it_is(on_disk: LanceStore, folder: Path) -> None:
    assert on_disk.info == INFO
    assert json.loads((folder / "index.json").read_text()) == {"chunkwise_index": 1, "info": INFO}
    assert [path.name for path in folder.iterdir()] == ["index.json"]
