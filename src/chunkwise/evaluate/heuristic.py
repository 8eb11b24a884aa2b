"""Compare an answer with passages by their words: a heuristic for where no model judges. It understands nothing.

Each sentence of an answer is held against the passages: whether its numbers stand together in one place of them and
its names anywhere, what share of its words they have, and how near the nearest sentence is by an encoder. Of a sentence
of few words, also whether they stand where the question's words do.
What negates, exchanges or combines what the passages say goes unseen; what says it in other words may be called
unsupported. What was measured is in docs/answers.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import regex

from chunkwise.core.protocols import Encoder, Floats2d
from chunkwise.embed import takes
from chunkwise.embed.static import StaticEncoder
from chunkwise.evaluate.details import Known, names, numbers
from chunkwise.evaluate.judgements import Aspect, Case, JudgeKind, Judgement, Verdict, share, unjudged
from chunkwise.text.sentences import sentence_spans
from chunkwise.text.terms import terms

# What each feature weighs: the logarithm of the odds that a sentence is supported.
# Source: logistic regression on half of the documents of covidqa and of qmsum (bench/answers.py --fit).
WEIGHTS: Mapping[str, float] = {
    "numbers": 3.06,
    "names": 2.78,
    "words": 1.84,
    "cosine": 0.61,
    "short": -0.51,
    "near": 0.51,
}
BIAS = -6.45

# A sentence with at most so many words that the question does not have may stand in the passages by chance.
# Source: of 2, 3, 5 and 8 tried on all sets of docs/answers.md, 3 and 5 tell best whose answer it is.
_FEW_WORDS = 5

# A place that has this share of the words that the best has may be what is meant.
# Source: 0.6, 0.8 and 1 tried on covidqa, qmsum and xquad-en: level, 0.6 a point ahead on qmsum.
_NEARLY = 0.6

# From this score on a sentence counts as supported: more likely so than not.
THRESHOLD = 0.5

# Where the passages have less of its words, it is these that are told to be missing.
_FEW_HELD = 0.5

# [3] or [1, 2] cites, in an answer and in a paper, and is no number of what is claimed.
_CITES = regex.compile(r"\s?\[\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3})*\]")

_ASPECTS: tuple[Aspect, ...] = ("faithfulness", "completeness")


class Features(NamedTuple):
    """What is compared of a sentence, from 0 to 1. `short` is 1 where it has few words; `near` counts only there."""

    numbers: float
    names: float
    words: float
    cosine: float
    short: float
    near: float

    @property
    def score(self) -> float:
        """How likely it is that the sentence is supported, in answers as the weights were made of."""
        return 1 / (1 + math.exp(-BIAS - sum(WEIGHTS[name] * value for name, value in self._asdict().items())))


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Judge by rules, for want of a model: no judge, and called a heuristic wherever its scores are shown.

    Faithfulness stands for the share of the answer's sentences that the passages seem to support, completeness for that
    of the reference's sentences that the answer seems to support. Relevance it can't tell.
    Cost: some milliseconds an answer with the static encoder.
    """

    encoder: Encoder = field(default_factory=StaticEncoder)

    @property
    def name(self) -> str:
        """That it is a heuristic, and its encoder."""
        return f"heuristic({self.encoder.name})"

    @property
    def kind(self) -> JudgeKind:
        """Rules that compare words."""
        return "heuristic"

    def __call__(self, cases: Sequence[Case]) -> list[Judgement]:
        """Judge answers one after the other. Raises: MissingExtraError without the `search` extra, EncodeError."""
        return [self._judgement(case) for case in cases]

    def _judgement(self, case: Case) -> Judgement:
        if not case.response.statements:
            return unjudged(case, "heuristic", aspects=_ASPECTS)
        answer = case.response.plain
        verdicts = self._verdicts(answer, case.passages, case.query.text)
        covered = self._verdicts(case.reference, [answer], case.query.text)
        judged: tuple[tuple[Aspect, tuple[Verdict, ...]], ...] = (("faithfulness", verdicts), ("completeness", covered))
        scores = {aspect: share(some) for aspect, some in judged if some}
        return Judgement(
            case.query.id, case.response, "heuristic", scores, verdicts=verdicts, covered=covered, recall=case.recall
        )

    def _verdicts(self, text: str, passages: Sequence[str], question: str) -> tuple[Verdict, ...]:
        grounds = Grounds(passages, question=question, encoder=self.encoder)
        return tuple(grounds.verdict(claim) for claim in _sentences(_CITES.sub("", text)))


class _Place(NamedTuple):
    """A sentence of a passage with its neighbours: their words, their numbers, and the passage's number."""

    words: frozenset[str]
    known: Known
    passage: int


class Grounds:
    """The passages that claims about a question are held against, read once."""

    def __init__(self, passages: Sequence[str], *, question: str, encoder: Encoder) -> None:
        self._encoder = encoder
        self._question = frozenset(terms(question))
        self._known = Known("\n".join(passages))
        self._places: list[_Place] = []
        sentences: list[str] = []
        for number, passage in enumerate(passages, 1):
            own = _sentences(passage)
            around = (" ".join(own[max(0, i - 1) : i + 2]) for i in range(len(own)))
            self._places += [_Place(frozenset(terms(text)), Known(text), number) for text in around]
            sentences += own
        self._held = Counter(word for sentence in sentences for word in set(terms(sentence)))
        self._vectors = self._encoded(sentences)
        self._asked = [self._share(self._question, place.words) for place in self._places]

    def verdict(self, claim: str) -> Verdict:
        """Say whether a claim seems to be supported, and by which passage; where not, what is missing."""
        if not self._places:
            return Verdict(claim, "not in the text", None, "there is no passage")
        if self.features(claim).score >= THRESHOLD:
            return Verdict(claim, "supported", self._places[self._best(claim)].passage)
        return Verdict(claim, "not in the text", None, self._lack(claim))

    def features(self, claim: str) -> Features:
        """Compare a claim with the passages, of which there is one at least."""
        own, place = self._own(claim), self._places[self._best(claim)]
        cosine = float((self._vectors @ self._encoded([claim])[0]).max())
        short = len(own) <= _FEW_WORDS
        near = max(self._share(own, one.words) * asked for one, asked in zip(self._places, self._asked, strict=True))
        return Features(
            numbers=float(not any(map(place.known.lacks_number, numbers(claim)))),
            names=float(not any(map(self._known.lacks_name, names(claim)))),
            words=self._share(own, self._held.keys()),
            cosine=max(0.0, cosine),
            short=float(short),
            near=math.sqrt(near) if short else 0.0,
        )

    def _best(self, claim: str) -> int:
        """Return the place that a claim is about.

        Of those that have nearly as many of its words as any, it is the one that has most of its numbers, then of its
        words, then of the question's.
        """
        own, counted = self._own(claim), numbers(claim)
        shares = [self._share(own, place.words) for place in self._places]
        enough = _NEARLY * max(shares)
        return max(
            (i for i, share in enumerate(shares) if share >= enough),
            key=lambda i: (-sum(map(self._places[i].known.lacks_number, counted)), shares[i], self._asked[i]),
        )

    def _lack(self, claim: str) -> str:
        """Return what speaks most against a claim."""
        if lacking := [name for name in names(claim) if self._known.lacks_name(name)]:
            return f"the passages do not have the name {', '.join(lacking)}"
        place = self._places[self._best(claim)]
        if wrong := [written for number, written in numbers(claim).items() if place.known.lacks_number(number)]:
            return f"no passage has the number {', '.join(wrong)} beside the other words"
        if (found := self._share(self._own(claim), self._held.keys())) < _FEW_HELD:
            return f"the passages have {found:.0%} of its words"
        return "its words do not stand together, or not where the question's do"

    def _own(self, claim: str) -> Collection[str]:
        """Return the words that a claim adds to the question; all of them where it adds none."""
        words = frozenset(terms(claim))
        return words - self._question or words

    def _share(self, words: Collection[str], held: Collection[str]) -> float:
        """Return what share of some words is there, rare ones counting for more; all of none."""
        weights = {word: math.log(1 + len(self._places) / (1 + self._held[word])) for word in words}
        total = sum(weights.values())
        return sum(weight for word, weight in weights.items() if word in held) / total if total else 1.0

    def _encoded(self, texts: Sequence[str]) -> Floats2d:
        """Return vectors [n_texts, dim]; zeros for a text that the encoder does not take."""
        vectors = np.zeros((len(texts), self._encoder.dim), np.float32)
        if rows := [i for i, text in enumerate(texts) if takes(self._encoder, text)]:
            vectors[rows] = self._encoder([texts[i] for i in rows], role="passage")
        return vectors


def _sentences(text: str) -> list[str]:
    return [" ".join(found.split()) for span in sentence_spans(text) if (found := span.slice(text).strip())]
