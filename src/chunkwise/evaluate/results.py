"""What an evaluation found: of each config its scores question by question, what it returned, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from chunkwise.core.config import Config
from chunkwise.core.types import Chunk, Hit, Query, Span
from chunkwise.evaluate.compare import FEW, Comparison, compare
from chunkwise.evaluate.costs import Costs
from chunkwise.evaluate.judgements import Judged
from chunkwise.evaluate.misses import Blame

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found:
    """A hit that was given to a question: its place, and no text."""

    document_id: str
    spans: tuple[Span, ...]
    score: float
    rank: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one config did for every question, in their order.

    `scores` are those of each metric, by its `repr`. `curve` is the recall at budgets of tokens. `found` are the hits
    that the budget of the evaluation pays for, best first. `blame` and `answers` are None where not asked for. `cut` is
    the same for configs that cut and embed these documents alike; it is of this run, and not written into files.
    """

    config: Config
    scores: Mapping[str, tuple[float, ...]] = field(hash=False)
    curve: Mapping[int, tuple[float, ...]] = field(hash=False)
    found: tuple[tuple[Found, ...], ...]
    costs: Costs
    blame: Blame | None = None
    answers: Judged | None = None
    notes: tuple[str, ...] = ()
    cut: str = field(default="", compare=False)

    def hits(self, texts: Mapping[str, str]) -> list[list[Hit]]:
        """Return what was found as hits again, with their texts, given those of the documents by their ids."""
        return [
            [Hit(_chunk(one, texts[one.document_id]), one.score, one.rank, ("evaluated",)) for one in found]
            for found in self.found
        ]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What was searched: how many documents and characters, and a hash of their ids and texts."""

    n_documents: int
    n_characters: int
    fingerprint: str


@dataclass(frozen=True)  # without slots: the comparison is made once
class Evaluation:
    """Configs that answered the same questions. `metric` is the one that they are compared by; `repeat` the command."""

    queries: tuple[Query, ...]
    outcomes: tuple[Outcome, ...]
    corpus: Corpus
    metric: str
    tokens: int
    tokenizer: str
    encoder: str
    repeat: str = ""
    version: str = ""

    @property
    def groups(self) -> list[str]:
        """The document of each question, where there are enough of them to draw documents and not questions; else none.

        Questions of one document are hard or easy together, and a few documents say nothing of others.
        """
        of = [query.evidence[0][0].document_id for query in self.queries]
        return of if len(set(of)) >= FEW else []

    @cached_property
    def comparison(self) -> Comparison:
        """How far the configs are apart, with intervals that hold together. Cost: see `compare`."""
        return compare(
            {outcome.config.label: outcome.scores[self.metric] for outcome in self.outcomes},
            costs={outcome.config.label: outcome.costs for outcome in self.outcomes},
            groups=self.groups,
        )

    @property
    def chosen(self) -> Outcome:
        """What the config did that is to be taken: the cheapest of those that tie for the best."""
        return next(outcome for outcome in self.outcomes if outcome.config.label == self.comparison.choice)

    def part(self, numbers: Sequence[int], labels: Sequence[str] = ()) -> Evaluation:
        """Return what was found for some of the questions, of these labels or all, without blame and answers."""

        def few(values: Mapping[T, tuple[float, ...]]) -> dict[T, tuple[float, ...]]:
            return {key: tuple(column[i] for i in numbers) for key, column in values.items()}

        outcomes = [
            replace(
                one,
                scores=few(one.scores),
                curve=few(one.curve),
                found=tuple(one.found[i] for i in numbers),
                blame=None,
                answers=None,
            )
            for one in self.outcomes
            if not labels or one.config.label in labels
        ]
        return replace(self, queries=tuple(self.queries[i] for i in numbers), outcomes=tuple(outcomes))


def _chunk(found: Found, text: str) -> Chunk:
    return Chunk(
        found.document_id, found.spans, "".join(span.slice(text) for span in found.spans), token_count=found.tokens
    )
