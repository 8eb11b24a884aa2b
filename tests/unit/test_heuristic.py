"""The heuristic: what it sees, what it can't see, and that it is called what it is."""

from __future__ import annotations

import json

import pytest

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Hit, Span
from chunkwise.evaluate.answered import answers_for, judge_by, judged
from chunkwise.evaluate.heuristic import Heuristic
from chunkwise.evaluate.judgements import Case, Judgement, judged_fields, remarks, table
from chunkwise.retrieve.answering import Response
from unit.hashing import HashingEncoder
from unit.readers_of_prompts import hits, query, response

FOUND = hits(
    "The pump was made by Carla Jensen in 1998. Its seals are replaced every six weeks.",
    "The valve opens at 3.5 bar. Workers in Oslo test it twice a year.",
)


def judge(
    text: str, *, found: tuple[Hit, ...] = FOUND, asks: str = "How is it kept?", reference: str = ""
) -> Judgement:
    (row,) = Heuristic()([Case(query(asks, answer=reference), response(text), found)])
    return row


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("The seals of the pump are replaced every six weeks.", 1),
        ("The seals are replaced every 6 weeks.", 1),
        ("The valve opens at 3.50 bar.", 2),
        ("It was made by Carla Jensen in 1998.", 1),
    ],
)
def test_what_the_passages_say_is_supported_by_the_one_that_says_it(text: str, passage: int) -> None:
    (verdict,) = judge(text).verdicts
    assert (verdict.support, verdict.passage) == ("supported", passage)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The valve opens at 35 bar.", "the number 35"),
        ("The valve opens at 6 bar.", "the number 6 beside"),  # which stands in another passage
        ("It was made by Carla Hansen in 1998.", "the name Hansen"),
        ("The building insurance covers damage by storms and floods.", "of its words"),
    ],
)
def test_what_the_passages_do_not_say_is_not_and_the_reason_is_told(text: str, why: str) -> None:
    (verdict,) = judge(text).verdicts
    assert verdict.support == "not in the text"
    assert why in verdict.why


def test_each_sentence_counts_and_citations_are_no_numbers() -> None:
    row = judge("The valve opens at 3.5 bar [2]. The valve opens at 9 bar [1, 2].")
    assert [verdict.support for verdict in row.verdicts] == ["supported", "not in the text"]
    assert row.scores == {"faithfulness": 0.5}


def test_completeness_is_the_share_of_the_reference_that_the_answer_has() -> None:
    row = judge(
        "Its seals are replaced every six weeks.",
        reference="The seals are replaced every six weeks. The valve opens at 3.5 bar.",
    )
    assert row.scores["completeness"] == 0.5
    assert "relevance" not in row.scores


def test_references_of_a_paper_are_no_numbers_of_a_claim() -> None:
    text = "The seals are replaced every six weeks [39, 40]."
    row = judge(text, reference=text, found=hits(text))
    assert row.scores == {"faithfulness": 1.0, "completeness": 1.0}


def test_a_negation_goes_unseen() -> None:
    """It is no judge: that is why it is called a heuristic."""
    assert judge("The valve never opens at 3.5 bar.").scores["faithfulness"] == 1.0


def test_texts_in_scripts_without_capitals_or_blanks_are_compared_too() -> None:
    found = hits("黑豹队的防守只丢了308分，在联赛中排名第六。", "约什在1996年出生。")
    assert judge("防守丢了308分。", found=found, asks="丢了多少分？").scores["faithfulness"] == 1.0
    assert judge("防守丢了309分。", found=found, asks="丢了多少分？").scores["faithfulness"] == 0.0


def test_a_refusal_and_a_failed_answer_are_not_scored_for_faithfulness() -> None:
    refusal, failed = Heuristic()(
        [Case(query(answer="Fish."), Response(), FOUND), Case(query(), Response(failure="HTTP 500"), FOUND)]
    )
    assert refusal.scores == {"completeness": 0.0}
    assert failed.failures == {"faithfulness": "no answer: HTTP 500"}


def test_without_passages_nothing_is_supported() -> None:
    row = judge("The valve opens.", found=())
    assert row.scores["faithfulness"] == 0.0
    assert row.verdicts[0].why == "there is no passage"


def test_a_heuristic_is_called_one_wherever_it_appears() -> None:
    found = judged([query()], {"q": response("The valve opens at 3.5 bar.")}, hits={"q": FOUND}, judge=Heuristic())
    assert repr(Heuristic()).startswith("Heuristic(")
    assert "kind='heuristic'" in repr(found.rows[0])
    assert found.judge == "heuristic(static)"
    assert found.label("faithfulness") == "faithfulness (heuristic)"
    assert "HEURISTIC" in table({"r": found})
    assert "understands nothing" in " ".join(remarks(found))
    fields = json.loads(json.dumps(judged_fields(found)))
    assert fields["judge"]["kind"] == "heuristic"
    names = [*fields["means"], *(name for row in fields["answers"] for name in row["scores"])]
    assert names
    assert all(name.endswith("(heuristic)") for name in names)


def test_another_encoder_takes_part_and_texts_that_it_does_not_take_are_left_out() -> None:
    heuristic = judge_by(encoder=HashingEncoder())
    assert heuristic.name == "heuristic(hashing)"
    text = "word " * 400 + "end."
    (row,) = heuristic([Case(query(), response("The valve opens at 3.5 bar."), (*FOUND, *hits(text, document="e")))])
    assert row.scores["faithfulness"] == 1.0


def test_nobody_answers_without_a_model_or_a_file() -> None:
    with pytest.raises(ChunkwiseError, match="nobody answers"):
        answers_for([query()], {"q": FOUND}, texts={}, judge=Heuristic())


def test_given_answers_are_judged_and_questions_without_one_are_told() -> None:
    asked = [query(id="a", span=Span(0, 10)), query(id="b")]
    given = {"a": response("The valve opens at 3.5 bar.")}
    found = answers_for(
        asked, {"a": FOUND, "b": FOUND}, texts={"d": "The valve opens."}, judge=Heuristic(), given=given
    )
    assert [row.query_id for row in found.rows] == ["a"]
    assert any(note.startswith("1 questions have no answer") for note in found.notes)
