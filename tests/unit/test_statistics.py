"""Whether intervals hold what they promise."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise.core.errors import ChunkwiseError
from chunkwise.evaluate import statistics
from chunkwise.evaluate.statistics import Interval, kendall_tau, paired_bootstrap, paired_bootstraps


def skewed(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Differences as recall has them: mostly none, some of a whole question; their mean is 0.05."""
    return rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=n, p=[0.05, 0.05, 0.7, 0.1, 0.1]) - 0.025


def test_an_interval_of_95_percent_holds_the_true_mean_in_about_95_of_100_samples() -> None:
    rng = np.random.default_rng(7)
    samples = np.stack([skewed(rng, 200) for _ in range(600)], axis=1)
    intervals = paired_bootstraps(samples, resamples=1000)
    covered = np.mean([one.low <= 0.05 <= one.high for one in intervals])
    assert 0.92 <= covered <= 0.975  # three standard errors of 600 samples


def test_a_lower_level_gives_the_narrower_interval_that_covers_less() -> None:
    rng = np.random.default_rng(8)
    samples = np.stack([skewed(rng, 200) for _ in range(600)], axis=1)
    narrow = paired_bootstraps(samples, level=0.5, resamples=1000)
    covered = np.mean([one.low <= 0.05 <= one.high for one in narrow])
    assert 0.44 <= covered <= 0.56
    wide = paired_bootstraps(samples[:, :5], resamples=1000)
    assert all(one.high - one.low < other.high - other.low for one, other in zip(narrow[:5], wide, strict=True))


def test_an_interval_is_about_as_wide_as_the_normal_one() -> None:
    values = np.random.default_rng(3).normal(0.3, 1.0, 500)
    interval = paired_bootstrap(values)
    expected = 2 * 1.96 * values.std() / np.sqrt(500)
    assert interval.high - interval.low == pytest.approx(expected, rel=0.05)
    assert interval.mean == pytest.approx(values.mean())


def test_no_difference_between_methods_is_an_interval_of_nothing() -> None:
    assert paired_bootstrap([0.0] * 50) == Interval(0, 0, 0)
    assert not paired_bootstrap([0.0] * 50).is_clear


def test_a_difference_is_clear_only_if_zero_is_outside() -> None:
    assert Interval(0.2, 0.1, 0.3).is_clear
    assert Interval(-0.2, -0.3, -0.1).is_clear
    assert not Interval(0.2, -0.1, 0.5).is_clear
    assert not Interval(0.2, 0.0, 0.4).is_clear


def test_the_sign_of_a_difference_turns_with_it() -> None:
    values = skewed(np.random.default_rng(4), 300)
    one, other = paired_bootstrap(values), paired_bootstrap(-values)
    assert (other.mean, other.low, other.high) == pytest.approx((-one.mean, -one.high, -one.low))


def test_the_same_seed_gives_the_same_interval_and_another_one_nearly() -> None:
    values = skewed(np.random.default_rng(5), 472)
    assert paired_bootstrap(values) == paired_bootstrap(values)
    one, other = paired_bootstrap(values), paired_bootstrap(values, seed=1)
    assert one != other
    assert other.low == pytest.approx(one.low, abs=0.05 * (one.high - one.low))


def test_columns_have_the_intervals_that_they_have_alone() -> None:
    values = np.random.default_rng(6).normal(size=(300, 3))
    for i, one in enumerate(paired_bootstraps(values, resamples=2000)):
        alone = paired_bootstrap(values[:, i], resamples=2000)
        assert (one.mean, one.low, one.high) == pytest.approx((alone.mean, alone.low, alone.high), abs=1e-12)


def test_draws_are_the_same_in_one_go_and_in_many(monkeypatch: pytest.MonkeyPatch) -> None:
    values = skewed(np.random.default_rng(9), 50)
    at_once = paired_bootstrap(values, resamples=500)
    monkeypatch.setattr(statistics, "_AT_ONCE", 7 * 50)
    one_by_one = paired_bootstrap(values, resamples=500)
    assert (one_by_one.low, one_by_one.high) == pytest.approx((at_once.low, at_once.high), abs=1e-12)


@pytest.mark.parametrize("differences", [[], [float("nan")], [0.1, float("inf")]])
def test_differences_that_have_no_mean_are_refused(differences: list[float]) -> None:
    with pytest.raises(ChunkwiseError, match="finite"):
        paired_bootstrap(differences)


@pytest.mark.parametrize(("level", "resamples"), [(0.0, 10), (1.0, 10), (95.0, 10), (0.95, 0)])
def test_a_level_that_is_none_is_refused(level: float, resamples: int) -> None:
    with pytest.raises(ChunkwiseError, match=r"try level=0\.95"):
        paired_bootstrap([0.1, 0.2], level=level, resamples=resamples)


def test_orders_that_are_the_same_reversed_or_half_alike_have_the_tau_of_the_books() -> None:
    assert kendall_tau([0.1, 0.2, 0.9], [10.0, 20.0, 21.0]) == pytest.approx(1.0)
    assert kendall_tau([0.1, 0.2, 0.9], [3.0, 2.0, 1.0]) == pytest.approx(-1.0)
    # Of ten pairs the second order has two the other way round.
    assert kendall_tau([1, 2, 3, 4, 5], [2, 1, 3, 5, 4]) == pytest.approx(0.6)


def test_ties_of_one_score_lower_the_tau_and_count_for_no_order() -> None:
    # Two pairs tell an order in both, one is tied in the first: 2 / sqrt(2 * 3).
    assert kendall_tau([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / 6**0.5)


def test_tau_is_that_of_scipy_on_scores_with_ties() -> None:
    oracle = importlib.import_module("scipy.stats").kendalltau
    rng = np.random.default_rng(4)
    for _ in range(50):
        one, other = rng.integers(0, 6, (2, 30)).astype(float)
        assert kendall_tau(one, other) == pytest.approx(oracle(one, other).statistic)


def test_scores_that_are_all_the_same_have_no_order_and_no_tau() -> None:
    for one, other in (([1.0, 1.0], [1.0, 2.0]), ([1.0], [1.0]), ([1.0, float("nan")], [1.0, 2.0])):
        with pytest.raises(ChunkwiseError):
            kendall_tau(one, other)
