"""Why evidence is missed: each cause on a hundred worlds in which it is known, and on indexes that are really made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.blaming import blame, blame_assembly
from chunkwise.core.errors import ChunkwiseError, StoreError
from chunkwise.core.types import Chunk, Document, Evidence, Query, Span
from chunkwise.evaluate.counterfactual import Indexed
from chunkwise.evaluate.misses import CAUSES, Blame, Cause, Miss, document_table, table
from chunkwise.pipeline import Index, retriever
from chunkwise.retrieve.assemble import LADDERS, Ladder
from chunkwise.retrieve.sentences import Sentences
from laws.strategies import documents
from unit.hashing import HashingEncoder
from unit.worlds import WORDS, Case, cases

N_CASES = 100

PUMPS = Document.from_text(
    "The red pump was built in 1962. It stands in the north hall. Its seal is replaced every six weeks by the fitter. "
    "Lamps are checked daily. The lamp in the yard is dim. Ladders are tied to the wall at night. "
    "The lease ends in May. Rent is due on the first of the month. Noise after ten is not allowed in the yard.",
    id="pumps",
)


def evidence(text: str, document: Document = PUMPS) -> tuple[Evidence, ...]:
    start = document.text.index(text)
    return (Evidence(document.id, Span(start, start + len(text))),)


def built(recipe: str, *documents: Document, url: str = "memory:") -> Index:
    index = Index(url, encoder=HashingEncoder(), cache=None)
    index.add_documents(documents or (PUMPS,), recipe=recipe)
    return index


@pytest.mark.parametrize("cause", CAUSES)
def test_the_cause_is_found_in_a_hundred_worlds_in_which_it_is_known(cause: Cause) -> None:
    told = [miss.cause for case in cases(cause, N_CASES) for miss in case.blamed().misses]
    assert told == [cause] * N_CASES


def unit_of(case: Case) -> Chunk:
    (one,), span = case.query.evidence[0], case.query.evidence[0][0].span
    text = span.slice(case.documents[0].text)
    return Chunk(one.document_id, (span,), text, token_count=WORDS.count(text), ordinal=7)


@pytest.mark.parametrize("cause", CAUSES)
def test_the_rank_alone_is_that_in_an_index_that_really_has_it(cause: Cause) -> None:
    for case in cases(cause, N_CASES):
        (miss,) = case.blamed().misses
        unit = unit_of(case)
        hits, ranked = case.search(case.query.text, case.scope([unit]))
        assert miss.rank_alone == next((hit.rank for hit in ranked if hit.chunk.id == unit.id), None)
        assert not miss.found_alone or any(hit.chunk.id == unit.id for hit in hits)


@pytest.mark.parametrize("url", ["memory:", "index"])
def test_a_unit_of_the_text_of_a_chunk_scores_what_the_chunk_scores(url: str, tmp_path: Path) -> None:
    index = built("sentences(max_sentences=1) | context(title=True)", url=url if ":" in url else str(tmp_path / url))
    scope = index.scope(retriever("hybrid()"), {})
    indexed = Indexed(scope.store, {})
    chunks = index.chunks("pumps")
    units = indexed.units(
        [Evidence("pumps", chunk.body) for chunk in chunks], {"pumps": PUMPS}, scope.encoder, index.embedding()[0]
    )
    asked = "When is the seal of the red, red pump replaced in the yard?"
    vector = scope.encoder([asked], role="query")[0]
    for unit, chunk in zip(units, chunks, strict=True):
        assert unit.chunk.id != chunk.id
        assert unit.chunk.embed_text == chunk.embed_text
        with_it = indexed.with_unit(unit)
        for scored in (with_it.nearest(vector, 99, {}), with_it.matching(asked, 99, {})):
            found = {one.id: score for one, score in scored}
            assert found.get(unit.chunk.id) == pytest.approx(found.get(chunk.id), abs=2e-5)
            if chunk.id in found:
                ids = [one.id for one, _ in scored]
                assert ids.index(unit.chunk.id) > ids.index(chunk.id), "it wins no tie"


FLAT = ["hybrid()", "hybrid(fusion='rrf')", "lexical()", "hybrid() | mmr()", "hybrid() | fold() | window()"]
FLAT += ["vector() | edges()", "hybrid() | two_stage()"]
OF_LEVELS = ["hybrid() | parent()", "hybrid() | auto_merge()"]


@pytest.mark.parametrize(
    ("recipe", "retrieval"),
    [
        *(("nest(40, 12)", retrieval) for retrieval in (*FLAT, *OF_LEVELS)),
        *(("fixed(size=9) | context(title=True)", retrieval) for retrieval in FLAT),
        *(("recursive(size=14) | overlap(tokens=3)", retrieval) for retrieval in FLAT),
    ],
)
def test_every_retrieval_can_be_blamed(recipe: str, retrieval: str) -> None:
    index = built(recipe)
    queries = [
        Query(
            "seal", "How often is the seal of the pump replaced?", (evidence("Its seal is replaced every six weeks"),)
        ),
        Query("rent", "When is rent due?", (evidence("Rent is due on the first of the month."),)),
        Query(
            "both", "Which pump and lamp?", (evidence("red pump was built in 1962"), evidence("The lamp in the yard"))
        ),
        Query("far", "Zebras?", (evidence("Ladders are tied to the wall"),)),
    ]
    for bound in ({"tokens": 20}, {"k": 1}):
        found = blame(index, queries, [PUMPS], retrieval=retrieval, **bound)  # type: ignore[arg-type]
        assert found.n_queries == 4
        assert any(miss.query_id == "far" for miss in found.misses)
        assert 0 <= found.recall < 1
        assert all(miss.proof for miss in found.misses)


def test_what_is_found_whole_is_no_miss_though_in_two_chunks() -> None:
    index = built("sentences(max_sentences=1)")
    two = Query("q", "pump north hall", (evidence("The red pump was built in 1962. It stands in the north hall. "),))
    assert blame(index, [two], [PUMPS], tokens=200).misses == ()
    assert blame(index, [two], [PUMPS], tokens=200).recall == 1


def test_evidence_is_tried_in_its_sentence_where_it_says_too_little_alone() -> None:
    """The question's words are in the sentence, not in the answer; the chunk that holds both says other things, too."""
    noise = " ".join(f"Gate {number} was painted by crew {number} at noon." for number in range(30))
    answer = "Every six weeks the seal of the turbine is replaced in the old manner."
    rivals = [Document.from_text(f"The seal of turbine {n} and lamp {n} hums at night.", id=f"r{n}") for n in range(5)]
    document = Document.from_text(f"{noise} {answer} {noise}", id="d")
    index = built("recursive(size=200)", document, *rivals)
    query = Query("q", "turbine seal replaced manner", (evidence("six weeks", document),))
    (found,) = blame(index, [query], [document, *rivals], k=2, retrieval="vector()").misses
    assert (found.cause, found.found_alone, found.rank_alone is None or found.rank_alone > 2) == (
        "diluted",
        False,
        True,
    )
    assert found.cut is not None
    assert found.cut.slice(document.text) == answer
    (alone,) = blame(index, [query], [document, *rivals], k=2, retrieval="vector()", widths=()).misses
    assert (alone.cause, alone.cut) == ("outranked", None)


def test_no_questions_and_equal_ids_are_no_trouble() -> None:
    index = built("fixed(size=9)")
    assert blame(index, [], [PUMPS], tokens=20).misses == ()
    twice = [Query("q", "Zebras?", (evidence("Ladders are tied"),)), Query("q", "Zebras?", (evidence("Rent is due"),))]
    assert blame(index, twice, [PUMPS], k=1).total().n_missed == 2


def test_a_slot_is_found_by_any_of_its_alternatives_and_missed_once() -> None:
    index = built("sentences(max_sentences=1)")
    either = (*evidence("Ladders are tied to the wall at night."), *evidence("Lamps are checked daily."))
    asked = Query("q", "Lamps checked daily?", (either,))
    assert blame(index, [asked], [PUMPS], k=1).misses == ()
    neither = Query("q", "Rent?", (either, evidence("Rent is due on the first of the month.")))
    found = blame(index, [neither], [PUMPS], k=1)
    assert len(found.misses) == 1
    assert found.total().recall == pytest.approx(38 / (38 + 38))


def test_the_loss_is_what_is_missing_of_the_evidence() -> None:
    index = built("fixed(size=8)")
    chunk = index.chunks("pumps")[0]
    half = Span(chunk.end - 10, chunk.end + 10)
    query = Query("q", chunk.text, ((Evidence("pumps", half),),))
    (miss,) = blame(index, [query], [PUMPS], k=1).misses
    assert (miss.n_holding, miss.rank) == (0, None)
    assert miss.lost == pytest.approx(0.5, abs=0.03)  # 10 of 20 characters; a blank at the cut may be in no chunk


def test_evidence_that_is_longer_than_the_encoder_takes_is_tried_as_well() -> None:
    class Short(HashingEncoder):
        max_tokens = 20

        def __call__(self, texts: Sequence[str], *, role: str) -> object:  # type: ignore[override]
            assert role == "query" or all(self.tokenizer.count(text) <= 20 for text in texts)
            return super().__call__(texts, role=role)  # type: ignore[arg-type]

    index = Index("memory:", encoder=Short(), cache=None)  # type: ignore[arg-type]
    index.add_documents([PUMPS], recipe="recursive(size=20)")
    query = Query("q", "lease rent noise", (evidence(PUMPS.text[100:]),))
    (miss,) = blame(index, [query], [PUMPS], k=2).misses
    assert miss.tokens > 20
    assert miss.rank_alone is not None


def miss(query_id: str, cause: Cause, lost: float, document_id: str = "a") -> Miss:
    return Miss(query_id, Evidence(document_id, Span(0, 9)), cause, lost, 0, None, 3, 9, Span(0, 9))


def test_totals_add_up_over_causes_and_over_documents() -> None:
    misses = (miss("1", "fragmented", 0.5), miss("1", "outranked", 0.5, "b"), miss("2", "diluted", 1.0, "b"))
    found = Blame("fixed(size=9)", "hybrid()", "800 tokens", 4, misses)
    assert found.recall == pytest.approx(0.5)
    assert sum(found.loss(cause).recall for cause in CAUSES) == pytest.approx(found.total().recall)
    assert found.winnable == pytest.approx(1.5 / 2)
    parts = found.by_document()
    assert list(parts) == ["b", "a"]
    assert sum(part.total().recall for part in parts.values()) == pytest.approx(found.total().recall)
    assert (found.total().n_missed, found.total().n_queries) == (3, 2)
    assert replace(found, misses=()).winnable == 0


def test_tables_show_recipes_and_documents_in_points_of_recall() -> None:
    found = Blame(
        "fixed(size=9)", "hybrid()", "800 tokens", 4, (miss("1", "fragmented", 0.5), miss("2", "outranked", 1))
    )
    assert table([found, found]).splitlines()[:2] == [
        "recipe         found  missed  fragmented  diluted  outranked  over budget  of the cut",
        "fixed(size=9)   62.5    37.5        12.5      0.0       25.0          0.0         33%",
    ]
    assert document_table(found).splitlines()[1].split() == ["a", "37.5", "12.5", "0.0", "25.0", "0.0", "33%"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (Query("7", "Why?"), "question '7' has no evidence"),
        (Query("7", "Why?", ((),)), "question '7' has no evidence"),
        (Query("7", "Why?", ((Evidence("no.md", Span(0, 5)),),)), "is no text of 'no.md'"),
        (Query("7", "Why?", ((Evidence("pumps", Span(0, 5000)),),)), "is no text of 'pumps'"),
        (Query("7", "Why?", ((Evidence("pumps", Span(3, 4)),),)), "is no text of 'pumps'"),
    ],
)
def test_a_question_that_nothing_can_be_said_of_is_refused(query: Query, words: str) -> None:
    with pytest.raises(ChunkwiseError, match=words):
        blame(built("fixed(size=9)"), [query], [PUMPS], tokens=20)


def test_what_bounds_the_hits_must_be_one_thing() -> None:
    query = Query("q", "Why?", (evidence("Lamps"),))
    for tokens, k in ((None, None), (9, 1), (None, 0), (0, None)):
        with pytest.raises(ChunkwiseError, match=r"tokens"):
            blame(built("fixed(size=9)"), [query], [PUMPS], tokens=tokens, k=k)
    with pytest.raises(StoreError, match="holds no chunks"):
        blame(Index("memory:", encoder=HashingEncoder()), [query], [PUMPS], tokens=9)


LADDER = "nest(60, base=structural(), sentences=True)"


def assembled(*queries: Query, tokens: int, document: Document = PUMPS, ladder: Ladder = LADDERS["fine"]) -> Blame:
    return blame_assembly(built(LADDER, document), queries, [document], tokens=tokens, ladder=ladder)


def test_assembled_evidence_that_is_bought_whole_is_no_miss() -> None:
    query = Query(
        "q", "How often is the seal replaced?", (evidence("Its seal is replaced every six weeks by the fitter"),)
    )
    assert assembled(query, tokens=40).misses == ()


def test_assembled_evidence_over_the_budget_is_told() -> None:
    (found,) = assembled(Query("q", "The seal?", (evidence(PUMPS.text),)), tokens=30).misses
    assert (found.cause, found.tokens > 30) == ("over budget", True)


def test_assembled_evidence_that_says_nothing_to_the_question_is_outranked() -> None:
    query = Query(
        "q", "How often is the seal of the pump replaced?", (evidence("Ladders are tied to the wall at night."),)
    )
    (found,) = assembled(query, tokens=20).misses
    assert (found.cause, found.found_alone) == ("outranked", False)
    assert found.rank is not None
    assert found.rank > 1


def test_assembled_evidence_that_a_stretch_of_its_own_would_win_is_the_cuts() -> None:
    """What answers stands in a stretch of other text, whose words are all that keeps it down."""
    noise = " ".join(f"Gate {n} was painted by a crew of the {n} yard." for n in range(40))
    answer = "Zinc seals hold steam."
    text = f"{noise} {answer} {noise} Zinc is mined. Steam is hot, and zinc melts. Seals swim. {noise}"
    document = Document.from_text(text, id="d")
    query = Query("q", "Which seals of zinc hold steam?", (evidence(answer, document),))
    ladder = Ladder((200, 400), sentence=0.0, neighbour=0.0, alpha=0.0)
    found = assembled(query, tokens=14, document=document, ladder=ladder).misses
    assert [(one.cause, one.found_alone, one.n_holding) for one in found] == [("diluted", True, 2)]
    assert found[0].rank_alone == 1


@given(
    document=documents,
    sizes=st.sets(st.sampled_from([20, 40, 80]), min_size=1),
    cuts=st.tuples(st.integers(0, 60), st.integers(1, 9)),
)
def test_a_parted_stretch_is_one_of_its_own_and_the_rest_stays(
    document: Document, sizes: set[int], cuts: tuple[int, int]
) -> None:
    index = built(LADDER, document, Document.from_text("Nothing of note happened. It rained.", id="z"))
    sentences = Sentences(index.scope(retriever("hybrid()"), {}).store.entries(), 2)
    own = sentences.of_document("doc") or sentences.of_document("z")
    first = own[cuts[0] % len(own)]
    stop = min(first + cuts[1], own[-1] + 1)
    parted = sentences.parted(first, stop, sizes)
    for size in sizes:
        before, after = sentences.rung(size), parted.rung(size)
        starts = {0, first, stop, *(start for start in before.starts.tolist() if not first < start < stop)}
        assert after.starts.tolist() == sorted(start for start in starts if start < len(sentences))
        assert (after.owner == np.searchsorted(after.starts, np.arange(len(sentences)), side="right") - 1).all()
        assert np.allclose(after.norms, sentences._norms(after.starts), atol=1e-4)
        assert after.lengths.sum() == before.lengths.sum()
        assert before.starts.tolist() == sentences.rung(size).starts.tolist()
