"""Measure how well the heuristic tells answers that passages support from others, on public questions.

python bench/answers.py [--sets covidqa,qmsum,...] [--fit] [--recipes]

An answer is what people marked or wrote; the passages are what a search gives for 800 tokens, where they hold the
evidence; of qmsum, the evidence itself. Not supported are answers of other questions, and answers in which a digit, or
a name, is another one that the passages do not have. `--fit` computes the weights of the heuristic on half of the
documents of covidqa and qmsum; then the other half, and the other sets, tell how good they are. `--recipes` instead
compares two recipes by the answers that people marked, and holds the heuristic against labels made of them.
Needs the question sets in `../shared/data` (or $CHUNKWISE_SHARED). Cost: two minutes of two cores.
"""

from __future__ import annotations

import argparse
import random
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

import chunkwise as cw
from chunkwise.core.types import Hit, Query
from chunkwise.embed.static import StaticEncoder
from chunkwise.evaluate.answer_files import Labelled
from chunkwise.evaluate.answered import answers_for, compared, judge_by
from chunkwise.evaluate.calibration import calibrated, calibration_table
from chunkwise.evaluate.details import names
from chunkwise.evaluate.heuristic import BIAS, THRESHOLD, WEIGHTS, Features, Grounds
from chunkwise.evaluate.judgements import Judged, table
from chunkwise.evaluate.measures import Recall
from chunkwise.evaluate.passages import sentences
from chunkwise.evaluate.statistics import draws, mean_interval
from chunkwise.retrieve.answering import Response, Statement
from chunkwise.retrieve.material import passage
from chunkwise.text.sentences import sentence_spans
from questions import QuestionSet, load

SETS = ("covidqa", "qmsum", "xquad-en", "xquad-zh", "xquad-ar", "xquad-hi")
FITTED = ("covidqa", "qmsum")
RECIPE, BUDGET = "recursive(size=200)", 800
COMPARED = ("recursive(size=200)", "recursive(size=400)")
# Questions of a set, at most; and resamples of an interval.
_MOST, _RESAMPLES = 300, 2_000
# Of fewer answers of a kind nothing is told.
_LEAST = 20
# What keeps weights from growing without bound where a feature tells all.
_PENALTY = 0.01

Floats: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["answer", "sentence", "other document", "same document", "number", "name"]
SUPPORTED: tuple[Kind, ...] = ("answer", "sentence")
UNSUPPORTED: tuple[Kind, ...] = get_args(Kind)[2:]


@dataclass(frozen=True, slots=True)
class Case:
    """An answer, whether the passages support it, and what is compared of each of its sentences."""

    set: str
    kind: Kind
    group: str
    features: tuple[Features, ...]

    @property
    def is_supported(self) -> bool:
        """Whether it is what a person said is the answer."""
        return self.kind in SUPPORTED

    @property
    def score(self) -> float:
        """The mean score of its sentences."""
        return float(np.mean([one.score for one in self.features]))

    @property
    def called(self) -> bool:
        """Whether all of its sentences are called supported."""
        return all(one.score >= THRESHOLD for one in self.features)

    @property
    def is_fitted(self) -> bool:
        """Whether its document is of the half that weights are computed on."""
        return self.set in FITTED and zlib.crc32(self.group.encode()) % 2 == 0


def main() -> None:
    """Print how well the heuristic does on each set, and with --fit the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS), help="names of sets, with commas")
    parser.add_argument("--fit", action="store_true", help="compute the weights")
    parser.add_argument("--recipes", action="store_true", help="compare recipes by the answers that people marked")
    given = parser.parse_args()
    if given.recipes:
        for name in given.sets.split(","):
            compare_recipes(load(name))
        return
    found = [case for name in given.sets.split(",") for case in cases(load(name))]
    if given.fit:
        weights = fitted([case for case in found if case.is_fitted])
        for name, weight in zip((*Features._fields, "bias"), weights, strict=True):
            print(f"{name:8} {weight:6.2f}, in use {WEIGHTS.get(name, BIAS)}")
    for name in given.sets.split(","):
        told = [case for case in found if case.set == name and not case.is_fitted]
        print(f"{name}: {len(told)} answers, AUC {area_interval(told)}")
        print(f"  {'all supported':15} {right(told, SUPPORTED)}\n  {'all others':15} {right(told, UNSUPPORTED)}")
        for kind in (kind for kind in get_args(Kind) if sum(case.kind == kind for case in told) >= _LEAST):
            print(f"  {kind:15} {right(told, (kind,))}")


def compare_recipes(questions: QuestionSet) -> None:
    """Print how faithful the marked answers are to what each recipe finds; and of the last one, against labels.

    The labels: a marked answer is good where its evidence was found, and the answer to another question is bad there.
    """
    texts = {document.id: document.text for document in questions.documents}
    written = {query.id: Response((Statement(_evidence(query, texts)),), "people") for query in questions.questions}
    found: dict[str, Judged] = {}
    hits: dict[str, list[Hit]] = {}
    for recipe in COMPARED:
        index = cw.Index("memory:", encoder="static", cache=None)
        index.add_documents(questions.documents, recipe=recipe)
        hits = {query.id: index.search(query.text, tokens=BUDGET) for query in questions.questions}
        found[recipe] = answers_for(questions.questions, hits, texts=texts, judge=judge_by(), given=written)
    groups = {query.id: query.evidence[0][0].document_id for query in questions.questions}
    print(f"{table(found)}\n{compared(found, 'faithfulness', groups=groups).verdict}\n")
    rng = random.Random(questions.name)
    drawn = rng.sample(questions.questions, min(_MOST, len(questions.questions)))
    labelled = [
        Labelled(query, written[one.id], one is query)
        for query in drawn
        if Recall(query, hits[query.id]) == 1
        for one in (query, rng.choice([other for other in questions.questions if other is not query]))
    ]
    print(calibration_table(calibrated(labelled, judge_by(), hits=hits), found[COMPARED[-1]]))


def cases(questions: QuestionSet) -> Iterator[Case]:
    """Yield supported and unsupported answers to the questions of a set whose evidence is in the passages."""
    rng = random.Random(questions.name)
    texts = {document.id: document.text for document in questions.documents}
    written = {query.id: query.answer or _evidence(query, texts) for query in questions.questions}
    retrieve, encoder, n = _retriever(questions), StaticEncoder(), 0
    for query in rng.sample(questions.questions, len(questions.questions)):
        if n == _MOST or (passages := retrieve(query)) is None:
            continue
        n += 1
        grounds = Grounds(passages, question=query.text, encoder=encoder)
        for kind, text in _answers(query, questions, written, " ".join(passages), rng):
            claims = [claim for span in sentence_spans(text) if (claim := span.slice(text).strip())]
            features = tuple(map(grounds.features, claims))
            yield Case(questions.name, kind, query.evidence[0][0].document_id, features)


def _answers(
    query: Query, questions: QuestionSet, written: dict[str, str], passages: str, rng: random.Random
) -> Iterator[tuple[Kind, str]]:
    own, document_id = written[query.id], query.evidence[0][0].document_id
    yield "answer", own
    whole = own if query.answer else _sentence(query, questions) or own
    if whole != own:
        yield "sentence", whole
    there, elsewhere = _others(query, questions)
    yield "other document", written[rng.choice(elsewhere).id]
    apart = [one for one in there if not _alike(written[one.id], own)]
    if apart:
        yield "same document", written[rng.choice(apart).id]
    if changed := other_digit(whole, rng):
        yield "number", changed
    other = rng.choice([document for document in questions.documents if document.id != document_id])
    pool = [name for name in names(other.text) if len(name) > 2 and name.casefold() not in passages.casefold()]
    if pool and (changed := other_name(whole, pool, rng)):
        yield "name", changed


def other_digit(text: str, rng: random.Random) -> str:
    """Change one digit of a number, and keep its script; empty where there is none."""
    places = [match.start() for match in re.finditer(r"(?<![^\W\d_])\d", text)]
    if not places:
        return ""
    place = rng.choice(places)
    digit = unicodedata.decimal(text[place])
    other = rng.choice([n for n in range(1, 10) if n != digit])
    return f"{text[:place]}{chr(ord(text[place]) - digit + other)}{text[place + 1 :]}"


def other_name(text: str, pool: Sequence[str], rng: random.Random) -> str:
    """Put another name in the place of one; empty where there is none."""
    found = names(text)
    if not found:
        return ""
    old, new = rng.choice(found), rng.choice(pool)
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text)


def fitted(found: Sequence[Case]) -> Floats:
    """Return the weights of the features and the bias; each set and kind of answer weighs the same.

    Of an answer of several sentences their mean counts. Newton's method, with a penalty on the weights.
    """
    table = np.array([[*np.mean(case.features, axis=0), 1.0] for case in found])
    truth = np.array([case.is_supported for case in found], float)
    keys = [(case.set, case.kind) for case in found]
    n_kinds = {
        (name, right): len({kind for one, kind in keys if one == name and (kind in SUPPORTED) is right})
        for name in FITTED
        for right in (True, False)
    }
    share = np.array([1 / keys.count(key) / n_kinds[key[0], key[1] in SUPPORTED] for key in keys])
    share /= share.sum()
    penalty = np.diag([2 * _PENALTY / table.shape[1]] * (table.shape[1] - 1) + [0.0])
    weights = np.zeros(table.shape[1])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (share * (likely - truth)) + penalty @ weights
        curve = (table.T * (share * likely * (1 - likely))) @ table + penalty
        weights -= np.linalg.solve(curve, slope)
    return weights


def area(scores: Floats, truth: NDArray[np.bool_], times: Floats) -> float:
    """Return how often a supported answer scores higher than another one, ties counting half."""
    order = np.argsort(scores, kind="stable")
    values, weights, good = scores[order], times[order], truth[order]
    bad = np.where(good, 0.0, weights)
    first = np.searchsorted(values, values, "left")
    last = np.searchsorted(values, values, "right")
    sums = np.concatenate([[0.0], np.cumsum(bad)])
    below = (sums[first] + sums[last]) / 2
    return float((below * weights)[good].sum() / (weights[good].sum() * bad.sum()))


def area_interval(found: Sequence[Case]) -> str:
    """Return the area under the curve with its interval, documents being drawn whole."""
    scores, truth = np.array([case.score for case in found]), np.array([case.is_supported for case in found])
    _, group = np.unique([case.group for case in found], return_inverse=True)
    rng = np.random.default_rng(0)
    drawn = np.concatenate(list(draws(int(group.max()) + 1, _RESAMPLES, rng)))
    low, high = np.percentile([area(scores, truth, counts[group]) for counts in drawn], [2.5, 97.5])
    return f"{area(scores, truth, np.ones(len(found))):.3f} [{low:.3f}, {high:.3f}]"


def right(found: Sequence[Case], kinds: Sequence[Kind]) -> str:
    """Return what share of some kinds of answers is called what it is, and of others their area under the curve."""
    own = [case for case in found if case.kind in kinds]
    told = mean_interval([float(case.called == case.is_supported) for case in own])
    shown = f"{100 * told.mean:5.1f} % [{100 * told.low:.1f}, {100 * told.high:.1f}] of {len(own)} right"
    against = [case for case in found if case.is_supported or case.kind in kinds]
    return shown if kinds[0] in SUPPORTED else f"{shown}, AUC {area_interval(against)}"


def _retriever(questions: QuestionSet) -> Callable[[Query], list[str] | None]:
    """Return what gives a question its passages; None where they do not hold its evidence."""
    documents = {document.id: document for document in questions.documents}
    if questions.name == "qmsum":
        cut = cw.parse(RECIPE)

        def given(query: Query) -> list[str] | None:
            texts = [one.span.slice(documents[one.document_id].text) for (one,) in query.evidence]
            return [chunk.text for text in texts for chunk in cut(cw.Document.from_text(text, id="evidence"))]

        return given
    index = cw.Index("memory:", encoder="static", cache=None)
    index.add_documents(questions.documents, recipe=RECIPE)

    def searched(query: Query) -> list[str] | None:
        hits = index.search(query.text, tokens=BUDGET)
        return list(map(passage, hits)) if Recall(query, hits) == 1 else None

    return searched


def _others(query: Query, questions: QuestionSet) -> tuple[list[Query], list[Query]]:
    """Return the other questions on a question's document, and those on other ones."""
    id = query.evidence[0][0].document_id
    there = [one for one in questions.questions if one.evidence[0][0].document_id == id and one.id != query.id]
    return there, [one for one in questions.questions if one.evidence[0][0].document_id != id]


def _evidence(query: Query, texts: dict[str, str]) -> str:
    return " ".join(one.span.slice(texts[one.document_id]) for (one,) in query.evidence)


def _sentence(query: Query, questions: QuestionSet) -> str:
    """Return the sentence that holds the evidence; empty where several do."""
    (one,) = query.evidence[0]
    document = next(document for document in questions.documents if document.id == one.document_id)
    spans = (span for span in sentences(document) if span.start <= one.span.start and one.span.end <= span.end)
    return next((span.slice(document.text) for span in spans), "")


def _alike(one: str, other: str) -> bool:
    """Tell whether one answer is part of the other."""
    return one.strip().lower() in other.lower() or other.strip().lower() in one.lower()


if __name__ == "__main__":
    main()
