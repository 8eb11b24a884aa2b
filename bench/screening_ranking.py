"""Rank the chunks of one cut for every question as `hybrid()` does, by vectors of any kind, many times faster.

What does not hang on the vectors is made once: the BM25 scores, the tokens of every chunk, the evidence in it. That the
recall is that of a search by `hybrid()` is checked by bench/screening.py on some questions of every cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.protocols import Entry, Floats2d
from chunkwise.core.spans import intersect, union
from chunkwise.core.types import Chunk, Document, Query, Span
from chunkwise.evaluate.measures import Recall, tokens
from chunkwise.pipeline import Index, retriever
from chunkwise.retrieve.search import ALPHA, candidates
from chunkwise.stores.memory import MemoryStore
from chunkwise.text.tokens import tokenizer
from frontier_methods import MINILM
from questions import QuestionSet

BUDGETS = (200, 300, 400, 600, 800, 1200, 1600)

# As many candidates as a search by hybrid() takes from each of its legs for as many hits as it ranks for a budget.
_RANKED, _DEPTH = 200, 800
# Where fewer tokens are left of a budget, no chunk fits any more.
_FEWEST = 4
# Questions of every cut that are also asked by a search.
_CHECKED = 20
# Questions whose scores are held at once.
_AT_ONCE = 256

_TOKENIZER = tokenizer("cl100k_base")


class Ranked:
    """A cut of some documents, and what every question asks of it."""

    def __init__(self, cut: Sequence[tuple[Document, Sequence[Chunk]]], questions: Sequence[Query]) -> None:
        self.chunks = [chunk for _, own in cut for chunk in own]
        self._costs = np.array([_TOKENIZER.count(chunk.text) for chunk in self.chunks])
        self._lexical = list(_lexical(cut, questions))
        of_document: dict[str, list[int]] = {}
        for row, chunk in enumerate(self.chunks):
            of_document.setdefault(chunk.document_id, []).append(row)
        self._gold = [_Gold(question, self.chunks, of_document) for question in questions]

    def recall(self, vectors: Floats2d, asked: Floats2d) -> NDArray[np.float64]:
        """Return the recall at each budget [n_budgets, n_questions], given vectors of the chunks and the questions."""
        found = np.zeros((len(BUDGETS), len(asked)))
        for start in range(0, len(asked), _AT_ONCE):
            for number, products in enumerate(asked[start : start + _AT_ONCE] @ vectors.T, start):
                rows, lexical = self._lexical[number]
                ranking = self._ranking(products, rows, lexical)
                for place, budget in enumerate(BUDGETS):
                    found[place, number] = self._gold[number].share(self._kept(ranking, budget))
        return found

    def _ranking(
        self, products: NDArray[np.float32], rows: NDArray[np.intp], lexical: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        scores = np.zeros(len(products))
        near = _best(products, _DEPTH)
        scores[near] = ALPHA * _scaled(products[near].astype(np.float64))
        scores[rows] += (1 - ALPHA) * lexical
        best = np.sort(_best(scores, _RANKED))
        return best[np.argsort(-scores[best], kind="stable")]

    def _kept(self, ranking: NDArray[np.intp], budget: int) -> Iterator[int]:
        for row, cost in zip(ranking.tolist(), self._costs[ranking].tolist(), strict=True):
            if cost <= budget:
                budget -= cost
                yield row
            if budget < _FEWEST:
                return


def check(recipe: str, questions: QuestionSet, recall: NDArray[np.float64]) -> None:
    """Compare the recall of some questions with that of a search of an index.

    Raises: SystemExit where they differ, but for questions whose chunks tie to the last digits.
    """
    index = Index("memory:", encoder=MINILM, cache=None)
    index.add_documents(questions.documents, recipe=recipe)
    scope = index.scope(retriever("hybrid()"), {})
    apart = 0
    for number in range(0, len(questions.questions), len(questions.questions) // _CHECKED):
        question = questions.questions[number]
        hits = candidates(retriever("hybrid()"), question.text, scope=scope, tokens=max(BUDGETS))
        own = [(Recall @ tokens(budget))(question, hits) for budget in BUDGETS]
        apart += not np.allclose(own, recall[:, number], atol=1e-4)
    if apart > 1:
        raise SystemExit(f"{questions.name}, {recipe}: {apart} of {_CHECKED} questions have another recall by search")


class _Gold:
    """The evidence of a question, and what of it each chunk has."""

    def __init__(self, question: Query, chunks: Sequence[Chunk], of_document: dict[str, list[int]]) -> None:
        slots = [one for (one,) in question.evidence]  # these sets know no alternatives
        self._length = sum(one.span.length for one in slots)
        self._held: dict[int, list[tuple[int, Span]]] = {}
        for slot, one in enumerate(slots):
            for row in of_document.get(one.document_id, ()):
                for span in chunks[row].spans:
                    if (both := intersect(span, one.span)) is not None:
                        self._held.setdefault(row, []).append((slot, both))

    def share(self, rows: Iterator[int]) -> float:
        """Return the share of the evidence that some chunks have together."""
        if not self._held:
            return 0.0
        by_slot: dict[int, list[Span]] = {}
        for row in rows:
            for slot, span in self._held.get(row, ()):
                by_slot.setdefault(slot, []).append(span)
        return sum(span.length for spans in by_slot.values() for span in union(spans)) / self._length


def _lexical(
    cut: Sequence[tuple[Document, Sequence[Chunk]]], questions: Sequence[Query]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Yield for each question the chunks of the highest BM25 scores, and these scaled to 0..1."""
    store = MemoryStore()
    store.describe({"dim": 1})
    nothing = [Entry(one.id, "", "", tuple(own), np.ones((len(own), 1), np.float32), {}) for one, own in cut]
    store.replace(nothing)
    row_of = {(chunk.document_id, chunk.id): row for row, chunk in enumerate(chunk for _, own in cut for chunk in own)}
    for question in questions:
        scored = store.matching(question.text, _DEPTH, {})
        rows = np.array([row_of[chunk.document_id, chunk.id] for chunk, _ in scored], np.intp)
        yield rows, _scaled(np.array([score for _, score in scored], np.float64))


def _best(scores: NDArray[np.floating[Any]], k: int) -> NDArray[np.intp]:
    return np.argpartition(-scores, k)[:k] if k < len(scores) else np.arange(len(scores))


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    span = scores.max(initial=-np.inf) - scores.min(initial=np.inf) if len(scores) else 0.0
    return (scores - scores.min()) / span if span else np.ones_like(scores)
