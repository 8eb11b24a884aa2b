"""An encoder for tests: fast, deterministic, and close for texts that share words."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from chunkwise.core.protocols import Floats2d, Role, Tokenizer
from chunkwise.text.tokens import DEFAULT_TOKENIZER


class HashingEncoder:
    """Put every word in one of `dim` buckets."""

    name = "hashing"
    fingerprint = "1"
    dim = 64
    max_tokens = 256
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        if role == "passage":
            self.seen += texts
        return hashed(texts, self.dim)


class ForgetfulEncoder(HashingEncoder):
    """Remember no texts, so that it may see very many."""

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        assert all(texts)
        return hashed(texts, self.dim)


def hashed(texts: Sequence[str], dim: int) -> Floats2d:
    vectors = np.zeros((len(texts), dim), np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for word in text.lower().split():
            row[zlib.crc32(word.strip(".,?").encode("utf-8", "replace")) % dim] += 1
        row += 1e-6
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32).reshape(-1, dim)
