"""Write the tables of configs: how far apart they are, what other metrics say, what they cost."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isfinite

from chunkwise.evaluate.compare import in_points
from chunkwise.evaluate.costs import Spent
from chunkwise.evaluate.results import Outcome
from chunkwise.evaluate.statistics import Interval
from chunkwise.report.html import column, safe, table
from chunkwise.report.ranking import Ranking

# The picture of an interval, in pixels.
_WIDTH, _HEIGHT = 120, 16

_CUTOFF = re.compile(r"(\w+) @ (?:tokens\(([\d_]+).*\)|(\d+))")


def drawn(ranking: Ranking) -> Iterator[str]:
    """Yield the tables, the best mean first."""
    yield from _comparison(ranking)
    yield from _metrics(ranking)
    yield from _costs(ranking)


def _comparison(ranking: Ranking) -> Iterator[str]:
    metric = ranking.evaluation.metric
    means = ranking.intervals([outcome.scores[metric] for outcome in ranking.outcomes])
    scale = _Scale.of([one for one in means if one is not None])
    titles = "Difference to the best", "Best in", "Tokens a question", "Vectors", "Seconds to index"
    head = (
        column("#"),
        column("Config", "left"),
        column(safe(_short(metric)), "left", columns=2),
        *map(column, titles),
    )
    return table(
        f"<tr>{''.join(head)}</tr>",
        (_compared(ranking, one, mean, scale) for one, mean in zip(ranking.outcomes, means, strict=True)),
        label="How far apart configs are",
        caption=f"{safe(metric)} in points. Means have {100 * ranking.comparison.level:.0f} % intervals of their own, "
        "those of differences hold together. Best in: the share of resamples in which a config came first.",
        can_sort=True,
    )


def _compared(ranking: Ranking, outcome: Outcome, mean: Interval | None, scale: _Scale) -> str:
    name, costs, found = outcome.config.label, outcome.costs, ranking.comparison
    value = 100 * found.means[name]
    reach = f" <small>[{100 * mean.low:.1f}, {100 * mean.high:.1f}]</small>" if mean is not None else ""
    cells = (
        f'<td data-v="{value:.6f}" class="left"><b>{value:.1f}</b>{reach}</td>',
        f"<td>{scale.drawn(mean) if mean is not None else ''}</td>",
        _difference(ranking, name),
        f"<td>{100 * found.best[name]:.0f} %</td>",
        f"<td>{costs.tokens:,.0f}</td><td>{costs.vectors:,}</td>",
        f"<td>{costs.cutting.seconds + costs.embedding.seconds:,.1f}</td>",
    )
    notes = "".join(f'<span class="note">{safe(note)}</span>' for note in outcome.notes)
    return f"{row(ranking, outcome, notes)}{''.join(cells)}</tr>\n"


def row(ranking: Ranking, outcome: Outcome, notes: str = "") -> str:
    """Return the beginning of a row in any table of configs: the number of a config, its name, and what marks it."""
    number, is_choice = ranking.number(outcome), outcome is ranking.choice
    tag = f' <span class="tag">{ranking.title}</span>' if is_choice else ""
    return (
        f'<tr data-n="{number}"{" class=choice" * is_choice}><td>{number}</td>'
        f'<th scope="row"><code>{safe(outcome.config.label)}</code>{tag}{notes}</th>'
    )


def _difference(ranking: Ranking, name: str) -> str:
    """Return how far a config is behind the best, and whether that is more than chance."""
    found = ranking.comparison
    if name == found.names[0]:
        return '<td data-v="0"><span class="word">best</span></td>'
    told = found.difference(name, found.names[0])
    # No difference of two scores is larger than 1, though an interval of few questions may be.
    mean, low, high = in_points(replace(told, low=max(told.low, -1.0), high=min(told.high, 1.0)))
    reach = f" <small>[{low}, {high}]</small>".replace("-", "−") if isfinite(told.low) else ""
    word = "worse" if told.is_clear else "tie"
    mean = mean.replace("-", "−") if float(mean) else mean.removeprefix("-")
    return f'<td data-v="{told.mean:.6f}">{mean}{reach} <span class="word {word}">{word}</span></td>'


@dataclass(frozen=True, slots=True)
class _Scale:
    """The values that pictures of intervals go from and to."""

    low: float
    high: float

    @classmethod
    def of(cls, intervals: Sequence[Interval]) -> _Scale:
        ends = [end for one in intervals for end in (one.low, one.high)] or [0.0, 1.0]
        return cls(min(ends), max(max(ends), min(ends) + 1e-9))

    def x(self, value: float) -> float:
        return 4 + (value - self.low) / (self.high - self.low) * (_WIDTH - 8)

    def drawn(self, told: Interval) -> str:
        low, mean, high = (f"{self.x(value):.1f}" for value in (told.low, told.mean, told.high))
        return (
            f'<svg class="range" width="{_WIDTH}" height="{_HEIGHT}" aria-hidden="true">'
            f'<path d="M{low} 8H{high}M{low} 5v6M{high} 5v6"/><circle cx="{mean}" cy="8" r="3.2"/></svg>'
        )


def _metrics(ranking: Ranking) -> Iterator[str]:
    names = dict.fromkeys(name for outcome in ranking.outcomes for name in outcome.scores)
    groups = [(title, list(group)) for title, group in groupby(sorted(names, key=_order), key=_at)]
    over = "".join(f'<th scope="colgroup" colspan="{len(group)}">{title}</th>' for title, group in groups)
    placed = [(i, name) for _, group in groups for i, name in enumerate(group)]
    under = "".join(column(safe(_short(name)), "first" * (i == 0)) for i, name in placed)
    return table(
        f"<tr>{column('#', rows=2)}{column('Config', 'left', rows=2)}{over}</tr>\n<tr>{under}</tr>",
        (f"{row(ranking, one)}{''.join(_mean(one, name, i) for i, name in placed)}</tr>\n" for one in ranking.outcomes),
        label="All metrics",
        caption="All metrics: in points, tokens as they are. At equal tokens no config wins by returning more; at a "
        "fixed number of hits large chunks do, as in published tables.",
        can_sort=True,
    )


def _mean(outcome: Outcome, name: str, place: int) -> str:
    parted, values = ' class="first"' * (place == 0), outcome.scores.get(name, ())
    if not values:
        return f"<td{parted}></td>"
    mean = sum(values) / len(values)
    told = f"{mean:,.0f}" if name.startswith("Tokens") else f"{100 * mean:.1f}"
    return f'<td{parted} data-v="{mean:.6f}">{told}</td>'


def _at(name: str) -> str:
    """Return at what a metric is cut off, for a person."""
    found = _CUTOFF.fullmatch(name)
    if found is None:
        return "all hits"
    _, tokens, hits = found.groups()
    return f"at {int(tokens):,} tokens" if tokens else f"at {hits} hits"


def _order(name: str) -> tuple[int, int]:
    """Return budgets of tokens before numbers of hits, the smaller first; the order of metrics stays."""
    found = _CUTOFF.fullmatch(name)
    _, tokens, hits = found.groups() if found else ("", "", "")
    return (0, int(tokens)) if tokens else (1, int(hits)) if hits else (2, 0)


def _short(name: str) -> str:
    return name.partition(" @ ")[0]


def _costs(ranking: Ranking) -> Iterator[str]:
    single = "".join(column(title, rows=2) for title in ("Tokens a question", "Vectors"))
    over = "".join(f'<th scope="colgroup" colspan="2">{title}</th>' for title in ("Cutting", "Embedding", "A search"))
    under = "".join(column(unit, "first") + column("peak MB") for unit in ("s", "s", "ms"))
    return table(
        f"<tr>{column('#', rows=2)}{column('Config', 'left', rows=2)}{single}{over}</tr>\n<tr>{under}</tr>",
        (_cost(ranking, outcome) for outcome in ranking.outcomes),
        label="What configs cost",
        caption="What they cost. Memory is the peak above what was in use before; a search is that of one question.",
        can_sort=True,
    )


def _cost(ranking: Ranking, outcome: Outcome) -> str:
    costs = outcome.costs
    spent = _spent(costs.cutting), _spent(costs.embedding), _spent(costs.search, unit=1000)
    return f"{row(ranking, outcome)}<td>{costs.tokens:,.0f}</td><td>{costs.vectors:,}</td>{''.join(spent)}</tr>\n"


def _spent(spent: Spent, *, unit: int = 1) -> str:
    memory = "" if spent.memory is None else f"{spent.memory / 1e6:,.1f}"
    return f'<td class="first">{unit * spent.seconds:,.1f}</td><td>{memory}</td>'
