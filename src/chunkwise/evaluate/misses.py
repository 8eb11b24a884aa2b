"""What was missed, and why: records, their totals, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from chunkwise.core.types import Evidence, Span
from chunkwise.evaluate.tables import aligned

Cause: TypeAlias = Literal["fragmented", "diluted", "outranked", "over budget"]

CAUSES: tuple[Cause, ...] = get_args(Cause)
# What another cut may win back.
_OF_THE_CUT: tuple[Cause, ...] = ("fragmented", "diluted")


@dataclass(frozen=True, slots=True)
class Miss:
    """Evidence that was not found whole, why, and what proves it.

    `lost` is the share of the question's evidence that is missing of it, in characters. `rank` is that of the best
    chunk that holds it whole, `rank_alone` that of the evidence as a chunk of its own; None where it is not among the
    candidates. `n_holding` counts the chunks that hold it whole, and `tokens` are those of the evidence as a chunk.
    `cut` is the smallest stretch of text tried that holds it and that, as a chunk of its own, would have been found.
    """

    query_id: str
    evidence: Evidence
    cause: Cause
    lost: float
    n_holding: int
    rank: int | None
    rank_alone: int | None
    tokens: int
    cut: Span | None

    @property
    def found_alone(self) -> bool:
        """Whether the evidence would have been found as a chunk of its own, without any text around it."""
        return self.cut == self.evidence.span

    @property
    def proof(self) -> str:
        """What was tried, in a sentence."""
        if not self.n_holding:
            held = "no chunk holds it whole"
        elif self.rank is None:
            held = "the chunk that holds it is not among the candidates"
        else:
            held = f"the chunk that holds it ranks {self.rank}"
        place = "not among the candidates" if self.rank_alone is None else f"ranked {self.rank_alone}"
        if self.found_alone:
            tried = f"cut out alone it is {place} and found"
        elif self.cut is not None:
            tried = f"cut out alone it is {place}; cut at {self.cut.start} and {self.cut.end} it is found"
        else:
            tried = f"cut out alone it is {place}; with the text around it, it is not found either"
        return f"{held}; {tried}"


@dataclass(frozen=True, slots=True)
class Loss:
    """What a cause costs: how many pieces of evidence, of how many questions, and how much recall of the mean, 0..1."""

    n_missed: int
    n_queries: int
    recall: float


@dataclass(frozen=True, slots=True)
class Blame:
    """Why the questions of a set lost what they lost, with one recipe, retrieval and budget."""

    recipe: str
    retrieval: str
    budget: str
    n_queries: int
    misses: tuple[Miss, ...]

    @property
    def recall(self) -> float:
        """The mean share of a question's evidence that was found, in characters, blank ones at its ends aside."""
        return 1 - self.total().recall

    @property
    def winnable(self) -> float:
        """The share of the missed recall that is fragmented or diluted: what there is to win by cutting at all."""
        lost = self.total().recall
        return sum(self.loss(cause).recall for cause in _OF_THE_CUT) / lost if lost else 0.0

    def loss(self, cause: Cause) -> Loss:
        """Return what one cause costs."""
        return self._loss(miss for miss in self.misses if miss.cause == cause)

    def total(self) -> Loss:
        """Return what all causes cost together."""
        return self._loss(self.misses)

    def by_document(self) -> dict[str, Blame]:
        """Return the misses of each document that has any, the most costly first. Their losses add up to these."""
        ids = dict.fromkeys(miss.evidence.document_id for miss in self.misses)
        parts = {
            id: Blame(
                self.recipe,
                self.retrieval,
                self.budget,
                self.n_queries,
                tuple(miss for miss in self.misses if miss.evidence.document_id == id),
            )
            for id in ids
        }
        return dict(sorted(parts.items(), key=lambda part: (-part[1].total().recall, part[0])))

    def _loss(self, misses: Iterable[Miss]) -> Loss:
        found = list(misses)
        lost = sum(miss.lost for miss in found) / self.n_queries if self.n_queries else 0.0
        return Loss(len(found), len({miss.query_id for miss in found}), lost)


def table(blames: Sequence[Blame]) -> str:
    """Return a table of recipes: recall, and how much of it each cause costs, in points of 100."""
    return aligned(
        [("recipe", "found", *_COLUMNS), *((blame.recipe, _points(blame.recall), *_cells(blame)) for blame in blames)]
    )


def document_table(blame: Blame, *, most: int = 10) -> str:
    """Return a table of the documents that lose most, in points of the recall of all questions."""
    rows = [(id, *_cells(part)) for id, part in list(blame.by_document().items())[:most]]
    return aligned([("document", *_COLUMNS), *rows])


_COLUMNS = ("missed", *CAUSES, "of the cut")


def _cells(blame: Blame) -> tuple[str, ...]:
    causes = (_points(blame.loss(cause).recall) for cause in CAUSES)
    return (_points(blame.total().recall), *causes, f"{blame.winnable:.0%}")


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
