"""What a store keeps, and how it changes: one suite that every store passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import Entry, Store
from chunkwise.core.types import Chunk, Span
from chunkwise.stores import open_store
from unit.entries import DIM, INFO, X, chunk, entry, pack, texts, vector_of


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


def test_what_was_stored_is_read_back_by_document(store: Store) -> None:
    given = [
        entry("b.md", "one", "two", meta={"lang": "en", "pages": [1, 2]}),
        entry("a.md"),
    ]
    store.replace(given)
    found = list(store.entries())
    assert [one.document_id for one in found] == ["a.md", "b.md"]
    for one, other in zip(found, reversed(given), strict=True):
        assert (one.fingerprint, one.source, one.chunks, one.meta) == (
            other.fingerprint,
            other.source,
            other.chunks,
            other.meta,
        )
        assert one.vectors.shape == other.vectors.shape
        assert np.allclose(one.vectors, other.vectors)
    assert [one.document_id for one in store.entries(["b.md", "none.md"])] == ["b.md"]
    assert list(store.entries([])) == []
    assert list(store.entries(())) == []


def test_a_revision_tells_of_every_change(store: Store) -> None:
    seen = [store.revision]
    for texts_given in (["one"], ["two"], []):
        if texts_given:
            store.replace([entry("a.md", *texts_given)])
        else:
            store.delete(["a.md"])
        assert store.revision not in seen
        assert store.revision == store.revision
        seen.append(store.revision)


def nested(document_id: str, *parents: tuple[str, ...]) -> Entry:
    """Return a document of two levels: each parent has the text of its children."""
    chunks: list[Chunk] = []
    for words in parents:
        parent = chunk(document_id, " ".join(words), meta={"level": 0})
        chunks += [
            parent,
            *(replace(chunk(document_id, word, ordinal=1, meta={"level": 1}), parent=parent.id) for word in words),
        ]
    return pack(document_id, chunks)


def test_vectors_come_in_the_order_that_is_asked_for(store: Store) -> None:
    store.replace([entry("a.md", "one", "two", "three"), entry("b.md", "four")])
    asked = [store.chunks("b.md")[0], *reversed(store.chunks("a.md")), store.chunks("b.md")[0]]
    found = store.vectors([chunk.id for chunk in asked])
    assert found.dtype == np.float32
    assert found == pytest.approx(np.stack([vector_of(chunk.text) for chunk in asked]))
    assert store.vectors([]).shape == (0, DIM)


def test_there_is_no_vector_of_a_chunk_that_is_not_there(store: Store) -> None:
    store.replace([entry("a.md", "one"), entry("empty.md")])
    for id in ("nothing", "no chunks: empty.md", "it's"):
        with pytest.raises(StoreError, match="search again"):
            store.vectors([store.chunks("a.md")[0].id, id])


def test_words_are_counted_over_the_chunks_of_one_level(bare: Store) -> None:
    plain = open_store("memory:")
    plain.describe(INFO)
    plain.replace([entry("a.md", "red apple", "green pear", "red pear pie"), entry("b.md", "blue plum")])
    bare.describe({**INFO, "levels": 2})
    bare.replace([nested("a.md", ("red apple", "green pear"), ("red pear pie",)), nested("b.md", ("blue plum",))])
    bare.finish()
    for query in ("red", "pear", "red pear", "plum"):
        ours, alone = bare.matching(query, 9, {"level": 1}), plain.matching(query, 9, {})
        assert [(one.text, score) for one, score in ours] == [(one.text, score) for one, score in alone]
    assert texts(bare.matching("apple", 9, {"level": 0})) == ["red apple green pear"]
    assert sorted(texts(bare.matching("apple", 9, {}))) == ["red apple", "red apple green pear"]
    assert bare.matching("apple", 9, {"level": 2}) == []
    assert texts(bare.matching("plum", 1, {"level": [0, 1], "document_id": "b.md"})) == ["blue plum"]


def test_a_level_that_the_index_has_not_is_refused(bare: Store) -> None:
    bare.describe({**INFO, "levels": 2})
    with pytest.raises(StoreError, match="of level 2, the index has 2"):
        bare.replace([pack("a.md", [chunk("a.md", "x", meta={"level": 2})])])
    with pytest.raises(StoreError, match="levels='two'"):
        bare.describe({**INFO, "levels": "two"})


def test_the_number_of_levels_stays_as_long_as_there_are_documents(store: Store) -> None:
    store.replace([entry("a.md", "one")])
    with pytest.raises(StoreError, match="levels=1, which stays"):
        store.describe({**INFO, "levels": 2})
    store.delete(["a.md"])
    store.describe({**INFO, "levels": 2})
    store.replace([nested("b.md", ("one", "two"))])
    store.finish()
    assert texts(store.matching("one", 5, {"level": 1})) == ["one"]


def test_a_gap_is_kept_and_is_nothing_to_filter_by(store: Store) -> None:
    store.replace([pack("a.md", [chunk("a.md", "one", meta={"noted": {"gap": "\n\n"}})])])
    assert store.chunks("a.md")[0].gap == "\n\n"
    assert store.nearest(X, 5, {"noted": "\n\n"}) == []
