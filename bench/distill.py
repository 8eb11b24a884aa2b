"""Make the table of the static encoder again: python bench/distill.py [FILE].

Takes about a minute of CPU. Another processor or onnxruntime may round a few of its numbers otherwise.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chunkwise.embed.onnx import minilm, token_outputs
from chunkwise.embed.static import MIDDLE, ROW, TABLE, numbers
from chunkwise.text.huggingface import MINILM, huggingface

# Source: docs/decisions/0024-a-static-encoder-is-shipped.md, which compares 64 to 384.
DIM = 128
# How strongly frequent tokens are weighed down. The source has 1e-3 for whole words of a counted corpus; here ranks
# stand for counts, and lower values did better down to 3e-6.
# Source: Arora et al. 2017, "A simple but tough-to-beat baseline for sentence embeddings", §3.
SMOOTHING = 1e-5
# The share of an axis's spread that is kept: 1 is plain PCA, 0 is whitening; between them does better than either.
SPREAD = 0.5
# In BERT's vocabulary, [unused] and single characters come first, then words and pieces from frequent to rare.
FIRST_WORD = 1996
# A row's largest number is drawn in to a share of itself, so that the many small ones get finer steps. For the rows of
# this model what is best is between .70 and 1.09.
SHARES = np.linspace(0.4, 1.1, 71)

Floats = NDArray[np.float64]


def token_vectors(ids: Sequence[int]) -> Floats:
    """Return the default encoder's vector of each token as a text by itself, [n_ids, 384]."""
    return np.asarray(token_outputs(minilm(), ids), np.float64)


def projection(vectors: Floats) -> Floats:
    """Return the principal axes, [384, DIM], the wider ones drawn in so that no few of them rule a cosine.

    Source: Tulkens and van Dongen 2024, Model2Vec, for tokens as texts, PCA and weights by rank.
    """
    centred = vectors - vectors.mean(axis=0)
    axes, variances, _ = np.linalg.svd(centred.T @ centred / len(centred))
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])  # an axis has no direction of itself
    scaled: Floats = (axes * signs)[:, :DIM] * variances[:DIM] ** ((SPREAD - 1) / 2)
    return scaled


def weights(tokens: Sequence[str]) -> Floats:
    """Return how much each token of a vocabulary counts in the mean: a / (a + p), p by Zipf's law from its rank."""
    ranks = np.maximum(np.arange(len(tokens)) - FIRST_WORD + 1, 1).astype(np.float64)
    usual = float(np.median(ranks))
    for index, token in enumerate(tokens[:FIRST_WORD]):
        # A mark or a letter tells nothing; a sign of another script stands for a word or a syllable.
        if len(token) == 1 and not token.isascii():
            ranks[index] = usual
    shares = 1 / ranks / (1 / ranks).sum()
    return np.asarray(SMOOTHING / (SMOOTHING + shares), np.float64)


def table(rows: Floats) -> NDArray[np.void]:
    """Return rows as whole numbers of 4 bits, each row with the scale, of those tried, that changes it least."""
    found = np.zeros(len(rows), ROW)
    largest = np.maximum(np.abs(rows).max(axis=1), np.finfo(np.float32).tiny)
    least = np.full(len(rows), np.inf)
    for share in SHARES:
        tried = np.zeros(len(rows), ROW)
        tried["scale"] = largest * share / MIDDLE
        steps = np.floor(rows / tried["scale"][:, None]) + MIDDLE + 0.5
        whole = np.clip(steps, 0, 15).astype(np.uint8)
        tried["pairs"] = whole[:, ::2] | whole[:, 1::2] << 4
        change = ((numbers(tried) - rows) ** 2).sum(axis=1)
        better = change < least
        found[better], least[better] = tried[better], change[better]
    return found


def main(file: Path) -> None:
    """Write the table, and say its hash."""
    tokenizer = huggingface(MINILM)
    ids = range(tokenizer.get_vocab_size())
    tokens = [tokenizer.id_to_token(id) or "" for id in ids]
    vectors = token_vectors(ids)
    rows = (vectors - vectors.mean(axis=0)) @ projection(vectors) * weights(tokens)[:, None]
    np.save(file, table(rows), allow_pickle=False)
    print(f"{file}: {file.stat().st_size:,} bytes, sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE)
