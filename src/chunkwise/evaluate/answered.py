"""From hits to judged answers: what `evaluate --answers` does for each recipe."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.protocols import LLM, Encoder
from chunkwise.core.types import Hit, Query
from chunkwise.evaluate.compare import Comparison, compare
from chunkwise.evaluate.heuristic import Heuristic
from chunkwise.evaluate.judgements import Aspect, Case, Judge, Judged
from chunkwise.evaluate.judging import LlmJudge
from chunkwise.retrieve.answering import Response, Statement, answers


def judge_by(llm: LLM | None = None, *, encoder: Encoder | None = None) -> Judge:
    """Return a judge: the model, or without one the heuristic, with this encoder if one is given."""
    if llm is not None:
        return LlmJudge(llm)
    return Heuristic() if encoder is None else Heuristic(encoder)


def answers_for(
    queries: Sequence[Query],
    hits: Mapping[str, Sequence[Hit]],
    *,
    texts: Mapping[str, str],
    judge: Judge,
    llm: LLM | None = None,
    given: Mapping[str, Response] | None = None,
) -> Judged:
    """Answer questions with the hits of one recipe, by `llm`, or take the answers that are `given`, and judge them.

    `texts` are those of the documents, by their ids. Of `given` answers, questions that have none are left out.
    Raises: ChunkwiseError where there are neither answers nor a model; AnswerError if a model can't be asked.
    """
    if given is None and llm is None:
        raise ChunkwiseError("nobody answers: name a model, as https://HOST/v1#MODEL, or a file of answers")
    responses = given if given is not None else answers(queries, hits, llm=llm) if llm is not None else {}
    return judged(queries, responses, hits=hits, judge=judge, texts=texts)


def rehearse(
    queries: Sequence[Query],
    hits: Mapping[str, Sequence[Hit]],
    *,
    texts: Mapping[str, str],
    judge: Judge,
    llm: LLM | None = None,
    given: Mapping[str, Response] | None = None,
) -> None:
    """Ask what `answers_for` would, of models that only count: each an `Estimate`, which then tells what it costs.

    For answers that are not written yet, those that the questions have, or their evidence, stand.
    """
    if given is None and llm is not None:
        answers(queries, hits, llm=llm)
    if not isinstance(judge, LlmJudge):
        return
    asked = [query for query in queries if given is None or query.id in given]
    cases = [Case(query, Response(), tuple(hits[query.id]), _evidence(query, texts)) for query in asked]
    judge.rehearse(
        [
            replace(case, response=given[case.query.id] if given else Response((Statement(case.reference),)))
            for case in cases
        ]
    )


def judged(
    queries: Sequence[Query],
    responses: Mapping[str, Response],
    *,
    hits: Mapping[str, Sequence[Hit]],
    judge: Judge,
    texts: Mapping[str, str] | None = None,
) -> Judged:
    """Judge answers to questions by the hits that they were made of; both go by the ids of the questions.

    Without the `texts` of documents, completeness is judged only of questions that have an answer of their own.
    Raises: ChunkwiseError for answers to no question, or without hits; AnswerError if the judge can't be asked.
    """
    asked = [query for query in queries if query.id in responses]
    if not asked:
        raise ChunkwiseError("none of the questions has an answer; see that both have the same ids")
    if missing := [query.id for query in asked if query.id not in hits]:
        raise ChunkwiseError(f"no hits of question {missing[0]!r}, by which its answer could be judged")
    cases = [Case(query, responses[query.id], tuple(hits[query.id]), _evidence(query, texts or {})) for query in asked]
    notes = tuple(_notes([case.response for case in cases], judge, n_left_out=len(queries) - len(asked)))
    return Judged(judge.name, judge.kind, tuple(judge(cases)), notes)


def compared(
    found: Mapping[str, Judged], aspect: Aspect, *, groups: Mapping[str, Hashable] | None = None
) -> Comparison:
    """Compare recipes by an aspect of their answers, on the questions whose answers were judged for all of them.

    `groups` tells by the id of a question what it shares with others, such as its document: see `compare`.
    Raises: ChunkwiseError where there are none, or the judges differ.
    """
    if len({(one.judge, one.kind) for one in found.values()}) > 1:
        raise ChunkwiseError("scores of different judges can't be compared; judge all answers by the same one")
    scores = {name: one.scores(aspect) for name, one in found.items()}
    shared = [id for id in next(iter(scores.values()), {}) if all(id in one for one in scores.values())]
    if not shared:
        raise ChunkwiseError(f"no question has an answer of every recipe that was judged for {aspect}")
    columns = {name: [one[id] for id in shared] for name, one in scores.items()}
    return compare(columns, groups=[groups[id] for id in shared] if groups else ())


def _evidence(query: Query, texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts of the first alternative of each slot, as far as the documents are known."""
    first = (slot[0] for slot in query.evidence if slot)
    return tuple(one.span.slice(texts[one.document_id]) for one in first if one.document_id in texts)


def _notes(responses: Sequence[Response], judge: Judge, *, n_left_out: int) -> Iterator[str]:
    if judge.kind == "heuristic":
        yield "judged by a HEURISTIC that compares words and understands nothing; no model has read the answers"
    # Source: Panickssery et al. 2024, LLM evaluators recognize and favor their own generations, arXiv:2404.13076.
    elif any(response.by == judge.name for response in responses):
        yield f"{judge.name} judges its own answers, which models are known to favour"
    if n_left_out:
        yield f"{n_left_out} questions have no answer in the file, and are left out"
    if noted := [note for response in responses for note in response.notes]:
        yield f"{len(noted)} remarks on answers, as: {noted[0]}"
