"""Encode by the mean of token vectors: no model runs, so it is fast enough to compare every sentence with the next.

The vectors were distilled from the default encoder by bench/distill.py. They come with the package, so that they, and
the cuts that hang on them, are the same on every machine. For search the model itself is much better.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.embed.batches import check_texts, unit
from chunkwise.text.huggingface import MINILM, HuggingFace, huggingface
from chunkwise.text.unicode import encodable

STATIC = "static"
STATIC_DIM = 128
# One row for each token: numbers from 0 to 15, two in a byte, the first one in the lower half. They stand for -7.5 to
# 7.5, times the scale.
ROW = np.dtype([("scale", "<f4"), ("pairs", "u1", STATIC_DIM // 2)])
MIDDLE = 7.5
TABLE = Path(__file__).parent / "data" / f"{MINILM}.static.npy"
TABLE_SHA256 = "529f327d43fc0dc6a4a10e71027a7407df8a1df6761b97fd3b3345d90a27bee8"

# Raise it when the way from a text to its vector changes.
_SCHEME = "static-2"
# No text is too long for a mean; this is only to be more than any chunk has.
_MAX_TOKENS = 10**9
# Texts that are tokenised in one go, and tokens that are added in one go: bounds on memory.
_TOKENIZED = 1024
_ADDED = 1 << 14


@dataclass(frozen=True, slots=True)
class StaticEncoder:
    """Add up what the tokens of a text mean, whatever their order. English; texts of any length.

    Cost: tokenising is most of it, some 0.1 ms a sentence. Memory: 16 MB.
    """

    @property
    def name(self) -> str:
        """The name that finds this encoder again."""
        return STATIC

    @property
    def fingerprint(self) -> str:
        """A hash of all that a vector depends on."""
        return hashlib.sha256(json.dumps([_SCHEME, TABLE_SHA256]).encode()).hexdigest()

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return STATIC_DIM

    @property
    def max_tokens(self) -> int:
        """More than any text has."""
        return _MAX_TOKENS

    @property
    def tokenizer(self) -> HuggingFace:
        """The default encoder's tokenizer."""
        return HuggingFace(MINILM)

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:  # noqa: ARG002 - both roles are alike
        """Encode texts as unit vectors [n_texts, dim]. A text without tokens is like one that can't be read.

        Raises: EncodeError if the table is damaged.
        """
        check_texts(texts)
        if not texts:
            return np.empty((0, STATIC_DIM), np.float32)
        rows = _load(TABLE)
        return unit(np.stack([_sum(rows, ids) for ids in _token_ids(texts)]), range(len(texts)), STATIC)


def _token_ids(texts: Sequence[str]) -> Iterator[list[int]]:
    tokenizer = huggingface(MINILM)
    unknown = [tokenizer.token_to_id("[UNK]") or 0]
    for start in range(0, len(texts), _TOKENIZED):
        some = [encodable(text) for text in texts[start : start + _TOKENIZED]]
        for encoding in tokenizer.encode_batch_fast(some, add_special_tokens=False):
            yield encoding.ids or unknown


def _sum(rows: Floats2d, ids: Sequence[int]) -> Floats2d:
    # A mean has the direction of the sum. Rows are added one after the other, so no machine rounds otherwise.
    total = np.zeros(STATIC_DIM, np.float32)
    for start in range(0, len(ids), _ADDED):
        total += rows[ids[start : start + _ADDED]].sum(axis=0)
    return total


@lru_cache(maxsize=1)
def _load(file: Path) -> Floats2d:
    """Return the vectors of all tokens, [n_tokens, dim].

    Raises: EncodeError if the file is not the one that was published.
    """
    found = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "missing"
    if found != TABLE_SHA256:
        raise EncodeError(
            f"{file} is not the table that was published: its sha256 is {found}, not {TABLE_SHA256}; "
            "run: pip install --force-reinstall --no-deps chunkwise"
        )
    return numbers(np.load(file, allow_pickle=False))


def numbers(table: NDArray[np.void]) -> Floats2d:
    """Return the rows of a table as numbers, [n_rows, dim]."""
    pairs = table["pairs"]
    rows = np.stack([pairs & 15, pairs >> 4], axis=2).reshape(len(pairs), STATIC_DIM).astype(np.float32)
    rows -= MIDDLE
    rows *= table["scale"][:, None]
    return rows
