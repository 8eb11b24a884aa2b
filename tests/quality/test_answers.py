"""How well the heuristic tells answers that passages support from others: floors that must not fall."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("answers")
    monkeypatch.setattr(module, "_MOST", 60)
    yield module
    for name in set(sys.modules) - before:
        if Path(str(getattr(sys.modules[name], "__file__", ""))).parent == BENCH:
            del sys.modules[name]  # a page of the docs has a module of such a name


@pytest.mark.parametrize(
    ("name", "area", "supported", "others"), [("xquad-en", 0.95, 0.97, 0.7), ("xquad-ar", 0.95, 0.95, 0.75)]
)
def test_answers_of_the_text_score_higher_than_others(
    bench: Any, name: str, area: float, supported: float, others: float
) -> None:
    found = list(bench.cases(bench.load(name)))
    scores, truth = np.array([case.score for case in found]), np.array([case.is_supported for case in found])
    right = np.array([case.called for case in found]) == truth
    assert bench.area(scores, truth, np.ones(len(found))) > area
    assert right[truth].mean() > supported
    assert right[~truth].mean() > others


def test_the_area_is_how_often_one_scores_higher_than_the_other_and_ties_count_half(bench: Any) -> None:
    truth = np.array([True, True, False, False])
    ones = np.ones(4)
    assert bench.area(np.array([0.9, 0.8, 0.7, 0.1]), truth, ones) == 1.0
    assert bench.area(np.array([0.9, 0.5, 0.5, 0.7]), truth, ones) == pytest.approx((2 + 0.5 + 0) / 4)
    assert bench.area(np.array([0.9, 0.5, 0.5, 0.7]), truth, np.array([0, 2, 1, 1])) == pytest.approx(0.25)
