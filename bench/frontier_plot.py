"""Draw the frontier: recall against tokens, a panel for each set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from math import ceil, floor, log
from typing import NamedTuple
from xml.sax.saxutils import escape

from frontier_methods import BASELINE, METHODS
from frontier_page import Cell, Table
from frontier_results import BUDGETS

# In pixels: panels, what surrounds the plot in one, a line of the legend.
_COLUMNS, _WIDTH, _HEIGHT, _FONT = 4, 272, 264, 11
_LEFT, _RIGHT, _TOP, _BOTTOM = 36, 12, 30, 34
_LINE = 17
_STEP = 10  # of recall, in percent: what an axis ends at

_STYLE = """\
.ground{fill:#fff}text,.band{fill:#24292f}.grid{stroke:#d8dee4}.quiet{fill:#59636e}.band{opacity:.12}
path{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}circle{fill:currentColor}
.thick path{stroke-width:3}"""
_DARK_STYLE = ".ground{fill:#0d1117}text,.band{fill:#e6edf3}.grid{stroke:#30363d}.quiet{fill:#9198a1}.band{opacity:.18}"


class _Style(NamedTuple):
    """A line's colours on light and dark grounds, and its dashes: no two are told apart by colour alone."""

    light: str
    dark: str
    dashes: str = ""


_BASE = _Style("#24292f", "#e6edf3")
_THICK = _Style("#d0021b", "#ff6b6b")
# Source: Okabe & Ito 2008, Color Universal Design, darker or lighter where the ground asks for it; grey was added.
_THIN = (
    _Style("#0072b2", "#5ab4e8"),
    _Style("#c77700", "#f0b840"),
    _Style("#007d5c", "#3fd0a4"),
    _Style("#777777", "#a0a0a0", "1.5 2.5"),
    _Style("#777777", "#a0a0a0", "6 3"),
    _Style("#b0508a", "#e59cc8"),
    _Style("#2b8fd0", "#8fd0f8", "6 2 1.5 2"),
    _Style("#c04a00", "#f58a4a", "4 2"),
    _Style("#6a4c93", "#b79be0", "8 2"),
    _Style("#857400", "#e6dc50", "2 2"),
)


class _Panel(NamedTuple):
    """Where a panel stands, and from which recall to which it goes."""

    left: int
    top: int
    low: int = 0
    high: int = 100

    def x(self, budget: int) -> float:
        """Return where a budget stands: on a logarithmic axis, as twice the tokens never find twice as much."""
        share = log(budget / BUDGETS[0]) / log(BUDGETS[-1] / BUDGETS[0])
        return self.left + _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, recall: float) -> float:
        """Return where a recall stands."""
        share = (recall - self.low) / (self.high - self.low)
        return self.top + _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def drawn(tables: Sequence[Table]) -> str:
    """Return the picture, readable on light and on dark grounds."""
    styles = _styles(tables)
    width, height = _COLUMNS * _WIDTH, ceil((len(tables) + 1) / _COLUMNS) * _HEIGHT
    dark = "".join(f".s{i}{{color:{style.dark}}}" for i, style in enumerate(styles.values()))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif" font-size="{_FONT}" role="img">',
        "<title>Recall of the evidence against tokens returned</title>",
        "<style>",
        _STYLE,
        "".join(f".s{i}{{color:{style.light}}}" for i, style in enumerate(styles.values())),
        f"@media(prefers-color-scheme:dark){{{_DARK_STYLE}{dark}}}",
        "</style>",
        f'<rect class="ground" width="{width}" height="{height}"/>',
    ]
    for i, table in enumerate(tables):
        left, top = i % _COLUMNS * _WIDTH, i // _COLUMNS * _HEIGHT
        parts += _plot(table, styles, left, top)
    parts += _legend(styles, len(tables) % _COLUMNS * _WIDTH, len(tables) // _COLUMNS * _HEIGHT)
    return "\n".join([*parts, "</svg>", ""])


def _styles(tables: Sequence[Table]) -> dict[str, _Style]:
    """Give each method that is drawn a style, in their order."""
    thin = count()
    styles = {}
    for method in METHODS:
        if method.drawn != "no":
            style = _BASE if method == BASELINE else _THICK if method.drawn == "thick" else _THIN[next(thin)]
            if any(method.name in table.cells["recall"] for table in tables):
                styles[method.name] = style
    return styles


def _plot(table: Table, styles: Mapping[str, _Style], left: int, top: int) -> Iterator[str]:
    """Yield one panel. Its axis is the set's own: what is hard on one set is easy on another."""
    rows = {name: table.cells["recall"][name] for name in styles if name in table.cells["recall"]}
    shown = [one.mean.mean for row in rows.values() for one in row] or [0.0]
    shown += [end for one in rows.get(BASELINE.name, ()) for end in (one.mean.low, one.mean.high)]
    low, high = _STEP * floor(min(shown) / _STEP), _STEP * ceil(max(shown) / _STEP)
    panel = _Panel(left, top, low, max(high, low + _STEP))
    title = f'<tspan font-weight="bold" font-size="13">{escape(table.set)}</tspan>'
    note = f'<tspan class="quiet" dx="6">{table.n_questions:,} questions</tspan>'
    yield f'<text x="{left + _LEFT}" y="{top + 19}">{title}{note}</text>'
    yield from _axes(panel)
    if BASELINE.name in rows:
        yield _band(panel, rows[BASELINE.name])
    for i, name in enumerate(styles):
        if name in rows:
            yield from _line(panel, rows[name], number=i, style=styles[name])


def _axes(panel: _Panel) -> Iterator[str]:
    """Yield the grid, and what its lines stand for."""
    first, last = panel.x(BUDGETS[0]), panel.x(BUDGETS[-1])
    step = _STEP if panel.high - panel.low <= 5 * _STEP else 2 * _STEP
    for recall in range(panel.low, panel.high + 1, step):
        y = panel.y(recall)
        yield f'<line class="grid" x1="{first:.1f}" y1="{y:.1f}" x2="{last:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="quiet" x="{first - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{recall}</text>'
    for budget in BUDGETS:
        label = f"{budget / 1000:g}k" if budget >= 1000 else budget
        x, y = panel.x(budget), panel.top + _HEIGHT - _BOTTOM
        yield f'<line class="grid" x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + 4}"/>'
        yield f'<text class="quiet" x="{x:.1f}" y="{y + 16}" text-anchor="middle" font-size="10">{label}</text>'


def _band(panel: _Panel, row: Sequence[Cell]) -> str:
    """Return the ground that shows the interval of the baseline."""
    lows = [f"{panel.x(budget):.1f},{panel.y(one.mean.low):.1f}" for budget, one in zip(BUDGETS, row, strict=True)]
    highs = [f"{panel.x(budget):.1f},{panel.y(one.mean.high):.1f}" for budget, one in zip(BUDGETS, row, strict=True)]
    return f'<polygon class="band" points="{" ".join([*lows, *reversed(highs)])}"/>'


def _line(panel: _Panel, row: Sequence[Cell], *, number: int, style: _Style) -> Iterator[str]:
    """Yield a line with a dot at each budget."""
    points = [(panel.x(budget), panel.y(one.mean.mean)) for budget, one in zip(BUDGETS, row, strict=True)]
    path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f"<g class={_classes(number, style)}>"
    yield f'<path d="{path}" stroke-dasharray="{style.dashes or "none"}"/>'
    yield "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.9"/>' for x, y in points)
    yield "</g>"


def _legend(styles: Mapping[str, _Style], left: int, top: int) -> Iterator[str]:
    """Yield the names of the lines, and what the axes are."""
    x, y = left + _LEFT, top + 19
    yield f'<text x="{x}" y="{y}" class="quiet">recall in % against cl100k tokens;</text>'
    yield f'<text x="{x}" y="{y + _LINE - 3}" class="quiet">band: 95 % of {escape(BASELINE.name)}</text>'
    for i, (name, style) in enumerate(styles.items()):
        line = y + (i + 2) * _LINE + 2
        yield f"<g class={_classes(i, style)}>"
        yield f'<path d="M{x},{line - 4}h30" stroke-dasharray="{style.dashes or "none"}"/>'
        yield f'<circle cx="{x + 15}" cy="{line - 4}" r="1.9"/></g>'
        yield f'<text x="{x + 38}" y="{line}">{escape(name)}</text>'


def _classes(number: int, style: _Style) -> str:
    return f'"s{number} thick"' if style in (_BASE, _THICK) else f'"s{number}"'
