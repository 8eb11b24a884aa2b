"""Tuning: the space comes from the ranges, halves do not meet, and what is chosen is reported on other questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from chunkwise import ChunkwiseError, Document, Evidence, Query, Span
from chunkwise.core.config import Config
from chunkwise.core.recipes import STRATEGIES, ranges
from chunkwise.evaluate.costs import Costs
from chunkwise.evaluate.moves import moves
from chunkwise.evaluate.results import Outcome
from chunkwise.evaluate.routing import better, kinds, routed
from chunkwise.evaluate.space import PROSE, Cut, around, asked, coarse, overlaps, sizes
from chunkwise.evaluate.summary import config_table
from chunkwise.evaluating import Setting
from chunkwise.pipeline import DEFAULT_RECIPE, chunker, parse
from chunkwise.tuning import Search, Tuned, halves, tune

SETTING = replace(Setting.of(60), cache=None, budgets=(30, 60))
RECALL = "Recall @ tokens(60)"


def house(number: int) -> Document:
    rooms = ("kitchen", "cellar", "attic", "stable")
    parts = (
        f"The {room} of house {number} has {i + 2} windows that look to the north. The key of the {room} of house "
        f"{number} hangs on hook {10 * number + i} beside the door. It was painted in the year {1900 + number + i}.\n\n"
        for i, room in enumerate(rooms)
    )
    return Document.from_text("".join(parts), id=f"house{number}")


def question(document: Document, room: str) -> Query:
    start = document.text.index(f"The key of the {room}")
    end = document.text.index(".", start) + 1
    number = document.id.removeprefix("house")
    asks = f"Where hangs the key of the {room} of house {number}?"
    return Query(f"{document.id}/{room}", asks, ((Evidence(document.id, Span(start, end)),),))


HOUSES = [house(number) for number in range(8)]
QUESTIONS = [question(document, room) for document in HOUSES for room in ("kitchen", "cellar", "attic", "stable")]


@pytest.fixture(scope="module")
def tuned() -> Tuned:
    search = Search(strategies=("recursive", "fixed"), passes=6)
    return tune(HOUSES, QUESTIONS, setting=SETTING, encoder="static", search=search)


def test_sizes_are_those_of_the_range_up_to_what_the_encoder_takes() -> None:
    bounds = ranges(STRATEGIES["recursive"])["size"]
    assert sizes("recursive", 10_000) == [64, 128, 256, 512, 1024]
    assert sizes("recursive", 256) == [64, 128, 256]
    assert sizes("recursive", 300) == [64, 128, 300]
    assert min(sizes("density", 1000)) == ranges(STRATEGIES["density"])["size"].low
    assert all(bounds.low <= size <= bounds.high for size in sizes("recursive", 4096, factor=2**0.5))


def test_all_that_is_tried_is_a_recipe_and_near_ones_differ_in_one_thing() -> None:
    cut = Cut("recursive", 128)
    near = around(cut, 256)
    assert cut not in near
    for one in near:
        assert sum([one.size != cut.size, one.overlap != cut.overlap, one.context != cut.context]) == 1
    assert {one.size for one in near} == {91, 128, 181}
    for one in [*near, *coarse(PROSE, 256)]:
        assert repr(parse(one.recipe)) == repr(chunker(one.recipe))
    assert coarse(PROSE, 256)[0].size in (128, 256)


def test_an_index_is_asked_by_every_kind_of_evidence_that_may_be_chosen() -> None:
    ways = list(asked(Config("fixed()"), ("chunks", "assemble")))
    assert [way.evidence for way in ways].count("assemble") == 1
    assert {"hybrid()", "lexical()", "vector()", "hybrid(alpha=0.25)"} <= {way.retrieval for way in ways}
    assert len({way.label for way in ways}) == len(ways)


def test_halves_share_no_question_and_part_every_document() -> None:
    choose, confirm = halves(QUESTIONS, seed=3)
    assert sorted(choose + confirm) == list(range(len(QUESTIONS)))
    for document in HOUSES:
        parts = [sum(QUESTIONS[i].id.startswith(f"{document.id}/") for i in half) for half in (choose, confirm)]
        assert parts == [2, 2]
    assert halves(QUESTIONS, seed=3) == (choose, confirm)
    assert halves(QUESTIONS, seed=4) != (choose, confirm)
    with pytest.raises(ChunkwiseError, match="at least two questions"):
        halves(QUESTIONS[:1])


def test_the_score_that_is_reported_is_of_questions_that_nothing_was_chosen_by(tuned: Tuned) -> None:
    chosen_by = {query.id for query in tuned.choosing.queries}
    confirmed = {query.id for query in tuned.confirmed.queries}
    assert not chosen_by & confirmed
    assert len(chosen_by | confirmed) == len(QUESTIONS)
    assert tuned.chosen.label == tuned.choosing.comparison.choice
    assert tuned.chosen in [outcome.config for outcome in tuned.confirmed.outcomes]
    assert tuned.start.recipe == DEFAULT_RECIPE
    score = tuned.confirmed.comparison.means[tuned.chosen.label]
    assert f"{tuned.chosen.label}: {100 * score:.1f} % of the evidence in 60 tokens, on 16 questions" in tuned.verdict


def test_the_space_is_walked_from_coarse_to_fine(tuned: Tuned) -> None:
    stages = [trial.stage for trial in tuned.trials]
    assert stages == sorted(stages, key=["rule", "given", "coarse", "fine"].index)
    coarse_recipes = {trial.recipe for trial in tuned.trials if trial.stage == "coarse"}
    assert {Cut(name, 64).recipe for name in ("recursive", "fixed")} <= coarse_recipes
    best = max(tuned.trials, key=lambda trial: trial.recall)
    assert any(trial.stage == "fine" for trial in tuned.trials)
    assert best.recipe in {outcome.config.recipe for outcome in tuned.choosing.outcomes}
    assert len({trial.recipe for trial in tuned.trials}) == len(tuned.trials)


def test_of_recipes_that_cut_alike_one_is_embedded(tuned: Tuned) -> None:
    alike = {trial.recipe: trial.same_as for trial in tuned.trials if trial.same_as}
    pair = {"recursive(size=64)", "recursive(size=64) | context(headings=True)"}  # plain text has no headings
    assert {(recipe, first) for recipe, first in alike.items() if {recipe, first} == pair}
    order = [trial.recipe for trial in tuned.trials]
    by_recipe = {trial.recipe: trial for trial in tuned.trials}
    for recipe, first in alike.items():
        assert order.index(first) < order.index(recipe)
        assert first not in alike
        assert (by_recipe[recipe].recall, by_recipe[recipe].vectors) == (
            by_recipe[first].recall,
            by_recipe[first].vectors,
        )
    assert not alike.keys() & {outcome.config.recipe for outcome in tuned.choosing.outcomes}


def test_a_recipe_that_is_given_is_embedded_though_another_cuts_alike() -> None:
    given = ("structural(size=200)",)  # as what one starts from, of plain text
    search = Search(recipes=given, passes=4, strategies=("recursive",), evidence=("chunks",))
    found = tune(HOUSES, QUESTIONS, setting=SETTING, encoder="static", search=search)
    assert {trial.same_as for trial in found.trials if trial.recipe in given} == {DEFAULT_RECIPE}
    assert {*given} <= {outcome.config.recipe for outcome in found.choosing.outcomes}


def test_without_time_or_passes_what_one_starts_from_is_measured_all_the_same() -> None:
    search = Search(seconds=0.0, passes=1.0, strategies=("recursive",), evidence=("chunks",))
    found = tune(HOUSES, QUESTIONS, setting=SETTING, encoder="static", search=search)
    assert {outcome.config.recipe for outcome in found.choosing.outcomes} == {DEFAULT_RECIPE}
    assert found.n_left > 0
    assert found.passes < 1.5


def test_too_few_questions_to_confirm_with_give_no_number() -> None:
    search = Search(seconds=0.0, strategies=("recursive",))
    found = tune(HOUSES, QUESTIONS[:3], setting=SETTING, encoder="static", search=search)
    assert found.chosen == found.start
    assert "1 to confirm with can tell nothing; at least 10 questions are needed" in found.verdict
    assert "points" not in found.verdict
    table, verdict = config_table(found.confirmed), found.confirmed.comparison.verdict
    assert "inf" not in table
    assert "*" not in table
    assert "Take" not in verdict


def test_only_evidence_that_may_be_chosen_is() -> None:
    search = Search(seconds=0.0, strategies=("recursive",), evidence=("assemble-fine",))
    found = tune(HOUSES, QUESTIONS, setting=SETTING, encoder="static", search=search)
    assert found.chosen.evidence == "assemble-fine"
    assert found.start.evidence == "chunks"
    assert found.start.label in found.confirmed.comparison.names


def test_synthetic_questions_do_not_choose_how_to_rank() -> None:
    drafted = [replace(query, meta={"synthetic": "fact"}) for query in QUESTIONS]
    search = Search(seconds=0.0, strategies=("recursive",))
    found = tune(HOUSES, drafted, setting=SETTING, encoder="static", search=search)
    assert {outcome.config.retrieval for outcome in found.choosing.outcomes} == {"hybrid()"}
    asked_of = tune(HOUSES, QUESTIONS, setting=SETTING, encoder="static", search=search)
    assert len({outcome.config.retrieval for outcome in asked_of.choosing.outcomes}) > 1


def scored(recipe: str, recall: Sequence[float], precision: float) -> Outcome:
    values: Mapping[str, tuple[float, ...]] = {"recall": tuple(recall), "precision": (precision,) * len(recall)}
    return Outcome(Config(recipe), values, {}, ((),) * len(recall), Costs())


def test_rules_of_thumb_are_tried_and_told_whether_they_paid() -> None:
    def measure(cut: Cut) -> Outcome:
        gain = {200: 0.3, 150: 0.5}.get(cut.size, 0.5)
        return scored(cut.recipe, [gain] * 30, 0.5)

    first, *more = list(moves(Cut("recursive", 200), measure, recall="recall", precision="precision"))
    assert first.rule.startswith("precision below 0.7")
    assert (first.before, first.after) == (Cut("recursive", 200).recipe, Cut("recursive", 150).recipe)
    assert first.verdict == "paid"
    assert more[0].before == Cut("recursive", 150).recipe  # what paid is where the next one starts
    assert "recall below 0.6" in more[0].rule
    assert overlaps()[1] in more[0].after
    assert {move.verdict for move in more} == {"can't be told from chance"}


def test_a_rule_that_does_not_fire_is_not_tried_and_one_that_costs_is_told() -> None:
    good = lambda cut: scored(cut.recipe, [0.9] * 30, 0.9)  # noqa: E731
    assert list(moves(Cut("recursive", 200), good, recall="recall", precision="precision")) == []
    worse = lambda cut: scored(cut.recipe, [0.9 if cut.size == 200 else 0.5] * 30, 0.5)  # noqa: E731
    (move,) = moves(Cut("recursive", 200), worse, recall="recall", precision="precision")
    assert move.verdict == "cost recall"
    assert list(moves(Cut("recursive", 200), lambda _: None, recall="recall", precision="precision")) == []


def test_kinds_are_routed_only_where_questions_can_tell() -> None:
    table = replace(Document.from_text("name,hook\nanna,3\n", id="keys.csv"), media_type="text/csv")
    about = Query("t", "Which hook?", ((Evidence("keys.csv", Span(10, 16)),),))
    assert kinds(HOUSES, QUESTIONS) == {}
    assert kinds([*HOUSES, table], [*QUESTIONS, about]) == {"prose": list(range(32))}
    many = [*QUESTIONS, *(replace(about, id=f"t{i}") for i in range(20))]
    assert kinds([*HOUSES, table], many)["table"] == list(range(32, 52))
    tried = {"fixed()": scored("fixed()", [0.5] * 52, 1), "rows()": scored("rows()", [0.5] * 32 + [1.0] * 20, 1)}
    assert better(tried, "fixed()", range(32, 52), "recall") == "rows()"
    assert better(tried, "fixed()", range(32), "recall") is None


def test_a_route_cuts_its_kinds_by_their_recipes_and_all_else_by_one() -> None:
    recipe = routed("recursive(size=100) | context(headings=True)", {"table": "rows(size=50)"})
    route = parse(recipe)
    assert repr(route.table) == "rows(size=50)"  # type: ignore[attr-defined]
    assert repr(route.prose) == repr(route.code) == "recursive(size=100) | context(headings=True)"  # type: ignore[attr-defined]


def test_tables_among_prose_are_routed_in_a_search() -> None:
    rows = "".join(f"person{i},hook {i * 7},room {i % 9}\n" for i in range(60))
    table = replace(Document.from_text("name,hook,room\n" + rows, id="keys.csv"), media_type="text/csv")
    about = []
    for i in range(44):
        start = table.text.index(f"person{i},")
        end = table.text.index("\n", start)
        about.append(Query(f"t{i}", f"Which hook has person{i}?", ((Evidence("keys.csv", Span(start, end)),),)))
    search = Search(strategies=("recursive",), evidence=("chunks",), passes=9)
    found = tune([*HOUSES, table], [*QUESTIONS, *about], setting=SETTING, encoder="static", search=search)
    assert any(trial.stage == "route" and "table=rows(" in trial.recipe for trial in found.trials)
