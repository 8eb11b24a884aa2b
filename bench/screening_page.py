"""The page of bench/screening.py: tables of agreement, and of what a choice by screening loses."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

import chunkwise
from chunkwise.core.protocols import Encoder
from chunkwise.embed import minilm
from chunkwise.evaluate import screening
from chunkwise.evaluate.screening import shortlist
from chunkwise.evaluate.statistics import kendall_tau, paired_bootstraps
from screening_ranking import BUDGETS
from screening_runs import PASSAGES, REAL, SENTENCES, STATIC, TOKENS, Run, loaded

Floats = NDArray[np.float64]

# What is screened by, one kind of vectors or the mean of the recalls of several; with the passes of the encoder.
SCREENS: Mapping[str, Sequence[str]] = {
    "static": (STATIC,),
    "sentences": (SENTENCES,),
    "passages": (PASSAGES,),
    "tokens": (TOKENS,),
    "sentences and static": (SENTENCES, STATIC),
    "**passages and static**": (PASSAGES, STATIC),
}
# Late chunking encodes each token twice.
_PASSES = {STATIC: 0, SENTENCES: 1, PASSAGES: 1, TOKENS: 2}
_SHOWN = (400, 800)
_TARGET = 800
_SPLITS, _MANY = 10, 200
_DEFAULT = "recursive(size=200)"
# Passes that a choice may take: one to screen, one to embed, and what titles and headings take.
_ALLOWED = 2.02
# Passes are counted in thousandths.
_FINE = 1000


@dataclass(frozen=True, slots=True)
class Measured:
    """The recalls of the recipes of a set, [n_recipes, n_budgets, n_questions], embedded and by every screen."""

    name: str
    recipes: Sequence[str]
    real: Floats
    screened: Mapping[str, Floats]
    costs: Floats
    passes: Mapping[str, float]

    @classmethod
    def of(cls, name: str, runs: Mapping[str, Mapping[str, Run]], encoder: Encoder) -> Measured:
        """Put runs together; costs are in passes: the tokens to be embedded by those of the documents."""
        counter = encoder.tokenizer
        n_tokens = sum(counter.count(one.text) - counter.n_special for one in loaded(name).documents)
        screens = {
            told: ways for told, ways in SCREENS.items() if all(way in of for of in runs.values() for way in ways)
        }
        screened = {
            told: np.array([np.mean([of[way].table for way in ways], axis=0) for of in runs.values()])
            for told, ways in screens.items()
        }
        spent = {way: max(of[way].screened for of in runs.values()) / n_tokens for way in (PASSAGES, SENTENCES)}
        return cls(
            name,
            list(runs),
            np.array([of[REAL].table for of in runs.values()]),
            screened,
            np.array([of[REAL].n_tokens for of in runs.values()]) / n_tokens,
            {told: sum({**_PASSES, **spent}[way] for way in ways) for told, ways in screens.items()},
        )


@dataclass(frozen=True, slots=True)
class Loss:
    """What a choice loses against exhaustive search and against the best of all, in points; and the passes it took.

    `shipped` are the passes with those that it takes to embed what was chosen, where that was not embedded yet.
    """

    lost: float
    to_best: float
    passes: float
    shipped: float


def agreement(found: Measured, screened: Floats, budget: int) -> tuple[float, float, int]:
    """Return tau over all recipes, over the pairs that the questions tell apart, and how many these are."""
    place = BUDGETS.index(budget)
    real, other = found.real[:, place], screened[:, place]
    pairs = list(combinations(range(len(real)), 2))
    clear = [one.is_clear for one in paired_bootstraps(np.array([real[i] - real[j] for i, j in pairs]).T)]
    means, others = real.mean(axis=1), other.mean(axis=1)
    signs = [
        np.sign(means[i] - means[j]) * np.sign(others[i] - others[j])
        for (i, j), is_clear in zip(pairs, clear, strict=True)
        if is_clear
    ]
    # Equal cuts have equal recalls but for the order in which numbers are added up.
    return kendall_tau(means.round(6), others.round(6)), float(np.mean(signs)), len(signs)


def halves(found: Measured, budget: int) -> float:
    """Return the tau of embedded recipes on one half of the questions with embedded recipes on the other."""
    real = found.real[:, BUDGETS.index(budget)]
    taus = [kendall_tau(real[:, one].mean(axis=1), real[:, other].mean(axis=1)) for one, other in _splits(found, _MANY)]
    return float(np.mean(taus))


def loss(found: Measured, screen: str | None, *, splits: int, allowed: float = _ALLOWED) -> Loss:
    """Choose on one half by a screen, then by embedding what is left to pay for; confirm on the other half.

    Without a screen the default recipe is taken. With `allowed` passes of 0 the first of the screen is taken.
    """
    place = BUDGETS.index(_TARGET)
    lost, to_best, passes, shipped = [], [], [], []
    for choose, confirm in _splits(found, splits):
        mine, real = found.real[:, place][:, choose].mean(axis=1), found.real[:, place][:, confirm].mean(axis=1)
        if screen is None:
            chosen, used, is_embedded = found.recipes.index(_DEFAULT), 0.0, False
        else:
            screened = found.screened[screen][:, place][:, choose].mean(axis=1)
            chosen, used, is_embedded = _chosen(found, screen, screened, mine, allowed)
        lost.append(real[mine.argmax()] - real[chosen])
        to_best.append(real.max() - real[chosen])
        passes.append(used)
        shipped.append(used if is_embedded else used + found.costs[chosen])
    return Loss(
        lost=100 * float(np.mean(lost)),
        to_best=100 * float(np.mean(to_best)),
        passes=float(np.mean(passes)),
        shipped=float(np.mean(shipped)),
    )


def _chosen(found: Measured, screen: str, screened: Floats, real: Floats, allowed: float) -> tuple[int, float, bool]:
    """Return the recipe that is best of those that are embedded, and the passes that this took; else the screen's.

    The passages of a screen are chunks of a recipe, which is embedded already.
    """
    spent = found.passes[screen]
    costs = {str(row): round(_FINE * cost) for row, cost in enumerate(found.costs)}
    budget = round(_FINE * (allowed - spent))
    rows = [int(row) for row in shortlist(dict(zip(costs, screened, strict=True)), costs, budget=budget)]
    used = spent + float(sum(found.costs[row] for row in rows))
    if not rows:
        return int(screened.argmax()), spent, False
    known = [found.recipes.index(screening.PASSAGES)] if PASSAGES in SCREENS[screen] else []
    return max((*rows, *known), key=lambda row: real[row]), used, True


def _splits(found: Measured, splits: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    n = found.real.shape[2]
    rng = np.random.default_rng(0)
    for _ in range(splits):
        order = rng.permutation(n)
        yield order[: n // 2], order[n // 2 :]


def page(sets: Mapping[str, Mapping[str, Mapping[str, Run]]], encoder: Encoder) -> str:
    """Return the page of all sets that were measured."""
    parts = [
        _HEAD.format(
            date=datetime.datetime.now(datetime.UTC).date(),
            version=chunkwise.__version__,
            encoder=minilm().name,
            python=platform.python_version(),
        )
    ]
    for name, runs in sets.items():
        found = Measured.of(name, runs, encoder)
        parts += ["\n".join(lines) for lines in (_agreements(found), _losses(found), _recipes(found))]
    return "\n\n".join(parts) + "\n"


_HEAD = """# Screening: the order of recipes without embedding them

{date}, Chunkwise {version}, {encoder}, Python {python}. Made by bench/screening.py.

Recall of `hybrid()` at budgets of cl100k tokens, by the vectors of the chunks (embedded) and by vectors that stand in
for them: of the static encoder; means of the vectors of sentences, or of passages of 100 tokens, weighted by shared
tokens; means of token vectors of one run over long windows (late chunking). "And": the mean of both recalls. A pass is
the tokens of the documents, special ones not counted. Told apart: the pairs of recipes whose difference in embedded
recall has a 95 % interval without zero, taken by itself; 1 where all of them are in the right order, -1 where none is.
Error: screened less embedded recall, its standard deviation over recipes, in points: a common shift orders nothing.

Some recipes cut alike: chroma has no headings or titles. Which vectors are averaged, and the size of the passages, was
chosen by 16 recipes on chroma, and not changed since. A choice that loses less than nothing does better than exhaustive
search: the best of 30 on a half of the questions is partly the luckiest. "Then embedded" embeds, in the order of the
screen, what two passes pay for, and takes the best of these and, if it is there already, the recipe of the passages."""


def _agreements(found: Measured) -> Iterator[str]:
    n_recipes, _, n_questions = found.real.shape
    yield f"## {found.name}: {n_recipes} recipes, {n_questions} questions"
    yield ""
    yield "| screened by | passes | " + " | ".join(f"tau @ {at} | told apart" for at in _SHOWN) + " | error @ 800, SD |"
    yield "|---|---|" + "---|---|" * len(_SHOWN) + "---|"
    place = BUDGETS.index(_TARGET)
    for told, screened in found.screened.items():
        cells = [
            f"{tau:.2f} | {apart:.2f} of {n}" for tau, apart, n in (agreement(found, screened, at) for at in _SHOWN)
        ]
        error = 100 * float((screened - found.real)[:, place].mean(axis=1).std())
        yield f"| {told} | {found.passes[told]:.2f} | {' | '.join(cells)} | {error:.2f} |"
    cells = [f"{halves(found, at):.2f} | " for at in _SHOWN]
    yield f"| embedded, on other questions (halves) | {found.costs.sum():.1f} | {' | '.join(cells)} | |"


def _losses(found: Measured) -> Iterator[str]:
    yield f"Points of recall @ {_TARGET} on one half of the questions, lost by choosing on the other half:"
    yield ""
    yield (
        "| chosen by | passes | and to embed the choice | "
        f"against exhaustive search, {_SPLITS} splits | {_MANY} splits | against the best |"
    )
    yield "|---|---|---|---|---|---|"
    for told in found.screened:
        for allowed, how in ((0.0, "first of the screen"), (_ALLOWED, "then embedded")):
            few, many = (loss(found, told, splits=n, allowed=allowed) for n in (_SPLITS, _MANY))
            yield _loss_row(f"{told}, {how}", few, many)
    few, many = (loss(found, None, splits=n) for n in (_SPLITS, _MANY))
    yield _loss_row(f"nothing: `{_DEFAULT}`", few, many)
    best = many.to_best - many.lost
    yield f"| exhaustive search | {found.costs.sum():.1f} | {found.costs.sum():.1f} | 0 | 0 | {best:.2f} |"


def _loss_row(told: str, few: Loss, many: Loss) -> str:
    cells = (many.passes, many.shipped, few.lost, many.lost, many.to_best)
    return f"| {told} | {' | '.join(f'{cell:.2f}' for cell in cells)} |"


def _recipes(found: Measured) -> Iterator[str]:
    place = BUDGETS.index(_TARGET)
    yield f"Recall @ {_TARGET}, embedded and screened:"
    yield ""
    yield "| recipe | passes | embedded | " + " | ".join(found.screened) + " |"
    yield "|---|---|---|" + "---|" * len(found.screened)
    means = 100 * found.real[:, place].mean(axis=1)
    for row in np.argsort(-means, kind="stable"):
        cells = [f"{100 * screened[row, place].mean():.1f}" for screened in found.screened.values()]
        told = found.recipes[row].replace("|", "\\|")
        yield f"| `{told}` | {found.costs[row]:.2f} | {means[row]:.1f} | {' | '.join(cells)} |"
