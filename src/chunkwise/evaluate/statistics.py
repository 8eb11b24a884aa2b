"""Tell a difference from chance: the paired bootstrap; and how far two scores agree in order.

Two methods answer the same questions, and the mean of the differences, question by question, is what is estimated.
Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13: the percentile interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chunkwise.core.errors import ChunkwiseError

Floats: TypeAlias = NDArray[np.float64]

# Source: Efron & Tibshirani 1993, section 13.3: 1,000 or more for an interval; with ten times as many its ends
# move by a hundredth of its width from seed to seed.
RESAMPLES = 10_000

# Counts that are drawn at once: what bounds the memory, at eight bytes each.
_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and between which values the true one is at the level of confidence that was asked for."""

    mean: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether zero is outside, so that the sign of a difference can be told."""
        return self.low > 0 or self.high < 0


def paired_bootstrap(
    differences: Sequence[float] | Floats, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the interval of the mean of the differences between two methods, one for each question.

    The questions are drawn anew, with replacement, as many as there are. The interval is too narrow where questions
    depend on each other, and for fewer than about 100 of them; that of `compare` is not. The same seed gives the same
    interval.
    Raises: ChunkwiseError.

    >>> interval = paired_bootstrap([0.2, 0.0, 0.4, 0.1, 0.3, 0.0, 0.5, 0.1])
    >>> round(interval.mean, 3), round(interval.low, 3), round(interval.high, 3), interval.is_clear
    (0.2, 0.087, 0.325, True)
    """
    column = np.asarray(differences, np.float64)[:, None]
    return paired_bootstraps(column, level=level, resamples=resamples, seed=seed)[0]


def paired_bootstraps(
    differences: ArrayLike, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> list[Interval]:
    """Return an interval for each column of differences [n_questions, n_columns].

    All columns see the same draws: each interval is, up to rounding, what `paired_bootstrap` gives of it.
    Cost: O(resamples * n_questions * n_columns), the draws being made once.
    Raises: ChunkwiseError.
    """
    values = np.asarray(differences, np.float64)
    if values.ndim != 2 or not len(values) or not np.isfinite(values).all():
        raise ChunkwiseError(f"differences must be finite numbers, at least one for each column; got {values.shape}")
    if not 0 < level < 1 or resamples < 1:
        raise ChunkwiseError(f"level={level} must be between 0 and 1, resamples={resamples} at least 1; try level=0.95")
    rng = np.random.default_rng(seed)
    means = np.concatenate([counts @ values for counts in draws(len(values), resamples, rng)]) / len(values)
    tail = 50 * (1 - level)
    lows, highs = np.percentile(means, [tail, 100 - tail], axis=0)
    return [
        Interval(float(mean), float(low), float(high))
        for mean, low, high in zip(values.mean(axis=0), lows, highs, strict=True)
    ]


def mean_interval(
    scores: Sequence[float] | Floats, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the mean of scores from 0 to 1, one for each question, and its interval.

    A score of 0 and one of 1 are drawn with the others, so that answers that are all good still leave doubt: without
    them, an interval of 20 such answers has no width. The mean is that of the scores alone.
    Source: Agresti & Coull 1998, doi:10.1080/00031305.1998.10480550, who add two of each to a proportion; of one of
    each, the percentile interval holds the truth in 94 to 100 of 100 samples, from ten on (bench/calibrating.py).
    Raises: ChunkwiseError.

    >>> mean_interval([1.0] * 20).low < 0.9
    True
    """
    values = np.asarray(scores, np.float64)
    if not len(values) or not np.isfinite(values).all() or values.min() < 0 or values.max() > 1:
        raise ChunkwiseError("scores must be numbers from 0 to 1, at least one of them")
    drawn = paired_bootstrap(np.append(values, [0.0, 1.0]), level=level, resamples=resamples, seed=seed)
    mean = float(values.mean())
    return Interval(mean, min(drawn.low, mean), max(drawn.high, mean))


def kendall_tau(one: Sequence[float] | Floats, other: Sequence[float] | Floats) -> float:
    """Return how far two scores put the same things in the same order: 1 the same, 0 unrelated, -1 reversed.

    Pairs that are tied in one of them count for neither order, and less can be reached: tau-b.
    Source: Kendall 1945, The treatment of ties in ranking problems, doi:10.1093/biomet/33.3.239.
    Cost: O(n ** 2) in time and memory.
    Raises: ChunkwiseError where one has the same score for all, which says nothing of any order.

    >>> kendall_tau([1, 2, 3, 4], [1, 2, 4, 3])
    0.6666666666666666
    """
    values = np.asarray([one, other], np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ChunkwiseError(f"scores to put in order must be finite numbers, two of each thing; got {values.shape}")
    rows, columns = np.triu_indices(values.shape[1], k=1)
    signs = np.sign(values[:, rows] - values[:, columns])
    told = np.abs(signs).sum(axis=1)
    if not told.all():
        raise ChunkwiseError("all scores are the same, which puts nothing in order; give two different ones at least")
    return float(signs[0] @ signs[1] / np.sqrt(told[0] * told[1]))


def draws(n: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield, some resamples at a time, how often each of n questions was drawn, [n_resamples, n]."""
    most = max(1, _AT_ONCE // n)
    for done in range(0, resamples, most):
        rows = min(most, resamples - done)
        places = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(places.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
