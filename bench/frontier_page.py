"""Write the tables of the frontier, with intervals, as a page in Markdown."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import get_args

import numpy as np

from chunkwise.evaluate.statistics import RESAMPLES, Interval, paired_bootstraps
from cost import cell
from frontier_methods import BASELINE, METHODS
from frontier_results import BUDGETS, Found, Metric, Result

_METRICS: tuple[Metric, ...] = get_args(Metric)
_OVERVIEW = 800  # tokens: about five chunks of 150, as answers are often given
_PACKAGES = ("chunkwise", "numpy", "onnxruntime", "bm25s", "tiktoken", "tokenizers")
_CONTENT = {
    "xquad-en": "48 articles of an encyclopedia; the answers are a few words",
    "chroma": "A speech, chats, articles, reports, papers; exact passages, often several",
    "covidqa": "54 papers; questions of experts, answers of about a sentence",
    "qmsum": "35 meetings; analytical questions, evidence of about 4,700 characters",
    "xquad-zh": "The articles in Chinese, by an English model",
    "xquad-ar": "The articles in Arabic, by an English model",
    "xquad-hi": "The articles in Hindi, by an English model",
}
_INTRODUCTION = f"""\
How much of the evidence is found by what is returned, against how much that is: as many spans as fit a budget of
cl100k_base tokens, best first; a hit that does not fit is passed over for smaller ones, until less than 3 % is left.
What stands before a chunk when it is embedded, such as a path of headings, is not returned and not counted. All
documents of a set are in one index. The encoder is all-MiniLM-L6-v2, for every row.

In characters: *recall* is the share of the evidence that is returned, *precision* the share of what is returned that is
evidence, *IoU* what is both over what is either; means over questions, in percent. ± is half of an interval of 95 %.
▲ and ▼ mark what is above or below *{BASELINE.name}* at the same budget by a difference whose interval of 95 % is clear
of zero: paired bootstrap over questions, {RESAMPLES:,} resamples, not corrected for the number of comparisons.

No set has headings, so that the default recipe adds none; only covidqa has titles. *late* chunks are pooled from what
the encoder takes at once, 256 tokens; chunks of 400 have the mean of the vectors of their halves.
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """A mean over questions, and its difference from the baseline; both in percent."""

    mean: Interval
    difference: Interval | None

    @property
    def sign(self) -> str:
        """Whether it is surely above the baseline, or below."""
        if self.difference is None or not self.difference.is_clear:
            return ""
        return " ▲" if self.difference.mean > 0 else " ▼"


@dataclass(frozen=True, slots=True)
class Table:
    """The scores on one set: for each metric and method a cell for each budget; and the mean of the tokens returned."""

    set: str
    n_questions: int
    cells: Mapping[Metric, Mapping[str, Sequence[Cell]]]
    tokens: Mapping[str, Sequence[float]]


def tables(found: Found) -> list[Table]:
    """Compute all intervals of the sets of which something was measured."""
    return [
        Table(
            name,
            n_questions=len(next(iter(results.values())).recall[0]),
            cells={metric: _cells(results, metric) for metric in _METRICS},
            tokens={method: np.mean(result.tokens, axis=1).tolist() for method, result in results.items()},
        )
        for name, results in found.items()
        if results
    ]


def page(computed: Sequence[Table], found: Found) -> str:
    """Return the whole page."""
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in _PACKAGES)])
    lines = [
        "# Evidence found against tokens returned",
        "",
        f"Made by `python bench/frontier.py` on {datetime.date.today()}: {versions}.",
        "",
        _INTRODUCTION,
        "![Recall against tokens, a panel for each set](frontier.svg)",
        "",
        *_overview(computed),
        *_methods(found),
    ]
    for table in computed:
        lines += _section(table)
    return "\n".join(lines).rstrip() + "\n"


def _cells(results: Mapping[str, Result], metric: Metric) -> dict[str, list[Cell]]:
    """Compute the cells of all methods; one draw of questions serves them all."""
    scores = {name: 100 * result.scores(metric) for name, result in results.items()}
    means = paired_bootstraps(np.concatenate(list(scores.values())).T)
    base = scores.get(BASELINE.name)
    differences: list[Interval] | list[None] = [None] * len(means)
    if base is not None:
        differences = paired_bootstraps(np.concatenate([own - base for own in scores.values()]).T)
    cells = [Cell(mean, difference) for mean, difference in zip(means, differences, strict=True)]
    return {name: cells[i * len(BUDGETS) : (i + 1) * len(BUDGETS)] for i, name in enumerate(scores)}


def _overview(computed: Sequence[Table]) -> Iterator[str]:
    """Yield recall at one budget on all sets."""
    yield f"## Recall at {_OVERVIEW} tokens"
    yield ""
    yield "| method | " + " | ".join(table.set for table in computed) + " |"
    yield "|---|" + "---:|" * len(computed)
    place = BUDGETS.index(_OVERVIEW)
    for method in METHODS:
        rows = [table.cells["recall"].get(method.name) for table in computed]
        if any(rows):
            cells = " | ".join(_with_width(row[place]) if row else "" for row in rows)
            yield f"| {_title(method.name)} | {cells} |"
    yield ""


def _methods(found: Found) -> Iterator[str]:
    """Yield what each method indexes, and how many chunks that are."""
    sets = [name for name, results in found.items() if results]
    yield "## Methods"
    yield ""
    yield "| method | recipe | vectors | " + " | ".join(f"chunks, {name}" for name in sets) + " |"
    yield "|---|---|---|" + "---:|" * len(sets)
    for method in METHODS:
        counts = [found[name].get(method.name) for name in sets]
        if any(counts):
            numbers = " | ".join(f"{one.n_chunks:,}" if one else "" for one in counts)
            yield f"| {method.name} | `{cell(method.recipe)}` | {method.vectors} | {numbers} |"
    yield ""


def _section(table: Table) -> Iterator[str]:
    """Yield the tables of one set: recall in full, the others folded."""
    yield f"## {table.set}: {table.n_questions:,} questions"
    yield ""
    yield f"{_CONTENT[table.set]}."
    yield ""
    recall = table.cells["recall"]
    yield from _rows("Recall", {name: [_with_width(one) for one in row] for name, row in recall.items()})
    folded = {
        f"Difference (of recall, to {BASELINE.name})": {
            name: [_with_ends(one) for one in row] for name, row in recall.items() if name != BASELINE.name
        },
        "Precision": {name: [_plain(one) for one in row] for name, row in table.cells["precision"].items()},
        "IoU": {name: [_plain(one) for one in row] for name, row in table.cells["iou"].items()},
        "Tokens returned": {name: [f"{mean:,.0f}" for mean in row] for name, row in table.tokens.items()},
    }
    for title, rows in folded.items():
        yield f"<details><summary>{title}</summary>"
        yield ""
        yield from _rows(title.partition(" (")[0], rows)
        yield "</details>"
        yield ""


def _rows(corner: str, rows: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"| {corner} at tokens | " + " | ".join(f"{budget:,}" for budget in BUDGETS) + " |"
    yield "|---|" + "---:|" * len(BUDGETS)
    for name, row in rows.items():
        yield f"| {_title(name)} | " + " | ".join(row) + " |"
    yield ""


def _title(name: str) -> str:
    return f"**{name}**" if name == BASELINE.name else name


def _with_width(one: Cell) -> str:
    return f"{one.mean.mean:.1f} ±{(one.mean.high - one.mean.low) / 2:.1f}{one.sign}"


def _with_ends(one: Cell) -> str:
    if one.difference is None:
        return ""
    return f"{one.difference.mean:+.1f} [{one.difference.low:+.1f}, {one.difference.high:+.1f}]{one.sign}"


def _plain(one: Cell) -> str:
    return f"{one.mean.mean:.2f}{one.sign}"
