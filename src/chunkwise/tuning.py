"""Search the config that answers your questions best: screen cheaply, embed the best few, report on other questions.

Recipes are screened by an encoder that costs next to nothing, with the real ranking by words; only the few that look
best are embedded (docs/methods/tuning.md). What is chosen is chosen on one half of the questions, and its score is that
of the other half.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from chunkwise.chunkers.kinds import Kind
from chunkwise.core.config import EVIDENCE, Config, EvidenceKind
from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Document, Query
from chunkwise.embed import encoder as find_encoder
from chunkwise.embed.cache import cached_if_possible
from chunkwise.embed.static import STATIC
from chunkwise.evaluate.compare import FEWEST, compare
from chunkwise.evaluate.costs import cheapest
from chunkwise.evaluate.measures import HitPrecision, Recall
from chunkwise.evaluate.moves import Move, moves
from chunkwise.evaluate.results import Evaluation, Outcome
from chunkwise.evaluate.routing import SPECIAL, better, kinds, routed, special
from chunkwise.evaluate.screening import Screen, shortlist
from chunkwise.evaluate.space import PROSE, Cut, around, asked, coarse, sizes
from chunkwise.evaluating import Setting, evaluate
from chunkwise.pipeline import DEFAULT_RECIPE
from chunkwise.text.huggingface import MINILM
from chunkwise.updating import Embed

__all__ = ["Search", "Tuned", "halves", "tune"]

# What the rules of thumb start from: the default recipe, in parts.
_START = Cut("structural", 200)
# As many of the best cuts are looked around.
_BEST = 3
# More questions are not asked of what is only screened: with 400, the standard error of a difference is at most
# 2.5 points, and of recipes, which agree on most questions, about 1.
_SCREENED_BY = 400
# The share of the time that screening may take; the rest is for embedding and measuring the best.
_FOR_SCREENING = 0.5
# Of those screened, as many are embedded at most, beside the start and what is given.
_LAST = 2
# A pass is that of the documents' own tokens; cuts part words here and there, which adds a hundredth.
_ABOUT = 1.02
# In what share of resamples something must be ahead of what one starts from. Source: ours; what is chosen is measured
# again on other questions, and a choice that was right in nine of ten costs little where it was not.
_LIKELY = 0.9
# As many configs are confirmed: with more, their intervals, which hold together, would tell less.
_CONFIRMED = 6

Progress = Callable[[int, int, str], None]
"""Called with the seconds gone, the seconds there are, and what is being measured."""


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched, and how long.

    `passes` is how often as many tokens as the corpus has may be embedded. `evidence` are the kinds that may be chosen.
    `recipes` are tried beside those of the space, and are among the last few. A search is repeated by its `seed`.
    `screen` is what recipes are screened by: the static encoder, which costs nothing, or its mean with passages of the
    real one, which takes one of the passes: see chunkwise.evaluate.screening.
    """

    seconds: float = 600.0
    passes: float = 2.0
    strategies: tuple[str, ...] = PROSE
    evidence: tuple[EvidenceKind, ...] = EVIDENCE
    recipes: tuple[str, ...] = ()
    screen: Literal["static", "both"] = "static"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Trial:
    """A recipe that was screened: what it seemed to find, on how many questions.

    `same_as` is a recipe before it that cuts these documents alike, if there is one: on plain text, without headings.
    """

    recipe: str
    stage: str
    recall: float
    n_questions: int
    vectors: int
    seconds: float
    same_as: str = ""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What a search found.

    `plain` is the default recipe, asked for chunks: what is measured beside all else. `start` is the same, with
    evidence assembled where that may be chosen. `chosen` is by the choose half: what is likely ahead of the start, or
    cheaper and surely near, and of such the cheapest that is surely near the best. `confirmed` has these and the next
    best ones, on the half that nothing was chosen on. `n_left` is how many recipes were not tried for want of time, and
    `passes` how often as much as the corpus was embedded.
    """

    chosen: Config
    plain: Config
    start: Config
    trials: tuple[Trial, ...]
    moves: tuple[Move, ...]
    choosing: Evaluation
    confirmed: Evaluation
    passes: float
    seconds: float
    n_left: int

    @property
    def verdict(self) -> str:
        """What can be said in plain words."""
        compared, label = self.confirmed.comparison, self.chosen.label
        if compared.n_groups < FEWEST:
            few = f"{compared.n_groups} to confirm with can tell nothing"
            return f"{label}: {few}; at least {2 * FEWEST} questions are needed."
        told = (
            f"{label}: {100 * compared.means[label]:.1f} % of the evidence in {self.confirmed.tokens} tokens, on "
            f"{len(self.confirmed.queries)} questions that it was not chosen on"
        )
        stays = "; it is what one starts from, and nothing is likely better or clearly cheaper"
        told += stays if self.chosen == self.start else ""
        if self.chosen == self.plain:
            return f"{told}."
        ahead = compared.difference(label, self.plain.label)
        points = f"{100 * ahead.mean:+.1f} points [{100 * ahead.low:+.1f}, {100 * ahead.high:+.1f}]"
        return f"{told}; {points} to {self.plain.label}{'' if ahead.is_clear else ', which is no more than chance'}."


def tune(
    documents: Iterable[Document],
    queries: Sequence[Query],
    *,
    setting: Setting | None = None,
    encoder: str = "",
    search: Search | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """Search the cheapest config that finds as much evidence as any, within a time and a number of embedding passes.

    Raises: ChunkwiseError for fewer than two questions, and as `evaluate` does; RecipeError, EncodeError.
    """
    with (setting or Setting.of()).keeping() as kept:
        return _Run(list(documents), list(queries), kept, encoder, search or Search(), progress).tuned()


def halves(queries: Sequence[Query], *, seed: int = 0) -> tuple[list[int], list[int]]:
    """Return the numbers of the questions to choose by, and of those to confirm with: of each document half.

    Raises: ChunkwiseError for fewer than two.
    """
    if len(queries) < 2:
        raise ChunkwiseError(
            "tuning needs at least two questions, one to choose by and one to confirm; draft some more"
        )
    numbers = list(range(len(queries)))
    random.Random(seed).shuffle(numbers)  # noqa: S311  # no secret
    numbers.sort(key=lambda i: queries[i].evidence[0][0].document_id if queries[i].evidence else "")
    return sorted(numbers[::2]), sorted(numbers[1::2])


@dataclass(slots=True)
class _Run:
    """One search: what it has tried so far, and the time that it has left."""

    documents: list[Document]
    queries: list[Query]
    setting: Setting
    encoder: str
    search: Search
    progress: Progress | None
    began: float = field(default_factory=time.monotonic)
    tried: dict[str, Outcome] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    n_left: int = 0
    screen: Screen | None = None

    def tuned(self) -> Tuned:
        """Screen, embed the best, choose, confirm."""
        choose, confirm = halves(self.queries, seed=self.search.seed)
        by = random.Random(self.search.seed).sample(choose, min(len(choose), _SCREENED_BY))  # noqa: S311  # no secret
        screened_by = [self.queries[i] for i in sorted(by)]
        moved = tuple(self._moves(screened_by))
        self._screen(screened_by)
        self._route(screened_by)
        budget = self.setting.budget
        plain = replace(self._config(DEFAULT_RECIPE), tokens=budget.size, tokenizer=budget.tokenizer.name)
        start = plain if "assemble" not in self.search.evidence else replace(plain, evidence="assemble")
        found, passes = self._embedded(plain, choose)
        allowed = [one.config.label for one in found.outcomes if one.config.evidence in self.search.evidence]
        choosing = found.part(choose, allowed)
        label = _choice(choosing, start.label)
        chosen = next(one.config for one in found.outcomes if one.config.label == label)
        labels = list(dict.fromkeys([label, plain.label, start.label, *choosing.comparison.names]))[:_CONFIRMED]
        return Tuned(
            chosen=chosen,
            plain=plain,
            start=start,
            trials=tuple(self.trials),
            moves=moved,
            choosing=choosing,
            confirmed=found.part(confirm, labels),
            passes=passes,
            seconds=time.monotonic() - self.began,
            n_left=self.n_left,
        )

    @property
    def _most(self) -> int:
        return find_encoder(self.encoder or MINILM).max_tokens

    @property
    def _surrogates(self) -> list[tuple[str, Embed | None]]:
        """What recipes are screened by: an encoder, and what stands in for embedding with it."""
        if self.search.screen == "static":
            return [(STATIC, None)]
        if self.screen is None:
            self.screen = Screen(cached_if_possible(find_encoder(self.encoder or MINILM), self.setting.cache)[0])
        return [(self.encoder, self.screen), (STATIC, None)]

    def _config(self, recipe: str) -> Config:
        return Config(recipe, encoder=self.encoder)

    def _screen(self, queries: Sequence[Query]) -> None:
        """Try the space from coarse to fine, until half of the time is gone."""
        self._try("given", [*self.search.recipes, DEFAULT_RECIPE], queries)
        cuts = {cut.recipe: cut for cut in coarse(self.search.strategies, self._most)}
        self._try("coarse", cuts, queries)
        for _ in range(_BEST):
            ranked = [self.tried[recipe] for recipe in cuts if recipe in self._distinct]
            ranked.sort(key=lambda outcome: -_mean(outcome, self._metric))
            near = {
                one.recipe: one for outcome in ranked[:_BEST] for one in around(cuts[outcome.config.recipe], self._most)
            }
            fresh = {recipe: cut for recipe, cut in near.items() if recipe not in cuts}
            if not fresh:
                return
            cuts |= fresh
            self._try("fine", fresh, queries)

    def _route(self, queries: Sequence[Query]) -> None:
        """Try a route where recipes of their own serve kinds of documents clearly better than the best of all."""
        by_kind = kinds(self.documents, queries)
        if not by_kind:
            return
        best = max(self.tried, key=lambda recipe: _mean(self.tried[recipe], self._metric))
        plain = dict(self.tried)
        routes: dict[Kind, str] = {}
        for kind, numbers in by_kind.items():
            own = {special(kind, size): size for size in sizes(SPECIAL[kind], self._most)} if kind in SPECIAL else {}
            cut = {recipe: self._screened("route", routed(best, {kind: recipe}), queries) for recipe in own}
            found = plain | {recipe: outcome for recipe, outcome in cut.items() if outcome is not None}
            if (recipe := better(found, best, numbers, self._metric)) is not None:
                routes[kind] = recipe
        if routes:
            self._screened("route", routed(best, routes), queries)

    def _try(self, stage: str, recipes: Iterable[str], queries: Sequence[Query]) -> None:
        for recipe in recipes:
            self._screened(stage, recipe, queries)

    def _screened(self, stage: str, recipe: str, queries: Sequence[Query]) -> Outcome | None:
        """Return what a recipe seems to find; None where there is no time to try it."""
        if recipe in self.tried:
            return self.tried[recipe]
        if self.trials and self._gone > _FOR_SCREENING * self.search.seconds:
            self.n_left += 1
            return None
        self._tell(recipe)
        began, budget = time.monotonic(), self.setting.budget
        setting = replace(self.setting, metrics=(Recall @ budget, HitPrecision @ budget), budgets=())
        found = [
            evaluate(self.documents, queries, [Config(recipe, encoder=encoder)], setting=replace(setting, embed=embed))
            for encoder, embed in self._surrogates
        ]
        outcome = _mean_of([one.outcomes[0] for one in found])
        same_as = next((name for name in self._distinct if self.tried[name].cut == outcome.cut), "")
        self.tried[recipe] = outcome
        recall, n = _mean(outcome, self._metric), len(queries)
        self.trials.append(Trial(recipe, stage, recall, n, outcome.costs.vectors, time.monotonic() - began, same_as))
        return outcome

    def _moves(self, queries: Sequence[Query]) -> Iterator[Move]:
        precision = repr(HitPrecision @ self.setting.budget)
        yield from moves(
            _START,
            lambda cut: self._screened("rule", cut.recipe, queries),
            recall=self._metric,
            precision=precision,
        )

    def _embedded(self, start: Config, choose: Sequence[int]) -> tuple[Evaluation, float]:
        """Measure the best few for real; return what was found, and how often as much as the corpus was embedded.

        The first index is asked in every way, the others in those that are not measurably worse there.
        """
        counter = find_encoder(self.encoder or MINILM).tokenizer
        corpus = sum(counter.count(one.text) - counter.n_special for one in self.documents)
        embedded = self.screen.n_tokens if self.screen else 0
        # Synthetic questions are made of the words of their evidence: they can't tell how well a search by words does.
        synthetic = 2 * sum(query.is_synthetic for query in self.queries) > len(self.queries)
        ways = asked(start, self.search.evidence, ranked_by=[start.retrieval] if synthetic else None)
        found = self._measured(start.recipe, list(dict.fromkeys([start, *ways])))
        embedded += found.outcomes[0].costs.embedded
        others = _not_worse(found.part(choose))
        finalists = self._finalists(start.recipe)
        paid = shortlist(
            {recipe: -place for place, recipe in enumerate(finalists)},
            {recipe: self.tried[recipe].costs.embedded for recipe in finalists},
            budget=int(_ABOUT * self.search.passes * corpus) - embedded,
        )
        for recipe in paid[: len(self.search.recipes) + _LAST]:
            if self._gone > self.search.seconds:
                self.n_left += 1
                continue
            measured = self._measured(recipe, others)
            embedded += measured.outcomes[0].costs.embedded
            found = replace(found, outcomes=found.outcomes + measured.outcomes)
        return found, embedded / corpus

    def _measured(self, recipe: str, ways: Sequence[Config]) -> Evaluation:
        self._tell(recipe)
        return evaluate(
            self.documents, self.queries, [replace(way, recipe=recipe) for way in ways], setting=self.setting
        )

    def _finalists(self, start: str) -> list[str]:
        """Return what to embed beside the start: what is given, the cheapest that is near the best, the best ones."""
        compared = compare(
            {recipe: self.tried[recipe].scores[self._metric] for recipe in self._distinct},
            costs={recipe: self.tried[recipe].costs for recipe in self._distinct},
        )
        order = dict.fromkeys([*self.search.recipes, compared.choice, *compared.names])
        return [recipe for recipe in order if recipe != start]

    @property
    def _distinct(self) -> list[str]:
        """The recipes that were tried, without those that cut as one before them."""
        return [trial.recipe for trial in self.trials if not trial.same_as]

    @property
    def _metric(self) -> str:
        return repr(Recall @ self.setting.budget)

    @property
    def _gone(self) -> float:
        return time.monotonic() - self.began

    def _tell(self, what: str) -> None:
        if self.progress is not None:
            self.progress(int(min(self._gone, self.search.seconds)), int(self.search.seconds), what)


def _mean_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Return an outcome whose scores are the means of those of several, question by question."""
    first = outcomes[0]
    columns = {name: zip(*(one.scores[name] for one in outcomes), strict=True) for name in first.scores}
    scores = {name: tuple(sum(values) / len(outcomes) for values in column) for name, column in columns.items()}
    return replace(first, scores=scores)


def _mean(outcome: Outcome, metric: str) -> float:
    return sum(outcome.scores[metric]) / len(outcome.scores[metric])


def _choice(found: Evaluation, start: str) -> str:
    """Return what to take: the choice, if it is likely ahead of the start, or cheaper and surely not far behind it.

    Among few questions something is best, and something cheap ties with it, by chance. Only these two are compared: the
    intervals of all pairs, which hold together, are wide, and would keep a start that is far behind.
    """
    choice = found.comparison.choice
    of = {one.config.label: one for one in found.outcomes if one.config.label in (choice, start)}
    if len(of) == 1:  # the start, or there is none among what may be chosen
        return choice
    pair = compare({name: one.scores[found.metric] for name, one in of.items()}, groups=found.groups)
    if pair.best[choice] >= _LIKELY and pair.n_groups >= FEWEST:
        return choice
    is_cheaper = cheapest({name: one.costs for name, one in of.items()}) == [choice]
    return choice if is_cheaper and pair.is_near(choice, start) else start


def _not_worse(found: Evaluation) -> list[Config]:
    """Return the ways to ask that are not measurably worse than the best, and the best of each kind of evidence."""
    compared = found.comparison
    by_label = {outcome.config.label: outcome.config for outcome in found.outcomes}
    best = {by_label[name].evidence: name for name in reversed(compared.names)}
    return [by_label[name] for name in compared.names if name in compared.ties or name in best.values()]
