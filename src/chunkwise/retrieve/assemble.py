"""Assemble evidence: score every sentence at several scales, and spend a budget of tokens on the best.

A chunk is a unit of scoring. What a reader is given need not be whole chunks: of the best the parts that say nothing
to the question are paid for, too. Here each sentence is scored by itself and in every larger stretch of text that
holds it, and sentences are bought one by one, joined where they meet, and given in the order of the text.
Source: ours; docs/methods/assemble.md has what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.cells import united
from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.protocols import Filter
from chunkwise.core.spans import contains
from chunkwise.core.types import NOTED, Chunk, Hit, Span
from chunkwise.retrieve.search import ALPHA
from chunkwise.retrieve.sentences import Floats, Sentence, Sentences

# Scores that differ by no more are alike: it is the rounding of vectors.
ALIKE = 1e-5

# How many times as many candidates are looked at as the budget would pay for; of what is left of a budget, less than
# this share is not looked for.
_CANDIDATES, _REST = 4, 0.03

# Sentences of about so many tokens, as in articles and papers, are worth as much as a stretch; those of speech, which
# are shorter and say less by themselves, by the square of what they have of it.
_FULL_SENTENCE = 35

# A row of a table answers by itself, whatever the rows around it are about: its weight, in that of all stretches. Of
# the rows that 800 tokens bought of a table of 300 orders, 3 of 31 matched a question for a name and a town with no
# weight of their own, 7 of 12 with 1, 9 of 12 with 3.
_ROW = 3.0

# The share of the budget that a sentence may cost which is bought for the sake of another, not for its score.
_COMPANION = 0.05

# How an English sentence begins that can't be understood without the one before it.
_POINTS_BACK = re.compile(
    r"(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|such|there|however|thus|therefore|hence|so|"
    r"then|but|and|or|also|moreover|furthermore|instead|otherwise|consequently|nevertheless|both|neither)\b",
    re.IGNORECASE,
)

# What is said of a chunk as a chunk: its place among others, its edges, its context. It is not true of a part.
_OF_CHUNKS = frozenset(
    {NOTED, "cells", "source_spans", "overlap", "level", "sentence", "fence", "context_truncated", "context_failed"}
)


@dataclass(frozen=True, slots=True)
class Ladder:
    """The scales at which sentences are scored: stretches of these sizes in tokens, and the sentence itself.

    `weights` are those of the sizes, 1 for each where empty; `sentence` is that of the sentence, by how long the
    sentences of the index are where None. A stretch gains a share `neighbour` of the score of its better neighbour:
    what is about a question goes on beyond an edge. `alpha` is the share of the dense score, as in a hybrid search.
    Up to `gap` tokens between two bought sentences are bought with them, so that the text reads on.
    """

    sizes: tuple[int, ...] = (100, 200, 400, 800, 1600)
    weights: tuple[float, ...] = ()
    sentence: float | None = None
    neighbour: float = 0.25
    alpha: float = ALPHA
    gap: int = 20

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise ChunkwiseError(f"sizes={list(self.sizes)} must be tokens, at least one size; try [100, 200, 400]")
        if self.weights and len(self.weights) != len(self.sizes):
            raise ChunkwiseError(f"{len(self.weights)} weights for {len(self.sizes)} sizes; give one for each, or none")
        numbers = (*self.weights, self.sentence or 0, self.neighbour, self.gap)
        if min(numbers) < 0 or not 0 <= self.alpha <= 1:
            raise ChunkwiseError(f"{self}: no weight and no gap may be below 0, and alpha is from 0 to 1")
        if self.sentence == 0 and self.weights and not any(self.weights):
            raise ChunkwiseError(f"{self}: something must weigh more than 0; try sentence=1")


# Source: fixed on covidqa, qmsum and xquad-en, compared in docs/methods/assemble.md.
LADDERS = {
    "default": Ladder(),
    "fine": Ladder((100, 200, 400), sentence=1.4),
    "coarse": Ladder((100, 200, 400, 800, 1600), weights=(0.5, 1, 1, 1, 1), sentence=0.2, neighbour=0.5),
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, as the index sees it: its words and its vector."""

    words: Sequence[str]
    vector: NDArray[np.float32]


def scores(sentences: Sentences, question: Question, ladder: Ladder, allowed: NDArray[np.bool_]) -> Floats:
    """Return the score of each sentence, up to 1, the sum of those of its stretches; below 0 where not `allowed`."""
    products = sentences.products(question.vector)

    def scaled(size: int) -> Floats:
        rung = sentences.rung(size)
        open_ = np.zeros(len(rung.starts), np.bool_)
        open_[rung.owner[allowed]] = True
        dense = _scaled(sentences.dense(products, rung), open_)
        lexical = _scaled(sentences.lexical(question.words, rung), open_)
        mixed = ladder.alpha * dense + (1 - ladder.alpha) * lexical
        if size:
            mixed += ladder.neighbour * _better_neighbour(mixed, sentences.document[rung.starts])
        return _scaled(mixed, open_)[rung.owner]

    own = ladder.sentence
    if own is None:
        own = min(1.0, float(sentences.tokens.mean()) / _FULL_SENTENCE) ** 2
    parts = list(zip(ladder.sizes, ladder.weights or [1.0] * len(ladder.sizes), strict=True))
    around = sum(part for _, part in parts)
    weight = np.where(sentences.rows, max(own, _ROW * around), own)
    total = weight * scaled(0) + sum(part * scaled(size) for size, part in parts if part)
    return np.where(allowed, total / (weight + around), -1.0)


def assemble(
    sentences: Sentences,
    question: Question,
    *,
    tokens: int,
    count: Callable[[str], int],
    ladder: Ladder = LADDERS["default"],
    where: Filter | None = None,
) -> list[Hit]:
    """Return the evidence for a question that `tokens` pay for, as counted by `count`: passages in reading order.

    They are ordered by document, that of the best one first, and in a document by place; ranks go by score.
    """
    allowed = sentences.allowed(where or {})
    if not allowed.any():
        return []
    return bought(sentences, scores(sentences, question, ladder, allowed), tokens=tokens, count=count, gap=ladder.gap)


def bought(
    sentences: Sentences, score: Floats, *, tokens: int, count: Callable[[str], int], gap: int = LADDERS["default"].gap
) -> list[Hit]:
    """Return what `assemble` gives for sentences of these scores: to spend several budgets, they are scored once."""
    chosen = selected(sentences, score, tokens, _Cost(sentences, count), gap)
    passages = _passages(sentences, chosen, count)
    while passages and sum(chunk.token_count for _, chunk in passages) > tokens:
        # Joined, texts may have a token more than one by one.
        chosen.remove(min(chosen, key=lambda number: score[number]))
        passages = _passages(sentences, chosen, count)
    return _ranked([(max(score[number] for number in numbers), chunk) for numbers, chunk in passages])


def selected(sentences: Sentences, score: Floats, tokens: int, cost: _Cost, gap: int) -> list[int]:
    """Return the numbers of the sentences bought, in order: the best first, as long as the budget pays for them."""
    n = min(len(score), 64 + int(_CANDIDATES * tokens / max(float(sentences.tokens.mean()), 1)))
    best = np.argpartition(-score, n - 1)[:n]
    bought: set[int] = set()
    said: dict[str, int] = {}  # in which document first: versions and copies of it say the same once more
    left = tokens
    for number in best[np.lexsort((best, -score[best]))].tolist():
        if score[number] < 0 or left < _REST * tokens:
            break
        document = int(sentences.document[number])
        if said.setdefault(sentences.each[number].text, document) != document:
            continue
        if number not in bought and cost(number) <= left:
            between = _between(sentences, bought, number, min(gap, left - cost(number)), cost)
            added = {number, *(between if all(score[other] >= 0 for other in between) else ())}
            if (price := cost.added(added, bought)) > left:  # with a header that comes along
                continue
            bought |= added
            left -= price
            for other in _companions(sentences, number):
                if other in bought or score[other] < 0:
                    continue
                if (price := cost.added({other}, bought)) <= min(left, _COMPANION * tokens):
                    bought.add(other)
                    left -= price
    return sorted(bought)


def _between(
    sentences: Sentences, bought: Container[int], number: int, most: int, cost: Callable[[int], int]
) -> dict[int, int]:
    """Return what stands between a sentence and the next bought one before or after it, if it costs at most `most`."""
    found: dict[int, int] = {}
    for step in (-1, 1):
        gap: dict[int, int] = {}
        other = number + step
        while sum(gap.values()) <= most and sentences.together(number, other):
            if other in bought:
                found |= gap
                most -= sum(gap.values())
                break
            gap[other] = cost(other)
            other += step
    return found


def _companions(sentences: Sentences, number: int) -> Iterator[int]:
    """Yield what a sentence can't be understood without: the one that it points back to, the one that it announces."""
    text = sentences.each[number].text
    if _POINTS_BACK.match(text) and sentences.together(number - 1, number):
        yield number - 1
    if text.endswith(":") and sentences.together(number, number + 1):
        yield number + 1


class _Cost:
    """What a sentence costs, and what rides along with it, each counted once."""

    def __init__(self, sentences: Sentences, count: Callable[[str], int]) -> None:
        self._sentences = sentences
        self._count = count
        self._known: dict[int, int] = {}
        self._riding: dict[str, int] = {}

    def added(self, numbers: Set[int], bought: Set[int]) -> int:
        """Return what sentences cost beside those that were bought, with what rides along."""
        after = bought | numbers
        own = sum(self(number) + self._header(number, after) for number in numbers)
        following = {number + 1 for number in numbers} & bought
        return own + sum(self._header(number, after) - self._header(number, bought) for number in following)

    def _header(self, number: int, bought: Set[int]) -> int:
        """Return what rides along with a sentence costs; nothing where it is joined to one before that has it."""
        sentences = self._sentences
        riding = sentences.each[number].riding
        if riding and number - 1 in bought and sentences.joint(number - 1) is not None:
            before = sentences.each[number - 1]
            there = [before.span, *before.riding]
            riding = {span: text for span, text in riding.items() if not any(contains(one, span) for one in there)}
        if not riding:
            return 0
        text = "".join(riding.values())
        if text not in self._riding:
            self._riding[text] = self._count(text)
        return self._riding[text]

    def __call__(self, number: int) -> int:
        if number not in self._known:
            self._known[number] = max(1, self._count(self._sentences.each[number].text))
        return self._known[number]


def _passages(
    sentences: Sentences, chosen: Sequence[int], count: Callable[[str], int]
) -> list[tuple[list[int], Chunk]]:
    """Return the runs of chosen sentences, each as a chunk that holds exactly them and what rides along."""
    runs: list[list[int]] = []
    texts: list[str] = []
    for number in chosen:
        gap = sentences.joint(number - 1) if runs and runs[-1][-1] == number - 1 else None
        if gap is None:
            runs.append([number])
            texts.append(sentences.each[number].text)
        else:
            runs[-1].append(number)
            texts[-1] += gap + sentences.each[number].text
    return [
        (run, _passage([sentences.each[number] for number in run], text, count))
        for run, text in zip(runs, texts, strict=True)
    ]


def _passage(run: Sequence[Sentence], text: str, count: Callable[[str], int]) -> Chunk:
    """Return the sentences of a run, whose text is given, as a chunk."""
    body = Span(run[0].span.start, run[-1].span.end)
    riding: dict[Span, str] = {}
    sources: dict[Span, Span | None] = {}
    for sentence in run:
        fresh = {span: text for span, text in sentence.riding.items() if not contains(body, span)}
        sources |= {span: sentence.source(span) for span in fresh if span not in riding}
        riding |= fresh
    verbatim = "".join(riding.values()) + text
    return Chunk(
        document_id=run[0].chunk.document_id,
        spans=(*riding, body),
        text=verbatim,
        token_count=count(verbatim),
        headings=run[0].chunk.headings,
        pages=tuple(sorted({page for sentence in run for page in sentence.pages})),
        meta=_meta(run, [*sources.values(), _source(run)]),
    )


def _source(run: Sequence[Sentence]) -> Span | None:
    """Return where in the raw file a run of sentences is, if that is another place."""
    first, last = run[0].source(run[0].span), run[-1].source(run[-1].span)
    return Span(first.start, last.end) if first and last else None


def _meta(run: Sequence[Sentence], sources: Sequence[Span | None]) -> dict[str, object]:
    """Return what the chunks of a passage say of it; of each of them all is meant, as the speakers of a transcript.

    Where they say different things, these are listed.
    """
    chunks = list({id(sentence.chunk): sentence.chunk for sentence in run}.values())
    meta: dict[str, object] = {}
    for key in dict.fromkeys(key for chunk in chunks for key in chunk.meta if key not in _OF_CHUNKS):
        said = [chunk.meta[key] for chunk in chunks if key in chunk.meta]
        alike = all(one == said[0] for one in said)
        meta[key] = said[0] if alike else _distinct(said)
    if cells := [str(chunk.meta["cells"]) for chunk in chunks if "cells" in chunk.meta]:
        meta["cells"] = united(cells)
    if spans := [list(span) for span in sources if span is not None]:
        meta["source_spans"] = spans
    return meta


def _distinct(said: Sequence[object]) -> list[object]:
    """Return the values of all, lists as what is in them, each once."""
    found: list[object] = []
    for value in said:
        found += [one for one in (value if isinstance(value, list) else [value]) if one not in found]
    return found


def _ranked(scored: Sequence[tuple[float, Chunk]]) -> list[Hit]:
    """Return the passages by document, the one with the best of them first, and with their ranks by score."""
    best: dict[str, float] = {}
    for score, chunk in scored:
        best[chunk.document_id] = max(score, best.get(chunk.document_id, 0.0))
    by_score = sorted(range(len(scored)), key=lambda i: -scored[i][0])
    hits = [Hit(scored[i][1], float(scored[i][0]), rank, ("assembled",)) for rank, i in enumerate(by_score, 1)]
    return sorted(hits, key=lambda hit: (-best[hit.chunk.document_id], hit.chunk.document_id, hit.chunk.body))


def _better_neighbour(score: Floats, document: NDArray[np.intp]) -> Floats:
    """Return for each stretch the better score of those before and after it in the same document."""
    same = document[1:] == document[:-1]
    before, after = np.zeros_like(score), np.zeros_like(score)
    before[1:] = np.where(same, score[:-1], 0)
    after[:-1] = np.where(same, score[1:], 0)
    return np.maximum(before, after)


def _scaled(score: Floats, open_: NDArray[np.bool_]) -> Floats:
    """Scale so that the lowest open one is 0 and the highest 1; all 0 where they are alike."""
    low, high = score[open_].min(), score[open_].max()
    return (score - low) / (high - low) if high - low > ALIKE else np.zeros_like(score)
