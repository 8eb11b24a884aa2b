"""The sentences of an index in arrays, and the larger stretches of text that they make up, to be scored in one go.

A stretch needs no vector of its own: the mean of its sentences' vectors, weighted by their tokens, finds as much as
the vector of the whole (docs/decisions/0027), and its product with a question is the mean of their products.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.leaves import leaves
from chunkwise.core.noted import Noted
from chunkwise.core.protocols import Entry, Filter, Floats2d
from chunkwise.core.types import Chunk, Span
from chunkwise.retrieve.join import is_heading
from chunkwise.stores.rows import Tagged
from chunkwise.text.sentences import sentence_spans
from chunkwise.text.terms import terms

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

# Lower than is usual for whole documents: in a sentence or a few, a word that comes again says little more.
# Source: 0.3 to 1.2 and 0 to 0.75 tried on covidqa, qmsum and xquad-en; level around these (docs/methods/assemble.md).
K1, B = 0.6, 0.4

# Sentences whose vectors are added up at once: a bound on memory.
_ADDED = 1 << 14

_NOTHING = Noted()


class Sentence(NamedTuple):
    """A sentence, a row or some lines of code: where it stands, the chunk of the index that holds it, what is noted."""

    chunk: Chunk
    span: Span
    noted: Noted = _NOTHING

    @property
    def text(self) -> str:
        """The sentence, verbatim."""
        return self._slice(self.span.start, self.span.end)

    @property
    def pages(self) -> tuple[int, ...]:
        """The numbers of its pages; those of the chunk where nothing else is noted."""
        return self.noted.pages_of(self.span) or self.chunk.pages

    @property
    def riding(self) -> dict[Span, str]:
        """What is to be read with it, with its text: what rides along with the chunk, the header of its table."""
        chunk, header = self.chunk, self.noted.header(self.span.start)
        if header is None and len(chunk.spans) == 1:
            return {}
        found = dict(chunk.parts[:-1])
        return found if header is None else {**found, header: self._slice(*header)}

    def source(self, span: Span) -> Span | None:
        """Return where in the raw file a part of the chunk's text is, if that is another place."""
        spans = self.chunk.meta.get("source_spans")
        if self.noted.origin is None or not isinstance(spans, list):
            return None
        if span in self.chunk.spans[:-1]:
            return Span(*spans[self.chunk.spans.index(span)])
        return Span(*self.noted.origin.source(*span))

    def gap(self, other: Sentence) -> str | None:
        """Return the blank text up to the sentence that follows in the document; None if there is more, or unknown."""
        if other.chunk is self.chunk:
            between = self._slice(self.span.end, other.span.start)
        else:
            noted, start = self.chunk.gap, other.chunk.own.start
            if self.chunk.body.end + len(noted) != start:
                return None
            between = self._slice(self.span.end, self.chunk.body.end) + noted + other._slice(start, other.span.start)
        return None if between.strip() else between

    def _slice(self, start: int, end: int) -> str:
        """Return what is at these places of the document, in the chunk's own span."""
        body = self.chunk.body
        offset = len(self.chunk.text) - body.length - body.start  # what rides along comes before the body
        return self.chunk.text[start + offset : end + offset]


@dataclass(frozen=True, slots=True)
class Rung:
    """A partition of the sentences into stretches of text: `owner` is the stretch of each, `starts` their first."""

    owner: Numbers
    starts: Numbers
    lengths: Floats
    norms: Floats


class Sentences:
    """All sentences of some documents, in order, with their words and vectors.

    Where the chunks are sentences, each has its chunk's vector, else shares it with the others of its chunk.
    Cost: about a second for every 20,000 sentences, once; 1.6 KB a sentence that has a vector of 384 numbers.
    """

    def __init__(self, entries: Iterable[Entry], n_special: int) -> None:
        self._number_of: dict[str, int] = {}
        self.each: list[Sentence] = []
        held: list[tuple[int, int, int]] = []  # of each sentence: document, chunk, tokens
        vectors: list[NDArray[np.float32]] = []
        self._tagged = Tagged()
        for number, entry in enumerate(entries):
            self._number_of[entry.document_id] = number
            for position in leaves(entry.chunks):
                chunk = entry.chunks[position]
                if chunk.is_derived:  # no text of its own
                    continue
                noted = Noted.of(chunk)
                parts = list(_parts(chunk, noted, n_special))
                self._tagged.add(entry, chunk)
                self.each += [Sentence(chunk, span, noted) for span, _ in parts]
                held += [(number, len(vectors), tokens) for _, tokens in parts]
                vectors.append(entry.vectors[position])
        columns = np.array(held, np.intp).reshape(-1, 3)
        self.document, self._holder, self.tokens = columns.T.copy()
        self.rows = np.array([bool(sentence.riding) for sentence in self.each], np.bool_)
        self._vectors: Floats2d = np.array(vectors, np.float32) if vectors else np.empty((0, 0), np.float32)
        self._words, self._n_words = _postings(terms(sentence.text) for sentence in self.each)
        self._titles, _ = _postings(_heading_words(sentence.chunk) for sentence in self.each)
        self._rungs: dict[int, Rung] = {}

    def __len__(self) -> int:
        return len(self.each)

    def together(self, one: int, other: int) -> bool:
        """Tell whether two numbers are those of sentences of one document."""
        return min(one, other) >= 0 and max(one, other) < len(self.each) and self.document[one] == self.document[other]

    def joint(self, number: int) -> str | None:
        """Return the blank text between a sentence and the next, if they are of one section and nothing else is."""
        one, other = self.each[number], self.each[number + 1]
        alike = self.together(number, number + 1) and one.chunk.headings == other.chunk.headings
        return one.gap(other) if alike else None

    def of_document(self, document_id: str) -> range:
        """Return the numbers of the sentences of a document, none of one that is not there."""
        number = self._number_of.get(document_id, -1)
        first, stop = np.searchsorted(self.document, [number, number + 1]).tolist()
        return range(first, stop)

    def allowed(self, where: Filter) -> NDArray[np.bool_]:
        """Return which sentences pass a filter."""
        return self._tagged.passing(where)[self._holder]

    def rung(self, size: int) -> Rung:
        """Return the partition into stretches of at most `size` tokens, each sentence by itself for 0.

        A stretch is of one document, and ends before a heading where it is at least half full there.
        """
        if size not in self._rungs:
            starts = self._starts(size)
            owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(self.each)))
            lengths: Floats = np.bincount(owner, weights=self._n_words, minlength=len(starts)).astype(float)
            self._rungs[size] = Rung(owner, starts, lengths, self._norms(starts))
        return self._rungs[size]

    def parted(self, first: int, stop: int, sizes: Iterable[int]) -> Sentences:
        """Return the same sentences, those from `first` up to `stop` a stretch of their own on the rungs of `sizes`.

        They are of one document. What is left of the stretches that they are taken from is one before and one after.
        """
        parted = copy(self)
        parted._rungs = {0: self.rung(0), **{size: self._parted(self.rung(size), first, stop) for size in sizes}}
        return parted

    def products(self, query: NDArray[np.float32]) -> Floats:
        """Return the product of a question's vector with that of each sentence."""
        return (self._vectors @ query).astype(np.float64)[self._holder]

    def dense(self, products: Floats, rung: Rung) -> Floats:
        """Return the cosine of the question with each stretch of a rung, 0 for one without direction."""
        sums = np.bincount(rung.owner, weights=self.tokens * products, minlength=len(rung.starts))
        return np.divide(sums, rung.norms, out=np.zeros_like(sums), where=rung.norms > 0)

    def lexical(self, words: Sequence[str], rung: Rung) -> Floats:
        """Return the BM25 score of each stretch of a rung; its headings are words of it, too."""
        n = len(rung.starts)
        scores = np.zeros(n)
        scale = K1 * (1 - B + B * rung.lengths / max(rung.lengths.mean(), 1))
        for word in dict.fromkeys(words):
            counts = np.zeros(n)
            if word in self._words:
                rows, times = self._words[word]
                counts += np.bincount(rung.owner[rows], weights=times, minlength=n)
            if word in self._titles and n < len(self.each):
                counts[rung.owner[self._titles[word][0]]] += 1
            held = np.flatnonzero(counts)
            weight = math.log(1 + (n - len(held) + 0.5) / (len(held) + 0.5))
            scores[held] += weight * counts[held] * (K1 + 1) / (counts[held] + scale[held])
        return scores

    def _parted(self, rung: Rung, first: int, stop: int) -> Rung:
        n = len(self.each)
        before, after = np.searchsorted(rung.starts, [first, stop]).tolist()
        inner = [first, *([stop] if stop < n and rung.owner[stop] == rung.owner[stop - 1] else [])]
        starts = np.concatenate([rung.starts[:before], np.array(inner, np.intp), rung.starts[after:]])
        owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=n))
        changed = range(max(before - 1, 0), before + len(inner))
        ends = np.append(starts[1:], n)
        norms = np.concatenate([rung.norms[:before], np.zeros(len(inner)), rung.norms[after:]])
        norms[changed] = [self._norm(starts[number], ends[number]) for number in changed]
        return Rung(owner, starts, np.bincount(owner, weights=self._n_words).astype(float), norms)

    def _norm(self, first: int, stop: int) -> float:
        rows = slice(first, stop)
        return float(np.linalg.norm((self._vectors[self._holder[rows]] * self.tokens[rows, None]).sum(axis=0)))

    def _starts(self, size: int) -> Numbers:
        n = len(self.each)
        if not size or not n:
            return np.arange(n)
        total = np.concatenate([[0], np.cumsum(self.tokens)])
        headings = [sentence.chunk.headings for sentence in self.each]
        ends = np.searchsorted(self.document, self.document, side="right")
        begins = np.array([i == 0 or headings[i] != headings[i - 1] for i in range(n)])
        last_heading = np.maximum.accumulate(np.where(begins, np.arange(n), 0))
        starts, start = [], 0
        while start < n:
            starts.append(start)
            stop = int(np.searchsorted(total, total[start] + size, side="right")) - 1
            stop = min(max(stop, start + 1), int(ends[start]))
            if stop < ends[start]:
                heading = int(last_heading[stop])
                stop = heading if heading > start and total[heading] - total[start] >= size / 2 else stop
            start = stop
        return np.array(starts, np.intp)

    def _norms(self, starts: Numbers) -> Floats:
        """Return the length of the sum of the weighted vectors of each stretch."""
        norms = np.zeros(len(starts))
        first = 0
        while first < len(starts):
            stop = max(first + 1, int(np.searchsorted(starts, starts[first] + _ADDED)))
            low, high = starts[first], starts[stop] if stop < len(starts) else len(self.each)
            weighted = self._vectors[self._holder[low:high]] * self.tokens[low:high, None]
            sums = np.add.reduceat(weighted, starts[first:stop] - low, axis=0)
            norms[first:stop] = np.linalg.norm(sums, axis=1)
            first = stop
        return norms


def _parts(chunk: Chunk, noted: Noted, n_special: int) -> Iterator[tuple[Span, int]]:
    """Yield the sentences of a chunk's own text, and about how many tokens each has."""
    own = chunk.own
    text = chunk.text[len(chunk.text) - own.length :]
    share = max(chunk.token_count - n_special, 1) / max(len(chunk.embed_text), 1)
    for start, end in _units(chunk, noted, text):
        inside = text[start:end]
        if stripped := inside.strip():
            first = own.start + start + len(inside) - len(inside.lstrip())
            yield Span(first, first + len(stripped)), max(1, round(share * len(stripped)))


def _units(chunk: Chunk, noted: Noted, text: str) -> Iterable[Span]:
    """Return the parts of a chunk's own text, as they were noted; else the sentences of it as prose."""
    if noted.ends is not None:
        start = chunk.own.start
        return starmap(Span, pairwise([0, *(end - start for end in noted.ends), len(text)]))
    return [Span(0, len(text))] if chunk.meta.get("sentence") else _with_headings(text, chunk.headings)


def _with_headings(text: str, path: Sequence[str]) -> Iterator[Span]:
    """Yield the sentences of a text, a heading with what follows it."""
    start = 0
    for _, end in (found := sentence_spans(text)):
        if end == found[-1].end or not is_heading(text[start:end].strip().rpartition("\n")[2], path):
            yield Span(start, end)
            start = end


def _heading_words(chunk: Chunk) -> list[str]:
    return terms(" ".join(chunk.headings)) if chunk.headings else []


def _postings(texts: Iterable[list[str]]) -> tuple[dict[str, tuple[Numbers, Floats]], Floats]:
    """Return for each word the sentences that have it and how often, and the number of words of each sentence."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    lengths = []
    for row, words in enumerate(texts):
        lengths.append(len(words))
        for word, times in Counter(words).items():
            rows, counts = found.setdefault(word, ([], []))
            rows.append(row)
            counts.append(times)
    postings = {word: (np.array(rows, np.intp), np.array(counts, float)) for word, (rows, counts) in found.items()}
    return postings, np.array(lengths, float)
