"""Entries as the rows of a LanceDB table, and filters as its SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import require
from chunkwise.core.protocols import Entry, Filter, Floats2d
from chunkwise.stores.rows import chunk_of, level_of, row_of, wanted
from chunkwise.text.terms import terms

# A document without chunks still has a row, so that it is known; no search and no count sees it.
MARKER = -1

TEXTS = ("text", "context", "parent")
NUMBERS = ("token_count", "ordinal")
PARTS = ("spans", "headings", "pages", "meta")  # as JSON
FIELDS = ("document_id", "position", *TEXTS, *NUMBERS, *PARTS)
# In a document's first row only.
META = "document_meta"


def terms_of(level: int) -> str:
    """Return the column of the terms of a level. Each has its own, so that its statistics are of its chunks alone."""
    return f"terms_{level}" if level else "terms"


def schema_of(dim: int, levels: int) -> Any:
    """Return the columns of a table for vectors of this length and so many levels."""
    arrow = require("pyarrow", extra="search")
    text, number = arrow.string(), arrow.int64()
    of_terms = map(terms_of, range(levels))
    columns = {
        **dict.fromkeys(("id", "document_id", "fingerprint", "source", META, *TEXTS, *PARTS, *of_terms), text),
        **dict.fromkeys(("position", *NUMBERS), number),
        "tags": arrow.list_(text),
        "vector": arrow.list_(arrow.float32(), dim),
    }
    return arrow.schema(list(columns.items()))


def table_of(entries: Iterable[Entry], schema: Any) -> Any:
    """Return the entries as an Arrow table."""
    arrow = require("pyarrow", extra="search")
    dim, levels = schema.field("vector").type.list_size, sum(name.startswith("terms") for name in schema.names)
    rows: list[dict[str, Any]] = []
    vectors = []
    for entry in entries:
        rows += _entry_rows(entry, levels)
        vectors.append(np.asarray(entry.vectors, dtype=np.float32) if entry.chunks else _marker_vector(dim))
    flat = arrow.FixedSizeListArray.from_arrays(arrow.array(np.concatenate(vectors).ravel()), dim)
    columns = [arrow.array([row.get(name) for row in rows], schema.field(name).type) for name in schema.names[:-1]]
    return arrow.Table.from_arrays([*columns, flat], schema=schema)


def entry_of(numbered: Sequence[tuple[int, dict[str, Any]]], vectors: Floats2d) -> Entry:
    """Return the entry of a document's rows, the first first."""
    first = numbered[0][1]
    held = [(number, row) for number, row in numbered if row["position"] > MARKER]
    chunks = tuple(chunk_of(row) for _, row in held)
    own = vectors[[number for number, _ in held]]
    return Entry(first["document_id"], first["fingerprint"], first["source"], chunks, own, json.loads(first[META]))


def is_one_of(document_ids: Iterable[str]) -> str:
    """Return the condition that a row is of one of these documents."""
    return f"document_id IN ({', '.join(map(quoted, document_ids))})"


def condition_of(where: Filter) -> str | None:
    """Return a filter as SQL; None if it can match nothing."""
    options = wanted(where)
    if not all(options):
        return None
    clauses = [f"array_has_any(tags, [{', '.join(map(quoted, tags))}])" for tags in options]
    return " AND ".join([f"position > {MARKER}", *clauses])


def quoted(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _entry_rows(entry: Entry, levels: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a document, its vectors apart; one that marks it where it has no chunks."""
    meta = json.dumps(dict(entry.meta), default=str)
    for position, chunk in enumerate(entry.chunks):
        row = {**row_of(entry, position), terms_of(level_of(chunk, levels)): " ".join(terms(chunk.embed_text))}
        yield row if position else {**row, META: meta}
    if not entry.chunks:
        yield {
            "id": f"no chunks: {entry.document_id}",
            "document_id": entry.document_id,
            "position": MARKER,
            "fingerprint": entry.fingerprint,
            "source": entry.source,
            META: meta,
        }


def _marker_vector(dim: int) -> NDArray[np.float32]:
    """Return the vector of a row that no search sees."""
    # Not zero, for which a cosine is undefined.
    return np.eye(1, dim, dtype=np.float32)
