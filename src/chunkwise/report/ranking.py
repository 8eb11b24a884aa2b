"""The configs of an evaluation in the order of their means, and how sure these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.evaluate.compare import FEW, Comparison, mean_intervals
from chunkwise.evaluate.results import Evaluation, Outcome
from chunkwise.evaluate.statistics import Interval


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
        return mean_intervals(columns, groups=self.evaluation.groups, level=self.comparison.level)
