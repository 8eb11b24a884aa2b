"""What a block took, and which recipe is the cheaper."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from chunkwise.evaluate import costs
from chunkwise.evaluate.costs import Costs, Spent, cheapest, measured


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells the peak of a block")
def test_the_peak_of_a_block_is_told_though_it_is_freed_within_it() -> None:
    with measured() as first:
        np.ones(24 << 20, np.uint8).sum()
    with measured() as second:
        np.ones(1 << 20, np.uint8).sum()
    assert first.spent.memory is not None
    assert second.spent.memory is not None
    assert 20 << 20 <= first.spent.memory <= 40 << 20
    assert second.spent.memory <= 12 << 20  # the first block's peak is not the second's
    assert first.spent.seconds > 0


def test_where_the_peak_can_not_be_told_it_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(costs, "_RESET", tmp_path / "none" / "clear_refs")
    with measured() as meter:
        pass
    assert meter.spent.memory is None
    assert meter.spent.seconds >= 0


def test_a_block_that_fails_is_measured_and_fails() -> None:
    with pytest.raises(ZeroDivisionError), measured() as meter:
        1 / 0  # noqa: B018
    assert meter.spent.seconds > 0


def test_what_comes_after_one_another_adds_up_and_shares_memory() -> None:
    assert Spent(1.5, 10) + Spent(2.0, 30) == Spent(3.5, 30)
    assert Spent(1.0) + Spent(1.0, 5) == Spent(2.0, 5)
    assert Spent(1.0) + Spent(1.0) == Spent(2.0, None)


@pytest.mark.parametrize(
    ("cheap", "dear"),
    [
        (Costs(tokens=400, vectors=9000), Costs(tokens=800, vectors=100)),
        (Costs(tokens=798.2, vectors=1000), Costs(tokens=797.9, vectors=6000)),  # the same but for rounding
        (Costs(vectors=1000, embedding=Spent(2)), Costs(vectors=1001, embedding=Spent(20))),
        (Costs(search=Spent(0.01)), Costs(search=Spent(0.5))),
        (Costs(vectors=9, cutting=Spent(1), search=Spent(0.01)), Costs(vectors=9, cutting=Spent(12))),
    ],
)
def test_costs_are_ordered_by_what_is_paid_for_longest(cheap: Costs, dear: Costs) -> None:
    assert cheapest({"dear": dear, "cheap": cheap}) == ["cheap"]


def test_what_varies_from_run_to_run_is_no_difference() -> None:
    slow, quick = Costs(800, 1000, search=Spent(0.028)), Costs(790, 1010, search=Spent(0.022))
    assert cheapest({"slow": slow, "quick": quick}) == ["slow", "quick"]
    quick, slow = Costs(800, 1000, search=Spent(0.003)), Costs(800, 1000, search=Spent(0.03))
    assert cheapest({"slow": slow, "quick": quick}) == ["slow", "quick"]
    assert cheapest({}) == []


def test_costs_are_told_in_words() -> None:
    told = Costs(tokens=783.4, vectors=2386, cutting=Spent(0.2), embedding=Spent(60.0))
    assert str(told) == "783 tokens a question, 2,386 vectors, 60.2 s to index"
    assert str(Costs()) == ""
