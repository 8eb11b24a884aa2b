"""Embed first, cut later: a chunk's vector is the mean of its tokens' vectors, which have seen the text around it.

Source: Günther et al. 2024, Late Chunking (arXiv:2409.04701), with its overlapping windows for long texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.protocols import Encoder, Floats2d, TokenEncoder
from chunkwise.core.types import Chunk, Document
from chunkwise.embed.batches import unit
from chunkwise.embed.cache import Cached, token_encoder
from chunkwise.text.huggingface import tokens_of
from chunkwise.text.segments import Ints

# Raise it when the way from a chunk to its vector changes.
_SCHEME = "late-1"
# The share of a window that the next one repeats. A token is taken from the one in which it is further from the edge,
# so that a quarter of a window stands on either side of it, and every token is encoded twice.
_OVERLAP = 0.5


@dataclass(frozen=True, slots=True)
class Late:
    """Embed the chunks of a document as parts of it. The windows are as long as the encoder takes.

    A chunk's context, such as a path of headings, is no part of the text and has no influence. What a derived chunk
    says is no part of it either, so that one is encoded by itself.
    Questions are encoded as always.
    """

    encoder: TokenEncoder

    def __call__(self, document: Document, chunks: Sequence[Chunk]) -> Floats2d:
        """Return unit vectors [n_chunks, dim]. The chunks may overlap, and be longer than a window.

        Cost: each token is encoded twice if the text is longer than a window, else once.
        Raises: EncodeError.
        """
        return self.each([(document, chunks)])

    def each(self, documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> Floats2d:
        """Return the vectors of the chunks of several documents, one after the other, whose windows share batches.

        With a cache, a document whose chunks it has all had before is not encoded.
        """
        if not isinstance(self.encoder, Cached):
            return self._made(documents)
        keys = [_keys(self.encoder, *pair) for pair in documents]
        found = self.encoder.recall([key for own in keys for key in own])
        missing = [index for index, own in enumerate(keys) if not found.keys() >= set(own)]
        if missing:
            vectors = self._made([documents[index] for index in missing])
            made = dict(zip((key for index in missing for key in keys[index]), vectors, strict=True))
            self.encoder.keep(made)
            found.update(made)
        rows = [found[key] for own in keys for key in own]
        return np.stack(rows) if rows else np.empty((0, self.encoder.dim), np.float32)

    def _made(self, documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> Floats2d:
        passages, n_chunks = [], 0
        for document, chunks in documents:
            passages.append(_passage(document, chunks, self.encoder.tokenizer.name, n_chunks))
            n_chunks += len(chunks)
        room = self.encoder.max_tokens - self.encoder.tokenizer.n_special
        windows = [(passage, *window) for passage in passages for window in _windows(len(passage.ids), room)]
        sums, counts = np.zeros((n_chunks, self.encoder.dim)), np.zeros(n_chunks, np.int64)
        rows = [passage.ids[start : start + room] for passage, start, _, _ in windows]
        for number, vectors in self.encoder.token_vectors(rows):
            passage, start, first, stop = windows[number]
            passage.pool(vectors, start, (first, stop), (sums, counts))
        return self._means(sums, counts, [chunk for _, chunks in documents for chunk in chunks])

    def _means(self, sums: NDArray[np.float64], counts: NDArray[np.int64], chunks: Sequence[Chunk]) -> Floats2d:
        """Return the means as unit vectors; a chunk that has no token of the text is encoded by itself."""
        means = sums / np.maximum(counts, 1)[:, None]
        alone = np.flatnonzero(counts == 0).tolist()
        if alone:
            found = [chunks[number] for number in alone]
            texts = [chunk.embed_text if chunk.is_derived else chunk.text for chunk in found]
            means[alone] = self.encoder(texts, role="passage")
        return unit(means, range(len(chunks)), self.encoder.name)


class _Passage(NamedTuple):
    """The tokens of one document, and which of them each part of a chunk has: from `firsts` up to `stops`."""

    ids: Ints
    firsts: Ints
    stops: Ints
    numbers: Ints

    def pool(
        self,
        vectors: Floats2d,
        start: int,
        kept: tuple[int, int],
        totals: tuple[NDArray[np.float64], NDArray[np.int64]],
    ) -> None:
        """Add the `kept` ones of the tokens from `start` on to the sums and counts of the chunks that have them."""
        first, stop = kept
        sums, counts = totals
        for part in np.flatnonzero((self.firsts < stop) & (self.stops > first)):
            low, high = max(int(self.firsts[part]), first), min(int(self.stops[part]), stop)
            sums[self.numbers[part]] += vectors[low - start : high - start].sum(axis=0, dtype=np.float64)
            counts[self.numbers[part]] += high - low


def late(encoder: Encoder) -> Late:
    """Return how to embed chunks late with an encoder.

    Raises: EncodeError if it has no vectors of tokens to give.
    """
    return Late(token_encoder(encoder))


def _keys(cache: Cached, document: Document, chunks: Sequence[Chunk]) -> list[bytes]:
    """Return what the vectors of chunks are found by: the text that was encoded, and their places in it."""
    start, end = _hull(chunks)
    of_text = cache.hasher(_SCHEME)
    of_text.update(document.text[start:end].encode("utf-8", "surrogatepass") + b"\0")
    keys = []
    for chunk in chunks:
        key = of_text.copy()
        own = chunk.embed_text if chunk.is_derived else ""
        key.update(repr(([(span.start - start, span.end - start) for span in chunk.spans], own)).encode())
        keys.append(key.digest())
    return keys


def _hull(chunks: Sequence[Chunk]) -> tuple[int, int]:
    return min((chunk.start for chunk in chunks), default=0), max((chunk.end for chunk in chunks), default=0)


def _passage(document: Document, chunks: Sequence[Chunk], tokenizer: str, n_before: int) -> _Passage:
    """Return the tokens of the text from the first chunk to the last one; its chunks count from `n_before`."""
    start, end = _hull(chunks)
    ids, starts, ends = tokens_of(tokenizer, document.text[start:end])
    of_text = [(number, chunk) for number, chunk in enumerate(chunks, n_before) if not chunk.is_derived]
    parts = [(span, number) for number, chunk in of_text for span in chunk.spans]
    return _Passage(
        ids,
        # A token belongs to every part that has a character of it.
        np.searchsorted(ends, [span.start - start for span, _ in parts], side="right").astype(np.int32),
        np.searchsorted(starts, [span.end - start for span, _ in parts], side="left").astype(np.int32),
        np.array([number for _, number in parts], np.int32),
    )


def _windows(n_tokens: int, room: int) -> Iterator[tuple[int, int, int]]:
    """Yield where each window starts, and from which token to which its vectors are taken.

    The last one is as long as the others, if the text is.

    >>> list(_windows(10, 4))
    [(0, 0, 3), (2, 3, 5), (4, 5, 7), (6, 7, 10)]
    """
    if not n_tokens:
        return
    stride = room - int(room * _OVERLAP)
    last = max(0, n_tokens - room)
    starts = [*range(0, last, stride), last]
    # Of two windows the first, as long as a token is as far from its end as from the start of the second.
    edges = [0, *((one + other + room + 1) // 2 for one, other in pairwise(starts)), n_tokens]
    for start, (first, stop) in zip(starts, pairwise(edges), strict=True):
        yield start, first, stop
