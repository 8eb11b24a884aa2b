"""What stores are tried with: documents of a few words, with vectors of four numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chunkwise.core.protocols import Entry, Floats2d
from chunkwise.core.types import Chunk, Span

DIM = 4
INFO = {"recipe": "fixed(size=200)", "encoder": "toy", "fingerprint": "f00", "dim": DIM}
X, Y = np.eye(2, DIM, dtype=np.float32)


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
