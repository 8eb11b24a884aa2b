"""The field's rules of thumb for a cut that does not serve: tried as moves, and judged by whether they paid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from chunkwise.evaluate.results import Outcome
from chunkwise.evaluate.space import Cut, overlaps
from chunkwise.evaluate.statistics import Interval, paired_bootstrap

# Below these the rules ask for another cut: precision is the share of hits that are relevant, recall that of the
# evidence. Source: rules of thumb of the field, no measurement: they are tried here, not believed.
LOW_PRECISION, LOW_RECALL = 0.7, 0.6
_LESS = 0.75
# Smaller chunks say too little by themselves.
_LEAST = 64
# A rule that pays is tried again, so many times in all.
_ROUNDS = 3


class Rule(NamedTuple):
    """When a rule fires, and what it does."""

    name: str
    fires: Callable[[float, float], bool]
    change: Callable[[Cut], Cut]


RULES = (
    Rule(
        f"precision below {LOW_PRECISION}: a quarter less size",
        lambda precision, _: precision < LOW_PRECISION,
        lambda cut: replace(cut, size=max(_LEAST, round(cut.size * _LESS))),
    ),
    Rule(
        f"recall below {LOW_RECALL}: more overlap",
        lambda _, recall: recall < LOW_RECALL,
        lambda cut: replace(cut, overlap=_more(cut.overlap)),
    ),
)


@dataclass(frozen=True, slots=True)
class Move:
    """A rule that fired, from which recipe to which, and what recall it won, 0 to 1."""

    rule: str
    before: str
    after: str
    precision: float
    recall: float
    won: Interval

    @property
    def verdict(self) -> str:
        """Whether it paid."""
        if not self.won.is_clear:
            return "can't be told from chance"
        return "paid" if self.won.low > 0 else "cost recall"


def moves(start: Cut, measure: Callable[[Cut], Outcome | None], *, recall: str, precision: str) -> Iterator[Move]:
    """Try each rule that fires, from a cut on; one that paid is where the next ones start.

    `measure` gives None when there is no time left. `recall` and `precision` are the names of metrics.
    """
    cut, outcome = start, measure(start)
    for _ in range(_ROUNDS):
        paid = False
        for rule in RULES:
            if outcome is None:
                return
            values = [sum(outcome.scores[name]) / len(outcome.scores[name]) for name in (precision, recall)]
            changed = rule.change(cut)
            if not rule.fires(*values) or changed == cut:
                continue
            after = measure(changed)
            if after is None:
                return
            won = _won(after, outcome, recall)
            yield Move(rule.name, cut.recipe, changed.recipe, values[0], values[1], won)
            if won.low > 0:
                cut, outcome, paid = changed, after, True
        if not paid:
            return


def _won(after: Outcome, before: Outcome, recall: str) -> Interval:
    pairs = zip(after.scores[recall], before.scores[recall], strict=True)
    return paired_bootstrap([now - then for now, then in pairs])


def _more(overlap: str) -> str:
    known = overlaps()
    place = known.index(overlap) if overlap in known else 0
    return known[min(place + 1, len(known) - 1)]
