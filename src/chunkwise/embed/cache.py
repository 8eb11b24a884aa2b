"""Keep vectors in one SQLite file, found by what they were made of, so that no text is embedded twice."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TypeGuard

import numpy as np

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Chunker, Encoder, Floats2d, Role, TokenEncoder, Tokenizer
from chunkwise.core.types import Chunk, Document
from chunkwise.embed.batches import check_texts
from chunkwise.kept import make_private, prepare, transaction, user_folder
from chunkwise.text.huggingface import HuggingFace
from chunkwise.text.segments import Ints

USER_CACHE = "user:"
"""Stands for a file in the user's cache folder."""

# 650,000 vectors of 384 dimensions.
MAX_BYTES = 1 << 30

# Marks the file as ours: "chwk" in ASCII. The version is raised when the table changes.
_APPLICATION, _VERSION = 0x6368776B, 1
_TABLE = """
CREATE TABLE vectors (
    key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL, checksum INTEGER NOT NULL, used INTEGER NOT NULL
)"""
_KEY_BYTES = 16
# Texts that are embedded and written in one go: what a kill loses.
_GROUP = 256
# Keys that are asked for at once. Source: SQLite before 3.32 takes 999 parameters.
_ASKED = 500
# Seconds after which a vector's last use is noted again: noting each use would rewrite each vector.
_NOTED = 3600
# What is left when the file is full, so that not every write has to make room.
_KEPT = 0.9
# Seconds to wait while another process writes.
_PATIENCE = 60.0

_REMEDY = "delete it, and vectors are made again; or name another file, or go without a cache"

_Found = tuple[bytes, bytes, int, int]


@dataclass(frozen=True, slots=True)
class Cached:
    """Embed with another encoder what the file at `path` does not hold yet, and keep it there.

    A vector is found by the encoder's name and fingerprint, the role, and the text; the text itself is not kept.
    Several processes may share a file. Above `max_bytes`, what was used longest ago goes.
    Cost: about 10 µs a text that is found, 30 µs one that is written.
    """

    encoder: Encoder
    path: Path
    _: KW_ONLY
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        if self.max_bytes <= 0:
            raise EncodeError(f"max_bytes={self.max_bytes} must be more than 0; try {MAX_BYTES}")

    @property
    def name(self) -> str:
        """The name of the encoder that is used."""
        return self.encoder.name

    @property
    def fingerprint(self) -> str:
        """The encoder's own: its vectors are the same with and without a cache."""
        return self.encoder.fingerprint

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self.encoder.dim

    @property
    def max_tokens(self) -> int:
        """The longest text that the encoder takes."""
        return self.encoder.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The encoder's tokenizer."""
        return self.encoder.tokenizer

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        """Return unit vectors [n_texts, dim]; equal texts are embedded once.

        Raises: EncodeError as the encoder does, or if the file can't be used.
        """
        check_texts(texts)
        if not texts:
            return self.encoder(texts, role=role)
        keys = self._keys(texts, role)
        with _opened(self.path) as connection:
            found = _find(connection, list(dict.fromkeys(keys)), self.path)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            alike = sorted(missing, key=lambda key: len(missing[key]))  # an encoder fills up what is shorter
            for group in _groups(alike, _GROUP):
                vectors = self.encoder([missing[key] for key in group], role=role)
                rows = dict(zip(group, vectors, strict=True))
                _write(connection, rows, self.max_bytes)
                found.update(rows)
        if len({row.size for row in found.values()}) > 1:
            raise EncodeError(f"{self.path} holds vectors of other lengths than {self.name} gives now; {_REMEDY}")
        return np.stack([found[key] for key in keys]).astype(np.float32, copy=False)

    def token_vectors(self, rows: Sequence[Ints]) -> Iterator[tuple[int, Floats2d]]:
        """Yield what the encoder makes of tokens. It is not kept: a token's vector takes as much room as a text's.

        Raises: EncodeError if it can't.
        """
        return token_encoder(self.encoder).token_vectors(rows)

    def hasher(self, kind: str) -> hashlib.blake2b:
        """Return the beginning of a key for vectors of one kind that this encoder makes."""
        made_by = json.dumps([self.name, self.fingerprint, kind]).encode() + b"\0"
        return hashlib.blake2b(made_by, digest_size=_KEY_BYTES)

    def recall(self, keys: Sequence[bytes]) -> dict[bytes, Floats2d]:
        """Return the vectors that are kept, of those that are asked for.

        Raises: EncodeError if the file can't be used.
        """
        with _opened(self.path) as connection:
            return _find(connection, list(dict.fromkeys(keys)), self.path)

    def keep(self, vectors: Mapping[bytes, Floats2d]) -> None:
        """Add vectors by their keys.

        Raises: EncodeError if the file can't be used.
        """
        with _opened(self.path) as connection:
            for group in _groups(list(vectors), _GROUP):
                _write(connection, {key: vectors[key] for key in group}, self.max_bytes)

    def _keys(self, texts: Sequence[str], role: Role) -> list[bytes]:
        start = self.hasher(role)
        keys = []
        for text in texts:
            key = start.copy()
            key.update(text.encode("utf-8", "surrogatepass"))
            keys.append(key.digest())
        return keys


def token_encoder(encoder: Encoder) -> TokenEncoder:
    """Return an encoder that has vectors of tokens to give.

    Raises: EncodeError if it has none.
    """
    if _gives_tokens(encoder):
        return encoder
    raise EncodeError(
        f"{encoder.name} gives no vectors of tokens, which late chunking takes the mean of; use an ONNX model, "
        "or leave late=True out"
    )


def _gives_tokens(encoder: Encoder) -> TypeGuard[TokenEncoder]:
    inner = encoder.encoder if isinstance(encoder, Cached) else encoder
    return hasattr(type(inner), "token_vectors") and isinstance(inner.tokenizer, HuggingFace)


def cached(encoder: Encoder, path: str | os.PathLike[str] = USER_CACHE) -> Cached:
    """Wrap an encoder so that it keeps its vectors at `path`, or in the user's cache folder."""
    return Cached(encoder, user_file() if path == USER_CACHE else Path(path))


def cached_if_possible(
    encoder: Encoder, path: str | os.PathLike[str] | None = USER_CACHE
) -> tuple[Encoder, tuple[str, ...]]:
    """Wrap an encoder if there is a path; leave it as it is, with a note, if the user's folder can't be written."""
    if path is None:
        return encoder, ()
    if path == USER_CACHE and (reason := why_unwritable(user_file())):
        return encoder, (f"vectors are not kept for another time: {reason}",)
    return cached(encoder, path), ()


# Where the vectors of encoders that a recipe names are kept at the moment.
_place: ContextVar[str | os.PathLike[str] | None] = ContextVar("_place", default=None)


@dataclass(frozen=True, slots=True)
class Keeping:
    """Cut with a chunker, and keep the vectors by which it cuts at `path`, or in the user's cache folder.

    The chunker names its encoder, so it is not the one to wrap it. With None, nothing is kept.
    """

    chunker: Chunker
    path: str | os.PathLike[str] | None

    def __call__(self, document: Document) -> list[Chunk]:
        before = _place.set(self.path)
        try:
            return list(self.chunker(document))
        finally:
            _place.reset(before)


def place() -> str | os.PathLike[str] | None:
    """Return where a chunker that is cutting at the moment keeps its vectors; None if nowhere."""
    return _place.get()


def user_file() -> Path:
    """Return the file in which vectors are kept for the user."""
    return user_folder() / "embeddings.sqlite"


def why_unwritable(file: Path) -> str:
    """Say why a file can't be made or changed; nothing if it can. Makes its folder, which only the user may look into.

    Containers and functions often have no home that can be written.
    """
    try:
        make_private(file.parent)
    except OSError as err:
        return f"{file.parent}: {err.strerror}"
    place = file if file.exists() else file.parent
    return "" if os.access(place, os.W_OK) else f"{place} can't be written"


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for one call: a connection survives neither a fork nor a pickle.

    Raises: EncodeError, which says what is wrong with the file.
    """
    if reason := why_unwritable(path):
        raise EncodeError(f"the embedding cache {reason}; name another file, or go without a cache")
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=NORMAL")  # what a power cut loses is embedded again
            prepare(connection, mark=_APPLICATION, version=_VERSION, table=_TABLE)
            yield connection
    except sqlite3.OperationalError as err:  # full, locked, not to be opened
        raise EncodeError(f"the embedding cache {path}: {err}; name another file, or go without a cache") from err
    except sqlite3.DatabaseError as err:  # damaged, or no database at all
        raise EncodeError(f"the embedding cache {path}: {err}; {_REMEDY}") from err


def _find(connection: sqlite3.Connection, keys: Sequence[bytes], path: Path) -> dict[bytes, Floats2d]:
    """Return the vectors that are there, and note that they were used."""
    found: dict[bytes, Floats2d] = {}
    now, unnoted = int(time.time()), list[bytes]()
    for some in _groups(keys, _ASKED):
        marks = ",".join("?" * len(some))
        query = f"SELECT key, vector, checksum, used FROM vectors WHERE key IN ({marks})"  # noqa: S608 - only marks
        rows: list[_Found] = connection.execute(query, some).fetchall()
        for key, vector, checksum, used in rows:
            if checksum != _checksum(key, vector):
                raise EncodeError(f"the embedding cache {path} holds a vector that is damaged; {_REMEDY}")
            found[key] = np.frombuffer(vector, "<f4")
            if used < now - _NOTED:
                unnoted.append(key)
    if unnoted:
        with transaction(connection):
            connection.executemany("UPDATE vectors SET used=? WHERE key=?", [(now, key) for key in unnoted])
    return found


def _write(connection: sqlite3.Connection, vectors: Mapping[bytes, Floats2d], max_bytes: int) -> None:
    """Add vectors, and make room if there are too many. Another process may have added the same."""
    now = int(time.time())
    raw = {key: vector.astype("<f4", copy=False).tobytes() for key, vector in vectors.items()}
    rows = [(key, vector, _checksum(key, vector), now) for key, vector in raw.items()]
    with transaction(connection):
        connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?)", rows)
        taken = _bytes_taken(connection)
        if taken > max_bytes:
            (n_vectors,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
            surplus = n_vectors - int(n_vectors * _KEPT * max_bytes / taken)
            connection.execute(
                "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY used, rowid LIMIT ?)",
                [surplus],
            )


def _groups(keys: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    return (keys[start : start + size] for start in range(0, len(keys), size))


def _bytes_taken(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _checksum(key: bytes, vector: bytes) -> int:
    # SQLite keeps its pages in order, but does not notice a changed bit in a value.
    return zlib.crc32(vector, zlib.crc32(key))
