"""Evaluating configs: what they find is what an index of theirs finds, and nothing is embedded twice."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunkwise import ChunkwiseError, Document, Evidence, Index, Query, RecipeError, Span, read_text
from chunkwise.core.config import EVIDENCE, Config
from chunkwise.core.types import Chunk
from chunkwise.embed import custom_encoder
from chunkwise.evaluate.answered import judge_by
from chunkwise.evaluate.measures import Recall, kept, tokens
from chunkwise.evaluate.results import Outcome
from chunkwise.evaluating import Setting, answered, blamed, evaluate
from chunkwise.measuring import Built
from unit.hashing import HashingEncoder, hashed

TOPICS = ("pumps", "valves", "seals", "lamps", "clocks", "kettles", "ladders", "mirrors")
CUT = "recursive(size=40)"
SETTING = replace(Setting.of(60), cache=None, budgets=(30, 60, 120))


def document(id: str, topics: Sequence[str]) -> Document:
    parts = (
        f"The {one} are kept in the {one} room of the house. Nobody has counted how many {one} there are. "
        f"Every {i + 2} weeks the {one} are inspected by somebody with a torch.\n\n"
        for i, one in enumerate(topics)
    )
    return Document.from_text("".join(parts), id=id)


DOCUMENTS = [document("a", TOPICS[:4]), document("b", TOPICS[4:])]


def question(topic: str) -> Query:
    text, id = next((one.text, one.id) for one in DOCUMENTS if topic in one.text)
    start = text.index("Every", text.index(f"many {topic}"))
    end = text.index("torch.", start) + len("torch.")
    return Query(topic, f"How often are {topic} inspected?", ((Evidence(id, Span(start, end)),),))


QUERIES = [question(topic) for topic in TOPICS]


@pytest.fixture(autouse=True)
def encoder() -> HashingEncoder:
    made = HashingEncoder()
    custom_encoder("counted", made)
    return made


def config(recipe: str = CUT, **given: object) -> Config:
    return Config(recipe, encoder="counted", **given)  # type: ignore[arg-type]


def index(of: Config) -> Index:
    made = Index("memory:", encoder="counted", cache=None)
    made.add_documents(DOCUMENTS, recipe=of.recipe)
    return made


@pytest.mark.parametrize("retrieval", ["hybrid()", "lexical()", "vector() | mmr()", "hybrid() | window(n=1)"])
def test_chunks_score_as_a_search_of_an_index_finds_them(retrieval: str) -> None:
    (outcome,) = evaluate(DOCUMENTS, QUERIES, [config(retrieval=retrieval)], setting=SETTING).outcomes
    made, budget = index(outcome.config), SETTING.budget
    for i, query in enumerate(QUERIES):
        if "window" in retrieval:
            hits = made.search(query.text, tokens=budget.size, retrieval=retrieval)
        else:
            hits = made.search(query.text, k=200, retrieval=retrieval)
        paid = kept(hits, budget)
        assert [(hit.document_id, hit.spans) for hit in outcome.found[i]] == [
            (hit.chunk.document_id, hit.chunk.spans) for hit in paid
        ]
        assert outcome.scores[repr(Recall @ budget)][i] == (Recall @ budget)(query, hits)
        first = made.search(query.text, k=5, retrieval=retrieval)
        assert outcome.scores["Recall @ 5"][i] == (Recall @ 5)(query, first)
        assert sum(hit.tokens for hit in outcome.found[i]) <= budget.size


@pytest.mark.parametrize("evidence", EVIDENCE[1:])
def test_passages_score_as_an_index_assembles_them(evidence: str) -> None:
    (outcome,) = evaluate(DOCUMENTS, QUERIES, [config(evidence=evidence)], setting=SETTING).outcomes
    made = index(outcome.config)
    ladder = outcome.config.ladder
    assert ladder is not None
    for size, values in outcome.curve.items():
        for query, value in zip(QUERIES, values, strict=True):
            hits = made.assemble(query.text, tokens=size, ladder=ladder, tokenizer=SETTING.budget.tokenizer)
            assert value == (Recall @ tokens(size))(query, hits)


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_an_index_by_a_config_gives_what_was_measured_of_it(evidence: str) -> None:
    setting = replace(Setting.of(60, tokenizer="words"), cache=None)
    (outcome,) = evaluate(DOCUMENTS, QUERIES, [config(evidence=evidence)], setting=setting).outcomes
    assert (outcome.config.tokens, outcome.config.tokenizer) == (60, "words")
    made = Index.from_config(outcome.config, url="memory:", cache=None)
    made.add_documents(DOCUMENTS)
    for query, found in zip(QUERIES, outcome.found, strict=True):
        hits = sorted(made.retrieve(query.text), key=lambda hit: hit.rank)
        assert [(hit.chunk.document_id, hit.chunk.spans) for hit in hits] == [
            (one.document_id, one.spans) for one in found
        ]


def test_the_curve_meets_the_score_at_the_budget() -> None:
    found = evaluate(DOCUMENTS, QUERIES, [config(), config(evidence="assemble")], setting=SETTING)
    for outcome in found.outcomes:
        assert sorted(outcome.curve) == [30, 60, 120]
        assert outcome.curve[60] == outcome.scores[found.metric]
        assert all(low <= high for low, high in zip(outcome.curve[30], outcome.curve[120], strict=True))


def test_no_text_is_embedded_twice_whatever_the_configs(encoder: HashingEncoder, tmp_path: Path) -> None:
    setting = replace(SETTING, cache=tmp_path / "vectors.sqlite")
    configs = [config(), config(evidence="assemble"), config(retrieval="vector()"), config("recursive(size=41)")]
    found = evaluate(DOCUMENTS, QUERIES, configs, setting=setting)
    assert len(encoder.seen) == len(set(encoder.seen))
    assert [outcome.config.label for outcome in found.outcomes] == [one.label for one in configs]
    n_seen = len(encoder.seen)
    evaluate(DOCUMENTS, QUERIES, configs, setting=setting)
    assert len(encoder.seen) == n_seen


def test_without_a_cache_no_text_is_embedded_twice_either_and_nothing_is_left(
    encoder: HashingEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    configs = [config(), config("recursive(size=41)"), config("sentences(size=40)")]
    found = evaluate(DOCUMENTS, QUERIES, configs, setting=SETTING)
    assert len(encoder.seen) == len(set(encoder.seen))
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))  # then each config embeds by itself
    again = evaluate(DOCUMENTS, QUERIES, configs, setting=SETTING)
    assert len(encoder.seen) > len(set(encoder.seen))
    assert [one.scores for one in again.outcomes] == [one.scores for one in found.outcomes]


def test_equal_cuts_are_asked_once_and_keep_what_is_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    outcome_of = Built.outcome

    def counted(self: Built, of: Config, *rest: Any) -> Outcome:
        asked.append(of.label)
        return outcome_of(self, of, *rest)

    monkeypatch.setattr(Built, "outcome", counted)
    plain, headed, other = config(), config(f"{CUT} | context(headings=True)"), config("recursive(size=30)")
    assembled = replace(headed, evidence="assemble")
    found = evaluate(DOCUMENTS, QUERIES, [plain, headed, other, assembled], setting=SETTING).outcomes
    assert asked == [plain.label, assembled.label, other.label]  # plain text has no headings
    assert [one.config.recipe for one in found] == [plain.recipe, headed.recipe, other.recipe, headed.recipe]
    assert found[0].scores == found[1].scores != found[2].scores
    assert found[0].found == found[1].found
    assert found[0].costs.embedded == found[1].costs.embedded
    assert found[0].costs.cutting.seconds != found[1].costs.cutting.seconds


def test_chunks_of_equal_text_that_say_more_are_another_index() -> None:
    head = "# About\n\n"
    titled = [read_text(head + one.text, id=one.id, clean="none") for one in DOCUMENTS]
    recipes = ("structural(size=60)", "structural(size=60) | context(headings=True)")
    found = evaluate(
        titled, [moved(query, len(head)) for query in QUERIES], list(map(config, recipes)), setting=SETTING
    )
    plain, headed = found.outcomes
    assert plain.costs.embedded < headed.costs.embedded


def moved(query: Query, by: int) -> Query:
    ((evidence,),) = query.evidence
    span = Span(evidence.span.start + by, evidence.span.end + by)
    return replace(query, evidence=((replace(evidence, span=span),),))


def test_what_stands_in_for_embedding_is_all_that_embeds(encoder: HashingEncoder) -> None:
    asked: list[int] = []

    def pooled(documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> np.ndarray:
        asked.append(sum(len(chunks) for _, chunks in documents))
        return hashed([chunk.text for _, chunks in documents for chunk in chunks], encoder.dim)

    (outcome,) = evaluate(DOCUMENTS, QUERIES, [config()], setting=replace(SETTING, embed=pooled)).outcomes
    assert encoder.seen == []
    assert asked == [outcome.costs.vectors]


def test_costs_are_those_of_the_index_and_of_a_question() -> None:
    (outcome,) = evaluate(DOCUMENTS, QUERIES, [config()], setting=SETTING).outcomes
    costs = outcome.costs
    assert costs.vectors == len(index(outcome.config))
    assert costs.tokens == sum(hit.tokens for hits in outcome.found for hit in hits) / len(QUERIES)
    assert min(costs.cutting.seconds, costs.embedding.seconds, costs.search.seconds) > 0


def test_blame_is_of_the_same_budget_as_the_score() -> None:
    found = evaluate(DOCUMENTS, QUERIES, [config(), config(evidence="assemble")], setting=SETTING)
    labels = [outcome.config.label for outcome in found.outcomes]
    both = blamed(found, DOCUMENTS, labels, setting=SETTING)
    for outcome in both.outcomes:
        assert outcome.blame is not None
        assert outcome.blame.recipe == outcome.config.label
        assert outcome.blame.recall == pytest.approx(np.mean(outcome.scores[found.metric]))
        missed = {miss.query_id for miss in outcome.blame.misses}
        scores = zip(QUERIES, outcome.scores[found.metric], strict=True)
        assert missed == {query.id for query, score in scores if score < 1}
    (first, second) = blamed(found, DOCUMENTS, labels[:1], setting=SETTING).outcomes
    assert first.blame is not None
    assert second.blame is None


def test_answers_that_questions_have_are_judged_by_what_was_found() -> None:
    texts = {one.id: one.text for one in DOCUMENTS}
    own = [
        replace(query, answer=query.evidence[0][0].span.slice(texts[query.evidence[0][0].document_id]))
        for query in QUERIES
    ]
    found = evaluate(DOCUMENTS, own, [config()], setting=SETTING)
    (outcome,) = answered(found, DOCUMENTS, judge=judge_by()).outcomes
    assert outcome.answers is not None
    assert outcome.answers.kind == "heuristic"
    assert "those of the questions themselves" in outcome.answers.notes[0]
    scores = outcome.answers.scores("faithfulness")
    whole = {query.id for query, score in zip(own, outcome.scores[found.metric], strict=True) if score == 1}
    assert {id for id in whole if scores[id] == 1} == whole
    with pytest.raises(ChunkwiseError, match="no answers to judge"):
        answered(evaluate(DOCUMENTS, QUERIES, [config()], setting=SETTING), DOCUMENTS, judge=judge_by())
    for hits, kept_ in zip(outcome.hits(texts), outcome.found, strict=True):
        assert [hit.chunk.text for hit in hits] == [
            "".join(span.slice(texts[one.document_id]) for span in one.spans) for one in kept_
        ]


def test_one_question_tells_nothing_apart() -> None:
    found = evaluate(DOCUMENTS, QUERIES[:1], [config(), config("recursive(size=20)")], setting=SETTING)
    assert found.comparison.winner is None
    assert "One question can tell nothing apart" in found.comparison.verdict


def test_documents_are_drawn_whole_where_there_are_enough_of_them() -> None:
    many = [document(f"d{i}", [f"{topic}{i}" for topic in TOPICS[:2]]) for i in range(20)]
    queries = [Query(one.id, "How often?", ((Evidence(one.id, Span(0, 20)),),)) for one in many]
    assert evaluate(many, queries, [config()], setting=SETTING).groups == [one.id for one in many]
    assert evaluate(many, queries[:19], [config()], setting=SETTING).groups == []


def test_bad_input_is_one_clear_line() -> None:
    def refused(match: str, **given: object) -> None:
        what = {"documents": DOCUMENTS, "queries": QUERIES, "configs": [config()]} | given
        with pytest.raises(ChunkwiseError, match=match):
            evaluate(**what, setting=SETTING)  # type: ignore[arg-type]

    refused("no questions to measure with", queries=[])
    refused("no documents", documents=[])
    refused("no configs", configs=[])
    refused("two documents of one name, a", documents=[*DOCUMENTS, DOCUMENTS[0]])
    refused("two questions have the id 'pumps'", queries=[*QUERIES, QUERIES[0]])
    refused("is given twice", configs=[config(), config(tokens=100)])
    refused("'empty' has no gold text", queries=[Query("empty", "Why?")])
    refused("no text from 0 to 9 of 'c'", queries=[Query("q", "Why?", ((Evidence("c", Span(0, 9)),),))])
    refused("no text from 0 to 9999 of 'a'", queries=[Query("q", "Why?", ((Evidence("a", Span(0, 9999)),),))])
    blank = Query("q", "Why?", ((Evidence("a", Span(0, 1)),),))
    refused("makes no chunk", documents=[Document.from_text("  ", id="a")], queries=[blank])


def test_evidence_of_no_kind_is_refused() -> None:
    with pytest.raises(RecipeError, match="did you mean 'assemble'"):
        config(evidence="asemble")
