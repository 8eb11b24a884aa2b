"""Tell a regression from noise: the scores of now against those of an earlier run, question by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkwise.core.errors import ChunkwiseError
from chunkwise.evaluate.compare import FEWEST, compare
from chunkwise.evaluate.result_files import Baseline
from chunkwise.evaluate.results import Evaluation
from chunkwise.evaluate.statistics import Interval

# Of all configs together; of one of several, as much nearer to 1 as Bonferroni asks.
_LEVEL = 0.95
# A change below it is the rounding of another machine.
_ALIKE = 1e-9


class Change(NamedTuple):
    """A question that scores otherwise than before."""

    id: str
    text: str
    before: float
    now: float


@dataclass(frozen=True, slots=True)
class Gated:
    """A config against what it was, or against the one that it replaces, on the questions that both were asked.

    `difference` is the mean of now less that of before. `changes` go from the greatest loss to the greatest gain.
    """

    label: str
    before: str
    n_shared: int
    difference: Interval
    changes: tuple[Change, ...]

    @property
    def is_regression(self) -> bool:
        """Whether it scores less than before, by more than chance."""
        return self.difference.high < 0

    @property
    def broken(self) -> list[Change]:
        """The questions that score less, the worst first."""
        return [change for change in self.changes if change.now < change.before]

    @property
    def verdict(self) -> str:
        """What can be said in plain words."""
        told = self.difference
        points = f"{100 * told.mean:+.1f} points [{100 * told.low:+.1f}, {100 * told.high:+.1f}]"
        named = self.label if self.label == self.before else f"{self.label}, before {self.before}"
        n_better = len(self.changes) - len(self.broken)
        counted = f"{len(self.broken)} of {self.n_shared} questions score less, {n_better} more"
        if not self.changes:
            return f"{named}: as before, on {self.n_shared} questions"
        if self.n_shared < FEWEST:
            return f"{named}: {counted}; that few questions can tell nothing, at least {FEWEST} are needed"
        how = "worse by more than chance" if self.is_regression else "better" if told.low > 0 else "no more than chance"
        return f"{named}: {how}, {points}; {counted}"


def gate(evaluation: Evaluation, baseline: Baseline) -> list[Gated]:
    """Compare each config with itself in an earlier run; where each run has but one, these.

    Questions count that both runs asked in the same words.
    Raises: ChunkwiseError if the runs have no config, metric or question in common.
    """
    if evaluation.metric != baseline.metric:
        raise ChunkwiseError(
            f"{baseline.file} has {baseline.metric}, this run {evaluation.metric}; give --tokens as then"
        )
    pairs = list(_pairs(evaluation, baseline))
    shared = [i for i, query in enumerate(evaluation.queries) if baseline.texts.get(query.id) == query.text]
    if not pairs or not shared:
        missing = "question" if pairs else "config"
        known = "" if pairs else f"; it has {', '.join(baseline.scores)}"
        raise ChunkwiseError(f"{baseline.file} has no {missing} in common with this{known}; make it anew with --json")
    return [_gated(evaluation, baseline, pair, shared, level=1 - (1 - _LEVEL) / len(pairs)) for pair in pairs]


def _pairs(evaluation: Evaluation, baseline: Baseline) -> Iterator[tuple[str, str]]:
    labels = [outcome.config.label for outcome in evaluation.outcomes]
    if len(labels) == len(baseline.scores) == 1:
        yield labels[0], next(iter(baseline.scores))
        return
    yield from ((label, label) for label in labels if label in baseline.scores)


def _gated(
    evaluation: Evaluation, baseline: Baseline, pair: tuple[str, str], shared: Sequence[int], *, level: float
) -> Gated:
    label, former = pair
    outcome = next(one for one in evaluation.outcomes if one.config.label == label)
    before: Mapping[str, float] = baseline.scores[former]
    asked = [evaluation.queries[i] for i in shared]
    now = [outcome.scores[evaluation.metric][i] for i in shared]
    then = [before[query.id] for query in asked]
    groups = [evaluation.groups[i] for i in shared] if evaluation.groups else []
    found = compare({"now": now, "before": then}, groups=groups, level=level)
    changes = [
        Change(query.id, query.text, old, new)
        for query, old, new in zip(asked, then, now, strict=True)
        if abs(new - old) > _ALIKE
    ]
    changes.sort(key=lambda change: change.now - change.before)
    return Gated(label, former, len(shared), found.difference("now", "before"), tuple(changes))
