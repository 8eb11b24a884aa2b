"""Write every question with its scores, and decide of which there is room for evidence and hits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from chunkwise.core.types import Evidence, Span
from chunkwise.evaluate.metrics import Located
from chunkwise.evaluate.misses import CAUSES
from chunkwise.evaluate.results import Found, Outcome
from chunkwise.evaluate.slots import Slot, counted, slots
from chunkwise.report.html import safe, shown
from chunkwise.report.ranking import Ranking
from chunkwise.report.windows import Needed

# What texts and hits may weigh in the file, in bytes, roughly: with all else it stays below 8 MB, which a browser
# opens in a second.
MOST_BYTES = 6_000_000
# Questions that are listed: more rows are no longer read.
MOST_QUESTIONS = 2_000

# Characters of text before and after evidence: a sentence or two.
_AROUND = 160
# What a hit weighs in the file, in bytes: its place, rank and score.
_HIT = 28

_WHOLE = 1 - 1e-9
# The picture of the scores of a question, in pixels: a bar for each config.
_BAR, _HEIGHT = 4, 16


@dataclass(frozen=True)
class Questions:
    """The questions of an evaluation that a page shows: those of the lowest score of the choice first."""

    ranking: Ranking
    texts: Mapping[str, str]
    most_bytes: int = MOST_BYTES
    most_questions: int = MOST_QUESTIONS

    @property
    def choice(self) -> int:
        """The number of the config to take, from 0."""
        return self.ranking.number(self.ranking.choice) - 1

    @cached_property
    def order(self) -> list[int]:
        """The numbers of the questions that are listed."""
        scores = self._scores(self.ranking.choice)
        return sorted(range(len(scores)), key=lambda i: scores[i])[: self.most_questions]

    @cached_property
    def kept(self) -> tuple[Needed, frozenset[int], frozenset[tuple[int, int]]]:
        """What the file has room for: texts, the questions whose evidence is in it, and `(config, question)` of hits.

        Evidence and the hits of the choice come first, then hits of the other configs from the best on.
        """
        needed, weight = Needed(self.texts), 0.0
        evidence: list[int] = []
        hits: list[tuple[int, int]] = []
        choice = self.choice
        for i in self.order:
            found = self.ranking.outcomes[choice].found[i]
            gold = [(one.document_id, self.around(one)) for slot in self.gold(i) for one in slot]
            weight += needed.weight([*gold, *located(found)]) + _HIT * len(found)
            if weight > self.most_bytes:
                break
            needed.add([*gold, *located(found)])
            evidence.append(i)
            hits.append((choice, i))
        others = (config for config in range(len(self.ranking.outcomes)) if config != choice)
        for config, i in ((config, i) for config in others for i in evidence):
            found = self.ranking.outcomes[config].found[i]
            weight += needed.weight(located(found)) + _HIT * len(found)
            if weight > self.most_bytes:
                break
            needed.add(located(found))
            hits.append((config, i))
        return needed, frozenset(evidence), frozenset(hits)

    @cached_property
    def shares(self) -> list[list[list[tuple[int, float]]]]:
        """Of each config, question and slot of evidence: which alternative counts, and its share that was found."""
        golds = [slots(query) for query in self.ranking.evaluation.queries]
        return [
            [
                [_counted(slot, located(found)) for slot in gold]
                for gold, found in zip(golds, outcome.found, strict=True)
            ]
            for outcome in self.ranking.outcomes
        ]

    def rows(self) -> Iterator[str]:
        """Yield a line for each question; a script fills it when it is opened."""
        scores = [self._scores(outcome) for outcome in self.ranking.outcomes]
        choice, causes = self.choice, _causes(self.ranking.choice)
        for i in self.order:
            query = self.ranking.evaluation.queries[i]
            score = scores[choice][i]
            drafted = '<span class="tag">synthetic</span> ' if query.is_synthetic else ""
            tags = " ".join(f'<span class="tag">{tag}</span>' for tag in causes.get(query.id, ()))
            yield (
                f'<details class="question" data-i="{i}"><summary>'
                f'<span class="score {_state(score)}">{100 * score:.0f}</span>'
                f"{_strip([row[i] for row in scores], choice)}"
                f'<span class="asked"><bdi>{safe(query.text)}</bdi> {drafted}<span class="tags">{tags}</span></span>'
                "</summary></details>\n"
            )

    def data(self) -> dict[str, object]:
        """Return what filters need: names, scores in thousandths, and which config found all evidence of a question."""
        ranking = self.ranking
        return {
            "names": [shown(outcome.config.label) for outcome in ranking.outcomes],
            "choice": self.choice,
            "scores": [[_thousandths(score) for score in self._scores(outcome)] for outcome in ranking.outcomes],
            "whole": [
                "".join(str(int(all(share >= _WHOLE for _, share in row))) for row in rows) for rows in self.shares
            ],
            "causes": list(CAUSES),
        }

    def gold(self, i: int) -> list[Slot]:
        """Return the evidence of a question."""
        return slots(self.ranking.evaluation.queries[i])

    def _scores(self, outcome: Outcome) -> Sequence[float]:
        return outcome.scores[self.ranking.evaluation.metric]

    def around(self, one: Evidence) -> Span:
        """Return the span of evidence with the text around it, which begins and ends where a word does."""
        text = self.texts.get(one.document_id, "")
        start, end = max(0, one.span.start - _AROUND), min(max(one.span.end, len(text)), one.span.end + _AROUND)
        head, tail = text[start : one.span.start], text[one.span.end : end]
        if start and (cut := head.find(" ")) >= 0:
            start += cut + 1
        if end < len(text) and (cut := tail.rfind(" ")) >= 0:
            end -= len(tail) - cut
        return Span(start, end)


def located(found: Sequence[Found]) -> list[Located]:
    """Return the places of hits."""
    return [(one.document_id, span) for one in found for span in one.spans]


def _counted(slot: Slot, found: Sequence[Located]) -> tuple[int, float]:
    one, n_found = counted(slot, found)
    return slot.index(one), n_found / one.span.length


def _causes(outcome: Outcome) -> dict[str, tuple[str, ...]]:
    """Return why the evidence of each question was missed, each cause once."""
    found: dict[str, dict[str, None]] = {}
    for miss in outcome.blame.misses if outcome.blame else ():
        found.setdefault(miss.query_id, {})[miss.cause] = None
    return {id: tuple(causes) for id, causes in found.items()}


def _thousandths(score: float) -> int:
    """Round a score, but neither to nothing nor to all."""
    return round(1000 * score) if score <= 0 or score >= _WHOLE else min(max(round(1000 * score), 1), 999)


def _state(score: float) -> str:
    return "none" if score <= 0 else "all" if score >= _WHOLE else "part"


def _strip(scores: Sequence[float], choice: int) -> str:
    """Return bars of the scores of all configs, in the order of the table; that of the choice is marked."""
    bars = [
        f"M{i * _BAR} {_HEIGHT}v-{1 + (_HEIGHT - 1) * score:.0f}h{_BAR - 1}V{_HEIGHT}" for i, score in enumerate(scores)
    ]
    others = "".join(bar for i, bar in enumerate(bars) if i != choice)
    width = _BAR * len(bars)
    return (
        f'<svg class="strip" viewBox="0 0 {width} {_HEIGHT}" width="{width}" height="{_HEIGHT}" aria-hidden="true">'
        f'<path d="{others}"/><path class="own" d="{bars[choice]}"/></svg>'
    )
