"""`chunkwise queries`: check, draft and find, from the outside."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from chunkwise import read
from unit.commands import rows, run
from unit.fake_server import FakeServer, Reply, said

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QUESTION = "Whose idea was the little lander?"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pumps.md").write_text("# Pumps\n\nSeals are replaced every six weeks.\n\nPumps hum.\n")
    (tmp_path / "docs" / "terms.md").write_text("# Terms\n\nThe notice period is three months.\n")
    return tmp_path / "docs"


def write(folder: Path, *lines: Mapping[str, object]) -> Path:
    file = folder / "set.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_a_sound_set_passes_and_is_written_with_exact_spans(docs: Path) -> None:
    # The set lies among the documents, and quotes them.
    file = write(docs, {"id": "a", "query": "How often?", "evidence": "seals are  replaced every six weeks"})
    out, err = run("queries", "check", docs, "-q", file, "--write", docs.parent / "exact.jsonl")
    (note,) = rows(out)
    assert (note["kind"], note["line"]) == ("note", 1)
    assert "1 query sound, with 1 piece of evidence in 2 documents; 0 broken" in err
    (line,) = rows((docs.parent / "exact.jsonl").read_text())
    evidence = {"document": "pumps.md", "start": 9, "end": 43, "text": "Seals are replaced every six weeks"}
    assert line == {"id": "a", "query": "How often?", "evidence": [evidence]}
    out, _ = run("queries", "check", docs, "-q", docs.parent / "exact.jsonl")
    assert not [row for row in rows(out) if row["id"] == "a"]


def test_broken_gold_ends_with_1_and_text_to_paste(docs: Path) -> None:
    sound = {"id": "b", "query": "How long?", "evidence": ["three months"]}
    file = write(docs.parent, {"id": "a", "query": "How often?", "evidence": "Seals are renewed every 6 weeks"}, sound)
    before = file.read_text()
    out, err = run("queries", "check", docs, "-q", file, code=1)
    (fault,) = rows(out)
    assert (fault["line"], fault["id"], fault["kind"]) == (1, "a", "fault")
    assert fault["passages"][0]["text"] == read(docs / "pumps.md").text[9:43]
    assert "1 query sound" in err
    pasted = write(docs.parent, {"id": "a", "query": "How often?", "evidence": fault["passages"]}, sound)
    run("queries", "check", docs, "-q", pasted)

    pasted.write_text(before)
    _, err = run("queries", "check", docs, "-q", file, "--write", file, code=2)
    assert "name a new file" in err
    assert file.read_text() == before
    run("queries", "check", docs, "-q", file, "--write", docs.parent / "rest.jsonl", code=1)
    assert [row["id"] for row in rows((docs.parent / "rest.jsonl").read_text())] == ["b"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "docs", "-q", "gone.jsonl"), "gone.jsonl: can't be read"),
        (("check", "docs", "-q", "docs/pumps.md"), "a set of queries ends in .jsonl"),
        (("check", "nowhere", "-q", "set.jsonl"), "nowhere: no such file"),
        (("check", "docs", "docs", "-q", "set.jsonl"), "two documents of one name, pumps.md"),
        (("check", "empty", "-q", "set.jsonl"), "there are no documents"),
        (("check", "docs", "-q", "set.jsonl", "--write", "set.csv"), "name a file that ends in .jsonl"),
        (("draft", "docs", "-o", "set.jsonl"), "may hold work of yours; name a new file"),
        (("draft", "docs", "-o", "set.yaml"), "name a file that ends in .jsonl"),
        (("draft", "docs", "--llm", "gpt"), "no language model 'gpt'"),
        (("draft", "docs"), "no query came of it"),
        (("find", "xylophone", "docs"), "no sentence shares a word with the question"),
        (("find", "seals", "docs", "--pick", "9"), "'9' is no number from 1 to 1"),
        (("find", "seals", "docs", "--pick", "1,x"), "'x' is no number"),
        (("find", "seals", "docs", "--add", "new.jsonl"), "--add needs --pick NUMBERS"),
        (("find", "how often?", "docs", "--add", "set.jsonl", "--pick", "1"), "has this question already"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(docs: Path, arguments: tuple[str, ...], words: str) -> None:
    write(docs.parent, {"query": "how often?", "evidence": "every six weeks"})
    (docs.parent / "empty").mkdir()
    _, err = run("queries", *arguments, code=2, cwd=docs.parent)
    assert words in err.splitlines()[-1]


def test_drafts_are_a_set_that_is_sound(tmp_path: Path) -> None:
    drafted = tmp_path / "drafts.jsonl"
    _, err = run("queries", "draft", EXAMPLES / "corpus", "-n", "10", "-o", drafted, "--seed", "2")
    assert "10 queries on 5 documents" in err
    assert "all marked synthetic" in err
    out, err = run("queries", "check", EXAMPLES / "corpus", "-q", drafted)
    assert out == ""
    assert "10 queries sound" in err
    out, _ = run("queries", "draft", EXAMPLES / "corpus", "-n", "10", "--seed", "2")
    assert out == drafted.read_text("utf-8")
    assert all(row["synthetic"] in ("heading", "fact", "terms") for row in rows(out))


def test_a_language_model_drafts_where_one_is_named(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "CHUNKWISE_ANSWERS", "off")
    good = {"question": "When is it renewed?", "excerpt": "Seals are replaced every six weeks.", "answer": "6 weeks"}
    bad = {"question": "How long?", "excerpt": "The notice period is four months."}
    by_text = {"Seals": json.dumps(good), "notice": json.dumps(bad)}

    def reply(asked: object) -> str:
        prompt = asked.content["messages"][0]["content"]  # type: ignore[attr-defined]
        return said(next(text for word, text in by_text.items() if word in prompt.split("<text>")[1]))

    with FakeServer(*[Reply(body=reply)] * 9) as server:
        out, err = run("queries", "draft", docs, "-n", "2", "--llm", f"{server.url}#fake")
    (line,) = rows(out)
    assert (line["query"], line["answer"], line["synthetic"]) == ("When is it renewed?", "6 weeks", "llm fake")
    assert "dropped 1: its excerpt is not in the text" in err
    assert "1 query of 2 that were asked for" in err


def test_evidence_is_proposed_picked_and_added(docs: Path) -> None:
    corpus = EXAMPLES / "corpus"
    out, _ = run("queries", "find", QUESTION, corpus, "-n", "5")
    (line,) = rows(out)
    assert len(line["evidence"]) >= 4
    texts = [one["text"] for one in line["evidence"]]
    file = docs.parent / "mine.jsonl"
    _, err = run("queries", "find", QUESTION, corpus, "-n", "5", "--add", file, "--pick", "2, 1/3", "--answer", "Ann's")
    assert "added, with 2 pieces of evidence" in err
    run("queries", "find", "Who signed?", corpus, "--add", file, "--pick", "1")
    first, second = rows(file.read_text("utf-8"))
    assert first["evidence"][0]["text"] == texts[1]
    assert [one["text"] for one in first["evidence"][1]] == [texts[0], texts[2]]
    assert (first["query"], first["answer"], second["query"]) == (QUESTION, "Ann's", "Who signed?")
    out, _ = run("queries", "check", corpus, "-q", file)
    assert out == ""
