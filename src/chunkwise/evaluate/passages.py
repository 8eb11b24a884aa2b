"""The sentences of documents, ranked by the words that they share with a text. Nothing is embedded.

So gold that is found with it does not come from an encoder that is to be measured with that gold; what it shares with
a lexical search is the words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray

from chunkwise.chunkers.levels import inside, unit_ends
from chunkwise.core.outline import body, outline
from chunkwise.core.types import Document, Evidence, Span
from chunkwise.retrieve.sentences import K1, B
from chunkwise.text.graphemes import inked
from chunkwise.text.words import UNSPACED

Floats = NDArray[np.float64]

# What a word counts that stands only in a sentence beside, or only in the headings above.
# Source: see docs/queries.md.
_BESIDE, _ABOVE = 0.5, 0.5

_PLAIN = regex.compile(rf"(?V1)[{UNSPACED}]|\p{{N}}[\p{{N}}.,]*\p{{N}}|[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that may be evidence. Scores of one search compare, higher is better."""

    evidence: Evidence
    text: str
    headings: tuple[str, ...]
    score: float


def plain_words(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, as they are written otherwise.

    >>> plain_words("Pay $1.50, or 3%.")
    ['pay', '1.50', 'or', '3']
    """
    return [match[0] for match in _PLAIN.finditer(text.lower())]


def sentences(document: Document) -> list[Span]:
    """Return the sentences, rows and lines of code of a document, without headings and front matter."""
    headings = [block.span for block in outline(document).blocks("heading")]
    edges = {*unit_ends(document, "auto"), *(edge for span in headings for edge in span)}
    first, last = body(document)
    edges = {first, *(edge for edge in edges if first < edge < last), last}
    spans = (inked(document.text, Span(start, end)) for start, end in pairwise(sorted(edges)))
    heading = inside(headings)
    return [span for span in spans if span.length and not heading(span.start)]


class Passages:
    """All sentences of some documents, in order, and which words each has.

    `words` gives those of a text, with repeats. Cost: a second for every 20,000 sentences or so.
    """

    def __init__(self, documents: Sequence[Document], *, words: Callable[[str], list[str]]) -> None:
        self._documents, self.words = documents, words
        self.each = [(number, span) for number, one in enumerate(documents) for span in sentences(one)]
        found: dict[str, dict[int, int]] = {}
        lengths = []
        for row, (number, span) in enumerate(self.each):
            counts = Counter(words(span.slice(documents[number].text)))
            lengths.append(counts.total())
            for word, times in counts.items():
                found.setdefault(word, {})[row] = times
        self._held = found
        self._lengths = np.array(lengths, np.float64)
        self._document = np.array([number for number, _ in self.each], np.intp)
        self._titles: dict[str, set[int]] = {}
        for row, (number, span) in enumerate(self.each):
            for word in words(" ".join(outline(documents[number]).titles_of(span))):
                self._titles.setdefault(word, set()).add(row)

    def rows_of(self, number: int) -> range:
        """Return the numbers of the sentences of a document, which is given by its own."""
        first, last = np.searchsorted(self._document, [number, number + 1])
        return range(int(first), int(last))

    def rarity(self, word: str) -> float:
        """Return the weight of a word: the more, the fewer sentences have it."""
        n, held = len(self.each), len(self._held.get(word, ()))
        return math.log(1 + (n - held + 0.5) / (held + 0.5))

    def holding(self, words: Iterable[str]) -> set[int]:
        """Return the numbers of the sentences that have all of some words."""
        held = [set(self._held.get(word, ())) for word in words]
        return set.intersection(*held) if held else set()

    def ranked(self, text: str, n: int) -> list[Passage]:
        """Return the passages that best answer a question by its words, best first, `n` at most.

        A sentence scores by BM25 on its own words, and by those of the question that only its neighbours or the
        headings above have. Sentences that follow one another, with no heading between them, are one passage.
        """
        if not self.each:
            return []
        scores = self._scores(list(dict.fromkeys(self.words(text))))
        best = [int(row) for row in np.argsort(-scores, kind="stable")[:n] if scores[row] > 0]
        runs: list[list[int]] = []
        for row in sorted(best):
            if runs and runs[-1][-1] == row - 1 and self._follows(row):
                runs[-1].append(row)
            else:
                runs.append([row])
        found = [self._passage(run, max(float(scores[row]) for row in run)) for run in runs]
        return sorted(found, key=lambda passage: -passage.score)

    def alike(self, text: str, n: int) -> list[Passage]:
        """Return the passages whose words are most like those of an excerpt, and as many, best first.

        The score is the share of the excerpt's words that a passage has, rare ones counting for more.
        """
        sought = Counter(self.words(text))
        if not self.each:
            return []
        scores = np.zeros(len(self.each))
        for word, times in sought.items():
            for row, held in self._held.get(word, {}).items():
                scores[row] += min(times, held) * self.rarity(word)
        # As many sentences together as the excerpt may have; without the root the longest would be like everything.
        window = np.ones(max(1, round(sought.total() / max(self._lengths.mean(), 1))))
        scores = _summed(scores, window) / np.sqrt(_summed(self._lengths, window) + sought.total())
        best = np.argsort(-scores, kind="stable")[: 3 * n]
        found = [self._trimmed(int(row), sought) for row in best if scores[row] > 0]
        unique = {passage.evidence: passage for passage in found}
        return sorted(unique.values(), key=lambda passage: -passage.score)[:n]

    def _scores(self, words: Sequence[str]) -> Floats:
        n = len(self.each)
        scores = np.zeros(n)
        scale = K1 * (1 - B + B * self._lengths / max(self._lengths.mean(), 1))
        follows = self._document[1:] == self._document[:-1]
        for word in words:
            own = np.zeros(n)
            rows = np.fromiter(self._held.get(word, {}), np.intp)
            times = np.fromiter(self._held.get(word, {}).values(), np.float64)
            own[rows] = self.rarity(word) * times * (K1 + 1) / (times + scale[rows])
            beside = np.zeros(n)
            beside[1:] = own[:-1] * follows
            beside[:-1] = np.maximum(beside[:-1], own[1:] * follows)
            above = np.zeros(n)
            above[list(self._titles.get(word, ()))] = self.rarity(word)
            scores += np.maximum.reduce([own, _BESIDE * beside, _ABOVE * above])
        return scores

    def _follows(self, row: int) -> bool:
        """Tell whether nothing but blanks lies between a sentence and the one before it."""
        (number, before), (other, span) = self.each[row - 1], self.each[row]
        between = self._documents[number].text[before.end : span.start]
        return number == other and not between.strip()

    def _passage(self, rows: Sequence[int], score: float) -> Passage:
        number = int(self._document[rows[0]])
        span = Span(self.each[rows[0]][1].start, self.each[rows[-1]][1].end)
        return self._made(number, span, score)

    def _made(self, number: int, span: Span, score: float) -> Passage:
        document = self._documents[number]
        headings = outline(document).titles_of(span)
        return Passage(Evidence(document.id, span), span.slice(document.text), headings, score)

    def _trimmed(self, row: int, sought: Counter[str]) -> Passage:
        """Return the stretch of words around a sentence that is most like the words sought, as many as those are."""
        number, _ = self.each[row]
        text = self._documents[number].text
        around = self._around(row, sought.total())
        words = [(self.words(match[0])[0], match.span()) for match in _PLAIN.finditer(text, *around)]
        weights = [self.rarity(word) if word in sought else 0.0 for word, _ in words]
        size = min(sought.total(), len(words))
        at, best = _best_window([word for word, _ in words], weights, sought, size)
        inner = [span for word, span in words[at : at + size] if word in sought] or [words[at][1]]
        known = {word: times for word, times in sought.items() if word in self._held}
        weight = sum(times * self.rarity(word) for word, times in known.items())
        total = weight * sought.total() / sum(known.values())  # a word that no text has is as rare as the others
        return self._made(number, Span(inner[0][0], inner[-1][1]), best / total)

    def _around(self, row: int, n_words: int) -> Span:
        """Return the sentences around one, with so many words on each side of it, of the same document."""
        first = last = row
        before = after = 0.0
        while first > 0 and self._document[first - 1] == self._document[row] and before < n_words:
            first -= 1
            before += self._lengths[first]
        while last + 1 < len(self.each) and self._document[last + 1] == self._document[row] and after < n_words:
            last += 1
            after += self._lengths[last]
        return Span(self.each[first][1].start, self.each[last][1].end)


def _summed(values: Floats, window: Floats) -> Floats:
    """Return of each value the sum of those around it, as many as the window has."""
    first = (len(window) - 1) // 2
    return np.convolve(values, window)[first : first + len(values)]


def _best_window(words: Sequence[str], weights: Sequence[float], sought: Counter[str], size: int) -> tuple[int, float]:
    """Return where the `size` words begin that share most with the words sought, each as often as it is, and how much.

    Cost: O(len(words)).
    """
    held: Counter[str] = Counter()
    score, at, best = 0.0, 0, -1.0
    for stop, word in enumerate(words, 1):
        score += weights[stop - 1] * (held[word] < sought[word])
        held[word] += 1
        start = stop - size
        if start > 0:
            left = words[start - 1]
            held[left] -= 1
            score -= weights[start - 1] * (held[left] < sought[left])
        if start >= 0 and score > best + 1e-9:  # sums of floats that should be equal
            at, best = start, score
    return at, best
