"""How the frontier spends a budget, marks what is sure, and draws it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from chunkwise import Chunk, Evidence, Hit, Query, Span
from chunkwise.embed import custom_encoder

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    import frontier

    yield frontier
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(str(sys.modules[name].__file__)).parent == BENCH:
            del sys.modules[name]


class Fixed:
    """An index that finds the same chunks for every question."""

    def __init__(self, *texts: str) -> None:
        self.text = "".join(texts)
        edges = [0]
        for text in texts:
            edges.append(edges[-1] + len(text))
        chunks = [Chunk("d", (Span(a, b),), self.text[a:b]) for a, b in pairwise(edges)]
        self.hits = [Hit(chunk, 1 / rank, rank, ()) for rank, chunk in enumerate(chunks, 1)]

    def search(self, _query: str, *, k: int, mode: str) -> list[Hit]:
        return self.hits[:k]


def test_a_hit_that_does_not_fit_is_passed_over_for_smaller_ones(bench: Any) -> None:
    index = Fixed(" one" * 60, " two" * 60, " six" * 30)
    found = bench.METHODS[0].find(index, "?", 100)
    assert found == [("d", Span(0, 240)), ("d", Span(480, 600))]


def test_what_is_left_of_a_budget_is_not_spent_on_scraps(bench: Any) -> None:
    index = Fixed(" one" * 98, " two" * 2)
    assert bench.METHODS[0].find(index, "?", 100) == [("d", Span(0, 392))]
    assert len(bench.METHODS[0].find(index, "another", 110)) == 2


def test_a_repeated_header_is_returned_and_paid_for(bench: Any) -> None:
    index = Fixed(" one" * 60)
    chunk = Chunk("d", (Span(0, 40), Span(80, 120)), " one" * 20)
    index.hits = [Hit(chunk, 1, 1, ())]
    assert bench.METHODS[0].find(index, "?", 20) == [("d", Span(0, 40)), ("d", Span(80, 120))]
    assert bench.METHODS[0].find(index, "?", 19) == []


def test_methods_that_spend_too_much_are_stopped(bench: Any) -> None:
    method = bench.Method("greedy", "fixed()", lambda _index, _question, _budget: [("d", Span(0, 3000))])
    question = _question(Span(0, 4))
    with pytest.raises(SystemExit, match="greedy returns"):
        bench.asked(None, {"d": " one" * 750}, method, question)


def test_scores_are_those_of_each_budget(bench: Any) -> None:
    index = Fixed(" one" * 150, " two" * 300)
    question = _question(Span(0, 300), Span(600, 900))
    scores = bench.asked(index, {"d": index.text}, bench.METHODS[0], question)
    assert [row[0] for row in scores] == [0, 0.5, 0.5, 1, 1, 1, 1]
    assert scores[1] == (0.5, 0.5, 300 / 900, 150)
    assert scores[3] == (1, 600 / 1800, 600 / 1800, 450)


def result(bench: Any, method: Any, recalls: list[float]) -> Any:
    many = [recalls for _ in bench.BUDGETS]
    fingerprint = bench.minilm().fingerprint
    return bench.Result(
        "chroma",
        method.name,
        *method.indexed,
        fingerprint,
        bench.BUDGETS,
        3,
        0.1,
        many,
        many,
        many,
        [[1] * len(recalls)],
    )


def test_what_was_measured_is_found_again_until_the_method_changes(bench: Any, tmp_path: Path) -> None:
    method = bench.METHODS[0]
    kept = result(bench, method, [0.0, 1.0])
    bench.keep(tmp_path, kept)
    assert bench.stored(tmp_path, "chroma", method) == kept
    assert bench.stored(tmp_path, "qmsum", method) is None
    other = bench.Method(method.name, "recursive(size=150)", method.find)
    assert bench.stored(tmp_path, "chroma", other) is None


def test_only_differences_clear_of_zero_are_marked_and_the_picture_is_well_formed(bench: Any) -> None:
    base, better, same = bench.METHODS[:3]
    results = {
        base.name: result(bench, base, [0.0, 0.5] * 30),
        better.name: result(bench, better, [0.5, 0.5] * 30),
        same.name: result(bench, same, [0.5, 0.0] * 30),
    }
    tables = bench.frontier_page.tables({"chroma": results})
    page = bench.frontier_page.page(tables, {"chroma": results})
    rows = [line for line in page.splitlines() if line.startswith("|") and line.count("±") == len(bench.BUDGETS)]
    assert [row.count("▲") for row in rows] == [0, len(bench.BUDGETS), 0]
    assert f"| **{base.name}** | 25.0 ±" in rows[0]
    picture = bench.frontier_plot.drawn(tables)
    assert len(ElementTree.fromstring(picture).findall(".//{*}polygon")) == 1


def test_a_text_over_the_limit_has_the_mean_of_its_halves(bench: Any) -> None:
    from unit.hashing import HashingEncoder

    inner = custom_encoder("hashing", HashingEncoder())
    pooled = sys.modules["frontier_methods"].Pooled(inner)
    short, long = "a few words", "pump " * inner.max_tokens
    assert pooled([short], role="passage") == pytest.approx(inner([short], role="passage"))
    assert pooled([short, long], role="passage").shape == (2, inner.dim)
    half = inner(["pump " * (inner.max_tokens // 2)], role="passage")
    assert pooled([long], role="passage") == pytest.approx(half, abs=1e-6)


def _question(*gold: Span) -> Query:
    return Query("1", "?", tuple((Evidence("d", span),) for span in gold))
