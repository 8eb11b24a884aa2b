"""The store in memory: it finds what the store in a folder finds, and needs no `finish`."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise.stores.lance import LanceStore
from chunkwise.stores.memory import MemoryStore
from unit.entries import INFO, entry, texts, vector_of

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
