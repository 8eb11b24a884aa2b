"""What a text is taken for, and that each kind is cut by its own strategy, also within one document."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from chunkwise.chunkers.kinds import kind_of
from chunkwise.core.errors import RecipeError
from chunkwise.core.types import Chunk, Document
from chunkwise.pipeline import DEFAULT_RECIPE, Index, chunk, chunker, parse
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker
from chunkwise.text import syntax

LEASE = """1. Term

1.1 The term is five years.

1.2 It may be ended under 3.2.

2. Rent

2.1 The rent is 900 a month.

2.2 It is due on the first day.

3. Use

3.1 The rooms are for living.

3.2 Not for trade.
"""
MEETING = (
    "Alice: Shall we begin?\nBob: Yes.\nAlice: The pump is old.\nCarol: It is from 1998.\nBob: Then we need another.\n"
)
LOG = (
    "2026-11-30 02:40:03 INFO started\n2026-11-30 02:40:04 ERROR failed\n  at main()\n2026-11-30 02:40:05 INFO ended\n"
)
FIELDS = "".join(
    f"Start-Date: 2026-11-{i}\nCommandline: apt install a{i}\nInstall: a{i}:amd64 (1.{i})\n\n" for i in range(9)
)
PROSE = "The station lifts water from the river to the town. It has two pumps, and one of them always rests.\n\n" * 4
TABLE = "| part | maker |\n|---|---|\n" + "".join(f"| seal {i} | maker {i} |\n" for i in range(20))
CODE = "```py\n" + "".join(f"def f{i}(x):\n    return x + {i}\n\n\n" for i in range(20)) + "```\n"


@pytest.mark.parametrize(
    ("text", "media_type", "kind", "reason"),
    [
        (PROSE, "text/plain", "prose", "running text"),
        (PROSE, "text/markdown", "prose", "running text"),
        ("def f():\n    return 1\n", "text/x-python", "code", "source code in python"),
        ('{"a": [1, 2]}', "text/x-json", "json", "the file is JSON"),
        ('{"a": [1, 2]}', "text/plain", "json", "begins as JSON"),
        ("a,b\n1,2\n", "text/csv", "table", "the file is a table"),
        (LOG, "text/plain", "log", "begin with a time or a level"),
        (MEETING, "text/plain", "transcript", "turns of Alice, Bob"),
        (LEASE, "text/plain", "legal", "numbered clauses: "),
        ("", "text/plain", "prose", ""),
        ("1. Wash.\n2. Dry.\n3. Fold.\n4. Iron.\n", "text/plain", "prose", ""),  # a list
        ("Note: dry.\nWarning: wet.\nTime: 12:30\nTo: Ann\n", "text/plain", "prose", ""),
        (FIELDS, "text/plain", "prose", ""),
        (FIELDS + "\n" + PROSE, "text/plain", "prose", ""),
        ("\n\n".join(f"Pros: good {i}.\n\nCons: bad {i}." for i in range(4)), "text/plain", "prose", ""),
        ("\n\n".join(f"## v{i}\n\nFixed: a {i}.\n\nAdded: b {i}." for i in range(6)), "text/markdown", "prose", ""),
        ("Traceback (most recent call last):\nValueError: it failed.\n\n" * 6, "text/plain", "prose", ""),
        ("1.0\n- A fix\n\n1.1\n- More\n\n1.2\n- Less\n\n2.0\n- All\n", "text/plain", "prose", ""),  # versions
    ],
)
def test_a_text_is_taken_for_what_it_is(text: str, media_type: str, kind: str, reason: str) -> None:
    found = kind_of(read_text(text, id="x", media_type=media_type))
    assert found[0] == kind
    assert reason in found[1]


def test_what_is_told_by_the_beginning_is_not_changed_by_the_end() -> None:
    assert kind_of(read_text(MEETING * 60 + PROSE * 90, media_type="text/plain"))[0] == "transcript"
    assert kind_of(read_text(PROSE * 60 + MEETING * 90, media_type="text/plain"))[0] == "prose"


def mixed(recipe: str) -> tuple[Document, list[Chunk]]:
    document = read_text(
        f"# Station\n\n{PROSE}\n## Parts\n\nThe parts:\n\n{TABLE}\n{PROSE}\n## Code\n\nRun it:\n\n{CODE}\n{PROSE}"
    )
    return document, check_chunker(chunker(recipe, tokenizer="words"), document)


def test_large_tables_and_code_get_a_treatment_of_their_own_in_order() -> None:
    _, chunks = mixed("auto(size=60)")
    kinds = [c.meta["kind"] for c in chunks]
    assert list(dict.fromkeys(pairwise(kinds))) == [
        ("prose", "prose"),
        ("prose", "table"),
        ("table", "table"),
        ("table", "prose"),
        ("prose", "code"),
        ("code", "code"),
        ("code", "prose"),
    ]
    for c in chunks:
        strategy = {"prose": "structural", "table": "rows", "code": "code"}[str(c.meta["kind"])]
        assert c.meta["strategy"] == f"{strategy}(size=60, tokenizer='words')"
        assert c.meta["reason"]
    table = [c for c in chunks if c.meta["kind"] == "table"]
    assert table[0].text.startswith("## Parts\n\nThe parts:\n\n| part")
    assert all(c.text.startswith("| part | maker |") for c in table[1:])
    code = [c for c in chunks if c.meta["kind"] == "code"]
    assert code[0].text.startswith("## Code\n\nRun it:\n\n```py\ndef f0")
    assert all(c.text.startswith("```py\ndef f") for c in code[1:])


def test_what_fits_stays_with_the_text_around_it() -> None:
    _, chunks = mixed("auto(size=500)")
    assert {c.meta["kind"] for c in chunks} == {"prose"}


def test_a_route_takes_recipes_of_ones_own_and_what_follows_follows_each() -> None:
    recipe = "route(prose=sentences(size=30), table=rows(size=40, max_rows=2)) | context(headings=True)"
    _, chunks = mixed(recipe)
    assert parse(repr(parse(recipe))) == parse(recipe)
    assert max(c.token_count for c in chunks if c.meta["kind"] == "prose") <= 30
    assert max(c.text.count("| seal") for c in chunks if c.meta["kind"] == "table") == 2
    assert any(c.context == "Station > Parts\n" for c in chunks if c.meta["kind"] == "table")


def test_headings_of_clauses_reach_the_context_through_auto() -> None:
    chunks = chunk(
        read_text(LEASE, id="x", media_type="text/plain"), "auto(size=24) | context(headings=True)", tokenizer="words"
    )
    assert any(c.headings == ("2 Rent", "2.2") for c in chunks)
    assert any(c.context.startswith("2 Rent") for c in chunks)


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("route(prose=nest(200, 100))", "prose=.* has levels; put the route into a nest"),
        ("route(code=recursive(size=100, tokenizer='words'))", "code counts with words, prose with all-MiniLM"),
        ("route(poem=recursive())", "no parameter 'poem'"),
        ("route(prose='recursive')", "must be a recipe"),
    ],
)
def test_a_route_that_can_not_be_is_refused(recipe: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        chunker(recipe)


def test_a_route_nests() -> None:
    _, chunks = mixed("nest(200, 50, base=route())")
    assert {c.meta["level"] for c in chunks} == {0, 1}
    assert {c.meta["kind"] for c in chunks} == {"prose", "table", "code"}


def test_without_the_extra_code_is_cut_between_lines_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    chunks = chunk(read_text("def f():\n    return 1\n" * 40, id="x", media_type="text/x-python"), "auto(size=50)")
    assert all("structural" in str(c.meta["strategy"]) for c in chunks)
    assert "the extra `code` is not installed" in str(chunks[0].meta["reason"])


def test_an_index_of_many_kinds_finds_in_each(tmp_path: Path) -> None:
    for name, text in {
        "a.md": PROSE,
        "b.csv": "part,maker\nseal,Okafor\n",
        "c.log": LOG,
        "d.py": "def pump():\n    return 7\n",
    }.items():
        (tmp_path / name).write_text(text)
    index = Index("memory:")
    index.add(tmp_path, recipe="auto(size=200)")
    assert index.search("Who makes the seal?", k=1)[0].chunk.document_id == "b.csv"
    kinds = {c.meta["kind"] for id in index.documents() for c in index.chunks(id)}
    assert kinds == {"prose", "table", "log", "code"}
    assert DEFAULT_RECIPE.startswith("structural")
