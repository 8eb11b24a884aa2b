"""`chunkwise search`: how to find, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.commands import rows, run
from unit.fake_server import FakeServer, Reply, said

BOILERPLATE = "All rights reserved. No part of this may be copied without the written consent of the owner.\n"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "old").mkdir(parents=True)
    (docs / "pumps.md").write_text("# Pumps\n\nPumps hum.\n\n## Seals\n\nSeals are replaced every six weeks.\n")
    (docs / "old" / "pumps.md").write_text("# Pumps\n\nSeals are replaced every two weeks, said the manual of 1990.\n")
    (docs / "a.txt").write_text(BOILERPLATE)
    (docs / "b.txt").write_text(BOILERPLATE.upper())
    run("index", docs, "-i", tmp_path / "i", "-r", "nest(60, 20)")
    return tmp_path / "i"


def test_a_recipe_says_how_to_find(index: Path) -> None:
    out, _ = run("search", "seals replaced", "-i", index, "-k", "2", "-R", "hybrid(fusion='rrf') | parent()")
    assert {row["meta"]["level"] for row in rows(out)} == {0}
    out, _ = run("search", "consent of the owner", "-i", index, "-k", "1", "--retrieve", "hybrid() | fold()")
    (hit,) = rows(out)
    assert {hit["document_id"], hit["folded"][0]["document_id"]} == {"a.txt", "b.txt"}
    out, _ = run(
        "search", "consent", "-i", index, "-k", "1", "--tokens", "80", "-R", "lexical() | auto_merge() | edges()"
    )
    assert sum(row["token_count"] for row in rows(out)) <= 80


def test_metadata_and_patterns_of_ids_bound_a_search(index: Path) -> None:
    found = {}
    for options in (
        ("--document", "old/*"),
        ("--document", "*.txt", "--document", "old/*"),
        ("--where", "media_type=text/markdown"),
        ("--where", "document_id=a.txt", "--where", "document_id=b.txt"),
        ("--where", "document_id=a.txt", "--document", "*.txt"),
        ("--where", "level=0", "--document", "pumps.md"),
    ):
        out, _ = run("search", "seals consent", "-i", index, "-k", "20", *options)
        found[options] = {row["document_id"] for row in rows(out)}
    assert list(found.values()) == [
        {"old/pumps.md"},
        {"a.txt", "b.txt", "old/pumps.md"},
        {"pumps.md", "old/pumps.md"},
        {"a.txt", "b.txt"},
        {"a.txt"},
        {"pumps.md"},
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--where", "language"), "give KEY=VALUE"),
        (("--document", "nothing/*"), "holds no such document"),
        (("-R", "hybird()"), "did you mean 'hybrid'"),
        (("-R", "hybrid()", "--mode", "vector"), "leave one of them out"),
        (("-R", "hybrid() | rerank('nowhere')"), "no reranker 'nowhere'"),
        (("--mode", "lexical", "-R", ""), "leave one of them out"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(index: Path, options: tuple[str, ...], words: str) -> None:
    _, err = run("search", "seals", "-i", index, *options, code=2)
    assert words in err


def test_a_rerank_that_fails_is_told(index: Path) -> None:
    with FakeServer(Reply(body=said("no numbers"))) as server:
        recipe = f"lexical() | rerank('llm:{server.url}#fake') | edges()"
        out, err = run("search", "seals", "-i", index, "-R", recipe)
    assert rows(out)
    assert "note: the order is that before the rerank, which failed: the answer is no JSON: 'no numbers'" in err


def test_nothing_under_a_filter_is_told(index: Path) -> None:
    out, err = run("search", "seals", "-i", index, "--where", "language=xx")
    assert out == ""
    assert "leave out --where" in err


def test_an_index_of_an_earlier_format_is_told(index: Path) -> None:
    manifest = index / "index.json"
    manifest.write_text(manifest.read_text().replace('"chunkwise_index": 2', '"chunkwise_index": 1'))
    _, err = run("search", "seals", "-i", index, code=2)
    assert "format 1 of an earlier version" in err
    assert "index again" in err
