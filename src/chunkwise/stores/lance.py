"""Keep an index in a folder, with LanceDB: vectors, BM25 and filters, safe against a kill at any moment."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import require
from chunkwise.core.protocols import Entry, Filter, Floats2d, Scored
from chunkwise.core.types import Chunk
from chunkwise.stores.lance_rows import (
    FIELDS,
    MARKER,
    META,
    condition_of,
    entry_of,
    is_one_of,
    quoted,
    schema_of,
    table_of,
    terms_of,
)
from chunkwise.stores.manifest import LOCK, TABLE, named, read_manifest, write_manifest
from chunkwise.stores.rows import (
    K1,
    asked_levels,
    checked,
    chunk_of,
    described,
    direction,
    n_levels,
    rounded,
    unknown,
)
from chunkwise.text.terms import terms

# Below, a scan is exact and takes some 20 ms (25,000 vectors of 384 numbers). Above, a graph finds 99.8 % of
# the same ten, in a third of the time, where five times as many candidates are ranked again by their full vectors.
APPROXIMATE_FROM = 20_000
REFINE = 5

# Readers look for a newer state at every query, so none is an hour behind.
KEPT_VERSIONS = timedelta(hours=1)

# Seconds to wait for another writer.
_PATIENCE = 600

# How many more than asked for are fetched, to see where the ties of the last one end.
_SPARE = 8


class LanceStore:
    """An index in a folder of its own: `index.json` says what it is, `chunks.lance` holds it.

    Several processes may read and write at once; writers take turns. Nothing is written before `describe`.
    Raises: StoreError for a folder that holds something else, or an index that can't be read.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()
        self._info = read_manifest(self.folder)
        self._opened: Any = None

    @property
    def info(self) -> Mapping[str, Any]:
        """What the index was made with. Empty for a new one."""
        return dict(self._info)

    def describe(self, info: Mapping[str, Any]) -> None:
        """Write down what the index is made with; `dim` is required and stays.

        Raises: StoreError.
        """
        plain = described(info, self._info, empty=not self.documents())
        write_manifest(self.folder, plain)
        self._info = plain

    def documents(self) -> Mapping[str, tuple[str, str]]:
        """Return `{document_id: (fingerprint, source)}`."""
        # A document's first row is its first chunk, or else its marker.
        found = self._rows("position <= 0", ("document_id", "fingerprint", "source"))
        return {row["document_id"]: (row["fingerprint"], row["source"]) for row in found}

    def replace(self, entries: Sequence[Entry]) -> None:
        """Put these documents in place of what was stored under their ids, in one commit.

        Raises: StoreError before anything changes, for an entry that does not fit.
        """
        fresh = checked(entries, self._info)
        if not fresh:
            return
        schema = schema_of(self._info["dim"], n_levels(self._info))
        table = self._table()
        if table is None or table.schema.names != schema.names:
            table = self._create(schema)
        rows = table_of(fresh.values(), schema)

        def merge() -> None:
            into = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            into.when_not_matched_by_source_delete(is_one_of(fresh)).execute(rows)

        self._commit(merge)

    def delete(self, document_ids: Sequence[str]) -> None:
        """Remove documents. An id that is not there is no error."""
        table = self._table()
        if table is not None and document_ids:
            self._commit(lambda: table.delete(is_one_of(document_ids)))

    def finish(self) -> None:
        """Merge small files, drop old versions, and bring what is searched in up to date.

        Each step is a commit of its own: killed between two, the index is whole and only slower.
        Cost: under a second; above `APPROXIMATE_FROM` chunks the first call takes a minute for every 100,000.
        """
        table = self._table()
        if table is None:
            return
        self._commit(lambda: table.optimize(cleanup_older_than=KEPT_VERSIONS))
        few = self.count() <= APPROXIMATE_FROM
        for column in self._term_columns():
            if few or column not in self._indexed(table):
                # An index that grew still counts deleted chunks in its statistics; a new one is exact.
                self._index_terms(table, column)
        if not few and "vector" not in self._indexed(table):
            graph = _lance("lancedb.index").HnswSq(distance_type="cosine")
            self._commit(lambda: table.create_index("vector", config=graph))

    def count(self) -> int:
        """Return the number of chunks."""
        table = self._table()
        if table is None:
            return 0
        with named(self.folder, "read"):
            return int(table.count_rows(f"position > {MARKER}"))

    def chunks(self, document_id: str) -> Sequence[Chunk]:
        """Return a document's chunks in order; none for a document that is not there."""
        found = self._rows(f"{is_one_of([document_id])} AND position > {MARKER}", FIELDS)
        return [chunk_of(row) for row in sorted(found, key=lambda row: int(row["position"]))]

    @property
    def revision(self) -> Hashable:
        """What changes with every change of what is stored."""
        table = self._table()
        if table is None:
            return None
        with named(self.folder, "read"):
            return int(table.version)

    def entries(self, document_ids: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield what is stored of these documents, or of all, by document id. It is read into memory first."""
        table = self._table()
        if table is None or (document_ids is not None and not document_ids):
            return
        with named(self.folder, "read"):
            search = table.search() if document_ids is None else table.search().where(is_one_of(document_ids))
            columns = search.select([*FIELDS, "fingerprint", "source", META, "vector"]).to_arrow()
        columns = columns.sort_by([("document_id", "ascending"), ("position", "ascending")])
        vectors = columns["vector"].combine_chunks().flatten().to_numpy().reshape(columns.num_rows, -1)
        rows = columns.drop_columns(["vector"]).to_pylist()
        for _, group in groupby(enumerate(rows), key=lambda pair: pair[1]["document_id"]):
            yield entry_of(list(group), vectors)

    def vectors(self, chunk_ids: Sequence[str]) -> Floats2d:
        """Return the vectors of these chunks, [n_chunk_ids, dim], in their order. Raises: StoreError for another id."""
        condition = f"id IN ({', '.join(map(quoted, chunk_ids))}) AND position > {MARKER}"
        found = {row["id"]: row["vector"] for row in self._rows(condition, ("id", "vector"))} if chunk_ids else {}
        if missing := next((id for id in chunk_ids if id not in found), None):
            raise unknown(missing)
        return np.array([found[id] for id in chunk_ids], np.float32).reshape(len(chunk_ids), self._info.get("dim", 0))

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest cosine with `vector`, best first.

        Exact up to `APPROXIMATE_FROM` chunks.
        Raises: StoreError for a vector of another length.
        """
        query = direction(vector, self._info["dim"]) if self._info else None
        table = self._table()
        if query is None or table is None:
            return []

        def search() -> Any:
            found = table.search(query, vector_column_name="vector").distance_type("cosine").refine_factor(REFINE)
            return found.select([*FIELDS, "_distance"])

        return _chunks_of(self._best(search, lambda row: 1 - row["_distance"], k, where), k)

    def matching(self, text: str, k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest BM25 score for `text`, best first.

        Chunks that came since the last `finish` are found too; their scores are nearly right.
        """
        words = terms(text)
        table = self._table()
        if not words or table is None:
            return []
        found: list[tuple[float, dict[str, Any]]] = []
        for level in asked_levels(where, n_levels(self._info)):
            found += self._matching(table, words, (k, where), terms_of(level))
        return _chunks_of(found, k)

    def _matching(
        self, table: Any, words: Sequence[str], asked: tuple[int, Filter], column: str
    ) -> list[tuple[float, dict[str, Any]]]:
        if column not in self._indexed(table):  # killed before its first `finish`
            self._index_terms(table, column)
        # A query as an object: its words are only words, whatever they are made of.
        query = _lance("lancedb.query").MatchQuery(" ".join(words), column)

        def search() -> Any:
            return table.search(query, query_type="fts").select([*FIELDS, "_score"])

        # Lucene dropped this constant factor of the formula, and with it MemoryStore.
        return self._best(search, lambda row: row["_score"] / (K1 + 1), *asked)

    def _best(
        self, search: Callable[[], Any], score: Callable[[Any], float], k: int, where: Filter
    ) -> list[tuple[float, dict[str, Any]]]:
        """Return the rows of a search with their scores, the best `k` among them and all that tie with the last."""
        condition = condition_of(where)
        if k < 1 or condition is None:
            return []
        limit = k + _SPARE
        while True:
            with named(self.folder, "search"):
                found = search().where(condition).limit(limit).to_list()
            scores = rounded([score(row) for row in found]).tolist()
            # LanceDB breaks ties as it likes: all that tie with the last must be seen to choose among them.
            if len(found) < limit or min(scores) < sorted(scores, reverse=True)[k - 1]:
                return list(zip(scores, found, strict=True))
            limit *= 4

    def _rows(self, condition: str, fields: Sequence[str]) -> list[dict[str, Any]]:
        table = self._table()
        if table is None:
            return []
        with named(self.folder, "read"):
            rows: list[dict[str, Any]] = table.search().where(condition).select(list(fields)).to_list()
        return rows

    def _table(self) -> Any:
        """Return the table, or None as long as nothing was stored."""
        if self._opened is None and (self.folder / f"{TABLE}.lance").is_dir():
            database = self._connect()
            with named(self.folder, "open"):
                try:
                    self._opened = database.open_table(TABLE)
                except ValueError as err:
                    # Killed in the middle of making it: its folder is there, the table is not.
                    if "not found" not in str(err):
                        raise
        return self._opened

    def _create(self, schema: Any) -> Any:
        """Make the table, in place of one that was made for other levels; `describe` has seen that it is empty."""
        database = self._connect()

        def make() -> None:
            self._opened = None
            there = self._table()
            if there is None or there.schema.names != schema.names:  # else another writer came first
                database.create_table(TABLE, schema=schema, mode="overwrite")

        self._commit(make)
        self._opened = None  # as it is now
        return self._table()

    def _connect(self) -> Any:
        return _lance("lancedb").connect(str(self.folder), read_consistency_interval=timedelta(0))

    def _term_columns(self) -> list[str]:
        return [terms_of(level) for level in range(n_levels(self._info))]

    def _index_terms(self, table: Any, column: str) -> None:
        """Index the terms of a level anew. They are split and folded already, so LanceDB must not do it again."""
        as_they_are = _lance("lancedb.index").FTS(
            base_tokenizer="whitespace",
            max_token_length=None,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        self._commit(lambda: table.create_index(column, config=as_they_are, replace=True))

    def _indexed(self, table: Any) -> set[str]:
        with named(self.folder, "read"):
            return {column for index in table.list_indices() for column in index.columns}

    def _commit(self, step: Callable[[], Any]) -> None:
        """Change the table, as its only writer: of two that only insert, LanceDB would let both succeed.

        The system frees the lock when a process dies.
        """
        lock = require("filelock", extra="search").FileLock(self.folder / LOCK, timeout=_PATIENCE)
        with named(self.folder, "write to"), lock:
            if self._opened is not None:
                self._opened.checkout_latest()
            step()


def _lance(module: str) -> ModuleType:
    """Import LanceDB, with its Rust log at errors: its warnings are for developers of LanceDB."""
    os.environ.setdefault("LANCEDB_LOG", "error")
    return require(module, extra="search")


def _chunks_of(scored: Iterable[tuple[float, dict[str, Any]]], k: int) -> list[Scored]:
    """Return the `k` best; of equals, the first in document order."""
    return [(chunk_of(row), score) for score, row in sorted(scored, key=_best_first)[:k]]


def _best_first(scored: tuple[float, dict[str, Any]]) -> tuple[float, str, int]:
    score, row = scored
    return -score, row["document_id"], row["position"]
