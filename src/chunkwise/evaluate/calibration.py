"""Hold a judge against people: how often they agree, which way it errs, and what that does to its means.

Sources: kappa, Cohen 1960, doi:10.1177/001316446002000104. Corrected share, Rogan & Gladen 1978,
doi:10.1093/oxfordjournals.aje.a112510; its interval, Lang & Reiczigel 2014, doi:10.1016/j.prevetmed.2013.09.015.
Prediction-powered mean, Angelopoulos et al. 2023, doi:10.1126/science.adi6000, with the weight of the judge as in
Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Chunk, Hit, Span
from chunkwise.evaluate.answer_files import Labelled
from chunkwise.evaluate.judgements import Aspect, Case, Judge, Judged, JudgeKind
from chunkwise.evaluate.statistics import Floats, Interval, mean_interval

# With fewer labels of either kind nothing is corrected; below the other number it is told that they are few.
# Source: bench/calibrating.py: from 5 of each on, intervals of 95 % hold the truth in 93.4 to 100 of 100 samples; a
# share of 50 labels is known to 14 points.
FEWEST, FEW = 5, 50

# From which score on an answer counts as good: every claim of it is supported.
GOOD = 1.0

_RESAMPLES = 10_000

# How seldom labels of a random draw are called none: a check of what a user may have overlooked, not a test.
_RARE = 0.001


@dataclass(frozen=True, slots=True)
class Confusion:
    """How many answers both call good, only the judge, only people, neither."""

    both: int
    judge_only: int
    people_only: int
    neither: int

    @property
    def n(self) -> int:
        """How many answers both have judged."""
        return self.both + self.judge_only + self.people_only + self.neither

    @property
    def accuracy(self) -> float:
        """The share on which they agree."""
        return (self.both + self.neither) / self.n

    @property
    def kappa(self) -> float:
        """The agreement beyond chance: 1 is all of it, 0 none. 0, too, where one of them gives a single verdict."""
        return _kappa(np.array([[self.both, self.judge_only, self.people_only, self.neither]], np.float64))[0]

    @property
    def sensitivity(self) -> float:
        """The share of what people call good that the judge does, too."""
        return self.both / (self.both + self.people_only)

    @property
    def specificity(self) -> float:
        """The share of what people call bad that the judge does, too."""
        return self.neither / (self.judge_only + self.neither)

    @property
    def is_blind(self) -> bool:
        """Whether the judge is no better than chance, as it is or with one answer more in each count."""
        right, wrong = self.both * self.neither, self.judge_only * self.people_only
        more = self.both + self.neither - self.judge_only - self.people_only
        return right <= wrong or right + more <= wrong

    @property
    def bias(self) -> float:
        """By how much more of the answers the judge calls good than people do: above 0 it praises too much."""
        return (self.judge_only - self.people_only) / self.n


@dataclass(frozen=True, slots=True)
class Calibration:
    """What labels tell of a judge, with intervals. `good` are the people's labels, `scores` the judge's, in one order.

    `n_failed` counts labelled answers that the judge could not judge.
    """

    judge: str
    kind: JudgeKind
    aspect: Aspect
    good: tuple[bool, ...]
    scores: tuple[float, ...]
    n_failed: int

    @property
    def confusion(self) -> Confusion:
        """The four counts."""
        pairs = [(score >= GOOD, good) for score, good in zip(self.scores, self.good, strict=True)]
        return Confusion(*(pairs.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))))

    @property
    def accuracy(self) -> Interval:
        """The share on which they agree."""
        return mean_interval(
            [float((score >= GOOD) == good) for score, good in zip(self.scores, self.good, strict=True)]
        )

    @property
    def bias(self) -> Interval:
        """How much too often the judge calls an answer good: see `Confusion.bias`."""
        apart = [((score >= GOOD) - good + 1) / 2 for score, good in zip(self.scores, self.good, strict=True)]
        told = mean_interval(apart)
        return Interval(*(2 * value - 1 for value in (told.mean, told.low, told.high)))

    @property
    def kappa(self) -> Interval:
        """The agreement beyond chance; half an answer more of each kind is drawn with the others."""
        counts = self.confusion
        cells = np.array([counts.both, counts.judge_only, counts.people_only, counts.neither], np.float64) + 0.5
        drawn = np.random.default_rng(0).multinomial(counts.n, cells / cells.sum(), size=_RESAMPLES)
        low, high = np.percentile(_kappa(drawn.astype(np.float64)), [2.5, 97.5])
        return Interval(counts.kappa, min(float(low), counts.kappa), max(float(high), counts.kappa))

    @property
    def warnings(self) -> list[str]:
        """What forbids to trust it, in sentences."""
        return list(_warnings(self))

    def corrected(self, judged: Judged, *, level: float = 0.95) -> Interval | None:
        """Return the share of good answers, in whatever set of them, with the judge's errors taken out.

        By Rogan & Gladen: it needs no more than that the judge errs there as often as on the labelled ones, of good and
        of bad ones. None where there are too few labels for that, or the judge is no better than chance.
        """
        counts, scores = self.confusion, list(judged.scores(self.aspect).values())
        if self._is_short or not scores or counts.is_blind:
            return None
        return rogan_gladen(sum(score >= GOOD for score in scores), len(scores), labels=counts, level=level)

    def powered(self, judged: Judged, *, level: float = 0.95) -> Interval | None:
        """Return the share of good answers in the set that the labelled ones were drawn from, at random.

        Prediction-powered: narrower than labels alone by what the judge knows, and no wider where it knows nothing.
        None where there are too few labels, or the judge calls so many more or fewer of them good than of the set that
        they are no random draw of it.
        """
        scores = list(judged.scores(self.aspect).values())
        if self._is_short or not scores or _apart(self.scores, scores):
            return None
        return prediction_powered(self.good, self.scores, others=scores, level=level)

    @property
    def _is_short(self) -> bool:
        return min(sum(self.good), len(self.good) - sum(self.good)) < FEWEST


def calibrated(
    labelled: Sequence[Labelled],
    judge: Judge,
    *,
    hits: Mapping[str, Sequence[Hit]],
    aspect: Aspect = "faithfulness",
) -> Calibration:
    """Let a judge judge answers that people have labelled, with the passages of the label, or else with the `hits`.

    Cost: that of judging as many answers. Raises: ChunkwiseError, AnswerError.
    """
    cases = [Case(one.query, one.response, _hits(one, hits)) for one in labelled]
    rows = judge(cases)
    both = [(row.scores[aspect], one.label) for row, one in zip(rows, labelled, strict=True) if aspect in row.scores]
    if not both:
        raise ChunkwiseError(f"no labelled answer could be judged for its {aspect}; see that the labels are of answers")
    scores, good = zip(*both, strict=True)
    n_failed = sum(aspect in row.failures for row in rows)
    return Calibration(judge.name, judge.kind, aspect, good, scores, n_failed)


def rogan_gladen(n_good: int, n: int, *, labels: Confusion, level: float = 0.95) -> Interval:
    """Return the true share of good answers where a judge calls `n_good` of `n` good, and labels tell how it errs.

    The interval adds to each count what Lang & Reiczigel do. Raises: ChunkwiseError for no answers, or
    a judge no better than chance.

    >>> round(rogan_gladen(80, 100, labels=Confusion(90, 30, 10, 70)).mean, 2)
    0.83
    """
    if not 0 <= n_good <= n or not n:
        raise ChunkwiseError(
            f"{n_good} good ones of {n} answers: there must be answers, and no more good ones than them"
        )
    if labels.is_blind:
        raise ChunkwiseError("the judge is no better than chance on these labels, so nothing corrects it")
    z = NormalDist().inv_cdf((1 + level) / 2)
    n_true, n_false = labels.both + labels.people_only + 2, labels.judge_only + labels.neither + 2
    sensitivity, specificity = (labels.both + 1) / n_true, (labels.neither + 1) / n_false
    called = (n_good + z * z / 2) / (n + z * z)
    own = sensitivity + specificity - 1
    share = (called + specificity - 1) / own
    of_true = sensitivity * (1 - sensitivity) / n_true
    of_false = specificity * (1 - specificity) / n_false
    shift = 2 * z * z * (share * of_true - (1 - share) * of_false)
    spread = math.sqrt(called * (1 - called) / (n + z * z) + share**2 * of_true + (1 - share) ** 2 * of_false) / own
    gain = labels.sensitivity + labels.specificity - 1
    mean = _within((n_good / n + labels.specificity - 1) / gain)
    low, high = _within(share + shift - z * spread), _within(share + shift + z * spread)
    return Interval(mean, min(low, mean), max(high, mean))


def prediction_powered(
    good: Sequence[bool], scores: Sequence[float], *, others: Sequence[float], level: float = 0.95
) -> Interval:
    """Return the share of good answers from labels of some, the judge's scores of those, and its scores of others.

    The labelled ones must be drawn at random from the same answers.
    Raises: ChunkwiseError for fewer than two labels, or no others.
    """
    if len(good) < 2 or not others:
        raise ChunkwiseError(f"{len(good)} labels and {len(others)} other answers tell nothing; label two at least")
    truth, judged, rest = (np.asarray(values, np.float64) for values in (good, scores, others))
    n, n_rest = len(truth), len(rest)
    spread = float(np.concatenate([judged, rest]).var(ddof=1))
    weight = float(np.cov(truth, judged)[0, 1]) / ((1 + n / n_rest) * spread) if spread else 0.0
    weight = min(1.0, max(0.0, weight))
    mean = weight * float(rest.mean()) + float((truth - weight * judged).mean())
    # Labels on which the judge errs both ways, once each, so that few that it happens to have right leave doubt.
    left = np.append(truth, [0.0, 1.0]) - weight * np.append(judged, [1.0, 0.0])
    error = math.sqrt(weight**2 * spread / n_rest + float(left.var(ddof=1)) / n)
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Interval(_within(mean), _within(mean - half), _within(mean + half))


def calibration_table(calibration: Calibration, judged: Judged | None = None) -> str:
    """Return what labels tell of a judge in lines, and what is left of the means of `judged`."""
    counts = calibration.confusion
    name = "the HEURISTIC" if calibration.kind == "heuristic" else calibration.judge
    lines = [
        f"{name} against {counts.n} labels of {calibration.aspect}, {calibration.n_failed} not judged",
        "                people: good  people: bad",
        f"judged good     {counts.both:12d}  {counts.judge_only:11d}",
        f"judged bad      {counts.people_only:12d}  {counts.neither:11d}",
        f"agreement       {_told(calibration.accuracy)}",
        f"Cohen's kappa   {_told(calibration.kappa, scale=1)}",
        f"too much praise {_told(calibration.bias)}",
    ]
    if judged is not None:
        corrected, powered = calibration.corrected(judged), calibration.powered(judged)
        lines.append(
            f"good answers, if it errs as often as on the labels: {_told(corrected) if corrected else 'not known'}"
        )
        lines.append(f"good answers, if labels are a random draw of them: {_told(powered) if powered else 'not known'}")
    return "\n".join([*lines, *calibration.warnings])


def _hits(labelled: Labelled, hits: Mapping[str, Sequence[Hit]]) -> tuple[Hit, ...]:
    """Return the hits that a label is about; of passages that came with it, made-up ones."""
    if not labelled.passages:
        if labelled.query.id not in hits:
            raise ChunkwiseError(f"no hits of question {labelled.query.id!r}, and no `passages` with its label")
        return tuple(hits[labelled.query.id])
    chunks = (Chunk(labelled.query.id, (Span(0, len(text)),), text) for text in labelled.passages)
    return tuple(Hit(chunk, 0.0, rank, ("label",)) for rank, chunk in enumerate(chunks, 1))


def _warnings(calibration: Calibration) -> Iterator[str]:
    counts, n_good = calibration.confusion, sum(calibration.good)
    for kind, n in (("good", n_good), ("bad", len(calibration.good) - n_good)):
        if n < FEWEST:
            yield f"Too few labels: {n} of {kind} answers; nothing is corrected with fewer than {FEWEST} of each."
        elif n < FEW:
            yield f"Few labels: {n} of {kind} answers; {FEW} of each bring the judge's errors within 14 points."
    if counts.is_blind:
        yield "On these labels the judge is no better than chance."
    elif calibration.kappa.low <= 0:
        yield "On these labels it can't be told that the judge is better than chance."
    if calibration.bias.low > 0:
        yield "The judge calls more answers good than people do."
    elif calibration.bias.high < 0:
        yield "The judge calls fewer answers good than people do."


def _kappa(cells: Floats) -> list[float]:
    """Return Cohen's kappa of tables of counts [n_tables, 4]: both good, one, the other, neither."""
    both, judge, people, neither = cells.T
    n = cells.sum(axis=1)
    seen = (both + neither) / n
    chance = ((both + judge) * (both + people) + (neither + judge) * (neither + people)) / n**2
    told: list[float] = np.where(chance < 1, (seen - chance) / np.where(chance < 1, 1 - chance, 1), 0.0).tolist()
    return told


def _apart(labelled: Sequence[float], others: Sequence[float]) -> bool:
    """Tell whether the means of two sets of scores differ by more than chance would do in one of a thousand cases."""
    one, other = np.asarray(labelled), np.asarray(others)
    error = math.sqrt(float(one.var()) / len(one) + float(other.var()) / len(other))
    return bool(abs(one.mean() - other.mean()) > NormalDist().inv_cdf(1 - _RARE / 2) * error)


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))


def _told(interval: Interval, *, scale: int = 100) -> str:
    digits = 1 if scale == 100 else 2
    mean, low, high = (f"{scale * value:.{digits}f}" for value in (interval.mean, interval.low, interval.high))
    return f"{mean} [{low}, {high}]"
