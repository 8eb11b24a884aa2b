"""The configs of an evaluation in the order of their means, and how sure these are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from chunkwise.core.types import Query
from chunkwise.evaluate.compare import FEW, FEWEST, Comparison, widened
from chunkwise.evaluate.results import Evaluation, Outcome
from chunkwise.evaluate.statistics import RESAMPLES, Floats, Interval, draws


@dataclass(frozen=True, slots=True)
class Ranking:
    """An evaluation, how its configs compare, and their outcomes from the best mean to the worst.

    Everywhere in a report a config has the same number: its place here, from 1.
    """

    evaluation: Evaluation
    comparison: Comparison
    outcomes: tuple[Outcome, ...]

    @classmethod
    def of(cls, evaluation: Evaluation) -> Ranking:
        """Rank the outcomes. Cost: that of `compare`."""
        by_label = {outcome.config.label: outcome for outcome in evaluation.outcomes}
        comparison = evaluation.comparison
        return cls(evaluation, comparison, tuple(by_label[name] for name in comparison.names))

    @property
    def can_choose(self) -> bool:
        """Whether a config is ahead, or enough was asked for a tie to mean something: among few, all would tie."""
        return self.comparison.n_groups >= FEW or self.comparison.winner is not None

    @property
    def choice(self) -> Outcome:
        """The outcome of the config to take; where there is no choosing yet, of the highest mean."""
        return self.outcomes[self.comparison.names.index(self.comparison.choice) if self.can_choose else 0]

    @property
    def title(self) -> str:
        """What that config is called."""
        return "choice" if self.can_choose else "highest"

    def number(self, outcome: Outcome) -> int:
        """Return the place of an outcome, from 1."""
        return self.comparison.names.index(outcome.config.label) + 1

    def intervals(self, columns: Sequence[Sequence[float]]) -> list[Interval | None]:
        """Return the mean of each column of values, one for each question; None where too few tell no interval."""
        if not columns:
            return []
        groups = [_group(query) for query in self.evaluation.queries]
        return _intervals(np.array(columns, np.float64).T, groups, level=self.comparison.level)


def _group(query: Query) -> str:
    """Return what a question shares with others that are hard or easy together: its document, as in a comparison."""
    return query.evidence[0][0].document_id


def _intervals(values: Floats, groups: Sequence[Hashable], *, level: float) -> list[Interval | None]:
    """Return the interval of each column of values [n_questions, n_columns], groups being drawn whole.

    It is the percentile interval, as much wider as Student's t asks where groups are few, and inside 0 to 1. Each holds
    by itself, not all together as those of differences do.
    """
    numbers = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    if len(numbers) < FEWEST:
        return [None] * values.shape[1]
    rows = np.array([numbers[group] for group in groups])
    sums = np.zeros((len(numbers), values.shape[1]))
    np.add.at(sums, rows, values)
    sizes = np.bincount(rows).astype(np.float64)
    drawn = draws(len(sizes), RESAMPLES, np.random.default_rng(0))
    resampled = np.concatenate([(counts @ sums) / (counts @ sizes)[:, None] for counts in drawn])
    means, tail = values.mean(axis=0), 50 * (1 - level)
    normal = NormalDist().inv_cdf((1 + level) / 2)
    wider = widened(normal, len(sizes)) / normal
    ends = np.percentile(resampled, [tail, 100 - tail], axis=0)
    lows, highs = np.clip(means + wider * (ends - means), 0, 1)
    return [Interval(*map(float, one)) for one in zip(means, lows, highs, strict=True)]
