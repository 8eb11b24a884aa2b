"""What was judged of answers: records of verdicts, their means, and tables of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, get_args

from chunkwise.core.types import Hit, Query
from chunkwise.evaluate.measures import Recall
from chunkwise.evaluate.statistics import Interval, mean_interval
from chunkwise.retrieve.answering import Response
from chunkwise.retrieve.material import passage

Aspect: TypeAlias = Literal["faithfulness", "relevance", "completeness"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)

Support: TypeAlias = Literal["supported", "contradicted", "not in the text"]

JudgeKind: TypeAlias = Literal["llm", "heuristic"]
"""Who judges: a language model that reads, or rules that compare words, which understand nothing."""


@dataclass(frozen=True, slots=True)
class Case:
    """An answer to be judged, with the hits that it was made of, in their order.

    `evidence` are the texts of the question's gold evidence: what completeness goes by where the question has no
    answer of its own.
    """

    query: Query
    response: Response
    hits: tuple[Hit, ...]
    evidence: tuple[str, ...] = ()

    @property
    def passages(self) -> tuple[str, ...]:
        """The texts of the hits, as a reader is given them."""
        return tuple(map(passage, self.hits))

    @property
    def reference(self) -> str:
        """What a whole answer says: the question's own answer, else its evidence; empty where it has neither."""
        return self.query.answer or "\n".join(self.evidence)

    @property
    def recall(self) -> float | None:
        """The share of the gold evidence that the hits hold; None without evidence."""
        return Recall(self.query, self.hits) if self.query.evidence else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of one claim. `passage` is the number of the hit that decides, from 1; `why` is for a person."""

    claim: str
    support: Support
    passage: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was judged of one answer. An aspect has a score from 0 to 1, or a failure, or does not apply.

    `verdicts` are on the claims of the answer, against the hits; `covered` on those of the reference, against the
    answer. `recall` is that of the hits: it tells whether the answer could have been known.
    """

    query_id: str
    response: Response
    kind: JudgeKind
    scores: Mapping[Aspect, float] = field(default_factory=dict, hash=False)
    failures: Mapping[Aspect, str] = field(default_factory=dict, hash=False)
    verdicts: tuple[Verdict, ...] = ()
    covered: tuple[Verdict, ...] = ()
    recall: float | None = None


class Judge(Protocol):
    """Judge answers, each by itself. What can't be judged is told in `failures`, and never scored.

    Raises: AnswerError where nothing can be judged at all.
    """

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> JudgeKind: ...

    def __call__(self, cases: Sequence[Case]) -> list[Judgement]: ...


# How a failure begins that is the answer's, not the judge's.
NO_ANSWER = "no answer"


def share(verdicts: Sequence[Verdict]) -> float:
    """Return the share of claims that are supported."""
    return sum(verdict.support == "supported" for verdict in verdicts) / len(verdicts)


def unjudged(case: Case, kind: JudgeKind, *, aspects: Sequence[Aspect]) -> Judgement:
    """Return what is to be said of a response without a statement.

    A refusal claims nothing, so it is neither faithful nor not, and covers nothing of a reference. Where the answer
    failed, no aspect could be judged.
    """
    applies = [aspect for aspect in aspects if aspect != "completeness" or case.reference]
    scores: dict[Aspect, float] = {}
    failures: dict[Aspect, str] = {}
    if case.response.failure:
        failures = dict.fromkeys(applies, f"{NO_ANSWER}: {case.response.failure}")
    elif case.reference:
        scores["completeness"] = 0.0
    return Judgement(case.query.id, case.response, kind, scores, failures, recall=case.recall)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of an aspect over the answers that it was judged of, and of how many it was not though it applies.

    `least` and `most` are what the mean would be if all of those scored 0, or 1.
    """

    interval: Interval
    n: int
    n_failed: int

    @property
    def least(self) -> float:
        """The mean if all that could not be judged were bad."""
        return self.interval.mean * self.n / (self.n + self.n_failed)

    @property
    def most(self) -> float:
        """The mean if all that could not be judged were good."""
        return (self.interval.mean * self.n + self.n_failed) / (self.n + self.n_failed)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge found of all answers, question by question. `notes` are what a reader of its means must know."""

    judge: str
    kind: JudgeKind
    rows: tuple[Judgement, ...]
    notes: tuple[str, ...] = ()

    def label(self, aspect: Aspect) -> str:
        """Return the name of an aspect as it is to be shown, which tells a heuristic for what it is."""
        return f"{aspect} (heuristic)" if self.kind == "heuristic" else aspect

    def scores(self, aspect: Aspect) -> dict[str, float]:
        """Return the score of each question whose answer was judged in this aspect."""
        return {row.query_id: row.scores[aspect] for row in self.rows if aspect in row.scores}

    def failures(self, aspect: Aspect) -> list[tuple[str, str]]:
        """Return of each answer that could not be judged in this aspect, though it applies, the question and why."""
        return [(row.query_id, row.failures[aspect]) for row in self.rows if aspect in row.failures]

    def mean(self, aspect: Aspect, *, level: float = 0.95, seed: int = 0) -> Mean | None:
        """Return the mean score with its interval; None where no answer was judged in this aspect."""
        scores = [row.scores[aspect] for row in self.rows if aspect in row.scores]
        if not scores:
            return None
        return Mean(mean_interval(scores, level=level, seed=seed), len(scores), len(self.failures(aspect)))

    @property
    def refused(self) -> tuple[Judgement, ...]:
        """Those that say that the hits do not tell."""
        return tuple(row for row in self.rows if row.response.is_refusal)

    @property
    def unanswered(self) -> tuple[Judgement, ...]:
        """Those for which there is no answer, for it failed."""
        return tuple(row for row in self.rows if row.response.failure)


def table(judged: Mapping[str, Judged]) -> str:
    """Return a table of means with intervals, in points of 100: a line for each aspect of each recipe."""
    rows: list[tuple[str, ...]] = [("recipe", "judged by", "aspect", "mean", "95 % interval", "answers", "not judged")]
    for name, one in judged.items():
        by = "HEURISTIC" if one.kind == "heuristic" else one.judge
        rows += [(name, by, one.label(aspect), *cells) for aspect in ASPECTS if (cells := _cells(one, aspect))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    notes = {name: remarks(one) for name, one in judged.items()}
    shared = [note for note in next(iter(notes.values()), []) if all(note in some for some in notes.values())]
    own = [f"{name}: {note}" for name, some in notes.items() for note in some if note not in shared]
    return "\n".join([*lines, *shared, *own])


def _cells(judged: Judged, aspect: Aspect) -> tuple[str, ...]:
    """Return what a table tells of an aspect; nothing where it applies to no answer."""
    if (mean := judged.mean(aspect)) is None:
        n_failed = len(judged.failures(aspect))
        return ("not known", "", "0", f"{n_failed}") if n_failed else ()
    low, high = mean.interval.low, mean.interval.high
    bounds = f" (with them {_points(mean.least)} to {_points(mean.most)})" if mean.n_failed else ""
    return _points(mean.interval.mean), f"{_points(low)} to {_points(high)}", f"{mean.n}", f"{mean.n_failed}{bounds}"


def remarks(judged: Judged) -> list[str]:
    """Return what is to be known beside the means, in sentences."""
    found = list(judged.notes)
    if refused := judged.refused:
        whole = sum(row.recall == 1 for row in refused)
        known = f", {whole} of them although the evidence was there, whole" if whole else ""
        found.append(f"{len(refused)} of {len(judged.rows)} answers say that the passages do not tell{known}")
    if unanswered := judged.unanswered:
        first = f"{unanswered[0].query_id}: {unanswered[0].response.failure}"
        found.append(f"{len(unanswered)} of {len(judged.rows)} questions got no answer, as {first}")
    for aspect in ASPECTS:
        failed = [(id, why) for id, why in judged.failures(aspect) if not why.startswith(NO_ANSWER)]
        if failed:
            found.append(f"{judged.label(aspect)}: {len(failed)} answers were not judged, as {': '.join(failed[0])}")
    return found


def judged_fields(judged: Judged) -> dict[str, object]:
    """Return what is written of it as JSON. Of a heuristic each name of a score says so."""
    means = {judged.label(aspect): fields for aspect in ASPECTS if (fields := _mean_fields(judged, aspect))}
    return {
        "judge": {"name": judged.judge, "kind": judged.kind},
        "means": means,
        "n_answers": len(judged.rows),
        "n_refused": len(judged.refused),
        "n_unanswered": len(judged.unanswered),
        "notes": remarks(judged),
        "answers": [_row_fields(judged, row) for row in judged.rows],
    }


def _mean_fields(judged: Judged, aspect: Aspect) -> dict[str, object]:
    """Return what is written of a mean; nothing where the aspect applies to no answer."""
    if (mean := judged.mean(aspect)) is None:
        n_failed = len(judged.failures(aspect))
        return {"mean": None, "n": 0, "n_failed": n_failed} if n_failed else {}
    low, value, high = mean.interval.low, mean.interval.mean, mean.interval.high
    bounds = {"least": mean.least, "most": mean.most} if mean.n_failed else {}
    return {"mean": value, "low": low, "high": high, "n": mean.n, "n_failed": mean.n_failed, **bounds}


def _row_fields(judged: Judged, row: Judgement) -> dict[str, object]:
    response = row.response
    return {
        "id": row.query_id,
        "answer": response.text,
        "refused": response.is_refusal,
        "by": response.by,
        **({"failure": response.failure} if response.failure else {}),
        "scores": {judged.label(aspect): score for aspect, score in row.scores.items()},
        "failures": {judged.label(aspect): why for aspect, why in row.failures.items()},
        "claims": [_verdict_fields(verdict) for verdict in row.verdicts],
        "reference": [_verdict_fields(verdict) for verdict in row.covered],
        "recall": row.recall,
        "notes": list(response.notes),
    }


def _verdict_fields(verdict: Verdict) -> dict[str, object]:
    why = {"why": verdict.why} if verdict.why else {}
    return {"claim": verdict.claim, "support": verdict.support, "passage": verdict.passage, **why}


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
