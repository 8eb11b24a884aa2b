"""The page that draws an evaluation: its numbers are those of the records, and hostile text stays text."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Evidence, Query, Span
from chunkwise.evaluate.misses import CAUSES
from chunkwise.evaluate.results import Evaluation
from chunkwise.report.details import details
from chunkwise.report.evaluation import drawn
from chunkwise.report.html import shown
from chunkwise.report.questions import Questions
from chunkwise.report.ranking import Ranking
from chunkwise.report.windows import Needed, Windows
from unit.evaluations import HOSTILE, METRIC, TEXTS, WORDS, evaluation, hostile, outcome, query

_VOID = {"meta", "input"}
_LOADING = {"src", "action", "data", "poster", "background", "srcset", "formaction"}


class Page(HTMLParser):
    """The tables of a page by their labels, its scripts by their ids, and its other text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.scripts: dict[str, str] = {}
        self.policy = ""
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in _LOADING for name in named)
        assert (named.get("href") or "#").startswith("#")
        if named.get("http-equiv"):
            self.policy = named["content"] or ""
        if tag not in _VOID:
            self.open.append((tag, named))
        if tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")

    @property
    def _rows(self) -> list[list[str]]:
        label = next(named["aria-label"] for tag, named in reversed(self.open) if named.get("role") == "region")
        return self.tables.setdefault(label or "", [])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tags = [tag for tag, _ in self.open]
        if "script" in tags:
            self.scripts[self.open[-1][1].get("id") or ""] = data
        elif "style" not in tags:
            self.text += data
            if "td" in tags or "th" in tags:
                self._rows[-1][-1] += data

    def rows(self, label: str) -> list[list[str]]:
        return [row for row in self.tables[label] if row and row[0].isdigit()]

    def read(self, id: str) -> Any:
        return json.loads(self.scripts[id])


def page(of: Evaluation) -> Page:
    return Page(drawn(of, TEXTS))


def units(text: str, start: int, end: int) -> str:
    """Slice a text as JavaScript does."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_hostile_text_stays_text_wherever_it_stands() -> None:
    made = Page(drawn(*hostile()))
    assert not {"img", "iframe", "link", "object", "base"} & set(made.tags)
    assert made.tags.count("script") == 3
    assert shown(HOSTILE) in made.text
    told = made.read("details")
    assert all(HOSTILE[:40] in one for one in (*told["documents"], *told["ids"].values(), *told["texts"]))
    assert all(HOSTILE[:40] in name for name in made.read("scores")["names"])


def test_nothing_that_turns_the_direction_of_reading_is_in_the_page() -> None:
    assert "\u202e" in HOSTILE
    assert "\u202e" in WORDS
    for html in (drawn(*hostile()), drawn(evaluation(), TEXTS)):
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\r]", html)


def test_nothing_is_loaded_and_no_script_but_the_own_runs() -> None:
    html = drawn(evaluation(), TEXTS)
    assert not re.search(r"https?://|url\(|@import|innerHTML\s*=|eval\(", html)
    made = Page(html)
    own = b64encode(sha256(made.scripts[""].encode()).digest()).decode()
    assert made.policy.split("; ") == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        f"script-src 'sha256-{own}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_the_verdict_is_that_of_the_comparison() -> None:
    of = evaluation()
    made = page(of)
    assert of.comparison.winner == "fixed(size=100)"
    assert "Take fixed(size=100)" in made.text
    assert of.comparison.verdict in made.text


def test_configs_stand_from_the_best_on_with_the_numbers_of_the_records() -> None:
    of = evaluation()
    found, rows = of.comparison, page(of).rows("How far apart configs are")
    assert [row[1] for row in rows] == ["fixed(size=100) choice", "recursive(size=200)", "structural(size=400)"]
    for row, name in zip(rows, found.names, strict=True):
        assert row[2].startswith(f"{100 * found.means[name]:.1f} [")
        assert row[5:] == [f"{100 * found.best[name]:.0f} %", "712", row[7], "21.8"]
    told = found.difference("structural(size=400)", "fixed(size=100)")
    ends = "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * one for one in (told.mean, told.low, told.high)))
    assert rows[2][4] == f"{ends} worse".replace("-", "−")
    assert [row[7] for row in rows] == ["100", "200", "300"]


def test_a_mean_has_the_interval_of_its_questions_drawn_in_documents() -> None:
    ranking = Ranking.of(evaluation())
    (alike,), (apart,) = (ranking.intervals([column]) for column in ([0.5] * 60, [0.0, 1.0] * 30))
    assert alike is not None
    assert apart is not None
    assert (alike.mean, alike.low, alike.high) == (0.5, 0.5, 0.5)
    # 24 documents, of which each has questions that are all found or all missed: the standard error is about 0.1.
    assert 0.15 < apart.mean - apart.low < 0.25
    assert 0.15 < apart.high - apart.mean < 0.25


def test_ties_are_called_ties_and_the_cheapest_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkwise.evaluate.compare.MARGIN", 0.2)  # what questions about 24 documents can tell
    queries = tuple(query(i) for i in range(60))
    shares = [[float(i % 2) for i in range(60)], [float(i % 2) if i else 1.0 for i in range(60)]]
    cheap = outcome("fixed(size=9)", queries, shares[0], vectors=7)
    outcomes = (cheap, outcome("fixed(size=8)", queries, shares[1]))
    made = page(replace(evaluation(), queries=queries, outcomes=outcomes))
    rows = made.rows("How far apart configs are")
    assert "Take fixed(size=9)" in made.text
    assert [row[1] for row in rows] == ["fixed(size=8)", "fixed(size=9) choice"]
    assert rows[1][4].endswith(" tie")


def test_other_metrics_stand_by_what_they_are_cut_off_at() -> None:
    of = evaluation()
    made = page(of)
    heads, under = made.tables["All metrics"][:2]
    assert heads == ["#", "Config", "at 800 tokens", "at 5 hits"]
    assert under == ["Recall", "Recall", "Tokens"]
    mean = 100 * of.comparison.means["fixed(size=100)"]
    assert made.rows("All metrics")[0][2:] == [f"{mean:.1f}", f"{mean / 2:.1f}", "1,234"]


def test_costs_name_seconds_and_memory_and_leave_out_what_is_unknown() -> None:
    assert page(evaluation()).rows("What configs cost")[0][2:] == ["712", "100", "1.5", "3.0", "20.2", "", "4.2", "0.0"]


def test_the_frontier_has_its_numbers_as_a_table() -> None:
    of = evaluation()
    rows = page(of).rows("Recall by budget")
    for row, name in zip(rows, of.comparison.names, strict=True):
        curve = next(one.curve for one in of.outcomes if one.config.label == name)
        told = [float(cell.partition(" ")[0]) for cell in row[2:]]
        assert told == pytest.approx([100 * sum(values) / 60 for _, values in sorted(curve.items())], abs=0.051)


def test_many_configs_are_drawn_and_eight_are_named() -> None:
    names = [f"fixed(size={n})" for n in range(40, 64)]
    html = drawn(evaluation(names=names), TEXTS)
    wide, narrow = re.findall(r"<svg class=\"(?:wide|narrow)\".*?</svg>", html, re.DOTALL)
    for picture in (wide, narrow):
        assert len(re.findall(r'class="line strong', picture)) == 8
        assert len(re.findall(r'class="line', picture)) == 24
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)"><tspan class="number">', wide))
    assert all(later - one >= 17.9 for one, later in pairwise(heights))


def test_long_labels_in_the_picture_keep_their_ends() -> None:
    names = [f"structural(size=200) | context(title=True, neighbours={n})" for n in range(1, 5)]
    html = drawn(evaluation(names=names), TEXTS)
    labels = re.findall(r'class="name">(.*?)</tspan>', html)
    assert sorted(labels) == [f"structural(size=200) | co…title=True, neighbours={n})" for n in range(1, 5)]


def test_blame_stands_with_its_totals_and_its_documents() -> None:
    of = evaluation()
    made, blame = page(of), of.outcomes[0].blame
    assert blame is not None
    losses = [f"{100 * blame.loss(cause).recall:.1f}" for cause in CAUSES]
    own = next(row for row in made.rows("What was missed") if row[1].startswith("fixed(size=100)"))
    assert own[2:] == [f"{100 * blame.total().recall:.1f}", "", *losses, f"{100 * blame.winnable:.0f} %"]
    assert f"({100 * blame.winnable:.0f} %). No cut wins the rest" in made.text
    documents = [row[0] for row in made.tables["Documents, config 1"][1:]]
    assert documents == list(blame.by_document())[:10]


def test_what_was_not_blamed_is_not_told_of() -> None:
    of = evaluation()
    of = replace(of, outcomes=tuple(replace(one, blame=None) for one in of.outcomes))
    made = page(of)
    assert "was not asked" in made.text
    assert "What was missed" not in made.tables


def test_evidence_and_hits_are_where_scripts_count_them() -> None:
    of = evaluation()
    told = page(of).read("details")
    ranking = Ranking.of(of)
    for i, asked in enumerate(of.queries):
        one = asked.evidence[0][0]
        document, first, last, window, _, start, end, *_ = told["evidence"][str(i)][0][0]
        text = told["texts"][window]
        assert (told["documents"][document], first, last) == (one.document_id, *one.span)
        assert units(text, start, end) == shown(one.span.slice(TEXTS[one.document_id]))
        for config, done in enumerate(ranking.outcomes):
            flat = told["hits"][config][str(i)]
            assert flat[1::3] == [hit.rank for hit in done.found[i]]
            for place, hit in zip(flat[::3], done.found[i], strict=True):
                _, _, tokens, window, start, end = told["places"][place]
                assert units(told["texts"][window], start, end) == shown(hit.spans[0].slice(TEXTS[hit.document_id]))
                assert tokens == hit.tokens


def test_which_questions_were_found_whole_is_told_of_each_config() -> None:
    of = evaluation()
    scores = page(of).read("scores")
    for name, whole in zip(scores["names"], scores["whole"], strict=True):
        values = next(one.scores[METRIC] for one in of.outcomes if one.config.label == name)
        assert whole == "".join(str(int(value == 1)) for value in values)


def test_a_score_is_rounded_neither_to_all_nor_to_nothing() -> None:
    of = evaluation()
    scores = {METRIC: (1.0, 0.9999, 0.0001, 0.0, *of.outcomes[0].scores[METRIC][4:])}
    told = page(replace(of, outcomes=(replace(of.outcomes[0], scores=scores),))).read("scores")
    assert told["scores"][0][:4] == [1000, 999, 1, 0]


PIECES = st.sampled_from(
    ["a", "é", "泵", "🩺", "👩‍🔧", "\r\n", "\n", "\u202e", "\u200f", "\x00", "\ud800", "\udc00", " "]
)


@given(st.lists(PIECES, min_size=1), st.data())
def test_spans_are_where_scripts_count_them_in_any_text(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    edges = [len("".join(pieces[:n])) for n in range(len(pieces) + 1)]
    ends = st.tuples(st.sampled_from(edges), st.sampled_from(edges)).map(sorted).filter(lambda pair: pair[0] < pair[1])
    spans = [Span(*pair) for pair in data.draw(st.lists(ends, min_size=1))]
    needed = Needed({"x": text})
    needed.add([("x", span) for span in spans])
    windows = Windows.of({"x": text}, needed)
    for span in spans:
        window, start, end = windows.place("x", span)
        assert units(windows.texts[window], start, end) == shown(span.slice(text))
    assert sum(one.span.length for one in windows.by_document["x"]) == len({n for span in spans for n in range(*span)})


def test_the_text_of_hits_that_share_it_is_in_the_page_once() -> None:
    texts = {f"{i}.md": f"document {i} says: unmistakable {'word ' * 400}" for i in range(24)}
    queries = tuple(query(i, texts) for i in range(48))
    outcomes = tuple(outcome(f"fixed(size={n})", queries, [1.0] * 48) for n in range(40, 64))
    html = drawn(replace(evaluation(), queries=queries, outcomes=outcomes), texts)
    assert html.count("unmistakable") == 24


def test_what_the_file_has_no_room_for_is_left_out_and_told() -> None:
    ranking = Ranking.of(evaluation())
    whole = Questions(ranking, TEXTS)
    _, evidence, hits = whole.kept
    assert (len(evidence), len(hits)) == (60, 180)
    for share in (0.1, 0.5, 0.9):
        room = share * len(json.dumps(details(whole), ensure_ascii=False).encode())
        some = Questions(ranking, TEXTS, most_bytes=int(room))
        assert len(json.dumps(details(some)["texts"], ensure_ascii=False).encode()) <= room
        _, evidence, hits = some.kept
        assert 0 < len(hits) < 180
        assert {i for _, i in hits} == evidence
        # The choice comes first.
        assert {i for config, i in hits if config == 0} == evidence


def test_a_page_says_that_questions_and_hits_were_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkwise.report.evaluation.Questions", _small)
    made = page(evaluation())
    assert "Left out: 20 of 60 questions; those are listed on which config 1 scores lowest." in made.text
    assert "hits of the configs 2, 3, wholly or of some questions" in made.text
    assert made.tags.count("output") == 1
    assert len(re.findall(r"What is wrong with", made.text)) == 40


def _small(ranking: Ranking, texts: dict[str, str]) -> Questions:
    return Questions(ranking, texts, most_bytes=11_000, most_questions=40)


def test_synthetic_questions_are_told_loudly() -> None:
    of = evaluation()
    assert "Synthetic" not in page(of).text
    drafted = tuple(replace(one, meta={"synthetic": "headings"}) for one in of.queries)
    assert "All 60 questions were drafted by a machine" in page(replace(of, queries=drafted)).text
    some = (*drafted[:7], *of.queries[7:])
    assert "7 of 60 questions were drafted by a machine" in page(replace(of, queries=some)).text


def test_few_questions_choose_nothing_unless_the_difference_is_large() -> None:
    made = page(evaluation(12))
    assert "Too few questions to choose by" in made.text
    assert "Few questions. 12 questions. Intervals are wide" in made.text
    assert "choice" not in "".join(row[1] for row in made.rows("How far apart configs are"))
    rows = page(evaluation(3)).rows("How far apart configs are")
    assert [row[2:5] for row in rows][1] == ["50.0", "", "−16.7 tie"]


def test_questions_about_few_documents_are_few() -> None:
    queries = tuple(replace(query(i), evidence=query(i % 6).evidence) for i in range(60))
    of = evaluation()
    outcomes = tuple(outcome(one.config.label, queries, one.scores[METRIC]) for one in of.outcomes)
    made = page(replace(of, queries=queries, outcomes=outcomes))
    assert "Few documents. 60 questions about 6. Intervals say what more questions about these would show" in made.text


def test_one_config_alone_is_no_comparison() -> None:
    made = page(evaluation(names=["fixed(size=100)"]))
    assert "Only one config was measured" in made.text
    assert len(made.rows("How far apart configs are")) == 1


def test_how_to_repeat_it_is_told() -> None:
    text = page(evaluation()).text
    assert "chunkwise evaluate docs" in text
    assert "c0ffee" in text
    assert "recipe='fixed(size=100)', retrieval='hybrid()', evidence='chunks', tokens=800" in text


def test_alternatives_and_several_slots_of_evidence_are_kept_apart() -> None:
    of = evaluation()
    places = [Evidence("pump.md", Span(5, 20)), Evidence("valve.md", Span(5, 20)), Evidence("d1.md", Span(0, 9))]
    asked = Query("many", "Which?", ((places[0], places[1]), (places[2],)))
    queries = (asked, *of.queries[1:])
    outcomes = tuple(outcome(one.config.label, queries, one.scores[METRIC]) for one in of.outcomes)
    told = page(replace(of, queries=queries, outcomes=outcomes)).read("details")["evidence"]["0"]
    assert [[one[1:3] for one in slot] for slot in told] == [[[5, 20], [5, 20]], [[0, 9]]]


def test_texts_that_are_not_those_of_the_evaluation_are_refused() -> None:
    for texts in ({}, {id: text[:30] for id, text in TEXTS.items()}):
        with pytest.raises(ChunkwiseError, match=r"no text from .* the report needs the texts that were evaluated"):
            drawn(evaluation(), texts)
