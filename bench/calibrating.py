"""Simulate how often intervals of judged answers hold the truth, where it is known.

python bench/calibrating.py [--repeats 1000]

A judge calls a good answer good with one probability, and a bad one bad with another. Means of scores, the share of
Rogan & Gladen and the prediction-powered one are computed from as many labels and answers as the tables say.
Cost: two minutes of one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chunkwise.evaluate.calibration import FEWEST, Confusion, prediction_powered, rogan_gladen
from chunkwise.evaluate.statistics import Interval, mean_interval, paired_bootstrap

Truth = NDArray[np.bool_]

SHARES = (0.5, 0.8, 0.9, 0.95, 0.99)
COUNTS = (10, 20, 50, 100, 300)
# How often a judge is right about good answers, and about bad ones.
JUDGES = ((0.95, 0.8), (0.9, 0.6), (0.7, 0.7))
LABELS = (20, 40, 100, 200)
# Answers without a label, and the share of good ones among them and the labelled ones.
_ANSWERS, _GOOD = 300, (0.5, 0.8)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    print("How often an interval of the mean holds it, in %: as it is used, and the plain percentile interval")
    for count in COUNTS:
        print(f"{count:4} answers  ", "  ".join(f"{share:.0%}: {told}" for share, told in _means(count, repeats, rng)))
    print("\nHow often an interval of the corrected share holds it, in %, and its mean width in points")
    for judge in JUDGES:
        for n_labels in LABELS:
            for share in _GOOD:
                told = _corrected(judge, n_labels, share, repeats, rng)
                print(f"judge {judge}, {n_labels:3} labels, {share:.0%} good: {told}")


def _means(count: int, repeats: int, rng: np.random.Generator) -> Iterator[tuple[float, str]]:
    for share in SHARES:
        drawn = rng.binomial(count, share, repeats)
        held = [0.0, 0.0]
        for n_good in np.unique(drawn):
            scores = [1.0] * n_good + [0.0] * (count - n_good)
            found = mean_interval(scores, resamples=2000), paired_bootstrap(scores, resamples=2000)
            for i, interval in enumerate(found):
                held[i] += (drawn == n_good).mean() * _holds(interval, share)
        yield share, "{:5.1f} {:5.1f}".format(*(100 * part for part in held))


def _corrected(judge: tuple[float, float], n_labels: int, share: float, repeats: int, rng: np.random.Generator) -> str:
    found: tuple[list[Interval], list[Interval]] = [], []
    for _ in range(repeats):
        good, rest = rng.random(n_labels) < share, rng.random(_ANSWERS) < share
        called, others = _called(good, judge, rng), _called(rest, judge, rng)
        counts = Confusion(
            *(int(cell.sum()) for cell in (called & good, called & ~good, ~called & good, ~called & ~good))
        )
        if min(good.sum(), (~good).sum()) < FEWEST or counts.is_blind:
            continue
        found[0].append(rogan_gladen(int(others.sum()), _ANSWERS, labels=counts))
        found[1].append(
            prediction_powered(good.tolist(), called.astype(float).tolist(), others=others.astype(float).tolist())
        )
    return ", ".join(
        f"{name} {_told(some, share)}" for name, some in zip(("Rogan-Gladen", "powered"), found, strict=True)
    )


def _called(good: Truth, judge: tuple[float, float], rng: np.random.Generator) -> Truth:
    right_on_good, right_on_bad = judge
    luck = rng.random(len(good))
    return np.where(good, luck < right_on_good, luck >= right_on_bad)


def _told(found: Sequence[Interval], truth: float) -> str:
    held = np.mean([_holds(interval, truth) for interval in found])
    width = np.mean([interval.high - interval.low for interval in found])
    return f"{100 * held:.1f} ({100 * width:.0f} wide, of {len(found)})"


def _holds(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


if __name__ == "__main__":
    main()
