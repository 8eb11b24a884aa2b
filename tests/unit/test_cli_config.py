"""`chunkwise.toml` on the command line: named or found, what wins over it, and how an index is asked by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unit.commands import rows, run

CONFIG = """\
recipe = "sentences(size=60, max_sentences=1)"
encoder = "static"
evidence = "assemble"
tokens = 20
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "weir.md").write_text("# Weir\n\nThe weir was built in 1911. Birds sing all day. It leaks.\n")
    (tmp_path / "docs" / "dam.md").write_text("# Dam\n\nThe dam is old. The dam was built by hand.\n")
    (tmp_path / "chunkwise.toml").write_text(CONFIG)
    return tmp_path


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("config")
    (folder / "docs").mkdir()
    (folder / "docs" / "weir.md").write_text("# Weir\n\nThe weir was built in 1911. Birds sing all day. It leaks.\n")
    (folder / "docs" / "dam.md").write_text("# Dam\n\nThe dam is old. The dam was built by hand.\n")
    (folder / "our.toml").write_text(CONFIG)
    run("index", "docs", "--config", "our.toml", cwd=folder)
    return folder / "index"


def made_with(place: Path) -> dict[str, object]:
    info: dict[str, object] = json.loads((place / "index" / "index.json").read_text())["info"]
    return info


def test_a_file_in_the_working_folder_is_gone_by_and_said_to_be(place: Path) -> None:
    _, err = run("index", "docs", cwd=place)
    assert "by chunkwise.toml: sentences(size=60, max_sentences=1) -> assemble -> static; 20 tokens a question" in err
    info = made_with(place)
    assert (info["recipe"], info["encoder"]) == ("sentences(size=60, max_sentences=1)", "static")
    assert info["config"] == {"retrieval": "hybrid()", "evidence": "assemble", "tokens": 20, "tokenizer": ""}
    _, err = run("index", "docs", "--no-config", cwd=place)
    assert "by chunkwise.toml" not in err
    assert made_with(place)["config"] == info["config"], "an index stays as it is asked"


def test_options_win_over_the_file_and_differences_are_told(place: Path) -> None:
    options = ("-r", "fixed(size=50)", "--encoder", "static", "--summaries", "--clean", "none")
    _, err = run("index", "docs", *options, cwd=place)
    assert "  but recipe fixed(size=50), as you say, instead of sentences(size=60, max_sentences=1)" in err
    assert "  but summaries on, as you say, instead of off" in err
    assert "  but clean none, as you say, instead of the usual" in err
    assert "encoder static, as you say" not in err, "that is no difference"
    info = made_with(place)
    assert [info[name] for name in ("recipe", "encoder", "summaries", "clean")] == [
        "fixed(size=50)",
        "static",
        True,
        "none",
    ]
    assert info["config"] == {"retrieval": "hybrid()", "evidence": "assemble", "tokens": 20, "tokenizer": ""}


def test_nothing_is_indexed_by_a_file_that_is_wrong(place: Path) -> None:
    (place / "chunkwise.toml").write_text(CONFIG.replace("sentences(", "sentence("))
    _, err = run("index", "docs", cwd=place, code=2)
    assert err.startswith("error: chunkwise.toml, line 1: recipe: no strategy 'sentence'; did you mean 'sentences'?")
    _, err = run("index", "docs", "--config", "nowhere.toml", cwd=place, code=2)
    assert "the config nowhere.toml can't be read" in err
    _, err = run("index", "docs", "--config", "chunkwise.toml", "--no-config", cwd=place, code=2)
    assert "give one of the two" in err
    assert not (place / "index").exists()


def test_a_file_that_was_only_found_sends_nothing_to_another_machine(place: Path) -> None:
    (place / "chunkwise.toml").write_text(CONFIG.replace('"static"', '"https://models.invalid/v1#m"'))
    _, err = run("index", "docs", cwd=place, code=2)
    assert "would send your documents to https://models.invalid/v1; if you want that, say so with --config" in err
    _, err = run("index", "docs", "--config", "chunkwise.toml", cwd=place, code=2)
    assert "would send" not in err
    assert "models.invalid" in err, "it was asked, since its file was named"


def test_a_file_imports_what_a_person_has_loaded_and_nothing_else(place: Path) -> None:
    (place / "halves.py").write_text("def halves(text):\n    return [text[:9], text[9:]]\nprint('imported')\n")
    (place / "chunkwise.toml").write_text('recipe = "external(\'halves:halves\')"\nencoder = "static"\n')
    out, err = run("index", "docs", "--config", "chunkwise.toml", cwd=place, code=2)
    assert "imported" not in out
    assert "chunkwise --load halves" in err
    run("--load", "halves.py", "index", "docs", cwd=place)
    assert made_with(place)["recipe"] == "external(splitter='halves:halves')"


def test_a_search_gives_what_the_config_of_the_index_says(index: Path) -> None:
    out, err = run("search", "When was the weir built?", "-i", index)
    assert "asked by assemble, 20 tokens, as the index was made to be" in err
    assert {tuple(row["via"]) for row in rows(out)} == {("assembled",)}
    assert sum(row["token_count"] for row in rows(out)) <= 20
    same, _ = run("assemble", "When was the weir built?", "-i", index)
    assert same == out
    out, err = run("search", "weir", "-i", index, "--tokens", "1")
    assert (out, "no sentence fits in 1 tokens; raise --tokens" in err) == ("", True)


def test_options_win_over_the_config_of_an_index(index: Path) -> None:
    out, err = run("search", "When was the weir built?", "-i", index, "--tokens", "60")
    assert "asked by assemble, 60 tokens" in err
    assert 20 < sum(row["token_count"] for row in rows(out)) <= 60
    out, err = run("search", "When was the weir built?", "-i", index, "-k", "3")
    assert [row["via"] for row in rows(out)] != [["assembled"]]
    assert (len(rows(out)), err) == (3, "")
    out, _ = run("search", "weir built", "-i", index, "--mode", "lexical")
    assert {tuple(row["via"]) for row in rows(out)} == {("lexical",)}
    assert sum(row["token_count"] for row in rows(out)) <= 20, "the budget is still that of the config"
    out, _ = run("search", "weir built", "-i", index, "-R", "vector()", "-k", "2")
    assert [row["via"] for row in rows(out)] == [["vector"], ["vector"]]
    out, _ = run("assemble", "weir built", "-i", index, "--tokens", "60", "--ladder", "coarse")
    assert 20 < sum(row["token_count"] for row in rows(out)) <= 60
