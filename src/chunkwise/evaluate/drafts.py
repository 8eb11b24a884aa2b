"""Which drafted queries are fit for a set: of all documents, unlike each other, no copies of their evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from chunkwise.core.spans import overlaps
from chunkwise.core.types import Document, Evidence, Query, Span
from chunkwise.evaluate.gold import query_id
from chunkwise.evaluate.passages import Passages
from chunkwise.text.terms import terms

# A question with more of the rare words of its evidence than this is found by any search.
# Source: of the questions that people wrote, 0 % (examples), 3 % (covidqa) and 7 % (xquad-en) have more.
_COPIED = 0.5

# Questions that share more of their words than this ask the same. Source: so do most such pairs of covidqa and of
# xquad-en; from 0.7 to 0.9 most ask it of another subject.
_SAME = 0.9

# How many drafts of one document are tried, one after the other, before its turn is over.
_TRIES = 40

# What points at a text that somebody who asks does not have before him.
_POINTS = regex.compile(
    r"(?i)\b(?:this|the|above|following|given|provided) (?:passage|text|excerpt|article|document|section|author)\b"
    r"|\bmentioned (?:above|here)\b"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """Queries that were drafted, and those that were not good enough, each with the reason."""

    queries: tuple[Query, ...]
    dropped: tuple[tuple[str, str], ...]


def synthetic(text: str, evidence: Evidence, *, how: str, answer: str = "") -> Query:
    """Return a query that says how it was made."""
    return Query(query_id(text), text, ((evidence,),), answer, {"synthetic": how})


class Sieve:
    """Take drafts one after the other, and keep those that are fit."""

    def __init__(self, passages: Passages, documents: Sequence[Document]) -> None:
        self._passages, self._texts = passages, {document.id: document.text for document in documents}
        self._words: list[frozenset[str]] = []
        self._evidence: dict[str, list[Span]] = {}
        self.queries: list[Query] = []
        self.dropped: list[tuple[str, str]] = []

    def take(self, query: Query) -> bool:
        """Keep a query, or note why it is dropped; tell which."""
        reason = self._flaw(query)
        if reason:
            self.dropped.append((query.text, reason))
            return False
        self.queries.append(query)
        self._words.append(frozenset(terms(query.text)))
        for one in _evidence(query):
            self._evidence.setdefault(one.document_id, []).append(one.span)
        return True

    def draft(self) -> Draft:
        """Return what was kept and what was dropped."""
        return Draft(tuple(self.queries), tuple(self.dropped))

    def _flaw(self, query: Query) -> str:
        words = frozenset(terms(query.text))
        if any(
            overlaps(one.span, span) for one in _evidence(query) for span in self._evidence.get(one.document_id, ())
        ):
            return "its evidence is another question's, too"
        if any(len(words & other) > _SAME * len(words | other) for other in self._words):
            return "it asks what another question asks"
        if _POINTS.search(query.text):
            return "it points at a text that the asker does not have"
        if (share := self._copied(query, words)) > _COPIED:
            return f"it repeats {share:.0%} of the rare words of its evidence"
        return ""

    def _copied(self, query: Query, words: frozenset[str]) -> float:
        """Return what share of the rarer half of the words of its evidence a question repeats."""
        texts = (one.span.slice(self._texts[one.document_id]) for one in _evidence(query))
        held = sorted(set(terms(" ".join(texts))), key=lambda word: (-self._passages.rarity(word), word))
        rare = held[: (len(held) + 1) // 2]
        return len(words.intersection(rare)) / len(rare) if rare else 1.0


def spread(streams: Sequence[Iterator[Query]], sieve: Sieve, n: int) -> None:
    """Fill a sieve with `n` queries, one of each stream in turn, until the streams are at their end."""
    left = list(streams)
    while left and len(sieve.queries) < n:
        for stream in list(left):
            if len(sieve.queries) == n:
                return
            if not _one(stream, sieve):
                left.remove(stream)


def _one(stream: Iterator[Query], sieve: Sieve) -> bool:
    """Take the next fit query of a stream; tell whether there was one, after some tries."""
    return any(sieve.take(query) for _, query in zip(range(_TRIES), stream, strict=False))


def _evidence(query: Query) -> Iterator[Evidence]:
    return (one for slot in query.evidence for one in slot)
