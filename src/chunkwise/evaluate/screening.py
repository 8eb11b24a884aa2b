"""Screen recipes: compare them without embedding their chunks, by vectors that stand in for those that they would have.

A `Screen` embeds documents once, in passages. The vector of a chunk is the mean of those of the passages that it has
text of, each as often as it has tokens of it; a chunk that is a passage has exactly its vector. A static encoder needs
not even that. Both err, each in its own way: the mean of what is found by both puts recipes in a better order than
either. All else of an index stays as it is: the cut, the words, the fusion, the budget. What was measured of it is in
bench/SCREENING.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import chunkwise.chunkers  # noqa: F401 - registers the strategies
from chunkwise.core.parsing import capped, parse
from chunkwise.core.protocols import Encoder, Floats2d
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.embed.static import StaticEncoder
from chunkwise.evaluate.counterfactual import Embed

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

# Source: bench/SCREENING.md; sentences, and chunks of 150, were tried on chroma.
PASSAGES = "recursive(size=100)"


@dataclass(frozen=True, slots=True)
class Surrogate:
    """Vectors to screen by: what gives them to chunks, and what encodes questions for them."""

    name: str
    embed: Embed
    encoder: Encoder


def surrogates(encoder: Encoder, *, static: Encoder | None = None) -> tuple[Surrogate, ...]:
    """Return what to screen recipes for an encoder by; a recipe's score is the mean of its scores by each.

    `static` is an encoder whose passes cost nothing, of the documents' language; by default the one that is shipped,
    which is for English. Chunks are counted, and their length is limited, by `encoder` all the same.
    Cost: one pass of `encoder` over the documents in all, however many recipes are screened; see `Screen`.
    """
    quick = static if static is not None else StaticEncoder()
    return Surrogate("passages", Screen(encoder), encoder), Surrogate("static", partial(_whole, quick), quick)


def shortlist(screened: Mapping[str, float], tokens: Mapping[str, int], *, budget: int) -> list[str]:
    """Return the recipes to embed, the best by screening first, of which `budget` tokens pay for all.

    `tokens` are those that each has to be embedded. One that is no longer paid for is passed over.

    >>> shortlist({"a": 0.8, "b": 0.9, "c": 0.7}, {"a": 160, "b": 100, "c": 100}, budget=200)
    ['b', 'c']
    """
    chosen = []
    for name in sorted(screened, key=lambda one: (-screened[one], tokens[one])):
        if tokens[name] <= budget:
            budget -= tokens[name]
            chosen.append(name)
    return chosen


class Screen:
    """Return the vectors that chunks would have, about: an `Embed` for indexes that are only there to be compared.

    A line of a chunk's context is encoded by itself, once for all chunks that have it, unless it stands beside the
    chunk in the document: then it counts as text of the chunk. So does what overlaps. Chunks that are derived from
    others have the vector of what they say.
    `passages` is a recipe of one level, best without contexts, which would be every chunk's, and without overlaps.
    Cost: one pass of the encoder over each document, the first time that it comes; then 20 to 60 µs a chunk.
    Memory: 15 MB for a million tokens and 384 dimensions.
    Raises: EncodeError as the encoder does.
    """

    def __init__(self, encoder: Encoder, *, passages: str = PASSAGES) -> None:
        self._encoder = encoder
        self.n_tokens = 0
        """The tokens that were given to the encoder so far, special ones not counted."""
        self.passages = capped(parse(passages, tokenizer=encoder.tokenizer), encoder.max_tokens)
        """What cuts the passages. Of its own chunks the vectors are no estimates."""
        self._read: dict[Document, _Passages] = {}
        self._lines: dict[str, Floats] = {}

    def __call__(self, documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> Floats2d:
        """Return unit vectors [n_chunks, dim] of the chunks of some documents, one after the other."""
        self._embed([document for document, _ in documents])
        told = [(document, chunk, list(_lines(chunk, document))) for document, chunks in documents for chunk in chunks]
        self._encode(line for _, _, lines in told for line in lines)
        sums = [self._sum(document, chunk, lines) for document, chunk, lines in told]
        if not sums:
            return np.empty((0, self._encoder.dim), np.float32)
        vectors = np.stack(sums)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def _embed(self, documents: Iterable[Document]) -> None:
        """Embed the passages of documents that are new."""
        cut = {one: list(self.passages(one)) for one in documents if one not in self._read}
        chunks = [chunk for own in cut.values() for chunk in own]
        self.n_tokens += sum(chunk.token_count - self._encoder.tokenizer.n_special for chunk in chunks)
        vectors = self._encoded([chunk.embed_text for chunk in chunks])
        parts = np.split(vectors, np.cumsum([len(own) for own in cut.values()]))
        for (document, own), rows in zip(cut.items(), parts, strict=False):
            self._read[document] = _Passages.of(own, rows, self._encoder.tokenizer.n_special)

    def _encode(self, lines: Iterable[str]) -> None:
        """Encode lines that are new, each weighing as much as it has tokens."""
        counter = self._encoder.tokenizer
        fresh = list(dict.fromkeys(line for line in lines if line not in self._lines))
        counts = [counter.count(line) - counter.n_special for line in fresh]
        self.n_tokens += sum(counts)
        vectors = self._encoded(fresh)
        for line, count, vector in zip(fresh, counts, vectors, strict=True):
            self._lines[line] = count * vector.astype(np.float64)

    def _encoded(self, texts: Sequence[str]) -> Floats2d:
        return self._encoder(texts, role="passage") if texts else np.empty((0, self._encoder.dim), np.float32)

    def _sum(self, document: Document, chunk: Chunk, lines: Sequence[str]) -> Floats:
        total = np.zeros(self._encoder.dim)
        for line in lines:
            total += self._lines[line]
        if not chunk.is_derived:
            for span in (*chunk.spans, *_beside(chunk, document)):
                total += self._read[document].sum(span)
        return total


@dataclass(frozen=True, slots=True)
class _Passages:
    """Passages of one document in order: where they start and end, their tokens a character, their vectors."""

    starts: Numbers
    ends: Numbers
    density: Floats
    vectors: Floats2d

    @classmethod
    def of(cls, chunks: Sequence[Chunk], vectors: Floats2d, n_special: int) -> _Passages:
        spans = np.array([chunk.body for chunk in chunks], np.intp).reshape(-1, 2)
        counts = np.array([max(chunk.token_count - n_special, 1) for chunk in chunks], np.float64)
        return cls(spans[:, 0], spans[:, 1], counts / (spans[:, 1] - spans[:, 0]), vectors)

    def sum(self, span: Span) -> Floats:
        """Return the sum of the vectors of the passages in a span, weighted by the tokens that it has of each."""
        first = int(np.searchsorted(self.ends, span.start, side="right"))
        stop = int(np.searchsorted(self.starts, span.end, side="left"))
        shared = np.minimum(self.ends[first:stop], span.end) - np.maximum(self.starts[first:stop], span.start)
        total: Floats = (self.density[first:stop] * shared) @ self.vectors[first:stop].astype(np.float64)
        return total


def _whole(encoder: Encoder, documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> Floats2d:
    return encoder([chunk.embed_text for _, chunks in documents for chunk in chunks], role="passage")


def _lines(chunk: Chunk, document: Document) -> Iterator[str]:
    """Yield the lines of a context that do not stand beside the chunk; of a derived chunk all that it says."""
    if chunk.is_derived:
        yield chunk.embed_text
        return
    for line in chunk.context.splitlines():
        if line.strip() and _neighbour(line, chunk, document) is None:
            yield line


def _beside(chunk: Chunk, document: Document) -> Iterator[Span]:
    """Yield where the lines of a context stand beside the chunk."""
    found = (_neighbour(line, chunk, document) for line in chunk.context.splitlines() if line.strip())
    return (span for span in found if span is not None)


def _neighbour(line: str, chunk: Chunk, document: Document) -> Span | None:
    """Return where a line stands right before a chunk or after it, give or take white space; None if it does not."""
    (start, end), text, length = chunk.body, document.text, len(line)
    if " ".join(text[max(0, start - 2 * length) : start].split()).endswith(line):
        return Span(max(0, start - length), start)
    if " ".join(text[end : end + 2 * length].split()).startswith(line):
        return Span(end, min(len(text), end + length))
    return None
