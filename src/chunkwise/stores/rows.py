"""What every store does alike: check what it is given, turn chunks into flat rows, filters into tags."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import Entry, Filter, Floats2d
from chunkwise.core.types import Chunk, Meta, Span

# Source: Robertson & Zaragoza 2009, doi:10.1561/1500000019; the values of Lucene, which LanceDB has built in.
K1, B = 1.2, 0.75

# How far from 1 the length of a float32 unit vector may lie, half-precision encoders included.
_TOLERANCE = 1e-2


def described(info: Mapping[str, Any], before: Mapping[str, Any], *, empty: bool) -> dict[str, Any]:
    """Return what an index is made with as it reads back from JSON.

    Raises: StoreError if `info` holds what JSON can't, or has no `dim`, or another one than `before`; or other levels,
    if the index is not `empty`.
    """
    plain: dict[str, Any] = json.loads(_json(info, "the description of an index"))
    dim = plain.get("dim")
    if not isinstance(dim, int) or dim < 1:
        raise StoreError(f"the description of an index has dim={dim!r}; give the length of the encoder's vectors")
    if before and before["dim"] != dim:
        raise StoreError(f"the index is for vectors of {before['dim']} numbers, not {dim}; make a new index")
    levels = plain.get("levels", 1)
    if not isinstance(levels, int) or levels < 1:
        raise StoreError(f"the description of an index has levels={levels!r}; give a number, 1 for chunks of one level")
    if before and n_levels(before) != levels and not empty:
        raise StoreError(f"the index has levels={n_levels(before)}, which stays; make a new index")
    return plain


def dimension(info: Mapping[str, Any]) -> int:
    """Return the length of an index's vectors.

    Raises: StoreError if the index was not described yet.
    """
    if "dim" not in info:
        raise StoreError("a new index must say what it is made with first; call describe() before replace()")
    return int(info["dim"])


def n_levels(info: Mapping[str, Any]) -> int:
    """Return how many levels of chunks an index holds: one, unless its description says more."""
    return int(info.get("levels", 1))


def level_of(chunk: Chunk, levels: int) -> int:
    """Return the level of a chunk, by which BM25 counts: words of a parent are those of its children once more."""
    level = chunk.meta.get("level", 0)
    return level if levels > 1 and isinstance(level, int) else 0


def asked_levels(where: Filter, levels: int) -> list[int]:
    """Return the levels that a filter lets through."""
    if levels == 1 or "level" not in where:
        return list(range(levels))
    asked = set(_tags("level", where["level"]))
    return [level for level in range(levels) if asked.intersection(_tags("level", level))]


def checked(entries: Iterable[Entry], info: Mapping[str, Any]) -> dict[str, Entry]:
    """Return the entries by document id, the last one where an id comes twice.

    Raises: StoreError if the index was not described yet, or for an entry that would not come back as it is.
    """
    dim, levels = dimension(info), n_levels(info)
    found = {entry.document_id: entry for entry in entries}
    for entry in found.values():
        _check_chunks(entry, levels)
        _check_vectors(entry, dim)
    return found


def unknown(id: str) -> StoreError:
    """Return what to raise for a chunk that an index does not hold."""
    return StoreError(f"the index holds no chunk {id!r}; it may have changed since it was searched: search again")


def direction(vector: NDArray[np.float32], dim: int) -> NDArray[np.float32] | None:
    """Return `vector` at length 1; None if it is zero, and so near to nothing.

    Raises: StoreError if it has not `dim` finite numbers.
    """
    query = np.asarray(vector, dtype=np.float32)
    if query.shape != (dim,):
        raise StoreError(
            f"the query vector has the shape {query.shape}, the index ({dim},); use the encoder that it was made with"
        )
    if not np.isfinite(query).all():
        raise StoreError("the query vector holds NaN or infinity; check the encoder")
    length = float(np.linalg.norm(query))
    return query / np.float32(length) if length > 0 else None


def tags(entry: Entry, chunk: Chunk) -> list[str]:
    """Return what a filter can ask of a chunk, as `key=value`.

    Metadata of the document and of the chunk, the chunk's first; a list counts once for each of its values.
    """
    meta = {**entry.meta, **chunk.meta, "document_id": entry.document_id}
    return [tag for key, value in meta.items() for tag in _tags(key, value)]


def wanted(where: Filter) -> list[list[str]]:
    """Return, for each key of a filter, the tags any one of which a hit must carry."""
    return [_tags(key, value) for key, value in where.items()]


class Tagged:
    """Which chunks carry what a filter asks for, each by its place among those that were added."""

    def __init__(self) -> None:
        self._places: dict[str, list[int]] = {}
        self._n = 0

    def add(self, entry: Entry, chunk: Chunk) -> None:
        """Add a chunk of an entry."""
        for tag in tags(entry, chunk):
            self._places.setdefault(tag, []).append(self._n)
        self._n += 1

    def passing(self, where: Filter) -> NDArray[np.bool_]:
        """Return which chunks pass a filter."""
        mask = np.ones(self._n, np.bool_)
        for options in wanted(where):
            any_of = np.zeros(self._n, np.bool_)
            for tag in options:
                any_of[self._places.get(tag, [])] = True
            mask &= any_of
        return mask


def rounded(scores: ArrayLike) -> NDArray[np.float64]:
    """Return scores to five digits, so that what is equal but for the order of a sum ties in every store."""
    values = np.asarray(scores, np.float64)
    size = np.abs(values)
    digits = np.clip(4 - np.floor(np.log10(size, where=size > 0, out=np.zeros_like(size))), -15, 6)
    # A whole number by a power of ten that is exact is the nearest float to the decimal one.
    scale = 10.0 ** np.abs(digits)
    found = np.where(digits < 0, np.rint(values / scale) * scale, np.rint(values * scale) / scale)
    return np.asarray(found + 0.0)  # never -0.0


def row_of(entry: Entry, position: int) -> dict[str, Any]:
    """Return a chunk of an entry as a flat row: text, integers, and JSON for what has parts."""
    chunk = entry.chunks[position]
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "position": position,
        "fingerprint": entry.fingerprint,
        "source": entry.source,
        "text": chunk.text,
        "context": chunk.context,
        "token_count": chunk.token_count,
        "parent": chunk.parent,
        "ordinal": chunk.ordinal,
        "spans": json.dumps(chunk.spans),
        "headings": json.dumps(chunk.headings),
        "pages": json.dumps(chunk.pages),
        "meta": json.dumps(dict(chunk.meta)),
        "tags": tags(entry, chunk),
    }


def chunk_of(row: Mapping[str, Any]) -> Chunk:
    """Return the chunk that a row was made of."""
    return Chunk(
        document_id=row["document_id"],
        spans=tuple(Span(*pair) for pair in json.loads(row["spans"])),
        text=row["text"],
        context=row["context"],
        token_count=row["token_count"],
        parent=row["parent"],
        headings=tuple(json.loads(row["headings"])),
        pages=tuple(json.loads(row["pages"])),
        ordinal=row["ordinal"],
        meta=json.loads(row["meta"]),
    )


def _tags(key: str, value: object) -> list[str]:
    values = value if isinstance(value, list | tuple | set | frozenset) else [value]
    # "=" in a key is masked, so that the first one always ends the key.
    name = str(key).replace("=", "%3D")
    return [f"{name}={_word(item)}" for item in values if isinstance(item, str | int | float | date)]


def _word(value: str | int | float | date) -> str:
    """Return a value as text. A filter typed on a command line is text: `page=3` must find the number."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _check_chunks(entry: Entry, levels: int) -> None:
    _check_unicode(entry.document_id, (entry.document_id, entry.fingerprint, entry.source))
    seen: dict[str, int] = {}
    for position, chunk in enumerate(entry.chunks):
        place = f"{entry.document_id}, chunk {position}"
        if chunk.document_id != entry.document_id:
            raise StoreError(f"{place} belongs to {chunk.document_id!r}; put it into that document's entry")
        if chunk.id in seen:
            raise StoreError(f"{place} is the same as chunk {seen[chunk.id]}; number equal chunks with `ordinal`")
        seen[chunk.id] = position
        _check_unicode(place, (chunk.text, chunk.context, chunk.parent, *chunk.headings))
        if not 0 <= level_of(chunk, levels) < levels:
            raise StoreError(
                f"{place} is of level {chunk.meta['level']}, the index has {levels}; describe it with more"
            )
        if chunk.meta:
            _check_meta(place, chunk.meta)


def _check_unicode(place: str, texts: Sequence[str]) -> None:
    for text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as err:
            shown = ascii(text[max(0, err.start - 10) : err.end + 10])
            raise StoreError(
                f"{ascii(place)[1:-1]}: {shown} holds half a character, which no index can keep; "
                "rename the file, or read it in its true encoding"
            ) from err


def _check_meta(place: str, meta: Meta) -> None:
    if json.loads(_json(meta, f"{place}: meta")) != dict(meta):
        raise StoreError(
            f"{place}: meta {dict(meta)!r} would not come back as it is; "
            "use text, numbers, True, False, None, lists, and dicts with text as keys"
        )


def _json(record: Mapping[str, Any], place: str) -> str:
    try:
        return json.dumps(dict(record))
    except (TypeError, ValueError) as err:
        raise StoreError(f"{place} holds what JSON can't: {err}; turn it into text or numbers") from err


def _check_vectors(entry: Entry, dim: int) -> None:
    vectors: Floats2d = np.asarray(entry.vectors, dtype=np.float32)
    expected = (len(entry.chunks), dim)
    if vectors.shape != expected and (entry.chunks or vectors.size):
        raise StoreError(
            f"{entry.document_id}: vectors of shape {vectors.shape}, the index needs {expected}; "
            "encode every chunk with the encoder that the index was made with"
        )
    lengths = np.linalg.norm(vectors, axis=-1) if vectors.size else np.empty(0, dtype=np.float32)
    wrong = np.flatnonzero(~((lengths == 0) | (np.abs(lengths - 1) < _TOLERANCE)))
    if wrong.size:
        raise StoreError(
            f"{entry.document_id}, chunk {wrong[0]}: a vector of length {lengths[wrong[0]]:.3g} instead of 1; "
            "let the encoder normalise its vectors"
        )
