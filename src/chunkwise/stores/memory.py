"""Keep an index in memory: a matrix product and BM25, exact, gone with the process."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import require
from chunkwise.core.protocols import Entry, Filter, Floats2d, Scored
from chunkwise.core.types import Chunk
from chunkwise.stores.rows import (
    K1,
    B,
    Tagged,
    asked_levels,
    checked,
    described,
    direction,
    level_of,
    n_levels,
    rounded,
    unknown,
)
from chunkwise.text.terms import terms

# Scores this near to the last one that counts may tie with it once they are rounded.
_NEAR_TIE = 1e-4


class MemoryStore:
    """Chunks and vectors in memory.

    Cost: a query reads every vector. The first one after a change builds what it searches in.
    """

    def __init__(self) -> None:
        self._info: dict[str, Any] = {}
        self._index = _Index({}, 1)

    @property
    def info(self) -> Mapping[str, Any]:
        """What the index was made with."""
        return dict(self._info)

    def describe(self, info: Mapping[str, Any]) -> None:
        """Write down what the index is made with; `dim` is required and stays.

        Raises: StoreError.
        """
        self._info = described(info, self._info, empty=not self._index.entries)

    def documents(self) -> Mapping[str, tuple[str, str]]:
        """Return `{document_id: (fingerprint, source)}`."""
        return {id: (entry.fingerprint, entry.source) for id, entry in self._index.entries.items()}

    def replace(self, entries: Sequence[Entry]) -> None:
        """Put these documents in place of what was stored under their ids, in one step.

        Raises: StoreError before anything changes, for an entry that does not fit.
        """
        fresh = checked(entries, self._info)
        self._index = _Index({**self._index.entries, **fresh}, n_levels(self._info))

    def delete(self, document_ids: Sequence[str]) -> None:
        """Remove documents. An id that is not there is no error."""
        gone = set(document_ids)
        left = {id: entry for id, entry in self._index.entries.items() if id not in gone}
        self._index = _Index(left, n_levels(self._info))

    def finish(self) -> None:
        """Do nothing: a search builds what it needs."""

    def count(self) -> int:
        """Return the number of chunks."""
        return sum(len(entry.chunks) for entry in self._index.entries.values())

    def chunks(self, document_id: str) -> Sequence[Chunk]:
        """Return a document's chunks in order; none for a document that is not there."""
        entry = self._index.entries.get(document_id)
        return entry.chunks if entry else ()

    @property
    def revision(self) -> Hashable:
        """What changes with every change of what is stored."""
        return self._index

    def entries(self, document_ids: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield what is stored of these documents, or of all, by document id."""
        held = self._index.entries
        return (held[id] for id in (held if document_ids is None else sorted(held.keys() & set(document_ids))))

    def vectors(self, chunk_ids: Sequence[str]) -> Floats2d:
        """Return the vectors of these chunks, [n_chunk_ids, dim], in their order. Raises: StoreError for another id."""
        index = self._index
        if missing := next((id for id in chunk_ids if id not in index.row_of), None):
            raise unknown(missing)
        rows = [index.row_of[id] for id in chunk_ids]
        return index.matrix[rows] if rows else np.empty((0, self._info.get("dim", 0)), np.float32)

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest cosine with `vector`, best first.

        Raises: StoreError for a vector of another length.
        """
        index = self._index
        query = direction(vector, self._info["dim"]) if self._info else None
        if query is None or not index.chunks:
            return []
        return index.best(index.matrix @ query, index.pointing & index.tagged.passing(where), k)

    def matching(self, text: str, k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest BM25 score for `text`, best first."""
        index = self._index
        scores = index.bm25(terms(text), asked_levels(where, index.n_levels))
        return index.best(scores, (scores > 0) & index.tagged.passing(where), k)


class _Index:
    """One state of a store, and what is built to search it. A change makes a new one."""

    def __init__(self, entries: Mapping[str, Entry], levels: int) -> None:
        self.entries = dict(sorted(entries.items()))
        self.n_levels = levels
        self._worded: dict[int, tuple[NDArray[np.intp], Any]] = {}

    @cached_property
    def chunks(self) -> list[Chunk]:
        """All chunks, by document id and position, so that the first of equals is the right one."""
        return [chunk for entry in self.entries.values() for chunk in entry.chunks]

    @cached_property
    def matrix(self) -> Floats2d:
        """The vectors of the chunks, [n_chunks, dim]."""
        filled = [entry.vectors for entry in self.entries.values() if entry.chunks]
        return np.concatenate(filled, dtype=np.float32)

    @cached_property
    def pointing(self) -> NDArray[np.bool_]:
        """Which vectors are not zero: a zero vector is near to nothing."""
        return np.asarray(self.matrix.any(axis=1))

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of a chunk, by its id."""
        return {chunk.id: row for row, chunk in enumerate(self.chunks)}

    @cached_property
    def tagged(self) -> Tagged:
        """What a filter can ask of the rows."""
        found = Tagged()
        for entry in self.entries.values():
            for chunk in entry.chunks:
                found.add(entry, chunk)
        return found

    def bm25(self, words: list[str], levels: Sequence[int]) -> NDArray[np.float32]:
        """Return the score of every row of these levels, 0 of the others."""
        scores = np.zeros(len(self.chunks), dtype=np.float32)
        for level in levels:
            if level not in self._worded:
                self._worded[level] = self._words(level)
            rows, model = self._worded[level]
            if words and rows.size:
                scores[rows] = model.get_scores(words)
        return scores

    def _words(self, level: int) -> tuple[NDArray[np.intp], Any]:
        """Return the rows of a level that have terms, and BM25 over them.

        As in Lucene, the others count for no average.
        """
        of_level = [row for row, chunk in enumerate(self.chunks) if level_of(chunk, self.n_levels) == level]
        found = [(row, words) for row in of_level if (words := terms(self.chunks[row].embed_text))]
        model = require("bm25s", extra="search").BM25(method="lucene", k1=K1, b=B)
        if found:
            model.index([words for _, words in found], create_empty_token=False, show_progress=False)
        return np.array([row for row, _ in found], dtype=np.intp), model

    def best(self, scores: NDArray[np.float32], mask: NDArray[np.bool_], k: int) -> list[Scored]:
        """Return the `k` best rows of `mask`; of equals, the first in document order."""
        rows = np.flatnonzero(mask)
        if k < 1:
            return []
        if len(rows) > k:
            last = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
            rows = rows[scores[rows] >= last - _NEAR_TIE * max(1.0, abs(last))]
        worth = rounded(scores[rows])
        order = np.lexsort((rows, -worth))[:k]
        return list(zip(map(self.chunks.__getitem__, rows[order].tolist()), worth[order].tolist(), strict=True))
