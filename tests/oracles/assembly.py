"""The scores of an assembly again, one stretch of text at a time, with lists instead of arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from chunkwise.core.protocols import Floats2d
from chunkwise.retrieve.assemble import ALIKE, Ladder, Question
from chunkwise.retrieve.sentences import K1, B, Sentences
from chunkwise.text.terms import terms

Stretch = list[int]


def slow_scores(sentences: Sentences, vectors: Floats2d, question: Question, ladder: Ladder) -> list[float]:
    """Return what `scores` returns where all is allowed; `vectors` are those of the sentences."""
    n = len(sentences)
    mean = sum(sentences.tokens.tolist()) / n
    weight = min(1.0, mean / 35) ** 2 if ladder.sentence is None else ladder.sentence
    parts = [(0, weight), *zip(ladder.sizes, ladder.weights or [1.0] * len(ladder.sizes), strict=True)]
    totals = [0.0] * n
    for size, part in parts:
        stretches = slow_stretches(sentences, size)
        dense = scaled([_cosine(sentences, vectors, stretch, question) for stretch in stretches])
        lexical = scaled(_bm25(sentences, stretches, question.words))
        mixed = [ladder.alpha * one + (1 - ladder.alpha) * other for one, other in zip(dense, lexical, strict=True)]
        if size:
            mixed = _smoothed(sentences, stretches, mixed, ladder.neighbour)
        for stretch, score in zip(stretches, scaled(mixed), strict=True):
            for number in stretch:
                totals[number] += part * score
    return [total / sum(part for _, part in parts) for total in totals]


def slow_stretches(sentences: Sentences, size: int) -> list[Stretch]:
    """Fill stretches up to `size`; start a new one at a document, and at a heading from the half on."""
    if not size:
        return [[number] for number in range(len(sentences))]
    rest, found = list(range(len(sentences))), []
    while rest:
        taken = [rest[0]]
        for number in rest[1:]:
            full = sum(int(sentences.tokens[one]) for one in [*taken, number]) > size
            if full or sentences.document[number] != sentences.document[rest[0]]:
                break
            taken.append(number)
        follows = [number for number in [taken[-1] + 1] if sentences.together(taken[0], number)]
        for number in reversed([*taken[1:], *follows]):
            if not follows:
                break
            before = sum(int(sentences.tokens[one]) for one in range(taken[0], number))
            if _headings(sentences, number) != _headings(sentences, number - 1):
                if before >= size / 2:
                    taken = list(range(taken[0], number))
                break
        found.append(taken)
        rest = rest[len(taken) :]
    return found


def _headings(sentences: Sentences, number: int) -> tuple[str, ...]:
    return sentences.each[number].chunk.headings


def _cosine(sentences: Sentences, vectors: Floats2d, stretch: Stretch, question: Question) -> float:
    total = sum(int(sentences.tokens[number]) * vectors[number].astype(float) for number in stretch)
    length = float(np.linalg.norm(total))
    return float(total @ question.vector) / length if length else 0.0


def _bm25(sentences: Sentences, stretches: list[Stretch], words: Sequence[str]) -> list[float]:
    bags = [[word for number in stretch for word in terms(sentences.each[number].text)] for stretch in stretches]
    average = max(sum(map(len, bags)) / len(bags), 1)
    titles: list[set[str]] = [set() for _ in stretches]
    if len(stretches) < len(sentences):
        for title, stretch in zip(titles, stretches, strict=True):
            title.update(*(terms(" ".join(_headings(sentences, number))) for number in stretch))
    scores = [0.0] * len(stretches)
    for word in set(words):
        counts = [bag.count(word) + (word in title) for bag, title in zip(bags, titles, strict=True)]
        held = sum(count > 0 for count in counts)
        rarity = math.log(1 + (len(bags) - held + 0.5) / (held + 0.5))
        for i, count in enumerate(counts):
            if count:
                scale = K1 * (1 - B + B * len(bags[i]) / average)
                scores[i] += rarity * count * (K1 + 1) / (count + scale)
    return scores


def _smoothed(sentences: Sentences, stretches: list[Stretch], scores: list[float], share: float) -> list[float]:
    found = []
    for i, stretch in enumerate(stretches):
        beside = [
            scores[j]
            for j in (i - 1, i + 1)
            if 0 <= j < len(stretches) and sentences.together(stretch[0], stretches[j][0])
        ]
        found.append(scores[i] + share * max([0.0, *beside]))
    return found


def scaled(scores: list[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high - low > ALIKE else 0.0 for score in scores]
