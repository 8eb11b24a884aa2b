"""The command line reading files: their text and blocks, limits, cleaning, tables that are cut as they come."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from pathlib import Path

import pytest
from typer.testing import CliRunner

from chunkwise.cli import app
from chunkwise.cli.large import chunks_of_file, is_large_table
from chunkwise.core.types import Limits
from chunkwise.pipeline import chunk, chunker
from chunkwise.readers.read import Found, Reading, find_files, read
from unit.commands import FIELDS, rows, run


def test_read_shows_the_text_and_the_blocks_that_will_be_cut(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: Pumps\n---\n# Pumps\n\nCheck \x1b[31mweekly.\n")
    text, said = run("read", str(tmp_path / "a.md"))
    assert "Check \u241b[31mweekly." in text  # what a document holds does not steer the terminal
    assert "a.md: text/markdown" in said
    outlined, _ = run("read", str(tmp_path), "--blocks")
    assert "title = Pumps" in outlined
    assert "heading 1 [Pumps] 21-28: # Pumps" in outlined
    (row,) = (json.loads(line) for line in run("read", str(tmp_path), "--json")[0].splitlines())
    assert row["blocks"][1]["label"] == "Pumps"
    assert row["text"][row["blocks"][1]["start"] : row["blocks"][1]["end"]] == "# Pumps"


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("secnds=3", "no limit is called 'secnds'; did you mean seconds?"),
        ("zzz=3", "there are size, expanded, pages"),
        ("size=0", "write a number above 0"),
        ("size", "write a number above 0"),
        ("size=2GB", ""),
        ("seconds=0.5", ""),
    ],
)
def test_limits_are_written_as_name_and_amount(tmp_path: Path, limit: str, said: str) -> None:
    (tmp_path / "a.md").write_text("One.")
    _, err = run("chunk", str(tmp_path), "--limit", limit, code=2 if said else 0)
    assert said in err


def test_a_file_that_can_not_be_read_is_skipped_or_ends_the_run_as_told(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_text("no archive")
    (tmp_path / "b.md").write_text("One.")
    out, err = run("chunk", str(tmp_path))
    assert "skipped a.docx: no DOCX file, whatever its name says" in err
    assert '"document_id": "b.md"' in out
    _, err = run("chunk", str(tmp_path), "--on-error", "fail", code=2)
    assert "error: a.docx: no DOCX file" in err
    assert "write skip or fail" in run("chunk", str(tmp_path), "--on-error", "ask", code=2)[1]


def test_what_is_cleaned_says_where_it_was_in_the_file(tmp_path: Path) -> None:
    text = "Skip to content\n\nThe pump   runs.\n"
    (tmp_path / "a.md").write_text(text)
    (tmp_path / "b.md").write_text("Nothing to clean.\n")
    out, _ = run("chunk", tmp_path, "--clean", "navigation,spaces")
    cleaned, other = rows(out)
    assert cleaned["text"] == "The pump runs."
    assert [text[start:end] for start, end in cleaned["source_spans"]] == ["The pump   runs."]
    assert [*other] == FIELDS
    out, err = run("chunk", "-", "--clean", "spaces", given=b"The  pump runs.")
    assert rows(out)[0]["source_spans"] == [[0, 15]]
    assert "when all of standard input is read" in err
    _, err = run("show", tmp_path / "a.md", "--clean", "space", code=2)
    assert "no step 'space'; known: controls" in err


def large_table(n_bytes: int) -> bytes:
    rows = (f'{number},"valve, no. {number % 7}",checked by Ann\n' for number in range(n_bytes // 36))
    return b"id,item,note\n" + "".join(rows).encode()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_large_table_is_cut_as_it_is_read_with_the_chunks_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: bytes
) -> None:
    (tmp_path / "a.md").write_text("# One\n\nText.")
    (tmp_path / "b.csv").write_bytes(mark + large_table(90_000))
    (tmp_path / "c.csv").write_bytes(large_table(2000) + "1,\u00e9,x\n".encode("cp1252"))
    (tmp_path / "d.tsv").write_bytes(large_table(2000).replace(b",", b"\t"))
    recipe = chunker("rows(size=100) | overlap(tokens=9)")
    files = [found for found in find_files(tmp_path) if isinstance(found, Found)]
    assert [is_large_table(file, recipe, reading=Reading()) for file in files] == [False] * 4
    monkeypatch.setattr("chunkwise.cli.large.LARGE", 1000)
    assert [is_large_table(file, recipe, reading=Reading()) for file in files] == [False, True, False, True]
    assert not is_large_table(files[1], recipe, reading=Reading(Limits(size=2000)))
    assert not is_large_table(files[1], chunker("structural(size=100)"), reading=Reading())
    assert not is_large_table(files[1], recipe, reading=Reading(clean="spaces"))
    blob = b64encode(random.Random(1).randbytes(300))
    (tmp_path / "e.csv").write_bytes(large_table(90_000) + b"1," + blob + b",x\n")
    file = Found(tmp_path / "e.csv", "e.csv")
    assert not is_large_table(file, recipe, reading=Reading())  # it is to be cleaned
    assert is_large_table(file, recipe, reading=Reading(clean="none"))
    for file in (files[1], files[3]):
        assert list(chunks_of_file(file, recipe)) == chunk(read(file.path), recipe)


def test_a_folder_with_a_large_table_is_cut_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("# One\n\nText.")
    (tmp_path / "b.csv").write_bytes(large_table(2000))
    (tmp_path / "c.txt").write_text("Last.")
    monkeypatch.setattr("chunkwise.cli.large.LARGE", 1000)
    result = CliRunner().invoke(app, ["chunk", str(tmp_path), "-r", "rows(size=60)", "--json"])
    written = rows(result.stdout)
    assert "of 3 documents" in result.stderr
    assert list(dict.fromkeys(row["document_id"] for row in written)) == ["a.md", "b.csv", "c.txt"]
    assert [row["index"] for row in written[:3]] == [0, 0, 1]
    assert written[2]["text"].startswith("id,item,note\n")


@pytest.mark.parametrize(
    "content",
    [
        large_table(90_000),
        large_table(2000),
        large_table(2000).replace(b"Ann", "Zo\u00e9".encode("cp1252")),
        large_table(90_000).replace(b"valve", "v\u00e0lve".encode("cp1252")),
        b"\xef\xbb\xbf" + large_table(90_000),
    ],
)
def test_tables_on_standard_input_give_the_chunks_of_the_whole(tmp_path: Path, content: bytes) -> None:
    out, _ = run("chunk", "-", "--format", "csv", "--id", "a.csv", "-r", "rows(size=100)", given=content)
    (tmp_path / "a.csv").write_bytes(content)
    expected = chunk(read(tmp_path / "a.csv"), "rows(size=100)")
    assert [row["id"] for row in rows(out)] == [found.id for found in expected]
