"""`chunkwise assemble` from a shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.commands import rows, run


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("assemble")
    (folder / "docs").mkdir()
    (folder / "docs" / "weir.md").write_text("# Weir\n\nThe weir was built in 1911. Birds sing all day. It leaks.\n")
    (folder / "docs" / "dam.md").write_text("# Dam\n\nThe dam is old.\n")
    run("index", folder / "docs", "--index", folder / "index", "--encoder", "static")
    return folder / "index"


def test_evidence_is_written_as_json_lines_within_the_budget(index: Path) -> None:
    out, _ = run("assemble", "When was the weir built?", "--index", index, "--tokens", 9, "-t", "words", "--json")
    assert rows(out)[0]["text"] == "# Weir\n\nThe weir was built in 1911."
    assert rows(out)[0]["headings"] == ["Weir"]
    assert sum(hit["token_count"] for hit in rows(out)) <= 9


def test_documents_can_be_chosen(index: Path) -> None:
    out, _ = run("assemble", "weir", "--index", index, "--document", "dam*", "--json")
    assert {hit["document_id"] for hit in rows(out)} == {"dam.md"}


def test_why_there_is_nothing_is_said(index: Path) -> None:
    out, err = run("assemble", "weir", "--index", index, "--tokens", 1)
    assert out == ""
    assert "no sentence fits in 1 tokens; raise --tokens" in err
    _, err = run("assemble", "weir", "--index", index, "--where", "language=fr")
    assert "nothing that is found carries what --where and --document ask for" in err


def test_mistakes_are_one_line(index: Path) -> None:
    for arguments in (["", "--index", index], ["weir", "--index", "nowhere"], ["weir", "--ladder", "steep"]):
        run("assemble", *arguments, code=2)
