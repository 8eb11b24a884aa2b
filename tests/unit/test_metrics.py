"""What of the evidence was found, by hand-computed values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Span
from chunkwise.evaluate.metrics import Located, iou, precision, recall

GOLD: list[Located] = [("a", Span(10, 30)), ("b", Span(0, 20))]

located = st.tuples(st.sampled_from("ab"), st.tuples(st.integers(0, 40), st.integers(0, 12))).map(
    lambda drawn: (drawn[0], Span(drawn[1][0], sum(drawn[1])))
)


def test_the_share_of_evidence_counts_over_all_documents() -> None:
    found: list[Located] = [("a", Span(0, 20)), ("b", Span(15, 25))]
    assert recall(found, GOLD) == (10 + 5) / 40
    assert precision(found, GOLD) == (10 + 5) / 30
    assert iou(found, GOLD) == (10 + 5) / (30 + 40 - 15)


def test_gold_that_is_found_twice_counts_once_and_is_paid_for_twice() -> None:
    twice: list[Located] = [("a", Span(10, 20)), ("a", Span(10, 20)), ("a", Span(15, 25))]
    gold: list[Located] = [("a", Span(10, 20)), ("a", Span(15, 30))]
    assert recall(twice, gold) == 15 / 20
    assert precision(twice, gold) == 15 / 30
    assert iou(twice, gold) == 15 / (30 + 5)


def test_the_same_place_of_another_document_is_not_evidence() -> None:
    found: list[Located] = [("c", Span(10, 30))]
    assert (recall(found, GOLD), precision(found, GOLD), iou(found, GOLD)) == (0, 0, 0)


def test_finding_nothing_scores_nothing() -> None:
    assert (recall([], GOLD), precision([], GOLD), iou([], GOLD)) == (0, 0, 0)
    assert precision([("a", Span(12, 12))], GOLD) == 0


def test_the_evidence_itself_scores_all() -> None:
    assert (recall(GOLD, GOLD), precision(GOLD, GOLD), iou(GOLD, GOLD)) == (1, 1, 1)


@pytest.mark.parametrize("metric", [recall, precision, iou])
@pytest.mark.parametrize("gold", [[], [("a", Span(5, 5))]])
def test_a_question_without_evidence_is_refused(
    metric: Callable[[Sequence[Located], Sequence[Located]], float], gold: list[Located]
) -> None:
    with pytest.raises(ChunkwiseError, match="without gold text"):
        metric([("a", Span(0, 5))], gold)


@given(st.lists(located, max_size=6), st.lists(located, min_size=1, max_size=6))
def test_metrics_are_those_of_characters(found: list[Located], gold: list[Located]) -> None:
    have, want = ({(id, at) for id, span in some for at in range(*span)} for some in (found, gold))
    if not want:
        return
    both, returned = len(have & want), sum(span.length for _, span in found)
    assert recall(found, gold) == both / len(want)
    assert precision(found, gold) == (both / returned if returned else 0)
    assert iou(found, gold) == both / (returned + len(want - have))
