"""`chunkwise evaluate` from the outside."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from unit.commands import run
from unit.fake_server import FakeServer, Reply, said

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MEASURED = ("--encoder", "static", "--no-cache", "--tokens", "100")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    lines = []
    for i in range(12):
        fact = f"The key of room {i} hangs beside the {i + 20} lamps of the hall."
        (folder / f"room{i}.md").write_text(f"# Room {i}\n\nNothing is said of it. {fact}\n\nIt is painted grey.\n")
        lines.append({"id": f"q{i}", "query": f"Where is the key of room {i}?", "evidence": fact})
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_recipes_are_compared_in_a_table_with_a_verdict_and_why_evidence_is_missed(docs: Path) -> None:
    cuts = ("-r", "recursive(size=60)", "-r", "fixed(size=10)", "-E", "chunks", "-E", "assemble")
    out, err = run("evaluate", docs, "-q", docs.parent / "set.jsonl", *cuts, *MEASURED)
    assert "12 questions about 12 documents, 100 tokens (cl100k_base) of evidence for each, encoder static" in err
    head, *rows = out.split("\n\n")[0].splitlines()
    assert head.split()[0] == "recall"
    assert len(rows) == 4
    assert rows[-1].endswith("fixed(size=10) -> static")
    assert float(rows[0].split()[0].rstrip("*")) > float(rows[-1].split()[0])
    assert "12 questions are few: only large differences can show." in out
    assert "fragmented" in out.split("\n\n")[2]


def test_results_are_a_baseline_and_a_regression_ends_with_1(docs: Path) -> None:
    results, of = docs.parent / "results.json", ("evaluate", docs, "-q", docs.parent / "set.jsonl", *MEASURED)
    _, err = run(*of, "-r", "recursive(size=60)", "--json", results)
    assert "results.json: all results" in err
    told = json.loads(results.read_text())
    assert told["configs"][0]["recipe"] == "recursive(size=60)"
    assert told["repeat"].startswith("chunkwise evaluate")
    for password in (("--password", "s3cret"), ("--password=s3cret",)):
        run(*of, "-r", "recursive(size=60)", *password, "--json", results, "--report", docs.parent / "r.html")
        assert "--password" in json.loads(results.read_text())["repeat"]
        assert "s3cret" not in results.read_text() + (docs.parent / "r.html").read_text()
    out, _ = run(*of, "-r", "recursive(size=60)", "--baseline", results)
    assert "as before, on 12 questions" in out
    out, err = run(*of, "-r", "fixed(size=10)", "--baseline", results, code=1)
    assert "fixed(size=10) -> static, before recursive(size=60) -> static: worse by more than chance" in out
    assert "q0: 100 -> " in out
    assert "and 2 questions more" in out
    assert "regression" in err


def test_a_config_is_tuned_written_measured_and_gone_by(docs: Path) -> None:
    of, file = (docs, "-q", docs.parent / "set.jsonl", *MEASURED), docs.parent / "chunkwise.toml"
    searched = ("--strategy", "recursive", "--time", "60s", "-E", "chunks", "-E", "assemble", "-o", file)
    out, err = run("tune", *of, *searched, "--report", docs.parent / "report.html")
    assert "screened by 6 of the questions to choose by" in out
    assert "rule of thumb, precision below 0.7" in out
    assert "of the evidence in 100 tokens, on 6 questions that it was not chosen on" in out
    assert "chunkwise.toml: what was chosen" in err
    written = file.read_text()
    assert "# Chosen by chunkwise tune on " in written
    assert 'encoder = "static"' in written
    assert "tokens = 100" in written
    assert "chunkwise tune" in (docs.parent / "report.html").read_text()
    out, _ = run("evaluate", *of[:3], "--config", file, "--tokens", "100", "--no-cache")
    label = out.split("\n\n")[0].splitlines()[1].split("  ")[-1]
    assert label in written
    _, err = run("index", docs, "--no-cache", cwd=docs.parent)
    assert "by chunkwise.toml" in err
    out, _ = run("search", "Where is the key of room 3?", "--json", cwd=docs.parent)
    assert any("hangs beside the 23 lamps" in json.loads(line)["text"] for line in out.splitlines())


def test_tuning_drafts_questions_where_none_are_given_and_says_so(docs: Path) -> None:
    searched = ("--strategy", "recursive", "--time", "0.001s", "--encoder", "static", "--no-cache")
    out, err = run("tune", docs, *searched, "-o", docs.parent / "drafted.toml")
    assert "no questions are given" in err
    assert "of the questions are synthetic" in err
    assert "questions are synthetic." in (docs.parent / "drafted.toml").read_text()
    assert "not for want of time or passes" in out


def test_answers_are_judged_by_a_heuristic_that_says_so(docs: Path) -> None:
    of = ("evaluate", docs, "-q", docs.parent / "set.jsonl", *MEASURED, "-r", "recursive(size=60)")
    answers, labels = docs.parent / "answers.jsonl", docs.parent / "labels.jsonl"
    said = [{"id": f"q{i}", "answer": f"It hangs beside the {i + 20} lamps of the hall."} for i in range(12)]
    answers.write_text("".join(json.dumps(one) + "\n" for one in said))
    labels.write_text("".join(json.dumps({**one, "label": True}) + "\n" for one in said))
    files = ("--json", docs.parent / "r.json", "--report", docs.parent / "r.html")
    out, _ = run(*of, "--answers", "--given", answers, "--labels", labels, *files)
    assert "faithfulness (heuristic)" in out
    assert "the HEURISTIC against 12 labels" in out
    (told,) = json.loads((docs.parent / "r.json").read_text())["configs"]
    assert told["answers"]["judge"]["kind"] == "heuristic"
    page = (docs.parent / "r.html").read_text()
    assert "faithfulness (heuristic)" in page
    section = page[page.index('id="answers"') :]
    head, row = (re.search(rf"<{tag}>.*?</{tag}>", section, re.DOTALL)[0] for tag in ("thead", "tbody"))  # type: ignore[index]
    assert row.count("<td") + row.count("<th") == head.count("<th") - 1 + head.count('colspan="2"')
    _, err = run(*of, "--answers", code=2)
    assert "the questions have no answers to judge" in err
    _, err = run(*of, "--llm", "https://host/v1#m", "--given", answers, code=2)
    assert "give one of the two" in err


def test_a_model_that_finds_nothing_to_say_is_judged_to_have_refused(docs: Path) -> None:
    of = ("evaluate", docs, "-q", docs.parent / "set.jsonl", *MEASURED, "-r", "recursive(size=60)")
    empty = Reply(body=said(json.dumps({"sentences": [], "claims": []})))
    with FakeServer(*[empty] * 100) as server:
        out, _ = run(*of, "--llm", f"{server.url}#m", "--judge", f"{server.url}#m")
    assert "12 of 12 answers say that the passages do not tell" in out
    assert "judges its own answers" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--time", "soon"), "write seconds, minutes or hours above 0"),
        (("--strategy", "recursiv"), "recursiv"),
        (("-E", "chunk"), "write one of chunks, assemble"),
        (("--recipe", "fixed("), "fixed("),
    ],
)
def test_what_can_not_be_tuned_is_one_line(docs: Path, arguments: tuple[str, ...], words: str) -> None:
    _, err = run("tune", docs, "-q", docs.parent / "set.jsonl", *MEASURED, *arguments, code=2)
    assert words in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-E", "chunk"), "no evidence 'chunk'; did you mean 'chunks'?"),
        (("-r", "recursiv(size=60)"), "recursiv"),
        (("-R", "hybrd()"), "hybrd"),
        (("-m", "Recal @ 5"), "no metric 'Recal'; did you mean 'recall'?"),
        (("--blame", "some"), "write chosen, all or none"),
        (("--baseline", "gone.json"), "gone.json: No such file"),
        (("--queries", "gone.jsonl"), "gone.jsonl: can't be read"),
        (("--cache", "x", "--no-cache"), "give one of the two"),
    ],
)
def test_bad_input_is_one_line(docs: Path, arguments: tuple[str, ...], words: str) -> None:
    _, err = run("evaluate", docs, "-q", docs.parent / "set.jsonl", "--encoder", "static", *arguments, code=2)
    assert words in err
    assert len([line for line in err.splitlines() if line.startswith("error:")]) == 1


def test_an_empty_set_and_broken_gold_are_told_before_anything_is_measured(docs: Path) -> None:
    empty = docs.parent / "empty.jsonl"
    empty.write_text("")
    _, err = run("evaluate", docs, "-q", empty, *MEASURED, code=2)
    assert "no query in it; draft some with: chunkwise queries draft" in err
    empty.write_text(json.dumps({"id": "a", "query": "Why?", "evidence": "nowhere at all said"}) + "\n")
    _, err = run("evaluate", docs, "-q", empty, *MEASURED, code=2)
    assert "line 1, query a: the excerpt is not in any document" in err
