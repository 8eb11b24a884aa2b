"""Compare many recipes on the same questions: every difference with its interval, a winner only where there is one.

The intervals hold together: at the level of confidence, all of them hold their true differences at once, however many
recipes there are. Source: the max-statistic of Romano & Wolf 2005, doi:10.1198/016214504000000539, in one step, over
the bootstrap of questions. What was measured of them is in docs/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import ChunkwiseError
from chunkwise.evaluate.costs import Costs, cheapest
from chunkwise.evaluate.statistics import RESAMPLES, Floats, Interval, draws

# Fewer questions, or groups of them, give no interval. With five the expansion of Student's t is 0.3 % short for two
# recipes and 7 % for 24; with four, 1 % and 16 %.
FEWEST = 5
# Below so many a verdict warns: intervals are as wide as half the scale, and wider than they need be, there.
# Source: bench/COVERAGE.md.
FEW = 20
# The power at which questions are said to be enough. Source: Cohen 1988, Statistical Power Analysis, section 2.4.
_POWER = 0.8
# How many of those that tie a verdict names.
_SHOWN = 5
# What a cheaper recipe may find less, 0 to 1, where the truth is at the far end of an interval. Source: ours; with 0.05
# some 200 questions are needed before cost breaks a tie of recipes that differ on a tenth of them (bench/COVERAGE.md).
MARGIN = 0.05
# Means of the same scores differ by rounding.
_ALIKE = 1e-12


@dataclass(frozen=True, slots=True)
class Comparison:
    """What can be told of recipes that answered the same questions. `names` go from the best mean to the worst.

    `best` is the share of resamples in which each is the best. `differences` are those of an earlier name to a later
    one, with intervals that hold together. `n_groups` counts what was drawn: questions, or groups of them. `n_more` is
    how many more questions would separate the best from its `rival` in four of five trials, if they differ as much as
    they seem to: 0 where they are apart, None where that can't be told.
    """

    names: tuple[str, ...]
    means: Mapping[str, float]
    best: Mapping[str, float]
    differences: Mapping[tuple[str, str], Interval] = field(hash=False)
    n_questions: int
    n_groups: int
    level: float
    n_more: int | None
    costs: Mapping[str, Costs] = field(default_factory=dict)

    @property
    def ties(self) -> tuple[str, ...]:
        """The best, and those of which it can't be told that they are worse."""
        first, *rest = self.names
        return (first, *(name for name in rest if not self.differences[first, name].is_clear))

    @property
    def rival(self) -> str | None:
        """The next best that ties with the best; where none does, the second; None where there are no others."""
        return next(iter((*self.ties[1:], *self.names[1:])), None)

    @property
    def winner(self) -> str | None:
        """The one that is ahead of all others; None where none is, or there are no others."""
        return self.names[0] if len(self.names) > 1 and len(self.ties) == 1 else None

    @property
    def choice(self) -> str:
        """The cheapest of those that lose little to the best, whatever the truth; the best where costs are unknown.

        A tie among few questions says little: what costs less may find much less, and is no choice.
        """
        near = [name for name in self.ties if self.is_near(name, self.names[0])]
        if not all(name in self.costs for name in near):
            return self.names[0]
        return cheapest({name: self.costs[name] for name in near})[0]

    def is_near(self, one: str, other: str) -> bool:
        """Whether one loses no more than `MARGIN` to another, as far as the interval of their difference tells."""
        return one == other or self.difference(other, one).high <= MARGIN

    def difference(self, one: str, other: str) -> Interval:
        """Return how far one is ahead of another, whichever is the better."""
        if (one, other) in self.differences:
            return self.differences[one, other]
        found = self.differences[other, one]
        return Interval(-found.mean, -found.high, -found.low)

    @property
    def verdict(self) -> str:
        """What can be said in plain words. Points are hundredths of the score."""
        return " ".join(_sentences(self))


def compare(
    scores: Mapping[str, Sequence[float] | Floats],
    *,
    costs: Mapping[str, Costs] | None = None,
    groups: Sequence[Hashable] = (),
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare recipes by their scores, 0 to 1, one for each question in the same order.

    `groups` tells for each question what it shares with others, such as its document: groups are drawn whole, for
    questions of one document are hard or easy together and say less than as many of different ones.
    Cost: O(resamples * n_groups * n_recipes + resamples * n_recipes ** 2).
    Raises: ChunkwiseError.

    >>> found = compare({"small": [1.0] * 30 + [0.0] * 30, "large": [0.0] * 60})
    >>> found.winner
    'small'
    """
    table = _table(scores)
    sums, sizes = _grouped(table, groups)
    if not 0 < level < 1 or resamples < 1:
        raise ChunkwiseError(f"level={level} must be between 0 and 1, resamples={resamples} at least 1; try level=0.95")
    means = table.mean(axis=0)
    order = np.argsort(-means, kind="stable")
    names = [list(scores)[i] for i in order]
    sums, means = sums[:, order], means[order]
    drawn = _resampled(sums, sizes, resamples, seed)
    errors = _Errors.of(sums, sizes)
    reach = _reach(drawn - means, errors.plain, level)
    reach = widened(reach, len(sizes))
    differences = dict(_intervals(names, means, errors.guarded, reach))
    tied = next((one for (best, _), one in differences.items() if best == names[0] and not one.is_clear), None)
    return Comparison(
        names=tuple(names),
        means=dict(zip(names, means.tolist(), strict=True)),
        best=dict(zip(names, _best(drawn), strict=True)),
        differences=differences,
        n_questions=len(table),
        n_groups=len(sizes),
        level=level,
        n_more=_n_more(tied, len(table), reach) if tied else 0 if differences else None,
        costs=dict(costs or {}),
    )


def mean_intervals(
    columns: Sequence[Sequence[float]], *, groups: Sequence[Hashable] = (), level: float = 0.95
) -> list[Interval | None]:
    """Return the mean of each column of scores, one for each question; None where too few tell no interval.

    It is the percentile interval, groups being drawn whole, as much wider as Student's t asks where they are few, and
    inside 0 to 1. Each holds by itself, not all together as those of differences do.
    """
    if not columns:
        return []
    values = np.array(columns, np.float64).T
    sums, sizes = _grouped(values, groups)
    if len(sizes) < FEWEST:
        return [None] * values.shape[1]
    resampled = _resampled(sums, sizes, RESAMPLES, 0)
    means, tail = values.mean(axis=0), 50 * (1 - level)
    normal = NormalDist().inv_cdf((1 + level) / 2)
    wider = widened(normal, len(sizes)) / normal
    ends = np.percentile(resampled, [tail, 100 - tail], axis=0)
    lows, highs = np.clip(means + wider * (ends - means), 0, 1)
    return [Interval(*map(float, one)) for one in zip(means, lows, highs, strict=True)]


def _table(scores: Mapping[str, Sequence[float] | Floats]) -> Floats:
    """Return the scores, [n_questions, n_recipes]."""
    lengths = {name: len(values) for name, values in scores.items()}
    if not scores or not all(lengths.values()):
        raise ChunkwiseError("nothing to compare: give scores of at least one recipe on at least one question")
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in lengths.items())
        raise ChunkwiseError(f"recipes must answer the same questions; scores by recipe: {told}")
    table = np.array(list(scores.values()), np.float64).T
    if not np.isfinite(table).all() or table.min() < 0 or table.max() > 1:
        raise ChunkwiseError("scores must be numbers from 0 to 1, as recall is; costs go into `costs`")
    return table


def _grouped(table: Floats, groups: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """Return the sums of scores of each group [n_groups, n_recipes], and how many questions it has."""
    if not groups:
        return table, np.ones(len(table))
    if len(groups) != len(table):
        raise ChunkwiseError(f"{len(groups)} groups for {len(table)} questions; give one for each")
    numbers: dict[Hashable, int] = {}
    rows = np.array([numbers.setdefault(group, len(numbers)) for group in groups])
    sums = np.zeros((len(numbers), table.shape[1]))
    np.add.at(sums, rows, table)
    return sums, np.bincount(rows).astype(np.float64)


def _resampled(sums: Floats, sizes: Floats, resamples: int, seed: int) -> Floats:
    """Return the means of every resample, [resamples, n_recipes]."""
    rng = np.random.default_rng(seed)
    return np.concatenate([(counts @ sums) / (counts @ sizes)[:, None] for counts in draws(len(sizes), resamples, rng)])


@dataclass(frozen=True, slots=True)
class _Errors:
    """Standard errors of the difference of each two means [n, n]: as they are, and guarded against what was not seen.

    Recipes agree on most questions, and a sample may by chance hold none of those on which they differ. So the guarded
    ones have one such question more, which differs as much as those seen do and a difference of 1 together, in the
    mean of squares: of no weight among many, and about what the rule of three allows for where none was seen. Where
    any one of many differences may be the one that was not seen, it weighs as much more as the rule's 3 is larger.
    Source: ours; the idea is that of Bonett & Price 2012, doi:10.3102/1076998611411915, for pairs of proportions. The
    rule: Hanley & Lippman-Hand 1983, doi:10.1001/jama.1983.03330370053031; its 3 is -ln 0.05, of p pairs -ln(0.05 / p).
    """

    plain: Floats
    guarded: Floats

    @classmethod
    def of(cls, sums: Floats, sizes: Floats) -> _Errors:
        n_groups, n = sums.shape
        total = sizes.sum()
        plain, guarded = np.zeros((n, n)), np.zeros((n, n))
        weight = 1 + math.log(max(1, n * (n - 1) // 2)) / 3
        for i in range(n):
            apart = sums[:, i, None] - sums
            squares = ((apart - apart.sum(axis=0) / total * sizes[:, None]) ** 2).sum(axis=0)
            n_apart = (np.abs(apart) > _ALIKE).sum(axis=0)
            unseen = ((apart**2).sum(axis=0) + (total / n_groups) ** 2) / (n_apart + 1)
            factor = n_groups / max(1, n_groups - 1)
            plain[i] = np.sqrt(factor * squares) / total
            guarded[i] = np.sqrt(factor * (squares + weight * unseen)) / total
        return cls(plain, guarded)


def _reach(deviations: Floats, errors: Floats, level: float) -> float:
    """Return how many standard errors from its mean the furthest of all differences is, at `level` of the resamples."""
    furthest = np.zeros(len(deviations))
    for i in range(deviations.shape[1] - 1):
        error = errors[i, i + 1 :]
        seen = error > _ALIKE
        away = np.abs(deviations[:, i, None] - deviations[:, i + 1 :])[:, seen] / error[seen]
        furthest = np.maximum(furthest, away.max(axis=1, initial=0.0))
    # Not below that of one normal difference, which few or equal scores could give.
    return max(float(np.quantile(furthest, level)), NormalDist().inv_cdf((1 + level) / 2))


def widened(z: float, n: int) -> float:
    """Return the quantile of Student's t, n - 1 degrees of freedom, with the tail of z; infinite below `FEWEST`.

    The bootstrap of few is too narrow by what t is wider than the normal distribution: Hesterberg 2015,
    doi:10.1080/00031305.2015.1089789. Source of the expansion: Abramowitz & Stegun 1964, 26.7.5.
    """
    if n < FEWEST:
        return math.inf
    free = n - 1
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / free**power for power, term in enumerate(terms, 1))


def _intervals(
    names: Sequence[str], means: Floats, errors: Floats, reach: float
) -> Iterator[tuple[tuple[str, str], Interval]]:
    for (i, one), (j, other) in combinations(enumerate(names), 2):
        mean, half = float(means[i] - means[j]), float(reach * errors[i, j])
        yield (one, other), Interval(mean, mean - half, mean + half)


def _best(drawn: Floats) -> list[float]:
    """Return the share of resamples in which each is the best; those that share the first place share the resample."""
    first: NDArray[np.bool_] = drawn >= drawn.max(axis=1, keepdims=True) - _ALIKE
    shares: list[float] = (first / first.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return shares


def _n_more(interval: Interval, n: int, reach: float) -> int | None:
    """Return how many more questions an interval needs to be clear of zero at that power, its mean being the truth."""
    if not math.isfinite(reach) or abs(interval.mean) <= _ALIKE:
        return None
    error = (interval.high - interval.mean) / reach
    needed = n * ((reach + NormalDist().inv_cdf(_POWER)) * error / interval.mean) ** 2
    return math.ceil(needed - n)


def _sentences(found: Comparison) -> Iterator[str]:
    first, rival = found.names[0], found.rival
    if rival is None:
        yield f"Only {first} was measured: there is nothing to compare it with."
        return
    told = found.differences[first, rival]
    if found.n_groups < FEWEST:
        yield f"{_counted(found)} can tell nothing apart: at least {FEWEST} are needed."
    elif found.winner:
        n_others = len(found.names) - 1
        others = rival if n_others == 1 else f"all {n_others} others, of {rival}"
        yield f"{first} is ahead of {others} by {_points(told)}."
    else:
        shown = [f"{name} (best in {100 * found.best[name]:.0f} % of resamples)" for name in found.ties[:_SHOWN]]
        more = len(found.ties) - len(shown)
        yield f"No difference can be told among: {'; '.join(shown)}{f'; and {more} more' * bool(more)}."
        if found.n_more is None:
            yield f"{first} and {rival} have the same mean: how many more questions would separate them is not known."
        else:
            yield (
                f"{first} leads {rival} by {_points(told)}; were that the truth, about {_rounded(found.n_more)} more "
                "questions would show it."
            )
    if not found.winner and found.n_groups >= FEWEST and all(name in found.costs for name in found.ties):
        cost = str(found.costs[found.choice])
        taken = f"{found.choice}{f' ({cost})' if cost else ''}"
        margin = f"{100 * MARGIN:.0f} points"
        if found.choice == first:
            yield f"Take {taken}: no cheaper one is surely within {margin} of it."
        else:
            yield f"Cheapest of those that are surely within {margin} of it is {taken}."
    if FEWEST <= found.n_groups < FEW:
        yield f"{_counted(found)} are few: only large differences can show."


def _counted(found: Comparison) -> str:
    if found.n_groups == found.n_questions:
        return "One question" if found.n_questions == 1 else f"{found.n_questions} questions"
    return f"{found.n_questions} questions in {found.n_groups} group{'s' * (found.n_groups > 1)}"


def in_points(told: Interval) -> tuple[str, str, str]:
    """Write a difference and the ends of its interval in points, which are hundredths of the score.

    A clear one has as many digits as tell on which side of zero its ends are.
    """
    values = [100 * value for value in (told.mean, told.low, told.high)]
    seen = [n for n in (1, 2, 3) if not told.is_clear or min(map(abs, values)) >= 0.5 / 10**n]
    digits = seen[0] if seen else 4
    mean, low, high = (f"{value:.{digits}f}" for value in values)
    return mean, low, high


def _points(told: Interval) -> str:
    mean, low, high = in_points(told)
    return f"{mean} points [{low}, {high}]"


def _rounded(n: int) -> str:
    """Write a number of questions with two digits: it is an estimate."""
    return f"{math.ceil(float(f'{n:.1e}')):,}"
