"""The command line from the outside: data on stdout, messages on stderr, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from chunkwise.cli.show import coloured
from chunkwise.core.types import Document
from chunkwise.pipeline import chunk
from chunkwise.presets import PRESETS
from chunkwise.readers.read import read_text
from chunkwise.text.unicode import printable
from unit.commands import FIELDS, PROGRAM, rows, run


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "pumps.md").write_text(
        "# Pumps\n\n## Seals\n\nSeals are replaced every six weeks.\n\n## Oil\n\nOil is checked.\n"
    )
    (folder / "notice.txt").write_text("The notice period is three months.")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")
    return folder


def test_chunk_writes_one_object_a_chunk(docs: Path) -> None:
    out, err = run("chunk", docs)
    assert [list(row) for row in rows(out)] == [FIELDS] * 3
    assert [(row["document_id"], row["index"]) for row in rows(out)] == [
        ("notice.txt", 0),
        ("pumps.md", 0),
        ("pumps.md", 1),
    ]
    text = (docs / "pumps.md").read_text()
    for row in rows(out)[1:]:
        assert text[row["start"] : row["end"]] == row["text"]
    assert rows(out)[2]["headings"] == ["Pumps", "Oil"]
    assert rows(out)[2]["context"] == "Pumps\n"
    assert "skipped photo.jpg: no reader for .jpg files" in err
    assert "3 chunks of 2 documents" in err


def test_chunk_takes_a_recipe_a_tokenizer_globs_and_a_file_to_write(docs: Path, tmp_path: Path) -> None:
    out, err = run("chunk", docs, "-r", "fixed(size=10)", "-t", "characters", "-g", "*.txt", "-o", tmp_path / "c.jsonl")
    assert out == ""
    made = rows((tmp_path / "c.jsonl").read_text())
    assert {row["document_id"] for row in made} == {"notice.txt"}
    assert max(row["token_count"] for row in made) == 10
    assert "fixed(size=10, tokenizer='characters')" in err


def test_standard_input_is_cut_as_it_comes() -> None:
    recipe = "recursive(size=20, language='en')"
    with subprocess.Popen(
        [*PROGRAM, "chunk", "-", "-r", recipe], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as live:
        assert live.stdin is not None
        assert live.stdout is not None
        live.stdin.write(b"The pump runs all day.\n\n" * 40)
        live.stdin.flush()
        first = json.loads(live.stdout.readline())  # standard input is still open
        live.stdin.close()
        rest = [json.loads(line) for line in live.stdout]
    document = Document.from_text("The pump runs all day.\n\n" * 40, id="stdin")
    assert [row["id"] for row in [first, *rest]] == [found.id for found in chunk(document, recipe)]


def test_what_can_not_be_cut_as_it_comes_is_read_whole(tmp_path: Path) -> None:
    given = b"# Pumps\n\nOne.\n\n## Oil\n\nTwo.\n"
    out, err = run("chunk", "-", "--format", "markdown", "--id", "pumps.md", given=given)
    assert [(row["document_id"], row["headings"][-1]) for row in rows(out)] == [
        ("pumps.md", "Pumps"),
        ("pumps.md", "Oil"),
    ]
    assert "note: markdown is cut when all of standard input is read" in err
    out, err = run("chunk", "-", "-r", "recursive(balance=True)", "-o", tmp_path / "c.jsonl", given=given)
    assert out == ""
    assert "all of standard input is read first: recursive(size=200, balance=True) can't cut a stream" in err
    assert len(rows((tmp_path / "c.jsonl").read_text())) == 1


@pytest.mark.parametrize(
    ("arguments", "given", "words"),
    [
        ([], b"one\ntwo \xff", "stdin, line 2: byte 0xff at 8 is no UTF-8; convert"),
        ([], b"\xef\xbb\xbfone \xc3", "stdin, line 1: byte 0xc3 at 7 is no UTF-8"),
        (["--format", "rtf"], b"one", "no reader for the format 'rtf'; known: "),
        (["notes.md"], b"one", "given alone"),
    ],
)
def test_what_is_wrong_with_standard_input_is_told(arguments: list[str], given: bytes, words: str) -> None:
    out, err = run("chunk", "-", *arguments, code=2, given=given)
    assert out == ""
    assert words in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["chunk", "missing.md"], "missing.md: no such file or folder"),
        (["chunk", "docs", "-r", "structural(size=0)"], "size=0 must be at least 1"),
        (["chunk", "docs", "-r", "structural(size=50) | overlap(tokens=50)"], "tokens=50 must be less than size=48"),
        (["chunk", "docs", "-r", "strutural()"], "did you mean 'structural'"),
        (["chunk", "docs", "-t", "gpt2"], "no tokenizer 'gpt2'"),
        (["chunk", "docs/photo.jpg"], "photo.jpg"),
        (["chunk", "docs/empty.txt"], "empty.txt: empty"),
        (["chunk", "docs", "-o", "no/such/folder/x"], "can't be written"),
        (["show", "docs"], "is a folder"),
        (["show", "missing.md"], "no such file"),
        (["search", "anything", "-i", "nowhere"], "run: chunkwise index PATH --index nowhere"),
        (["search", " ", "-i", "nowhere"], "nowhere"),
        (["index", "missing", "-i", "x"], "missing: no such file or folder"),
        (["index", "docs", "-i", "memory:"], "name a folder with --index"),
        (["chunk", "docs", "--id", "x"], "give - for the path"),
        (["chunk", ""], "the path is empty"),
        (["chunk", "a" * 5000], "no such file"),
        (["index", "docs", "-i", "docs"], "holds no index"),
        (["index", "docs", "-i", "x", "-e", "no-such-encoder"], "no-such-encoder"),
    ],
)
def test_bad_input_gives_one_clear_line_and_exit_code_2(docs: Path, arguments: list[str], words: str) -> None:
    (docs / "empty.txt").write_text("")
    out, err = run(*arguments, code=2, cwd=docs.parent)
    assert out == ""
    assert words in err
    assert len([line for line in err.splitlines() if not line.startswith("0 chunks")]) == 1


def test_a_file_is_not_overwritten_by_its_own_chunks(docs: Path) -> None:
    before = (docs / "pumps.md").read_text()
    _, err = run("chunk", docs / "pumps.md", "-o", docs / "pumps.md", code=2)
    assert "is one of the files to be cut" in err
    assert (docs / "pumps.md").read_text() == before
    assert sorted(path.name for path in docs.iterdir()) == ["notice.txt", "photo.jpg", "pumps.md"]


def test_nothing_within_a_budget_says_how_large_the_best_hit_is(docs: Path) -> None:
    run("index", docs, "-i", docs.parent / "i")
    out, err = run("search", "seals", "-i", docs.parent / "i", "--tokens", "3")
    assert out == ""
    assert "raise --tokens" in err


def test_a_file_name_can_not_forge_a_message(docs: Path) -> None:
    (docs / "a\nerror: disk destroyed.md").write_text("")
    _, err = run("chunk", docs)
    assert not any(line.startswith("error:") for line in err.splitlines())


def test_a_guessed_encoding_is_told_by_every_verb_that_reads(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("Les élèves naïfs lisent à l'école près de la forêt. ".encode("cp1252") * 8)
    for arguments in (["chunk", "old.txt"], ["show", "old.txt"], ["index", "old.txt", "-i", "i"]):
        _, err = run(*arguments, cwd=tmp_path)
        assert "note: old.txt is not UTF-8; it was read as cp1252, which is a guess" in err


def test_index_then_search_finds_the_answer_with_its_place(docs: Path) -> None:
    index = docs.parent / "i"
    _, err = run("index", docs, "-i", index)
    assert "2 documents in 3 chunks added" in err
    _, err = run("index", docs, "-i", index)
    assert "2 unchanged" in err
    out, _ = run("search", "How often are seals replaced?", "-i", index, "-k", "1")
    (hit,) = rows(out)
    assert (hit["rank"], hit["document_id"], hit["headings"]) == (1, "pumps.md", ["Pumps", "Seals"])
    assert "six weeks" in hit["text"]
    assert hit["via"] == ["vector", "lexical"]
    for mode in ("vector", "lexical"):
        out, _ = run("search", "notice period", "-i", index, "--mode", mode, "--tokens", "20")
        assert rows(out)[0]["document_id"] == "notice.txt"
        assert sum(row["token_count"] for row in rows(out)) <= 20


def test_strategies_lists_every_stage_with_its_parameters() -> None:
    out, _ = run("strategies", "--json")
    named = {row["name"]: row for row in rows(out) if row["kind"] != "preset"}
    assert {"fixed", "recursive", "sentences", "structural", "overlap", "context"} <= set(named)
    assert named["structural"]["parameters"]["size"] == 200
    assert all(row["sentence"].endswith(".") for row in named.values())
    assert named["recursive"]["streamable"]
    assert not named["code"]["streamable"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_prints_the_recipe_that_it_stands_for_and_its_source(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("# Title\n\nThe pump runs all day. Valve 7 stays shut.\n")
    out, said = run("chunk", str(path), "--preset", name)
    assert f"preset {name}: {PRESETS[name].recipe}\n" in said
    assert PRESETS[name].source in said
    assert "Valve 7" in rows(out)[0]["text"]


def test_a_preset_and_a_recipe_together_or_an_unknown_preset_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("text")
    assert "give one of the two" in run("chunk", str(path), "-p", "code", "-r", "fixed()", code=2)[1]
    assert "did you mean 'legal'" in run("show", str(path), "-p", "leagl", code=2)[1]


@pytest.mark.parametrize(
    ("content", "message"),
    [("raise ValueError('x')", "line 1: ValueError: x"), ("a = 1\ndef (:", "line 2: SyntaxError")],
)
def test_a_strategy_that_can_not_be_loaded_is_told_in_one_line(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(content)
    assert message in run("--load", str(path), "strategies", code=2)[1]
    assert "no such file" in run("--load", "nowhere.py", "strategies", code=2)[1]
    assert "No module named" in run("--load", "no_such_module", "strategies", code=2)[1]


def test_explain_tells_what_a_file_is_taken_for_and_why(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 60
    path.write_text(f"# Title\n\nThe pump runs.\nIt never rests.\n\n{table}\nThe end.\n")
    out, said = run("strategies", "--explain", str(path))
    assert [(row["first_line"], row["last_line"], row["kind"], row["strategy"]) for row in rows(out)] == [
        (1, 4, "prose", "structural(size=200)"),
        (6, 67, "table", "rows(size=200)"),
        (69, 69, "prose", "structural(size=200)"),
    ]
    assert "3 parts by auto(size=200)" in said
    assert "chooses nothing" in run("strategies", "--explain", str(path), "-r", "fixed()", code=2)[1]
    assert "--recipe is about --explain" in run("strategies", "-r", "fixed()", code=2)[1]


def test_doctor_finds_a_sound_installation() -> None:
    out, _ = run("doctor")
    assert "broken" not in out
    assert "missing" not in out
    assert "384 dimensions" in out


def test_help_and_version_say_what_the_exit_codes_mean() -> None:
    out, _ = run("--help")
    assert "Exit codes: 0 done" in out
    assert run("--version")[0].startswith("chunkwise ")


def test_show_prints_every_character_of_the_document(docs: Path) -> None:
    out, err = run("show", docs / "pumps.md", "-r", "structural(size=60) | context()")
    assert "[1] " in out
    assert "Pumps > Oil" in out
    assert "Seals are replaced every six weeks." in out
    assert "2 chunks by structural" in err


def test_show_marks_what_is_repeated() -> None:
    document = read_text("One is here. Two is here. Three is here.", media_type="text/plain")
    text = coloured(document, chunk(document, "sentences(size=10, max_sentences=1) | overlap(tokens=3)"))
    repeated = [text.plain[span.start : span.end] for span in text.spans if str(span.style) == "black on #d9c7f2"]
    assert "is here. " in repeated


def test_a_document_can_not_steer_the_terminal(tmp_path: Path) -> None:
    hostile = "\x1b]0;owned\x07 \x1b[2J \u202egnp.exe \x9b31m [bold]not markup[/bold]"
    (tmp_path / "x.txt").write_text(hostile + " text", encoding="utf-8")
    out, _ = run("show", tmp_path / "x.txt")
    assert not set(out) & set("\x1b\x07\x9b\u202e")
    assert "[bold]not markup[/bold]" in out
    assert printable("a\x1bb") == "a\u241bb"


def test_importing_and_helping_load_nothing_heavy() -> None:
    program = (
        "import sys, chunkwise\n"
        "assert not {'numpy', 'tiktoken', 'tokenizers', 'lancedb', 'onnxruntime'} & set(sys.modules)\n"
        "import chunkwise.cli\n"
        "assert not {'numpy', 'tiktoken', 'tokenizers', 'lancedb', 'onnxruntime', 'rich.progress'} & set(sys.modules)\n"
        "chunkwise.chunk\n"
        "assert not {'lancedb', 'onnxruntime', 'bm25s', 'pyarrow'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_public_names_are_a_list_that_works() -> None:
    import chunkwise

    assert chunkwise.__all__ == sorted(chunkwise.__all__)
    for name in chunkwise.__all__:
        assert getattr(chunkwise, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        chunkwise.no_such_name  # noqa: B018
