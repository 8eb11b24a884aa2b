"""Keep an index in a folder, with LanceDB: vectors, BM25 and filters, safe against a kill at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import StoreError, require
from chunkwise.core.protocols import Entry, Filter, Floats2d, Scored
from chunkwise.core.types import Chunk
from chunkwise.stores.rows import K1, checked, chunk_of, described, dimension, direction, rounded, row_of, wanted
from chunkwise.text.terms import terms

FORMAT = 2
MANIFEST = "index.json"
TABLE = "chunks"
LOCK = f"{MANIFEST}.lock"

# Below, a scan is exact and takes some 20 ms (25,000 vectors of 384 numbers). Above, a graph finds 99.8 % of
# the same ten, in a third of the time, where five times as many candidates are ranked again by their full vectors.
APPROXIMATE_FROM = 20_000
REFINE = 5

# Readers look for a newer state at every query, so none is an hour behind.
KEPT_VERSIONS = timedelta(hours=1)

# A document without chunks still has a row, so that it is known; no search and no count sees it.
_MARKER = -1

# Seconds to wait for another writer.
_PATIENCE = 600

# How many more than asked for are fetched, to see where the ties of the last one end.
_SPARE = 8

_TEXTS = ("text", "context", "parent")
_NUMBERS = ("token_count", "ordinal")
_PARTS = ("spans", "headings", "pages", "meta")  # as JSON
_FIELDS = ("document_id", "position", *_TEXTS, *_NUMBERS, *_PARTS)
# What is of the whole document stands in its first row only.
_DOCUMENT = ("fingerprint", "source", "document_text", "document_meta")


class LanceStore:
    """An index in a folder of its own: `index.json` says what it is, `chunks.lance` holds it.

    Several processes may read and write at once; writers take turns. Nothing is written before `describe`.
    Raises: StoreError for a folder that holds something else, or an index that can't be read.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()
        self._info = _read_manifest(self.folder)
        self._opened: Any = None

    @property
    def info(self) -> Mapping[str, Any]:
        """What the index was made with. Empty for a new one."""
        return dict(self._info)

    def describe(self, info: Mapping[str, Any]) -> None:
        """Write down what the index is made with; `dim` is required and stays.

        Raises: StoreError.
        """
        plain = described(info, self._info)
        _write_manifest(self.folder, plain)
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
        dim = dimension(self._info)
        fresh = checked(entries, dim)
        if not fresh:
            return
        table = self._create(dim) if self._table() is None else self._table()
        rows = _columns(fresh.values(), dim)

        def merge() -> None:
            into = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            into.when_not_matched_by_source_delete(_is_one_of(fresh)).execute(rows)

        self._commit(merge)

    def delete(self, document_ids: Sequence[str]) -> None:
        """Remove documents. An id that is not there is no error."""
        table = self._table()
        if table is not None and document_ids:
            self._commit(lambda: table.delete(_is_one_of(document_ids)))

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
        if few or "terms" not in self._indexed(table):
            # An index that grew still counts deleted chunks in its statistics; a new one is exact.
            self._index_terms(table)
        if not few and "vector" not in self._indexed(table):
            graph = _lance("lancedb.index").HnswSq(distance_type="cosine")
            self._commit(lambda: table.create_index("vector", config=graph))

    def count(self) -> int:
        """Return the number of chunks."""
        table = self._table()
        if table is None:
            return 0
        with _named(self.folder, "read"):
            return int(table.count_rows(f"position > {_MARKER}"))

    def chunks(self, document_id: str) -> Sequence[Chunk]:
        """Return a document's chunks in order; none for a document that is not there."""
        found = self._rows(f"{_is_one_of([document_id])} AND position > {_MARKER}", _FIELDS)
        return [chunk_of(row) for row in sorted(found, key=lambda row: int(row["position"]))]

    def text(self, document_id: str) -> str:
        """Return a document's text, empty for one that is not there."""
        found = self._rows(f"{_is_one_of([document_id])} AND position <= 0", ("document_text",))
        return found[0]["document_text"] if found else ""

    @property
    def revision(self) -> Hashable:
        """What changes with every change of what is stored."""
        table = self._table()
        if table is None:
            return None
        with _named(self.folder, "read"):
            return int(table.version)

    def entries(self, document_ids: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield what is stored of these documents, or of all, by document id. It is read into memory first."""
        table = self._table()
        if table is None or document_ids == []:
            return
        with _named(self.folder, "read"):
            search = table.search() if document_ids is None else table.search().where(_is_one_of(document_ids))
            columns = search.select([*_FIELDS, *_DOCUMENT, "vector"]).to_arrow()
        columns = columns.sort_by([("document_id", "ascending"), ("position", "ascending")])
        vectors = columns["vector"].combine_chunks().flatten().to_numpy().reshape(columns.num_rows, -1)
        rows = columns.drop_columns(["vector"]).to_pylist()
        for _, group in groupby(enumerate(rows), key=lambda pair: pair[1]["document_id"]):
            yield _entry_of(list(group), vectors)

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
            return found.select([*_FIELDS, "_distance"])

        return self._best(search, lambda row: 1 - row["_distance"], k, where)

    def matching(self, text: str, k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest BM25 score for `text`, best first.

        Chunks that came since the last `finish` are found too; their scores are nearly right.
        """
        words = terms(text)
        table = self._table()
        if not words or table is None:
            return []
        if "terms" not in self._indexed(table):  # killed before its first `finish`
            self._index_terms(table)
        # A query as an object: its words are only words, whatever they are made of.
        query = _lance("lancedb.query").MatchQuery(" ".join(words), "terms")

        def search() -> Any:
            return table.search(query, query_type="fts").select([*_FIELDS, "_score"])

        # Lucene dropped this constant factor of the formula, and with it MemoryStore.
        return self._best(search, lambda row: row["_score"] / (K1 + 1), k, where)

    def _best(self, search: Callable[[], Any], score: Callable[[Any], float], k: int, where: Filter) -> list[Scored]:
        """Return the `k` best of a search; of equals, the first in document order."""
        condition = _condition(where)
        if k < 1 or condition is None:
            return []
        limit = k + _SPARE
        while True:
            with _named(self.folder, "search"):
                found = search().where(condition).limit(limit).to_list()
            scores = [rounded(score(row)) for row in found]
            # LanceDB breaks ties as it likes: all that tie with the last must be seen to choose among them.
            if len(found) < limit or min(scores) < sorted(scores, reverse=True)[k - 1]:
                ranked = sorted(zip(scores, found, strict=True), key=_best_first)[:k]
                return [(chunk_of(row), value) for value, row in ranked]
            limit *= 4

    def _rows(self, condition: str, fields: Sequence[str]) -> list[dict[str, Any]]:
        table = self._table()
        if table is None:
            return []
        with _named(self.folder, "read"):
            rows: list[dict[str, Any]] = table.search().where(condition).select(list(fields)).to_list()
        return rows

    def _table(self) -> Any:
        """Return the table, or None as long as nothing was stored."""
        if self._opened is None and (self.folder / f"{TABLE}.lance").is_dir():
            database = self._connect()
            with _named(self.folder, "open"):
                try:
                    self._opened = database.open_table(TABLE)
                except ValueError as err:
                    # Killed in the middle of making it: its folder is there, the table is not.
                    if "not found" not in str(err):
                        raise
        return self._opened

    def _create(self, dim: int) -> Any:
        database = self._connect()
        self._commit(lambda: database.create_table(TABLE, schema=_schema(dim), exist_ok=True))
        return self._table()

    def _connect(self) -> Any:
        return _lance("lancedb").connect(str(self.folder), read_consistency_interval=timedelta(0))

    def _index_terms(self, table: Any) -> None:
        """Index the terms anew. They are split and folded already, so LanceDB must not do it again."""
        as_they_are = _lance("lancedb.index").FTS(
            base_tokenizer="whitespace",
            max_token_length=None,
            lower_case=False,
            stem=False,
            remove_stop_words=False,
            ascii_folding=False,
        )
        self._commit(lambda: table.create_index("terms", config=as_they_are, replace=True))

    def _indexed(self, table: Any) -> set[str]:
        with _named(self.folder, "read"):
            return {column for index in table.list_indices() for column in index.columns}

    def _commit(self, step: Callable[[], Any]) -> None:
        """Change the table, as its only writer: of two that only insert, LanceDB would let both succeed.

        The system frees the lock when a process dies.
        """
        lock = require("filelock", extra="search").FileLock(self.folder / LOCK, timeout=_PATIENCE)
        with _named(self.folder, "write to"), lock:
            if self._opened is not None:
                self._opened.checkout_latest()
            step()


@contextmanager
def _named(folder: Path, verb: str) -> Iterator[None]:
    """Say which index failed, and what to do."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as err:  # what LanceDB raises
        raise StoreError(
            f"can't {verb} the index {folder}: {err}. If the disk is full, make room; if another process writes to "
            "the index, try again; if its files are damaged, move it away and index again."
        ) from err


def _lance(module: str) -> ModuleType:
    """Import LanceDB, with its Rust log at errors: its warnings are for developers of LanceDB."""
    os.environ.setdefault("LANCEDB_LOG", "error")
    return require(module, extra="search")


def _best_first(scored: tuple[float, dict[str, Any]]) -> tuple[float, str, int]:
    score, row = scored
    return -score, row["document_id"], row["position"]


def _schema(dim: int) -> Any:
    arrow = require("pyarrow", extra="search")
    text, number = arrow.string(), arrow.int64()
    columns = {
        **dict.fromkeys(("id", "document_id", *_DOCUMENT, *_TEXTS, *_PARTS, "terms"), text),
        **dict.fromkeys(("position", *_NUMBERS), number),
        "tags": arrow.list_(text),
        "vector": arrow.list_(arrow.float32(), dim),
    }
    return arrow.schema(list(columns.items()))


def _columns(entries: Iterable[Entry], dim: int) -> Any:
    """Return the entries as an Arrow table."""
    arrow = require("pyarrow", extra="search")
    schema = _schema(dim)
    rows: list[dict[str, Any]] = []
    vectors = []
    for entry in entries:
        rows += _entry_rows(entry)
        vectors.append(np.asarray(entry.vectors, dtype=np.float32) if entry.chunks else _marker_vector(dim))
    flat = arrow.FixedSizeListArray.from_arrays(arrow.array(np.concatenate(vectors).ravel()), dim)
    columns = [arrow.array([row.get(name) for row in rows], schema.field(name).type) for name in schema.names[:-1]]
    return arrow.Table.from_arrays([*columns, flat], schema=schema)


def _entry_rows(entry: Entry) -> Iterator[dict[str, Any]]:
    document = {
        "document_id": entry.document_id,
        "fingerprint": entry.fingerprint,
        "source": entry.source,
    }
    whole = {"document_text": entry.text, "document_meta": json.dumps(dict(entry.meta), default=str)}
    for position, chunk in enumerate(entry.chunks):
        row = {**row_of(entry, position), **document, "terms": " ".join(terms(chunk.embed_text))}
        yield {**row, **whole} if position == 0 else row
    if not entry.chunks:
        yield {"id": f"no chunks: {entry.document_id}", "position": _MARKER, **document, **whole}


def _entry_of(numbered: Sequence[tuple[int, dict[str, Any]]], vectors: Floats2d) -> Entry:
    """Return the entry of a document's rows, the first first."""
    first = numbered[0][1]
    held = [(number, row) for number, row in numbered if row["position"] > _MARKER]
    return Entry(
        first["document_id"],
        first["fingerprint"],
        first["source"],
        tuple(chunk_of(row) for _, row in held),
        vectors[[number for number, _ in held]],
        json.loads(first["document_meta"]),
        first["document_text"],
    )


def _marker_vector(dim: int) -> NDArray[np.float32]:
    # Not zero, for which a cosine is undefined.
    return np.eye(1, dim, dtype=np.float32)


def _is_one_of(document_ids: Iterable[str]) -> str:
    return f"document_id IN ({', '.join(map(_quoted, document_ids))})"


def _condition(where: Filter) -> str | None:
    """Return a filter as SQL; None if it can match nothing."""
    options = wanted(where)
    if not all(options):
        return None
    clauses = [f"array_has_any(tags, [{', '.join(map(_quoted, tags))}])" for tags in options]
    return " AND ".join([f"position > {_MARKER}", *clauses])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _read_manifest(folder: Path) -> dict[str, Any]:
    """Return what an index was made with; nothing for a folder that is new, empty, or left by a kill."""
    elsewhere = f"name a new folder for the index, such as {folder.absolute()}.index"
    path = folder / MANIFEST
    with _named(folder, "read"):
        names = os.listdir(folder) if folder.is_dir() else []
        content = path.read_bytes() if MANIFEST in names else b""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file; {elsewhere}")
    if MANIFEST not in names:
        if any(not name.startswith(MANIFEST) for name in names):
            raise StoreError(f"{folder} is not empty and holds no index; {elsewhere}")
        return {}
    return _parse_manifest(path, content)


def _parse_manifest(path: Path, content: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(content)
    except ValueError as err:
        raise _unreadable(path, str(err)) from err
    if not isinstance(manifest, dict) or not isinstance(manifest.get("chunkwise_index"), int):
        raise _unreadable(path, "not written by Chunkwise")
    if manifest["chunkwise_index"] > FORMAT:
        raise StoreError(
            f"{path.parent} has the index format {manifest['chunkwise_index']}, this version reads {FORMAT}; "
            "run: pip install --upgrade chunkwise"
        )
    if manifest["chunkwise_index"] < FORMAT:
        raise StoreError(f"{path.parent} was made by an older version; move it away and index again")
    info = manifest.get("info")
    if not isinstance(info, dict) or not isinstance(info.get("dim"), int):
        raise _unreadable(path, "it does not say `dim`")
    return info


def _unreadable(path: Path, reason: str) -> StoreError:
    # Only a folder with a table is surely an index, and not somebody's documents.
    if (path.parent / f"{TABLE}.lance").is_dir():
        return StoreError(
            f"{path} is damaged: {reason}. Restore it from a copy, or move {path.parent} away and index again."
        )
    return StoreError(f"{path} does not describe an index: {reason}. Name another folder for the index.")


def _write_manifest(folder: Path, info: Mapping[str, Any]) -> None:
    """Write `index.json` so that at any moment there is the old one or the new one, whole."""
    with _named(folder, "write to"):
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{MANIFEST}.{os.getpid()}"
        with draft.open("w", encoding="utf-8") as file:
            json.dump({"chunkwise_index": FORMAT, "info": info}, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, folder / MANIFEST)
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder can't be opened, and need not be
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
