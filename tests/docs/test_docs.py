"""The documentation, run as it stands."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import chunkwise
from scripts import script

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
