"""TREC files: what is written is read back, and other programs read it, too."""

from __future__ import annotations

from dataclasses import replace

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Chunk, Document, Hit, Span
from chunkwise.evaluate.measures import MAP, MRR, STANDARD, Recall, nDCG
from chunkwise.evaluate.trec import gold_lines, qrels_lines, read_qrels, read_run, run_lines
from unit.questions import hits, question

ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
spans = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda ends: Span(min(ends), max(ends))),
    min_size=1,
    max_size=3,
)
TEXT = "The notice period is three months. It starts when the letter arrives."


@given(st.lists(st.tuples(ids, spans), max_size=5, unique_by=repr))
def test_a_run_tells_which_text_was_found(places: list[tuple[str, list[Span]]]) -> None:
    found = [Hit(Chunk(id, tuple(some), ""), 1 / rank, rank, ()) for rank, (id, some) in enumerate(places, 1)]
    read = read_run(run_lines({"q": found}) if found else [])
    assert [(hit.chunk.document_id, hit.chunk.spans, hit.score, hit.rank) for hit in read.get("q", [])] == [
        (hit.chunk.document_id, hit.chunk.spans, hit.score, hit.rank) for hit in found
    ]


def test_metrics_of_a_run_that_was_written_and_read_are_the_same() -> None:
    document = Document.from_text(TEXT, id="a lease: part 1.md")
    query = question(("a lease: part 1.md", 0, 34))
    places = [("a lease: part 1.md", 35, 69), ("a lease: part 1.md", 0, 34)]
    found = [replace(hit, chunk=replace(hit.chunk, text=hit.chunk.body.slice(TEXT))) for hit in hits(*places)]
    read = read_run(run_lines({"q": found}), [document])["q"]
    assert [hit.chunk.text for hit in read] == [hit.chunk.text for hit in found]
    assert [one(query, read) for one in STANDARD] == [one(query, found) for one in STANDARD]


def test_a_name_can_be_read_by_a_person() -> None:
    assert [*run_lines({"q": hits(("report über.md", 5, 9))})] == ["q Q0 report%20über.md:5-9 1 1.0 chunkwise"]


def test_an_order_that_scores_do_not_tell_is_written_as_a_count() -> None:
    found = [
        replace(hit, score=score)
        for hit, score in zip(hits(("a", 0, 1), ("a", 1, 2), ("a", 2, 3)), (0.5, 0.9, 0.9), strict=True)
    ]
    assert [line.split()[2:5] for line in run_lines({"q": found})] == [
        ["a:0-1", "1", "3.0"],
        ["a:1-2", "2", "2.0"],
        ["a:2-3", "3", "1.0"],
    ]
    # Apart in float64, the same in float32, in which trec_eval sorts.
    close = [replace(hit, score=score) for hit, score in zip(found, (1.0, 1.0 - 1e-12, 0.5), strict=True)]
    assert [line.split()[4] for line in run_lines({"q": close})] == ["3.0", "2.0", "1.0"]


def test_of_the_hits_of_one_document_the_best_is_written() -> None:
    lines = run_lines({"q": hits(("a", 0, 5), ("b", 0, 5), ("a", 5, 9))}, unit="document", tag="mine")
    assert [*lines] == ["q Q0 a 1 1.0 mine", "q Q0 b 2 0.5 mine"]


def test_evidence_is_read_back_with_its_slots_and_alternatives() -> None:
    query = question([("a", 0, 5), ("b c", 7, 9)], ("a", 3, 8), ("a", 3, 8))
    assert [*gold_lines([query])] == ["q 1 a:0-5 1", "q 1 b%20c:7-9 1", "q 2 a:3-8 1", "q 3 a:3-8 1"]
    assert read_qrels(gold_lines([query])) == {"q": query.evidence}


place = st.tuples(ids, st.integers(0, 99), st.integers(1, 99)).map(lambda drawn: (*drawn[:2], drawn[1] + drawn[2]))


@given(st.lists(st.lists(place, min_size=1, max_size=3), min_size=1, max_size=3))
def test_any_evidence_is_read_back(slots: list[list[tuple[str, int, int]]]) -> None:
    query = question(*slots)
    assert read_qrels(gold_lines([query])) == {"q": query.evidence}


def test_qrels_of_others_make_each_relevant_document_a_slot() -> None:
    documents = [Document.from_text("x" * 9, id="d1"), Document.from_text("y" * 5, id="d2")]
    lines = ["q 0 d1 2", "q 0 d2 1", "q 0 d3 0", "", "r 0 d2 -1"]
    assert read_qrels(lines, documents) == {"q": question(("d1", 0, 9), ("d2", 0, 5)).evidence}


def test_relevant_chunks_are_those_that_metrics_count() -> None:
    chunks = [hit.chunk for hit in hits(("a", 0, 100), ("a", 100, 200), ("a", 200, 300), ("b", 0, 100))]
    query = question(("a", 90, 130), ("b", 20, 30))
    assert [*qrels_lines([query], chunks)] == ["q 0 a:100-200 1", "q 0 b:0-100 1"]
    assert [*qrels_lines([query], chunks, unit="document")] == ["q 0 a 1", "q 0 b 1"]
    found = [Hit(chunk, 1 / rank, rank, ()) for rank, chunk in enumerate(chunks, 1)]
    wanted = {ir_measures.RR: MRR, ir_measures.AP: MAP}
    theirs = ir_measures.calc_aggregate(
        [*wanted],
        [*ir_measures.read_trec_qrels("\n".join(qrels_lines([query], chunks)))],
        [*ir_measures.read_trec_run("\n".join(run_lines({"q": found})))],
    )
    assert {their: our(query, found) for their, our in wanted.items()} == pytest.approx(theirs)


def test_hits_in_reading_order_keep_their_ranks() -> None:
    found = hits(("b", 0, 5), ("a", 0, 5))
    query = question(("a", 0, 5))
    read = read_run(run_lines({"q": found[::-1]}))["q"]
    assert [nDCG(query, some) for some in (read, found)] == [nDCG(query, found)] * 2
    assert (Recall @ 1)(query, read) == 0


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["q Q0 a:0-5 1 0.5"], "line 1 has 5 columns, not 6"),
        (["q Q0 a:0-5 1 high tag"], "line 1: 'high' is no number"),
        (["", "q Q0 a 1 0.5 tag"], "line 2: 'a' names no place such as a:0-120"),
    ],
)
def test_a_line_that_is_no_run_is_named(lines: list[str], told: str) -> None:
    with pytest.raises(ChunkwiseError, match=told):
        read_run(lines)


@pytest.mark.parametrize("id", ["", "two words", "tab\tbed"])
def test_an_id_that_the_format_cannot_hold_is_refused(id: str) -> None:
    with pytest.raises(ChunkwiseError, match="give it another id"):
        [*run_lines({id: []})]
