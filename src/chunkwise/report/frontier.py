"""Draw recall against the tokens that it costs: a line for each config, labelled where it ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log
from typing import NamedTuple

from chunkwise.evaluate.results import Outcome
from chunkwise.evaluate.statistics import Interval
from chunkwise.report.html import column, safe, table
from chunkwise.report.ranking import Ranking

# How many lines are drawn in colours and with labels: as many as can be told apart. Others are thin, and grey.
_EMPHASISED = 8

# What a vertical axis is parted by, in points, and twice as much where recalls are further apart than that.
_STEP, _FINE = 10, 50

# In pixels: how far apart labels are, and how many characters of one fit.
_APART, _LABEL = 18, 52


class _Point(NamedTuple):
    """What is found for a budget, in points, and the interval of it, if it has one."""

    budget: int
    mean: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class _Line:
    """The points of one config by their budgets."""

    outcome: Outcome
    number: int
    points: tuple[_Point, ...]


@dataclass(frozen=True, slots=True)
class _Plot:
    """Where things stand, in pixels. A narrow one has numbers for labels."""

    width: int
    height: int
    right: int
    budgets: tuple[int, ...]
    axis: range
    named: bool

    @property
    def bottom(self) -> int:
        """Where the horizontal axis is."""
        return self.height - 44

    @property
    def edge(self) -> float:
        """Where the largest budget is."""
        return self.x(self.budgets[-1])

    def x(self, budget: int) -> float:
        """Return where a budget stands: on a logarithmic axis, as twice the tokens never find twice as much."""
        first, last = self.budgets[0], self.budgets[-1]
        share = log(budget / first) / log(last / first) if last > first else 0.5
        return 40 + share * (self.width - self.right - 40)

    def y(self, points: float) -> float:
        """Return where a recall stands."""
        return self.bottom - (points - self.axis[0]) / (self.axis[-1] - self.axis[0]) * (self.bottom - 14)


def drawn(ranking: Ranking) -> Iterator[str]:
    """Yield the picture, once for wide screens and once for narrow ones, and its numbers as a table."""
    lines = _lines(ranking)
    if not lines:
        yield "<p>No recall was measured at several budgets.</p>\n"
        return
    budgets = tuple(sorted({point.budget for line in lines for point in line.points}))
    means = [point.mean for line in lines for point in line.points]
    step = _STEP if max(means) - min(means) <= _FINE else 2 * _STEP
    low, high = step * floor(min(means) / step), step * ceil(max(means) / step)
    axis = range(low, max(high, low + step) + 1, step)
    strong = _strong(ranking, lines)
    yield '<figure id="plot">\n'
    yield from _svg(_Plot(1080, 460, 400, budgets, axis, named=True), lines, strong, ranking)
    yield from _svg(_Plot(380, 340, 52, budgets, axis, named=False), lines, strong, ranking)
    yield f"<figcaption>{_caption(ranking, len(lines) - len(strong))}</figcaption>\n</figure>\n"
    yield from _table(lines, budgets)


def _lines(ranking: Ranking) -> list[_Line]:
    flat = [(outcome, budget) for outcome in ranking.outcomes for budget in sorted(outcome.curve)]
    intervals = ranking.intervals([outcome.curve[budget] for outcome, budget in flat])
    points: dict[int, list[_Point]] = {}
    for (outcome, budget), interval in zip(flat, intervals, strict=True):
        values = outcome.curve[budget]
        mean = 100 * sum(values) / len(values)
        points.setdefault(ranking.number(outcome), []).append(_Point(budget, mean, interval))
    return [_Line(ranking.outcomes[number - 1], number, tuple(row)) for number, row in points.items()]


def _strong(ranking: Ranking, lines: Sequence[_Line]) -> list[int]:
    """Return the numbers of those that are emphasised: the choice, then the best."""
    choice = ranking.number(ranking.choice)
    order = sorted((line.number for line in lines), key=lambda number: (number != choice, number))
    return order[:_EMPHASISED]


def _svg(plot: _Plot, lines: Sequence[_Line], strong: Sequence[int], ranking: Ranking) -> Iterator[str]:
    name = "wide" if plot.named else "narrow"
    yield (
        f'<svg class="{name}" viewBox="0 0 {plot.width} {plot.height}" role="img" aria-labelledby="{name}-title">'
        f'<title id="{name}-title">Recall of the evidence against tokens returned; the table below has the numbers'
        "</title>\n"
    )
    yield from _axes(plot, ranking.evaluation.tokens)
    for line in sorted(lines, key=lambda line: line.number in strong):
        if line.number not in strong:
            yield f'<g class="line" data-n="{line.number}">{_stroke(plot, line)}</g>\n'
    # The choice last, so that nothing lies over it.
    ends = _spread([plot.y(_end(line)) for line in lines if line.number in strong], plot)
    places = dict(zip([line.number for line in lines if line.number in strong], ends, strict=True))
    for i, number in reversed(list(enumerate(strong))):
        line = next(line for line in lines if line.number == number)
        drawing = _stroke(plot, line) + _label(plot, line, places[number])
        yield f'<g class="line strong s{i}" data-n="{number}">{drawing}</g>\n'
    yield "</svg>\n"


def _end(line: _Line) -> float:
    """Return what is found for the largest budget, in points."""
    return line.points[-1].mean


def _axes(plot: _Plot, tokens: int) -> Iterator[str]:
    """Yield the grid, what its lines stand for, and the budget of the comparison."""
    for points in plot.axis:
        y = plot.y(points)
        yield f'<path class="grid" d="M40 {y:.1f}H{plot.edge:.1f}"/>'
        yield f'<text x="32" y="{y + 4:.1f}" class="end">{points}</text>'
    if plot.budgets[0] <= tokens <= plot.budgets[-1]:
        yield f'<path class="here" d="M{plot.x(tokens):.1f} 8V{plot.bottom}"/>'
    for budget in plot.budgets:
        x, here = plot.x(budget), " at" * (budget == tokens)
        yield f'<path class="tick" d="M{x:.1f} {plot.bottom}v5"/>'
        yield f'<text x="{x:.1f}" y="{plot.bottom + 18}" class="mid{here}">{_short(budget)}</text>'
    middle = (40 + plot.edge) / 2
    yield f'<text x="{middle:.1f}" y="{plot.height - 8}" class="mid">tokens returned (logarithmic)</text>\n'


def _stroke(plot: _Plot, line: _Line) -> str:
    """Return a line with a dot at each budget, and the band of its intervals."""
    spots = [(plot.x(point.budget), plot.y(point.mean)) for point in line.points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in spots)
    told = f"<title>{line.number}: {safe(line.outcome.config.label)}</title>"
    return f'{told}{_band(plot, line)}<path class="reach" d="{path}"/><path class="curve" d="{path}"/>{dots}'


def _band(plot: _Plot, line: _Line) -> str:
    sure = [(plot.x(point.budget), point.interval) for point in line.points if point.interval is not None]
    tops = [f"{x:.1f},{_inside(plot, 100 * interval.high):.1f}" for x, interval in sure]
    feet = [f"{x:.1f},{_inside(plot, 100 * interval.low):.1f}" for x, interval in reversed(sure)]
    return f'<polygon class="band" points="{" ".join([*tops, *feet])}"/>' if len(sure) > 1 else ""


def _inside(plot: _Plot, points: float) -> float:
    return plot.y(min(max(points, plot.axis[0]), plot.axis[-1]))


def _label(plot: _Plot, line: _Line, y: float) -> str:
    """Return what names a line, joined to its end."""
    last = line.points[-1]
    from_x, from_y, x = plot.x(last.budget), plot.y(last.mean), plot.edge + 26
    lead = f'<path class="lead" d="M{from_x + 5:.1f} {from_y:.1f}L{x - 4:.1f} {y:.1f}"/>'
    name = f'<tspan dx="7" class="name">{safe(_brief(line.outcome.config.label))}</tspan>' if plot.named else ""
    return f'{lead}<text x="{x:.1f}" y="{y + 4:.1f}"><tspan class="number">{line.number}</tspan>{name}</text>'


def _brief(label: str) -> str:
    """Shorten a label in its middle: many begin alike, and differ in how they end."""
    half = (_LABEL - 1) // 2
    return label if len(label) <= _LABEL else f"{label[:half]}…{label[-half:]}"


def _spread(wanted: Sequence[float], plot: _Plot) -> list[float]:
    """Return heights as near the wanted ones as keeps labels apart, and inside the plot.

    Source: least squares in a given order, by pooling neighbours that violate it: Ayer et al. 1955,
    doi:10.1214/aoms/1177728423.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    pools: list[tuple[float, int]] = []  # the mean of what they want, less what keeps them apart, and how many they are
    for place, i in enumerate(order):
        pools.append((wanted[i] - place * _APART, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (mean, n), (other, m) = pools.pop(), pools.pop()
            pools.append(((n * mean + m * other) / (n + m), n + m))
    heights = [mean for mean, n in pools for _ in range(n)]
    most = plot.bottom - (len(order) - 1) * _APART
    kept = (min(max(height, 8.0), most) + place * _APART for place, height in enumerate(heights))
    places = dict(zip(order, kept, strict=True))
    return [places[i] for i in range(len(wanted))]


def _caption(ranking: Ranking, n_thin: int) -> str:
    level = f"{100 * ranking.comparison.level:.0f} %"
    thin = f" The other {n_thin} are the thin lines." if n_thin > 1 else ""
    return (
        f"Lines are named by their numbers in the table of configs.{thin} The band is the {level} interval of the mean "
        f"of config {ranking.number(ranking.choice)}; point at another line, or at its row in a table, for another's. "
        "Bands of two configs may overlap though one is ahead on the same questions: differences tell that."
    )


def _table(lines: Sequence[_Line], budgets: Sequence[int]) -> Iterator[str]:
    titles = "".join(column(f"{budget:,}") for budget in budgets)
    yield '<details class="numbers"><summary>The numbers of this picture</summary>\n'
    yield from table(
        f"<tr>{column('#')}{column('Config', 'left')}{titles}</tr>",
        (_row(line, budgets) for line in lines),
        label="Recall by budget",
        caption="Recall in points at budgets of tokens, with the interval of each mean",
    )
    yield "</details>\n"


def _row(line: _Line, budgets: Sequence[int]) -> str:
    cells = {point.budget: point for point in line.points}
    told = "".join(f"<td>{_cell(cells.get(budget))}</td>" for budget in budgets)
    label = safe(line.outcome.config.label)
    return f'<tr data-n="{line.number}"><td>{line.number}</td><th scope="row"><code>{label}</code></th>{told}</tr>\n'


def _cell(point: _Point | None) -> str:
    if point is None:
        return ""
    told = point.interval
    return f"{point.mean:.1f}" + (f" <small>[{100 * told.low:.1f}, {100 * told.high:.1f}]</small>" if told else "")


def _short(budget: int) -> str:
    return f"{budget / 1000:g}k" if budget >= 1000 and budget % 100 == 0 else f"{budget:,}"
