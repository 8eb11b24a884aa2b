"""The gate: a regression beyond noise is told, with the questions that broke; noise is not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from chunkwise import ChunkwiseError, Evidence, Query, Span
from chunkwise.core.config import Config
from chunkwise.evaluate.costs import Costs
from chunkwise.evaluate.gate import Gated, gate
from chunkwise.evaluate.result_files import Baseline, read_baseline, result_fields
from chunkwise.evaluate.results import Corpus, Evaluation, Outcome

METRIC = "Recall @ tokens(800)"


def results(scores: Mapping[str, Sequence[float]], *, metric: str = METRIC, first: int = 0) -> Evaluation:
    n = len(next(iter(scores.values())))
    evidence = ((Evidence("a", Span(0, 9)),),)
    return Evaluation(
        queries=tuple(Query(f"q{i}", f"Question {i}?", evidence) for i in range(first, first + n)),
        outcomes=tuple(
            Outcome(Config(recipe), {metric: tuple(values)}, {800: tuple(values)}, ((),) * n, Costs(vectors=9))
            for recipe, values in scores.items()
        ),
        corpus=Corpus(1, 100, "beef"),
        metric=metric,
        tokens=800,
        tokenizer="cl100k_base",
        encoder="all-MiniLM-L6-v2",
    )


def kept(found: Evaluation, folder: Path) -> Baseline:
    file = folder / "results.json"
    file.write_text(json.dumps(result_fields(found)))
    return read_baseline(file)


def gated(before: Sequence[float], now: Sequence[float], folder: Path) -> Gated:
    (one,) = gate(results({"fixed()": now}), kept(results({"fixed()": before}), folder))
    return one


def test_a_regression_names_the_questions_that_broke_the_worst_first(tmp_path: Path) -> None:
    now = [1.0] * 80 + [0.5] * 10 + [0.0] * 10
    one = gated([1.0] * 100, now, tmp_path)
    assert one.is_regression
    assert one.difference.mean == pytest.approx(-0.15)
    assert [change.id for change in one.broken[:2]] == ["q90", "q91"]
    assert one.broken[0][2:] == (1.0, 0.0)
    assert len(one.broken) == 20
    assert "worse by more than chance, -15.0 points" in one.verdict
    assert "20 of 100 questions score less, 0 more" in one.verdict


def test_what_chance_could_do_is_no_regression(tmp_path: Path) -> None:
    before = [1.0] * 50 + [0.0] * 50
    one = gated(before, [0.0] * 2 + before[2:-1] + [1.0], tmp_path)
    assert one.difference.mean < 0
    assert not one.is_regression
    assert len(one.broken) == 2
    assert "no more than chance" in one.verdict


def test_what_is_as_before_says_so_and_what_is_better_does(tmp_path: Path) -> None:
    same = gated([1.0, 0.5] * 20, [1.0, 0.5] * 20, tmp_path)
    assert (same.is_regression, same.changes) == (False, ())
    assert "as before, on 40 questions" in same.verdict
    better = gated([0.0] * 40, [1.0] * 40, tmp_path)
    assert "better, +100.0 points" in better.verdict


def test_four_questions_tell_nothing(tmp_path: Path) -> None:
    one = gated([1.0] * 4, [0.0] * 4, tmp_path)
    assert not one.is_regression
    assert "that few questions can tell nothing" in one.verdict


def test_only_questions_that_both_were_asked_count(tmp_path: Path) -> None:
    before = kept(results({"fixed()": [1.0] * 30}), tmp_path)
    (one,) = gate(results({"fixed()": [0.0] * 30}, first=20), before)
    assert one.n_shared == 10
    assert [change.id for change in one.broken] == [f"q{i}" for i in range(20, 30)]


def test_a_config_is_compared_with_itself_and_a_single_one_with_what_it_replaces(tmp_path: Path) -> None:
    before = kept(results({"fixed()": [1.0] * 30, "pages()": [0.5] * 30}), tmp_path)
    now = results({"pages()": [0.5] * 30, "rows()": [0.0] * 30, "fixed()": [0.0] * 30})
    assert [(one.label, one.is_regression) for one in gate(now, before)] == [("pages()", False), ("fixed()", True)]
    (one,) = gate(results({"rows()": [0.0] * 30}), kept(results({"fixed()": [1.0] * 30}), tmp_path))
    assert (one.label, one.before, one.is_regression) == ("rows()", "fixed()", True)
    assert "rows(), before fixed()" in one.verdict


def test_with_more_configs_each_must_be_clearer(tmp_path: Path) -> None:
    before, now = [1.0] * 60, [1.0] * 53 + [0.0] * 7
    assert gated(before, now, tmp_path).is_regression
    names = [f"fixed(size={size})" for size in range(100, 1100)]
    many = gate(results(dict.fromkeys(names, now)), kept(results(dict.fromkeys(names, before)), tmp_path))
    assert not any(one.is_regression for one in many)


@pytest.mark.parametrize(
    ("now", "match"),
    [
        (results({"fixed()": [1.0]}, metric="Recall @ tokens(400)"), "has Recall @ tokens\\(800\\), this run"),
        (results({"fixed()": [1.0]}, first=50), "has no question in common"),
        (results({"rows()": [1.0], "json()": [1.0]}), "has no config in common with this; it has fixed\\(\\)"),
    ],
)
def test_runs_that_can_not_be_compared_are_refused(now: Evaluation, match: str, tmp_path: Path) -> None:
    with pytest.raises(ChunkwiseError, match=match):
        gate(now, kept(results({"fixed()": [1.0]}), tmp_path))


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"results": 1}', '{"results": 99}', "\x00"])
def test_a_file_that_holds_no_results_is_one_clear_line(text: str, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(text)
    with pytest.raises(ChunkwiseError, match=r"results\.json is "):
        read_baseline(file)
    with pytest.raises(ChunkwiseError, match="No such file"):
        read_baseline(tmp_path / "gone.json")


def test_the_file_holds_all_that_was_found() -> None:
    found = results({"fixed()": [1.0, 0.5], "rows()": [0.0, 0.5]})
    json.dumps(result_fields(found), allow_nan=False)  # two questions tell no interval
    told = json.loads(json.dumps(result_fields(found)))
    assert [config["label"] for config in told["configs"]] == ["fixed()", "rows()"]
    assert told["configs"][1]["scores"][METRIC] == [0.0, 0.5]
    assert told["configs"][0]["recall_at"] == {"800": [1.0, 0.5]}
    assert told["queries"][0]["evidence"] == [[["a", 0, 9]]]
    assert told["verdict"] == found.comparison.verdict
    (difference,) = told["differences"]
    assert difference["mean"] == found.comparison.differences["fixed()", "rows()"].mean
