"""Whether a comparison of recipes says what the questions can carry, and no more."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.core.errors import ChunkwiseError
from chunkwise.evaluate.compare import Comparison, compare, widened
from chunkwise.evaluate.costs import Costs

Table = NDArray[np.float64]


def recalls(rng: np.random.Generator, n: int, recipes: int) -> Table:
    """Scores of recipes that are equally good [n, recipes]: mostly 0 or 1, some between, alike on most questions."""
    hard = rng.choice([0.0, 0.5, 1.0], size=n, p=[0.2, 0.1, 0.7])
    own = rng.choice([0.0, 0.5, 1.0], size=(n, recipes), p=[0.2, 0.1, 0.7])
    return np.where(rng.random((n, recipes)) < 0.3, own, hard[:, None])


def named(table: Table) -> dict[str, Table]:
    return {f"r{i}": column for i, column in enumerate(table.T)}


def quick(table: Table) -> Comparison:
    return compare(named(table), resamples=400)


def held_of_1000(n: int) -> float:
    """How often an interval holds the difference of a recipe to one that loses a tenth of what it finds."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(1000):
        one, other = recalls(rng, n, 2).T
        lost = rng.random(n) < 0.1
        worse = np.where(lost, 0, other)
        truth = 0.1 * 0.75  # the mean of all scores is 0.75
        interval = compare({"one": one, "worse": worse}, resamples=400).difference("one", "worse")
        held += interval.low <= truth <= interval.high
    return held / 1000


@pytest.mark.parametrize("n", [100, 300])
def test_an_interval_of_95_percent_holds_a_known_difference_in_93_to_97_of_100_samples(n: int) -> None:
    assert 0.93 <= held_of_1000(n) <= 0.97


@pytest.mark.parametrize("n", [8, 20, 50])
def test_with_few_questions_an_interval_errs_on_the_wide_side(n: int) -> None:
    assert held_of_1000(n) >= 0.93


@pytest.mark.parametrize(("recipes", "n"), [(2, 20), (2, 100), (5, 50), (24, 100)])
def test_where_none_is_better_a_winner_is_named_in_at_most_5_of_100_samples(recipes: int, n: int) -> None:
    rng = np.random.default_rng(recipes + n)
    winners = sum(quick(recalls(rng, n, recipes)).winner is not None for _ in range(300))
    assert winners / 300 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 300)


def test_all_differences_of_many_recipes_are_held_at_once() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        found = quick(recalls(rng, 100, 8))
        held += all(one.low <= 0 <= one.high for one in found.differences.values())
    assert held / 300 >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / 300)


def test_few_questions_on_which_recipes_agree_do_not_prove_that_they_are_equal() -> None:
    found = compare({"one": [1.0] * 30, "other": [1.0] * 30})
    interval = found.difference("one", "other")
    assert interval.mean == 0
    # The rule of three: what was not seen in 30 questions may be a tenth of them.
    assert 0.05 <= interval.high <= 0.12
    assert found.winner is None
    assert found.n_more is None


def test_questions_of_one_document_count_for_less_where_they_go_together() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(20), 10)
    own = rng.normal(0, 0.2, 20)[groups]
    scores = {"one": np.clip(0.5 + own, 0, 1), "other": np.full(200, 0.5)}
    alone, together = compare(scores), compare(scores, groups=groups.tolist())
    widths = [one.high - one.low for found in (alone, together) for one in found.differences.values()]
    assert widths[1] > 2 * widths[0]
    assert (together.n_questions, together.n_groups) == (200, 20)


def test_groups_of_one_question_each_change_nothing() -> None:
    table = recalls(np.random.default_rng(2), 60, 3)
    assert compare(named(table), groups=range(60)) == compare(named(table))


def test_a_clear_winner_is_named_with_its_lead() -> None:
    rng = np.random.default_rng(4)
    table = recalls(rng, 300, 3)
    table[:, 1] = np.maximum(table[:, 1], rng.random(300) < 0.5)
    found = quick(table)
    assert found.winner == found.choice == "r1"
    assert found.ties == ("r1",)
    assert found.n_more == 0
    assert found.best["r1"] == 1
    assert found.verdict.startswith("r1 is ahead of all 2 others, of ")
    assert "points [" in found.verdict


def test_ties_are_called_ties_and_broken_by_cost() -> None:
    table = recalls(np.random.default_rng(6), 400, 3)
    table[:8, 0] = [0, 1] * 4
    table[:, 1] = table[:, 0]
    table[:8, 1] = 1 - table[:8, 0]
    table[:, 2] *= 0.2
    costs = {"r0": Costs(vectors=9000), "r1": Costs(vectors=2000), "r2": Costs(vectors=10)}
    found = compare(named(table), costs=costs)
    assert set(found.ties) == {"r0", "r1"}
    assert found.winner is None
    assert found.choice == "r1"
    assert "No difference can be told among: " in found.verdict
    assert found.verdict.endswith("Cheapest of those that are surely within 5 points of it is r1 (2,000 vectors).")
    assert compare(named(table)).choice == found.names[0]


def test_a_tie_among_few_questions_is_not_broken_by_cost() -> None:
    table = recalls(np.random.default_rng(6), 40, 2)
    costs = {"r0": Costs(vectors=9000), "r1": Costs(vectors=9000)}
    found = compare(named(table), costs=costs)
    first, other = found.names
    cheap = compare(named(table), costs={first: Costs(vectors=9000), other: Costs(vectors=10)})
    assert len(cheap.ties) == 2
    assert cheap.choice == first
    assert not cheap.is_near(other, first)
    assert cheap.verdict.endswith(f"Take {first} (9,000 vectors): no cheaper one is surely within 5 points of it.")


def test_so_many_more_questions_do_separate_the_first_two() -> None:
    rng = np.random.default_rng(8)
    differences = rng.choice([-1.0, 0.0, 1.0], size=100, p=[0.08, 0.78, 0.14])
    one, other = np.maximum(differences, 0), np.maximum(-differences, 0)
    found = compare({"one": one, "other": other})
    assert found.winner is None
    assert found.n_more is not None
    n = 100 + found.n_more
    clear = 0
    for _ in range(300):
        drawn = rng.integers(100, size=n)
        clear += compare({"one": one[drawn], "other": other[drawn]}, resamples=400).winner == "one"
    assert 0.72 <= clear / 300 <= 0.93  # said to be 0.8; a little more are asked for than needed


def test_the_rival_is_who_ties_with_the_best_though_another_comes_second() -> None:
    rng = np.random.default_rng(12)
    best = rng.choice([0.4, 0.6], size=200)
    steady, erratic = best - 0.05 + rng.normal(0, 0.02, 200), best - 0.06 + rng.normal(0, 0.4, 200)
    found = compare({"best": best, "steady": steady.clip(0, 1), "erratic": erratic.clip(0, 1)})
    assert found.names == ("best", "steady", "erratic")
    assert found.ties == ("best", "erratic")
    assert found.rival == "erratic"
    assert found.n_more
    assert "best leads erratic by" in found.verdict


def test_the_shares_of_the_best_are_of_all_resamples_and_equals_share_them() -> None:
    found = quick(recalls(np.random.default_rng(9), 50, 4))
    assert sum(found.best.values()) == pytest.approx(1)
    same = compare({"one": [0.0, 1.0] * 10, "other": [0.0, 1.0] * 10})
    assert same.best == {"one": 0.5, "other": 0.5}


@pytest.mark.parametrize(("n", "told"), [(1, "One question can tell"), (4, "4 questions can tell")])
def test_hardly_any_questions_tell_nothing(n: int, told: str) -> None:
    found = compare({"one": [1.0] * n, "other": [0.0] * n})
    assert found.winner is None
    assert (found.difference("one", "other").low, found.difference("one", "other").high) == (-math.inf, math.inf)
    assert told in found.verdict
    assert found.n_more is None


def test_few_questions_are_called_few() -> None:
    found = compare({"one": [1.0] * 12, "other": [0.0] * 12})
    assert found.winner == "one"
    assert "12 questions are few" in found.verdict


def test_one_recipe_alone_is_compared_with_nothing() -> None:
    found = compare({"one": [1.0, 0.0] * 20})
    assert (found.winner, found.choice, found.differences) == (None, "one", {})
    assert found.verdict == "Only one was measured: there is nothing to compare it with."


def test_a_difference_turns_with_its_names() -> None:
    found = quick(recalls(np.random.default_rng(10), 50, 2))
    one, other = found.difference("r0", "r1"), found.difference("r1", "r0")
    assert (one.mean, one.low, one.high) == (-other.mean, -other.high, -other.low)


@given(st.permutations(range(4)))
def test_the_order_in_which_recipes_are_given_changes_no_interval(order: list[int]) -> None:
    table = recalls(np.random.default_rng(11), 40, 4)
    found, again = quick(table), compare({f"r{i}": table[:, i] for i in order}, resamples=400)
    for pair in found.differences:
        one, other = found.difference(*pair), again.difference(*pair)
        assert (one.low, one.high) == pytest.approx((other.low, other.high))


@pytest.mark.parametrize(
    ("free", "quantile"), [(4, 2.776), (5, 2.571), (9, 2.262), (19, 2.093), (49, 2.010), (1000, 1.962)]
)
def test_the_quantile_is_that_of_the_table_of_t(free: int, quantile: float) -> None:
    assert widened(NormalDist().inv_cdf(0.975), free + 1) == pytest.approx(quantile, abs=0.01)


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ({}, "nothing to compare"),
        ({"one": []}, "nothing to compare"),
        ({"one": [1.0], "other": [1.0, 0.0]}, "one: 1, other: 2"),
        ({"one": [math.nan]}, "from 0 to 1"),
        ({"one": [80.0]}, "from 0 to 1"),
    ],
)
def test_scores_that_can_not_be_compared_are_refused(scores: dict[str, list[float]], told: str) -> None:
    with pytest.raises(ChunkwiseError, match=told):
        compare(scores)


def test_a_level_and_groups_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ChunkwiseError, match=r"try level=0\.95"):
        compare({"one": [1.0]}, level=95)
    with pytest.raises(ChunkwiseError, match="2 groups for 1 questions"):
        compare({"one": [1.0]}, groups=["a", "b"])
