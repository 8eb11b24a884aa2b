"""Metrics as values: by hand-computed figures, by the formulas they are from, and by what ir_measures says."""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Sequence
from dataclasses import replace

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import ChunkwiseError, RecipeError
from chunkwise.core.types import Chunk, Hit, Query, Span
from chunkwise.evaluate.measures import (
    MAP,
    METRICS,
    MRR,
    STANDARD,
    HitRate,
    IoU,
    Measure,
    Precision,
    Recall,
    Tokens,
    kept,
    metric,
    nDCG,
    parse_metric,
    scores,
    tokens,
)
from chunkwise.evaluate.trec import qrels_lines, run_lines
from unit.questions import At, hits, question

places = st.tuples(st.sampled_from("ab"), st.integers(0, 40), st.integers(1, 12)).map(
    lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
)
slots = st.lists(places, min_size=1, max_size=3)
QUERIES = st.lists(slots, min_size=1, max_size=4).map(lambda drawn: question(*drawn))
FOUND = st.lists(places, max_size=6).map(lambda drawn: hits(*drawn))


@pytest.mark.parametrize("one", [*STANDARD, Recall, MRR, Recall @ tokens(300, tokenizer="words")])
def test_a_metric_prints_as_it_parses(one: Measure) -> None:
    assert parse_metric(repr(one)) == one
    assert eval(repr(one), {**METRICS, "tokens": tokens}) == one
    assert pickle.loads(pickle.dumps(one)) == one


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("recall@tokens(800)", "Recall @ tokens(800)"),
        ("ndcg@10", "nDCG @ 10"),
        ("hit_rate @ 5", "HitRate @ 5"),
        ("Hit @ 5", "HitRate @ 5"),
        (" mrr ", "MRR"),
        ("IoU @ tokens(90, tokenizer='o200k_base')", "IoU @ tokens(90, tokenizer='o200k_base')"),
        ("IoU @ tokens(90, tokenizer='cl100k_base')", "IoU @ tokens(90)"),
    ],
)
def test_a_metric_is_read_as_people_write_it(written: str, printed: str) -> None:
    assert repr(parse_metric(written)) == printed


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("recal @ 5", "did you mean 'recall'"),
        ("Recall @", "can't read the metric"),
        ("Recall @ 0", "can't read '0' after @"),
        ("Recall @ True", "can't read 'True' after @"),
        ("Recall @ -5", "can't read '-5' after @"),
        ("Recall @ 0.5", "after @"),
        ("Recall @ tokens(0)", "at least 1"),
        ("Recall @ tokens()", "after @"),
        ("Recall @ tokens(5, 6)", "after @"),
        ("Recall @ tokens(5, tokenizer='none')", "no tokenizer 'none'"),
        ("Recall @ tokens(5, tokenizer=5)", "must be a name"),
        ("Recall @ print(5)", "after @"),
        ("f(5) @ 5", "as the name of a metric"),
        ("(" * 500, "can't read the metric"),
    ],
)
def test_what_is_no_metric_is_refused_with_the_part_that_is_wrong(written: str, told: str) -> None:
    with pytest.raises(RecipeError, match=".*".join(map(_literal, [told]))):
        parse_metric(written)


def _literal(text: str) -> str:
    return "".join(f"\\{one}" if one in "()[]?.@" else one for one in text)


@pytest.mark.parametrize("cutoff", [0, -1, True, 2.5, "5"])
def test_a_cutoff_that_is_none_is_refused_in_python_too(cutoff: int) -> None:
    with pytest.raises(RecipeError, match="at a number of hits or of tokens"):
        Recall @ cutoff


def test_recall_precision_and_iou_are_those_of_the_report_that_they_are_from() -> None:
    query = question(("a", 10, 30), ("b", 0, 20))
    # Of 60 returned characters 10 are returned twice; 20 are gold: 10 of a, 10 of b.
    found = hits(("a", 0, 20), ("a", 10, 20), ("b", 10, 40))
    assert Recall(query, found) == 20 / 40
    assert Precision(query, found) == 20 / 60
    assert IoU(query, found) == 20 / (60 + 20)
    assert (Recall @ 1)(query, found) == 10 / 40
    assert (Precision @ 1)(query, found) == 10 / 20
    assert (IoU @ 1)(query, found) == 10 / (20 + 30)


@given(places, places, st.lists(places, max_size=6))
def test_they_are_the_sums_of_ranges_of_the_code_of_that_report(one: At, other: At, found: list[At]) -> None:
    gold = [one, (f"{other[0]}2", *other[1:])]  # references do not overlap there
    returned, want = (
        [{(id, at) for id, *ends in [place] for at in range(*ends)} for place in some] for some in (found, gold)
    )
    highlights = set().union(*want)
    used = highlights & set().union(*returned)
    n_returned, n_references = sum(map(len, returned)), sum(map(len, want))
    query, results = question(*gold), hits(*found)
    assert Recall(query, results) == pytest.approx(len(used) / n_references)
    assert Precision(query, results) == (len(used) / n_returned if n_returned else 0)
    assert IoU(query, results) == len(used) / (n_returned + len(highlights - used))


def test_a_slot_is_filled_by_the_alternative_of_which_most_was_found() -> None:
    query = question([("a", 0, 100), ("b", 0, 20)], ("c", 0, 60))
    assert Recall(query, hits(("a", 0, 50))) == pytest.approx(20 * 0.5 / 80)
    assert Recall(query, hits(("a", 0, 50), ("b", 0, 20))) == pytest.approx(20 / 80)
    assert Recall(query, hits(("a", 0, 100), ("c", 0, 60))) == 1
    # The second alternative says nothing new, and is paid for.
    assert Precision(query, hits(("a", 0, 100), ("b", 0, 20))) == 20 / 120
    assert IoU(query, hits(("a", 0, 100))) == 100 / (100 + 60)


@given(QUERIES, FOUND, places)
def test_another_hit_never_lowers_what_was_found(query: Query, found: list[Hit], more: At) -> None:
    longer = [*found, replace(hits(more)[0], rank=len(found) + 1)]
    for one in (Recall, HitRate, MRR, MAP, nDCG):
        assert one(query, longer) >= one(query, found) - 1e-12


@given(QUERIES, FOUND)
def test_every_metric_is_between_none_and_all(query: Query, found: list[Hit]) -> None:
    for one in METRICS.values():
        for cut in (one, one @ 1, one @ 3, one @ tokens(9, tokenizer="characters")):
            assert 0 <= cut(query, found) <= (1 + 1e-12 if one is not Tokens else math.inf)


@given(slots)
def test_the_evidence_itself_first_scores_all(gold: list[At]) -> None:
    query = question(*((f"{id}{i}", start, end) for i, (id, start, end) in enumerate(gold)))
    found = hits(*((one.document_id, *one.span) for (one,) in query.evidence))
    assert Recall(query, found) == pytest.approx(1)
    assert nDCG(query, found) == pytest.approx(1)
    assert MRR(query, found) == MAP(query, found) == HitRate(query, found) == 1


def test_a_hit_that_holds_all_evidence_is_ranked_perfectly() -> None:
    query = question(("a", 0, 10), ("a", 20, 30), ("a", 40, 50))
    for cutoff in (1, 2, 10):
        assert (nDCG @ cutoff)(query, hits(("a", 0, 50), ("b", 0, 9))) == 1
        assert (MAP @ cutoff)(query, hits(("a", 0, 50))) == 1


def test_the_gain_of_a_hit_is_the_share_of_a_slot_that_it_adds() -> None:
    query = question(("a", 0, 100), ("b", 0, 10))
    found = hits(("c", 0, 9), ("a", 0, 60), ("a", 30, 60), ("a", 50, 100))
    gain = 0.6 / math.log2(3) + 0.4 / math.log2(5)  # the third hit repeats
    assert nDCG(query, found) == pytest.approx(gain / (1 + 1 / math.log2(3)))
    assert (nDCG @ 2)(query, found) == pytest.approx(0.6 / math.log2(3) / (1 + 1 / math.log2(3)))


@pytest.mark.parametrize(
    ("place", "relevant"),
    [
        (("a", 100, 200), True),  # the evidence
        (("a", 0, 150), True),  # half of it
        (("a", 0, 149), False),
        (("a", 180, 220), True),  # half of the hit is evidence
        (("a", 181, 220), False),
        (("a", 120, 130), True),  # within it
        (("b", 100, 200), False),
        (("a", 0, 100), False),
    ],
)
def test_a_hit_is_relevant_if_half_of_it_or_of_the_evidence_is_shared(place: At, relevant: bool) -> None:
    query = question(("a", 100, 200))
    assert HitRate(query, hits(place)) == relevant
    assert MRR(query, hits(("c", 0, 5), place)) == relevant / 2


def test_what_rides_along_in_two_chunks_is_returned_twice() -> None:
    rows = [Chunk("a", (Span(0, 10), Span(start, start + 10)), "x" * 20) for start in (10, 20)]
    found = [Hit(chunk, 1.0, rank, ()) for rank, chunk in enumerate(rows, 1)]
    query = question(("a", 0, 20))
    assert (Recall(query, found), Precision(query, found)) == (1, 20 / 40)


def test_hits_count_by_rank_in_whatever_order_they_come() -> None:
    query = question(("a", 0, 10))
    found = hits(("b", 0, 10), ("a", 0, 10))
    assert (Recall @ 1)(query, found[::-1]) == (Recall @ 1)(query, found) == 0
    assert MRR(query, found[::-1]) == 0.5


def test_a_budget_passes_over_what_does_not_fit_and_counts_no_special_tokens() -> None:
    found = hits(("a", 0, 60), ("a", 60, 110), ("a", 110, 150))
    budget = tokens(100, tokenizer="characters")
    assert [hit.rank for hit in kept(found, budget)] == [1, 3]
    assert (Tokens @ budget)(question(("a", 0, 1)), found) == 100
    sentence = hits(("a", 0, 15), text="A short answer.")
    assert (Tokens @ tokens(99, tokenizer="all-MiniLM-L6-v2"))(question(("a", 0, 1)), sentence) == 4
    assert (Tokens @ 5)(question(("a", 0, 1)), sentence) == 4


def test_a_context_is_not_paid_for() -> None:
    chunk = Chunk("a", (Span(0, 3),), "One", context="A long context. " * 9)
    assert Tokens(question(("a", 0, 1)), [Hit(chunk, 1.0, 1, ())]) == 1


@pytest.mark.parametrize("one", [one for one in METRICS.values() if one is not Tokens])
@pytest.mark.parametrize("query", [question(), question(("a", 5, 5)), question(("a", 0, 5), [])])
def test_a_question_without_evidence_is_refused_by_name(one: Measure, query: Query) -> None:
    with pytest.raises(ChunkwiseError, match="'q' has no gold text"):
        one(query, hits(("a", 0, 5)))


def test_questions_for_which_nothing_was_found_score_too() -> None:
    queries = [question(("a", 0, 10), id="1"), question(("a", 0, 10), id="2")]
    assert scores([Recall @ 5, MRR], queries, {"1": hits(("a", 0, 10))}) == {"Recall @ 5": [1, 0], "MRR": [1, 0]}


def test_two_questions_of_one_id_and_none_are_refused() -> None:
    with pytest.raises(ChunkwiseError, match="two questions have the id 'q'"):
        scores([Recall], [question(("a", 0, 1)), question(("b", 0, 1))], {})
    with pytest.raises(ChunkwiseError, match="no questions"):
        scores([Recall], [], {})


def test_a_metric_of_ones_own_is_found_by_its_name() -> None:
    def half(_query: Query, found: Sequence[Hit], _cutoff: object) -> float:
        return len(found) / 2

    try:
        assert metric("Half", half)(question(("a", 0, 1)), hits(("a", 0, 1))) == 0.5
        assert parse_metric("half @ 3")(question(("a", 0, 1)), hits(*[("a", 0, 1)] * 5)) == 1.5
    finally:
        METRICS.pop("Half")


@pytest.mark.parametrize("seed", range(20))
def test_on_whole_documents_the_figures_are_those_of_ir_measures(seed: int) -> None:
    rng = random.Random(seed)
    ids = [f"d{i}" for i in range(30)]
    queries, found = [], {}
    for number in range(12):
        gold = rng.sample(ids, rng.randint(1, 12))
        queries.append(question(*((id, 0, 50) for id in gold), id=f"q{number}"))
        found[f"q{number}"] = hits(*((id, 0, 50) for id in rng.sample(ids, rng.randint(10, 30))))
    pairs = {
        ir_measures.nDCG @ 10: nDCG @ 10,
        ir_measures.nDCG: nDCG,
        ir_measures.RR: MRR,
        ir_measures.RR @ 3: MRR @ 3,
        ir_measures.AP: MAP,
        ir_measures.AP @ 10: MAP @ 10,
        ir_measures.Success @ 2: HitRate @ 2,
        ir_measures.R @ 5: Recall @ 5,
        ir_measures.P @ 5: Precision @ 5,
    }
    qrels = [*ir_measures.read_trec_qrels("\n".join(qrels_lines(queries, unit="document")))]
    run = [*ir_measures.read_trec_run("\n".join(run_lines(found, unit="document")))]
    theirs = {(one.query_id, one.measure): one.value for one in ir_measures.iter_calc([*pairs], qrels, run)}
    for their, our in pairs.items():
        for query in queries:
            assert our(query, found[query.id]) == pytest.approx(theirs[query.id, their]), (our, query.id)
