"""Judges held against people: known values, and intervals that hold the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from chunkwise.core.errors import ChunkwiseError
from chunkwise.evaluate.answer_files import Labelled
from chunkwise.evaluate.calibration import (
    Calibration,
    Confusion,
    calibrated,
    calibration_table,
    prediction_powered,
    rogan_gladen,
)
from chunkwise.evaluate.heuristic import Heuristic
from chunkwise.evaluate.judgements import Judged, Judgement
from chunkwise.evaluate.statistics import mean_interval
from chunkwise.retrieve.answering import Response
from unit.readers_of_prompts import hits, query, response


def calibration(both: int, judge_only: int, people_only: int, neither: int) -> Calibration:
    good = [True] * both + [False] * judge_only + [True] * people_only + [False] * neither
    scores = [1.0] * (both + judge_only) + [0.5] * (people_only + neither)
    return Calibration("model", "llm", "faithfulness", tuple(good), tuple(scores), 0)


def judged(scores: Sequence[float]) -> Judged:
    rows = (Judgement(str(n), Response(), "llm", {"faithfulness": score}) for n, score in enumerate(scores))
    return Judged("model", "llm", tuple(rows))


def test_agreement_is_what_it_is_by_hand() -> None:
    counts = calibration(45, 15, 5, 35).confusion
    assert counts == Confusion(45, 15, 5, 35)
    assert counts.accuracy == pytest.approx(0.80)
    assert counts.kappa == pytest.approx((0.80 - 0.50) / 0.50)  # chance: .6 * .5 + .4 * .5
    assert counts.bias == pytest.approx(0.10)
    assert [counts.sensitivity, counts.specificity] == pytest.approx([0.9, 0.7])


def test_kappa_is_that_of_cohens_own_example() -> None:
    """Of 200 cases, two judges of two categories: 1960, by hand as there."""
    counts = Confusion(88, 14, 18, 80)
    chance = (102 * 106 + 98 * 94) / 200**2
    assert counts.kappa == pytest.approx((0.84 - chance) / (1 - chance))
    assert Confusion(10, 0, 0, 0).kappa == 0.0


def test_a_share_is_corrected_as_rogan_and_gladen_do() -> None:
    found = rogan_gladen(62, 100, labels=Confusion(45, 15, 5, 35))
    assert found.mean == pytest.approx((0.62 + 0.7 - 1) / (0.9 + 0.7 - 1))
    assert found.low < found.mean < found.high


def test_a_judge_that_tells_nothing_corrects_nothing() -> None:
    with pytest.raises(ChunkwiseError, match="no better than chance"):
        rogan_gladen(62, 100, labels=Confusion(25, 25, 25, 25))
    blind = calibration(25, 25, 25, 25)
    assert blind.corrected(judged([1.0, 0.0] * 50)) is None
    assert "no better than chance" in " ".join(blind.warnings)


def test_shares_of_nothing_are_refused() -> None:
    with pytest.raises(ChunkwiseError, match="3 good ones of 0 answers"):
        rogan_gladen(3, 0, labels=Confusion(45, 15, 5, 35))
    with pytest.raises(ChunkwiseError, match="label two at least"):
        prediction_powered([True], [1.0], others=[1.0])


def test_labels_that_the_judge_does_not_explain_are_left_as_they_are() -> None:
    good = [True, False] * 50
    found = prediction_powered(good, [0.0, 0.0, 1.0, 1.0] * 25, others=[1.0] * 300)
    assert found.mean == pytest.approx(0.5)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    held = {"rogan_gladen": 0, "prediction_powered": 0, "mean": 0}
    for _ in range(400):
        good, rest = rng.random(60) < 0.7, rng.random(200) < 0.7
        labelled, others = (
            np.where(some, rng.random(len(some)) < 0.9, rng.random(len(some)) < 0.3) for some in (good, rest)
        )
        counts = Confusion(
            *(int(some.sum()) for some in (labelled & good, labelled & ~good, ~labelled & good, ~labelled & ~good))
        )
        found = {
            "rogan_gladen": rogan_gladen(int(others.sum()), 200, labels=counts),
            "prediction_powered": prediction_powered(
                good.tolist(), labelled.astype(float).tolist(), others=others.astype(float).tolist()
            ),
            "mean": mean_interval(good.astype(float), resamples=1000),
        }
        for name, interval in found.items():
            held[name] += interval.low <= 0.7 <= interval.high
    assert all(times >= 0.92 * 400 for times in held.values()), held


def test_good_answers_alone_leave_doubt() -> None:
    found = mean_interval([1.0] * 20)
    assert (found.mean, found.high) == (1.0, 1.0)
    assert 0.75 < found.low < 0.92
    with pytest.raises(ChunkwiseError, match="from 0 to 1"):
        mean_interval([1.5])
    with pytest.raises(ChunkwiseError, match="at least one"):
        mean_interval([])


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((40, 2, 3, 2), "Too few labels: 4 of bad answers"),
        ((40, 3, 3, 20), "Few labels: 43 of good answers"),
        ((60, 30, 2, 60), "The judge calls more answers good than people do."),
        ((60, 2, 30, 60), "The judge calls fewer answers good than people do."),
    ],
)
def test_what_forbids_to_trust_a_judge_is_told(counts: tuple[int, int, int, int], told: str) -> None:
    assert told in " ".join(calibration(*counts).warnings)


def test_too_few_labels_correct_nothing() -> None:
    found = calibration(40, 2, 3, 2)
    assert found.corrected(judged([1.0, 0.0] * 50)) is None
    assert found.powered(judged([1.0, 0.0] * 50)) is None
    assert calibration_table(found, judged([1.0])).count("not known") == 2


def test_enough_labels_correct_the_mean_and_a_table_tells_all() -> None:
    found, means = calibration(45, 15, 5, 35), judged([1.0] * 62 + [0.5] * 38)
    corrected, powered = found.corrected(means), found.powered(means)
    assert corrected is not None
    assert powered is not None
    assert corrected.mean == pytest.approx(0.5333, abs=1e-4)
    assert powered.high - powered.low < corrected.high - corrected.low
    shown = calibration_table(found, means)
    assert "Cohen's kappa   0.60 [" in shown
    assert "too much praise 10.0 [" in shown
    assert "if it errs as often as on the labels: 53.3 [" in shown


def test_labels_that_are_no_random_draw_give_no_share_by_themselves() -> None:
    found = calibration(45, 15, 5, 35)
    assert found.powered(judged([1.0] * 60 + [0.5] * 40)) is not None
    assert found.powered(judged([1.0] * 98 + [0.5] * 2)) is None
    assert found.corrected(judged([1.0] * 98 + [0.5] * 2)) is not None


def test_a_judge_is_held_against_labels_with_the_passages_that_people_saw() -> None:
    seen, good, bad = ("The valve opens at 3.5 bar.",), "The valve opens at 3.5 bar.", "The valve opens at 9 bar."
    labelled = [
        Labelled(query(), response(good), True, seen),
        Labelled(query(), response(bad), False, seen),
        Labelled(query(), response(bad), True, seen),
        Labelled(query(), response(good), True),
        Labelled(query(), Response(), True),
    ]
    found = calibrated(labelled, Heuristic(), hits={"q": hits("Cats eat fish.")})
    assert found.confusion == Confusion(both=1, judge_only=0, people_only=2, neither=1)
    assert "the HEURISTIC against 4 labels" in calibration_table(found)
    with pytest.raises(ChunkwiseError, match="no hits of question 'q', and no `passages`"):
        calibrated(labelled, Heuristic(), hits={})
    with pytest.raises(ChunkwiseError, match="no labelled answer could be judged"):
        calibrated(labelled, Heuristic(), hits={"q": ()}, aspect="relevance")
