"""The documentation, run as it stands."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.models import CommandInfo

import chunkwise
from chunkwise.cli import app
from chunkwise.core.recipes import STRATEGIES
from chunkwise.llm import custom_llm
from chunkwise.readers import READERS
from chunkwise.testing import check_chunker
from laws.strategies import PIPES, documents, written
from scripts import script
from unit.readers_of_prompts import judge

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"")


def fences(page: Path, language: str) -> list[str]:
    return [code for name, code in _FENCE.findall(page.read_text("utf-8")) if name == language]


def test_the_readme_in_python_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "report.md").write_text("# Report\n\n## Notice\n\nThe notice period is three months.\n")
    (tmp_path / "docs" / "terms.md").write_text("# Terms\n\nThe notice period is three months.\n")
    monkeypatch.chdir(tmp_path)
    # In the same folder, a newcomer has run the README's command before.
    chunkwise.Index("index").add("docs/")
    program = "\n".join(fences(ROOT / "README.md", "python"))
    names: dict[str, object] = {}
    exec(compile(program, "README.md", "exec"), names)
    hits = names["hits"]
    assert isinstance(hits, list)
    assert "three months" in hits[0].chunk.text


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Write the strategy of the page to a file, and forget it again."""
    path = tmp_path / "questions.py"
    path.write_text(fences(ROOT / "docs" / "write-a-strategy.md", "python")[0], "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield path
    STRATEGIES.pop("questions", None)
    sys.modules.pop("questions", None)


def test_the_strategy_of_the_page_is_short_and_obeys_the_laws(questions: Path) -> None:
    assert len(questions.read_text("utf-8").splitlines()) < 40
    importlib.import_module("questions")
    exec("\n".join(fences(ROOT / "docs" / "write-a-strategy.md", "python")[1:]), {})

    @settings(max_examples=40)
    @given(document=documents, size=st.integers(5, 60), pipe=st.sampled_from(PIPES))
    def obeys(document: chunkwise.Document, size: int, pipe: str) -> None:
        check_chunker(chunkwise.parse(f"{written('questions', size)}{pipe}"), document)

    obeys()


def test_the_command_line_takes_the_strategy_of_the_page(questions: Path) -> None:
    faq = questions.with_name("faq.txt")
    faq.write_text("Is it safe?\nYes. Always.\n\nIs it old?\nIt is from 1998.\n", "utf-8")

    def out(*arguments: str) -> str:
        command = [sys.executable, "-m", "chunkwise", "--load", "questions.py", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=questions.parent).stdout

    listed = {row["name"]: row for row in map(json.loads, out("strategies", "--json").splitlines())}
    assert listed["questions"]["sentence"] == "Keep each question of an FAQ with its answer."
    chunks = [json.loads(line) for line in out("chunk", "faq.txt", "-r", "questions(size=12)").splitlines()]
    assert [chunk["text"].partition("\n")[0] for chunk in chunks] == ["Is it safe?", "Is it old?"]
    assert json.loads(out("check", "faq.txt", "-r", "questions(size=12)", "--json"))["laws"] == {}


def test_the_reader_of_the_page_keeps_its_promises_and_the_command_line_takes_it(tmp_path: Path) -> None:
    reader, test = fences(ROOT / "docs" / "write-a-reader.md", "python")
    (tmp_path / "subtitles.py").write_text(reader, "utf-8")
    cues = "1\n00:00:01,000 --> 00:00:02,000\nOpen\nthe valve.\n\n2\n00:00:03,000 --> 00:00:04,000\nWait.\n"
    (tmp_path / "talk.srt").write_text(cues, "utf-8")
    try:
        exec(f"{reader}\n{test}", {"__name__": "subtitles"})
    finally:
        READERS.pop(".srt", None)
    command = ["--load", "subtitles.py", "read", ".", "--glob", "*.srt"]
    done = subprocess.run(
        [sys.executable, "-m", "chunkwise", *command], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "Open the valve.\n\nWait." in done.stdout


def test_the_comparison_of_the_page_says_who_is_ahead(capsys: pytest.CaptureFixture[str]) -> None:
    exec("\n".join(fences(ROOT / "docs" / "statistics.md", "python")), {})
    assert capsys.readouterr().out.startswith("recursive(size=200) is ahead of all 2 others, of fixed(size=200) by 1.7")


def test_every_command_that_the_readme_shows_is_known() -> None:
    shown = re.findall(
        r"^\s*(?:\.venv/bin/)?chunkwise (\w+)", "\n".join(fences(ROOT / "README.md", "sh")), re.MULTILINE
    )
    assert {"index", "search", "chunk", "show"} <= set(shown)
    done = subprocess.run(
        [sys.executable, "-c", "from chunkwise.cli import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    for verb in shown:
        assert verb in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for groups in _LINK.findall(page.read_text("utf-8")):
        target = next(group for group in groups if group)
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", [found.name for found in pkgutil.walk_packages(chunkwise.__path__, "chunkwise.")])
def test_docstrings_show_what_really_happens(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "methods").glob("*.md")), ids=lambda page: page.name)
def test_the_examples_of_a_methods_page_hold(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("report.md", "docs/terms.md"):
        (tmp_path / name).write_text("# Terms\n\nThe notice period is three months. It begins with the next month.\n")
    asked = {"How long is it?": "The notice period is three months.", "When?": "It begins with the next month."}
    lines = [json.dumps({"id": query, "query": query, "evidence": asked[query]}) for query in asked]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    programs = fences(page, "python")
    assert programs
    exec(compile("\n".join(programs), page.name, "exec"), {})


def test_the_set_of_the_page_on_queries_is_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "queries.md"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pumps.md").write_text("# Pumps\n\nSeals are replaced every six weeks.\n")
    (tmp_path / "docs" / "terms.md").write_text("# Terms\n\nThe notice period is three months.\n")
    monkeypatch.chdir(tmp_path)
    for name, language in (("questions.yaml", "yaml"), ("questions.jsonl", "json")):
        (tmp_path / name).write_text(fences(page, language)[0], "utf-8")
        program = fences(page, "python")[0].replace("questions.jsonl", name)
        exec(compile(program, page.name, "exec"), {})


def test_the_files_of_the_page_on_configs_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "config.md"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "terms.md").write_text("# Terms\n\nThe notice period is three months.\n")
    monkeypatch.chdir(tmp_path)
    whole, routes = fences(page, "toml")
    Path("chunkwise.toml").write_text(routes, "utf-8")
    assert chunkwise.read_config().recipe.startswith("route(prose=structural(size=200) | context(headings=True)")
    Path("chunkwise.toml").write_text(whole, "utf-8")
    names: dict[str, object] = {}
    exec(compile("\n".join(fences(page, "python")), page.name, "exec"), names)
    assert [hit.via for hit in names["hits"]] == [("assembled",)]  # type: ignore[attr-defined]
    assert chunkwise.read_config("other.toml") == chunkwise.read_config()
    Path("chunkwise.toml").write_text('\nrecipe = "structual()"\n', "utf-8")
    with pytest.raises(chunkwise.ConfigError) as told:
        chunkwise.read_config()
    assert str(told.value).startswith(fences(page, "text")[0].removeprefix("error: ").rstrip("\n. "))


def test_the_page_on_evaluating_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pumps.md").write_text("# Pumps\n\nSeals are replaced every six weeks.\n")
    (tmp_path / "docs" / "terms.md").write_text("# Terms\n\nThe notice period is three months.\n")
    (tmp_path / "questions.jsonl").write_text(fences(ROOT / "docs" / "queries.md", "json")[0], "utf-8")
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "evaluate.md"
    program = "\n".join(fences(page, "python"))
    exec(compile(program, page.name, "exec"), {})
    assert "recursive(size=200) -> assemble" in capsys.readouterr().out
    for command in fences(page, "sh"):
        words = shlex.split(command.replace("\\\n", " "))
        assert set(words) & {"--baseline", "--report"}
        options = {option for verb in app.registered_commands for option in _options(verb)}
        assert {word for word in words if word.startswith("--")} <= options


def _options(verb: CommandInfo) -> Iterator[str]:
    """Yield the options of a verb of the command line."""
    for hint in get_type_hints(verb.callback, include_extras=True).values():
        for note in getattr(hint, "__metadata__", ()):
            yield from (str(getattr(note, "default", "")), *(getattr(note, "param_decls", None) or ()))


def test_answers_are_judged_as_their_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "pumps.md").write_text("# Pumps\n\nSeals are replaced every six weeks.\n")
    (tmp_path / "docs" / "terms.md").write_text("# Terms\n\nThe notice period is three months.\n")
    (tmp_path / "questions.jsonl").write_text(fences(ROOT / "docs" / "queries.md", "json")[0], "utf-8")
    page = ROOT / "docs" / "answers.md"
    (tmp_path / "answers.jsonl").write_text(fences(page, "json")[0], "utf-8")
    answer = json.loads(fences(page, "json")[0])
    labels = [{**answer, "label": True}, {**answer, "answer": "They are glued.", "label": False}]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)), "utf-8")
    monkeypatch.chdir(tmp_path)
    custom_llm("reads", lambda prompt: json.dumps(judge(prompt)))
    program = "\n".join(fences(page, "python")).replace("https://HOST/v1#MODEL", "reads")
    exec(compile(program, page.name, "exec"), {})
    shown = capsys.readouterr().out
    assert "faithfulness (heuristic)  100.0" in shown
    assert "supported 1 " in shown
    assert "Too few labels: 1 of good answers" in shown


def test_the_picture_shows_what_the_strategies_do_now() -> None:
    picture = script(ROOT / "docs" / "picture.py")
    page = chunkwise.read(ROOT / "docs" / "images" / "page.md")
    assert (ROOT / "docs" / "images" / "cuts.svg").read_text("utf-8") == picture.drawn(page)


def test_every_law_of_the_readme_links_to_what_checks_it() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    links = re.findall(r"^\| L(\d+) .*\[`(\w+)`\]\(([^)]+)\) \|$", text, re.MULTILINE)
    assert [int(law) for law, _, _ in links] == [*range(1, 12), 13]
    for _, name, path in links:
        assert f"def {name}(" in (ROOT / path).read_text("utf-8")
