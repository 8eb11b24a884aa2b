"""Rank a stretch of text as if it had been cut out by itself, in an index that is left as it is.

Its cosine needs no index. Its BM25 score takes the idf of words and the average length from the chunks of the index.
A search then runs over the index and the unit together, so that what scales, fuses or reorders hits does so with it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.chunkers.recursive import Recursive
from chunkwise.core.protocols import Encoder, Entry, Filter, Floats2d, Scored, Store, Tokenizer
from chunkwise.core.spans import contains, intersect, union
from chunkwise.core.types import NOTED, Chunk, Document, Evidence, Span
from chunkwise.embed import takes
from chunkwise.retrieve.search import n_tokens
from chunkwise.stores.rows import K1, B, level_of, n_levels, rounded, tags, wanted
from chunkwise.text.graphemes import inked
from chunkwise.text.sentences import sentence_spans
from chunkwise.text.terms import terms
from chunkwise.text.tokens import tokenizer as find_tokenizer

Embed: TypeAlias = Callable[[Sequence[tuple[Document, Sequence[Chunk]]]], Floats2d]
"""Return the vectors of the chunks of some documents, one after the other."""

# What a chunk notes of its own place, which is not the unit's.
_OF_PLACE = frozenset({NOTED, "overlap", "source_spans", "cells"})

# In tokens: evidence is tried by itself, in its sentences, and in stretches of whole sentences of up to so many.
# Source: ours; what is tried by itself alone is called outranked where a cut of half the size finds it (docs/blame.md).
WIDTHS = (100, 200)

# No chunk of an index has it, so that a unit is another chunk than one of the same text.
_ORDINAL = -1


class Unit(NamedTuple):
    """A stretch of text as a chunk of its own, with its vector, and what a filter can ask of it."""

    chunk: Chunk
    vector: NDArray[np.float32]
    tags: frozenset[str]


@dataclass(slots=True)
class _Words:
    """What BM25 knows of the chunks of one level: how many have words, how many in all, how many chunks have each."""

    n_chunks: int = 0
    n_words: int = 0
    holding: Counter[str] = field(default_factory=Counter)

    def add(self, words: Sequence[str]) -> None:
        self.n_chunks += bool(words)
        self.n_words += len(words)
        self.holding.update(set(words))

    def bm25(self, asked: Sequence[str], words: Sequence[str]) -> float:
        """Return the score of a text of these words, as a store gives it to its chunks."""
        counts = Counter(words)
        norm = K1 * (1 - B + B * len(words) * self.n_chunks / max(self.n_words, 1))
        return sum(self._idf(word) * counts[word] / (counts[word] + norm) for word in asked if word in counts)

    def _idf(self, word: str) -> float:
        held = max(self.holding[word], 1)  # one that only the unit has
        return math.log(1 + (self.n_chunks - held + 0.5) / (held + 0.5))


class Indexed:
    """The chunks that a search can find, read back from a store, and what their words weigh.

    Cost: reads the whole index, a second for every 20,000 chunks of 200 tokens.
    """

    def __init__(self, store: Store, where: Filter, cost: Callable[[Chunk], int] = n_tokens) -> None:
        self._store = store
        self._levels = n_levels(store.info)
        self._where = where
        self._entries: dict[str, Entry] = {}
        self._searched: dict[str, list[Chunk]] = {}
        self._words: dict[int, _Words] = {}
        for entry in store.entries():
            self._entries[entry.document_id] = replace(entry, chunks=(), vectors=np.empty((0, 0), np.float32))
            allowed = [chunk for chunk in entry.chunks if passes(tags(entry, chunk), where)]
            self._searched[entry.document_id] = allowed
            for chunk in entry.chunks:
                self._words.setdefault(level_of(chunk, self._levels), _Words()).add(terms(chunk.embed_text))
        costs = [cost(chunk) for own in self._searched.values() for chunk in own]
        self.usual_cost = float(median(costs)) if costs else 0.0

    def holding(self, evidence: Evidence) -> list[Chunk]:
        """Return the chunks that hold evidence whole, derived ones aside."""
        own = self._searched.get(evidence.document_id, ())
        return [chunk for chunk in own if not chunk.is_derived and holds(chunk.spans, evidence.span)]

    def units(
        self, evidence: Sequence[Evidence], documents: Mapping[str, Document], encoder: Encoder, embed: Embed
    ) -> list[Unit]:
        """Return evidence as units, each with the context and the metadata of the chunk that has most of it.

        What is longer than the encoder takes has the mean of the vectors of its parts, by their tokens.
        Raises: EncodeError.
        """
        if not evidence:
            return []
        counter = self.counter(encoder)
        chunks = [self._unit(one, documents[one.document_id], counter) for one in evidence]
        parts = [
            list(_parts(chunk, documents[one.document_id], encoder))
            for chunk, one in zip(chunks, evidence, strict=True)
        ]
        embedded = embed([(documents[one.document_id], own) for one, own in zip(evidence, parts, strict=True)])
        vectors = np.split(embedded, np.cumsum([len(own) for own in parts])[:-1])
        return [
            Unit(chunk, _mean(own, rows), frozenset(tags(self._entry(chunk), chunk)))
            for chunk, own, rows in zip(chunks, parts, vectors, strict=True)
        ]

    def counter(self, encoder: Encoder) -> Tokenizer:
        """Return what the chunks were counted with."""
        name = self._store.info.get("tokenizer", encoder.tokenizer.name)
        return encoder.tokenizer if name == encoder.tokenizer.name else find_tokenizer(name)

    def with_unit(self, unit: Unit) -> Store:
        """Return the store as it would be searched with a unit in it."""
        level = level_of(unit.chunk, self._levels)
        return _WithUnit(self._store, unit, self._words.get(level, _Words()), terms(unit.chunk.embed_text))

    def _unit(self, evidence: Evidence, document: Document, tokenizer: Tokenizer) -> Chunk:
        span = evidence.span
        around = max(
            (chunk for chunk in self._searched.get(document.id, ()) if not chunk.is_derived),
            key=lambda chunk: _shared(chunk.body, span),
            default=None,
        )
        text = span.slice(document.text)
        if around is None or not _shared(around.body, span):
            level = {"level": self._store.info["level"]} if self._levels > 1 else {}
            return Chunk(document.id, (span,), text, token_count=tokenizer.count(text), ordinal=_ORDINAL, meta=level)
        return replace(
            around,
            spans=(span,),
            text=text,
            token_count=tokenizer.count(around.context + text),
            parent=around.parent if contains(around.body, span) else "",
            ordinal=_ORDINAL,
            meta={key: value for key, value in around.meta.items() if key not in _OF_PLACE},
        )

    def _entry(self, chunk: Chunk) -> Entry:
        nothing = Entry(chunk.document_id, "", "", (), np.empty((0, 0), np.float32), {})
        return self._entries.get(chunk.document_id, nothing)


class _WithUnit:
    """A store in which a search finds one chunk more. Nothing is written."""

    def __init__(self, store: Store, unit: Unit, words: _Words, own: Sequence[str]) -> None:
        self._store = store
        self._unit = unit
        self._words = words
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def vectors(self, chunk_ids: Sequence[str]) -> Floats2d:
        """Return the vectors of chunks, also of the unit."""
        here = self._unit.chunk.id
        found = iter(self._store.vectors([id for id in chunk_ids if id != here]))
        rows = [self._unit.vector if id == here else next(found) for id in chunk_ids]
        return np.stack(rows) if rows else self._store.vectors(())

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest cosine."""
        scored = self._store.nearest(vector, k, where)
        if not self._unit.vector.any() or not np.any(vector):
            return scored
        return self._among(scored, float(self._unit.vector @ vector / np.linalg.norm(vector)), k, where)

    def matching(self, text: str, k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest BM25 score."""
        scored = self._store.matching(text, k, where)
        score = self._words.bm25(terms(text), self._own)
        return self._among(scored, score, k, where) if score > 0 else scored

    def _among(self, scored: Sequence[Scored], score: float, k: int, where: Filter) -> Sequence[Scored]:
        if not passes(self._unit.tags, where):
            return scored
        own = float(rounded(score))
        place = sum(other >= own for _, other in scored)  # after its equals: it wins no tie
        return [*scored[:place], (self._unit.chunk, own), *scored[place:]][:k]


def stretches(text: str, span: Span, *, widths: Sequence[int], count: Callable[[str], int]) -> list[Span]:
    """Return a span, the sentences that it is in, and what fits each of the `widths` with whole sentences around it.

    Sentences are added after and before in turn. What is over the last width is left out, but not the span itself.
    """
    if not widths:
        return [span]
    sentences = sentence_spans(text)
    first = bisect_right(sentences, span.start, key=lambda one: one.start) - 1
    last = bisect_left(sentences, span.end, key=lambda one: one.start) - 1
    found = [span]
    for width in (0, *widths):
        first, last = _grown(text, sentences, (first, last), width, count)
        whole = inked(text, Span(sentences[first].start, sentences[last].end))
        if whole not in found and count(whole.slice(text)) <= widths[-1]:
            found.append(whole)
    return found


def _grown(
    text: str, sentences: Sequence[Span], ends: tuple[int, int], width: int, count: Callable[[str], int]
) -> tuple[int, int]:
    """Return the first and the last sentence of what fits `width` around those from a first to a last one."""
    (first, last), sides = ends, [(0, 1), (-1, 0)]
    n_stuck = 0
    while n_stuck < len(sides):
        low, high = first + sides[0][0], last + sides[0][1]
        sides.reverse()
        if low >= 0 and high < len(sentences) and count(text[sentences[low].start : sentences[high].end]) <= width:
            first, last, n_stuck = low, high, 0
        else:
            n_stuck += 1
    return first, last


def holds(spans: Iterable[Span], span: Span) -> bool:
    """Tell whether some spans together hold another one whole."""
    return any(contains(one, span) for one in union(spans))


def passes(carried: Iterable[str], where: Filter) -> bool:
    """Tell whether what carries these tags passes a filter."""
    own = set(carried)
    return all(own.intersection(options) for options in wanted(where))


def _shared(one: Span, other: Span) -> int:
    both = intersect(one, other)
    return both.length if both is not None else 0


def _parts(chunk: Chunk, document: Document, encoder: Encoder) -> Iterator[Chunk]:
    """Yield a chunk, or if an encoder does not take it, the parts that it takes."""
    if takes(encoder, chunk.embed_text):
        yield chunk
    else:
        yield from Recursive(size=encoder.max_tokens, tokenizer=encoder.tokenizer)(document, within=chunk.spans)


def _mean(chunks: Sequence[Chunk], vectors: Floats2d) -> NDArray[np.float32]:
    if len(chunks) == 1:
        return np.asarray(vectors[0], np.float32)
    total = np.asarray([chunk.token_count for chunk in chunks], np.float64) @ vectors
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-12), np.float32)
