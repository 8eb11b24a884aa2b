"""Whether intervals hold what they promise: `compare` on samples of populations whose true differences are known.

python bench/coverage.py --results .bench/frontier [--repeats 1000]

Populations are the recalls, question by question, that `make frontier` has kept; questions are drawn with replacement,
so that the mean of all of them is the truth. Writes bench/COVERAGE.md. Cost: about 20 minutes of one core.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.evaluate.compare import compare
from chunkwise.evaluate.statistics import paired_bootstrap

Table: TypeAlias = NDArray[np.float64]
"""Scores, [n_questions, n_recipes]."""

PAGE = Path(__file__).with_name("COVERAGE.md")
# How many questions are asked: of two recipes, of many, of recipes that are alike.
SIZES, MANY, NONE = (10, 20, 50, 100, 300), (50, 200), (20, 100)
# Fewer resamples than `compare` takes by default: they move an end by some hundredths of the width, at random.
_RESAMPLES = 1_000
# In tokens: the budget at which recalls are taken.
_BUDGET = 800


class Pair(NamedTuple):
    """Two methods of one set."""

    set: str
    one: str
    other: str


# From often and much different to hardly ever: what a sample of few may not hold at all.
PAIRS = (
    Pair("chroma", "hybrid, 200", "dense, 200"),
    Pair("chroma", "assembled", "hybrid, 200"),
    Pair("covidqa", "hybrid, 200", "lexical, 200"),
    Pair("covidqa", "assembled", "assembled, ladder, coarse"),
    Pair("qmsum", "hybrid, 200", "lexical, 200"),
    Pair("chroma", "assembled", "assembled, ladder, fine"),
    Pair("xquad-en", "assembled", "hybrid, 200"),
)

# Sets on which many methods were measured.
_MEASURED = ("chroma", "covidqa", "qmsum")


def recalls(folder: Path, name: str) -> Mapping[str, Table]:
    """Return the recalls of every method on a set, one for each question, by the method's name."""
    found = {}
    for path in sorted((folder / name).glob("*.json")):
        told = json.loads(path.read_text("utf-8"))
        found[told["method"]] = np.array(told["recall"][told["budgets"].index(_BUDGET)], np.float64)
    return found


def alternating(rng: np.random.Generator, n: int) -> Table:
    """Return scores of 0 and 1 of two recipes: one finds 60 % of the answers, the other 75 % of those and 20 % else."""
    one = rng.random(n) < 0.6
    other = np.where(one, rng.random(n) < 0.75, rng.random(n) < 0.2)
    return np.stack([one, other], axis=1).astype(np.float64)


def coverage(population: Table, n: int, repeats: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return how often `compare` and the percentile interval hold the true difference, and the first's median width."""
    truth = float(np.diff(population.mean(axis=0))[0])
    held, by_percentile, widths = 0, 0, []
    for _ in range(repeats):
        one, other = population[rng.integers(len(population), size=n)].T
        interval = compare({"one": one, "other": other}, resamples=_RESAMPLES).difference("other", "one")
        held += interval.low <= truth <= interval.high
        plain = paired_bootstrap(other - one, resamples=_RESAMPLES)
        by_percentile += plain.low <= truth <= plain.high
        widths.append(interval.high - interval.low)
    return held / repeats, by_percentile / repeats, float(np.median(widths))


def together(population: Table, n: int, repeats: int, rng: np.random.Generator) -> float:
    """Return how often the intervals of all differences among many recipes hold the truth at once."""
    means = population.mean(axis=0)
    names = [str(i) for i in range(population.shape[1])]
    held = 0
    for _ in range(repeats):
        drawn = population[rng.integers(len(population), size=n)]
        found = compare(dict(zip(names, drawn.T, strict=True)), resamples=_RESAMPLES)
        truths = {pair: means[int(pair[0])] - means[int(pair[1])] for pair in found.differences}
        held += all(one.low <= truths[pair] <= one.high for pair, one in found.differences.items())
    return held / repeats


def named(population: Table, n: int, recipes: int, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often a winner is named, and how often any difference is, where there is none.

    For every question each recipe is given the score of a method that is drawn: all have the same expectation.
    """
    winners, clear = 0, 0
    for _ in range(repeats):
        questions = rng.integers(len(population), size=n)
        methods = rng.integers(population.shape[1], size=(n, recipes))
        drawn = population[questions[:, None], methods]
        found = compare({str(i): scores for i, scores in enumerate(drawn.T)}, resamples=_RESAMPLES)
        winners += found.winner is not None
        clear += any(one.is_clear for one in found.differences.values())
    return winners / repeats, clear / repeats


def in_groups(size: int, n_groups: int, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return how often the true difference of 5 points is held, with questions drawn in groups and one by one.

    Half of what makes a difference is its group's: documents on which one recipe does well.
    """
    groups = np.repeat(np.arange(n_groups), size)
    held = np.zeros(2)
    for _ in range(repeats):
        apart = 0.05 + 0.15 * rng.normal(size=n_groups)[groups] + 0.15 * rng.normal(size=len(groups))
        scores = {"one": np.clip(0.5 + apart / 2, 0, 1), "other": np.clip(0.5 - apart / 2, 0, 1)}
        for i, given in enumerate((groups.tolist(), ())):
            interval = compare(scores, groups=given, resamples=_RESAMPLES).difference("one", "other")
            held[i] += interval.low <= 0.05 <= interval.high
    return float(held[0] / repeats), float(held[1] / repeats)


def page(folder: Path, repeats: int) -> Iterator[str]:
    """Yield the page, line by line."""
    error = 100 * (0.95 * 0.05 / repeats) ** 0.5
    yield "# Whether intervals hold what they promise"
    yield ""
    yield f"Made by `python bench/coverage.py`: {repeats:,} repeats a cell, {_RESAMPLES:,} resamples. In percent; the"
    yield f"standard error of a cell near 95 is {error:.1f}. Populations are recalls at {_BUDGET} tokens, as `make"
    yield "frontier` keeps them, but for the synthetic one."
    for section in (two, many, none, documents):
        yield ""
        yield from section(folder, repeats, np.random.default_rng(7))


def two(folder: Path, repeats: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield how often the interval of one difference holds it."""
    yield "## Two recipes: how often the interval of 95 % holds the true difference"
    yield ""
    yield "Of `compare` / of the percentile interval; below, the median width of the first, in points. *Apart* is the"
    yield "share of questions on which the two differ: where a sample holds few of those, no interval can hold the"
    yield "truth in 95 of 100 samples exactly, and this one errs on the wide side."
    yield ""
    yield from _head("population", "true difference", "apart", *(f"n = {n}" for n in SIZES))
    for name, population in _populations(folder, rng):
        apart = population[:, 1] - population[:, 0]
        rows = [coverage(population, n, repeats, rng) for n in SIZES]
        told = " | ".join(f"{100 * a:.1f} / {100 * b:.1f}<br>{100 * width:.1f}" for a, b, width in rows)
        yield f"| {name} | {100 * abs(apart.mean()):.1f} | {100 * np.mean(apart != 0):.1f} | {told} |"


def many(folder: Path, repeats: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield how often the intervals of many recipes hold at once."""
    yield "## Many recipes: how often the intervals of all differences hold at once"
    yield ""
    yield from _head("population", "recipes", *(f"n = {n}" for n in MANY))
    for name in _MEASURED:
        population = np.stack([*recalls(folder, name).values()], axis=1)
        shares = [together(population, n, repeats, rng) for n in MANY]
        yield f"| {name} | {population.shape[1]} | " + " | ".join(f"{100 * one:.1f}" for one in shares) + " |"


def none(folder: Path, repeats: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield how often there is said to be a difference where there is none."""
    yield "## No difference: how often a winner is named / any difference is called clear"
    yield ""
    yield "For every question each recipe gets the score of a method that is drawn, so that none is better."
    yield ""
    yield from _head("population", "recipes", *(f"n = {n}" for n in NONE))
    for name in _MEASURED:
        population = np.stack([*recalls(folder, name).values()], axis=1)
        for recipes in (2, 5, 24):
            cells = [named(population, n, recipes, repeats, rng) for n in NONE]
            yield f"| {name} | {recipes} | {_both(cells)} |"


def documents(_folder: Path, repeats: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield how often intervals hold where questions of one document go together."""
    yield "## Questions of one document: how often the interval holds, drawn in groups / one by one"
    yield ""
    yield "Half of the variance of the differences is the document's."
    yield ""
    sizes = (10, 20, 50)
    yield from _head("questions a document", *(f"{n} documents" for n in sizes))
    for size in (5, 20):
        yield f"| {size} | {_both([in_groups(size, n, repeats, rng) for n in sizes])} |"


def _populations(folder: Path, rng: np.random.Generator) -> Iterator[tuple[str, Table]]:
    yield "synthetic, 0 or 1", alternating(rng, 100_000)
    for pair in PAIRS:
        known = recalls(folder, pair.set)
        yield f"{pair.set}: {pair.one} – {pair.other}", np.stack([known[pair.one], known[pair.other]], axis=1)


def _both(cells: Sequence[tuple[float, float]]) -> str:
    return " | ".join(f"{100 * one:.1f} / {100 * other:.1f}" for one, other in cells)


def _head(*names: str) -> Sequence[str]:
    return (f"| {' | '.join(names)} |", "|" + "---|" * len(names))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the coverage of intervals.")
    parser.add_argument("--results", type=Path, required=True, help="The folder that `make frontier` keeps results in.")
    parser.add_argument("--repeats", type=int, default=1000)
    given = parser.parse_args()
    lines = []
    for line in page(given.results, given.repeats):
        print(line, flush=True)
        lines.append(line)
    PAGE.write_text("\n".join(lines) + "\n", "utf-8")
