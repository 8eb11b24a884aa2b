"""Whether the bench of screening ranks as a search does, and counts what a choice loses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkwise.core.types import Document, Evidence, Query, Span
from chunkwise.evaluate.measures import Recall, tokens
from chunkwise.pipeline import Index, chunk, retriever
from chunkwise.retrieve.search import candidates
from unit.hashing import HashingEncoder

BENCH = Path(__file__).resolve().parents[2] / "bench"
WORDS = ("harbour", "crane", "tide", "cargo", "rope", "sail", "keel", "mast", "anchor", "deck", "pilot", "buoy", "fog")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCH))
    import screening

    yield screening
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(str(sys.modules[name].__file__)).parent == BENCH:
            del sys.modules[name]


def harbour() -> tuple[Document, list[Query]]:
    """A document of numbered sentences, and questions for two of them each."""
    rng = np.random.default_rng(5)
    sentences = [f"{' '.join(rng.choice(WORDS, 8))} {number}. " for number in range(300)]
    starts = np.cumsum([0, *map(len, sentences)]).tolist()
    one = Document.from_text("".join(sentences), id="harbour.txt")
    queries = []
    for at in range(0, 280, 7):
        slots = tuple((Evidence(one.id, Span(starts[n], starts[n + 1] - 1)),) for n in (at, at + 12))
        queries.append(Query(str(at), " ".join([*sentences[at].split()[:4], *sentences[at + 12].split()[:4]]), slots))
    return one, queries


@pytest.mark.parametrize("recipe", ["recursive(size=40)", "sentences(size=60) | overlap(ratio=0.4)"])
def test_the_recall_is_that_of_a_search_by_both(bench: Any, recipe: str) -> None:
    one, queries = harbour()
    encoder = HashingEncoder()
    index = Index("memory:", encoder=encoder)
    index.add_documents([one], recipe=recipe)
    scope = index.scope(retriever("hybrid()"), {})
    ranking = sys.modules["screening_ranking"]
    ranked = ranking.Ranked([(one, chunk(one, recipe, tokenizer=encoder.tokenizer))], queries)
    vectors = encoder([chunk.embed_text for chunk in ranked.chunks], role="passage")
    found = ranked.recall(vectors, encoder([query.text for query in queries], role="query"))
    for number, query in enumerate(queries):
        hits = candidates(retriever("hybrid()"), query.text, scope=scope, tokens=max(ranking.BUDGETS))
        own = [(Recall @ tokens(budget))(query, hits) for budget in ranking.BUDGETS]
        np.testing.assert_allclose(found[:, number], own, atol=1e-9)


def measured(bench: Any, real: Any, screened: Any, costs: Any) -> Any:
    """Recipes whose recall is given, at all budgets the same."""
    page = bench.screening_page
    tables = [np.repeat(np.asarray(table, float)[:, None, :], 7, axis=1) for table in (real, screened)]
    names = ["recursive(size=200)", "recursive(size=100)", "other"]
    return page.Measured("set", names, tables[0], {"static": tables[1]}, np.array(costs), {"static": 0.0})


def test_a_choice_that_is_screened_right_loses_nothing_and_a_wrong_one_what_it_is_behind(bench: Any) -> None:
    real = [[0.5] * 40, [0.7] * 40, [0.6] * 40]
    right = measured(bench, real, real, [1.0, 1.0, 1.0])
    assert bench.screening_page.loss(right, "static", splits=5, allowed=0).lost == pytest.approx(0)
    wrong = measured(bench, real, [real[1], real[0], real[2]], [1.0, 1.0, 1.0])
    assert bench.screening_page.loss(wrong, "static", splits=5, allowed=0).lost == pytest.approx(20)
    assert bench.screening_page.loss(wrong, None, splits=5).lost == pytest.approx(20)


def test_what_is_embedded_corrects_the_screen_as_far_as_it_is_paid_for(bench: Any) -> None:
    real, screened = [[0.5] * 40, [0.7] * 40, [0.6] * 40], [[0.9] * 40, [0.7] * 40, [0.8] * 40]
    two = bench.screening_page.loss(measured(bench, real, screened, [1.0, 1.0, 1.0]), "static", splits=5)
    assert (two.lost, two.passes) == (pytest.approx(10), pytest.approx(2.0))
    dear = bench.screening_page.loss(measured(bench, real, screened, [1.0, 1.0, 1.3]), "static", splits=5)
    assert (dear.lost, dear.passes) == (pytest.approx(0), pytest.approx(2.0))


def test_agreement_asks_only_pairs_that_are_told_apart_for_their_order(bench: Any) -> None:
    rng = np.random.default_rng(0)
    base = rng.random(200) < 0.5
    real = np.array([base, base, base | (rng.random(200) < 0.3)], float)
    real[1, 0] = 1 - real[1, 0]  # one question apart: no difference that could be told
    turned = np.array([real[1], real[0], real[2]])
    found = measured(bench, real, turned, [1.0, 1.0, 1.0])
    tau, apart, n = bench.screening_page.agreement(found, found.screened["static"], 800)
    assert (round(tau, 3), apart, n) == (0.333, 1.0, 2)
