"""`chunkwise check`: every violation with its place, and the same numbers in the table and in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chunkwise import check as check_documents
from chunkwise import read_folder
from chunkwise.chunkers.cut import cutter
from chunkwise.cli import app
from chunkwise.cli.check import print_reports, report_fields, table_rows
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import STRATEGIES, strategy
from chunkwise.core.types import Chunk, Document, Drop, Span
from chunkwise.evaluate.intrinsic import FINDINGS
from chunkwise.health import Report
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker, examine
from chunkwise.text.tokens import tokenizer
from chunkwise.text.words import line_spans

WORDS = tokenizer("words")
GUIDE = """---
title: Guide
---
# Pumps

The pump runs all day. It is checked every week by hand, and its oil is changed.

| part | weight |
|---|---|
| pump | 80 kg |
| valve | 12 kg |

## Seals

Seals are replaced every six weeks.
"""


@dataclass(frozen=True, slots=True)
class Broken:
    """Cut lines, but forget every line with the word "lost", and count one token too many in lines with "many"."""

    size: int = 40
    tokenizer: Tokenizer = WORDS

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        cut = cutter(document, Budget(self.size, self.tokenizer))
        for line in line_spans(document.text):
            text = line.slice(document.text)
            if text.strip() and "lost" not in text:
                made = cut(Span(line.start, line.start + len(text.rstrip())))
                count = made.token_count + ("many" in text)
                yield Chunk(document.id, made.spans, made.text, token_count=count)


@pytest.fixture(scope="module")
def broken() -> Iterator[str]:
    strategy(Broken)
    yield "broken()"
    del STRATEGIES["broken"]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "guide.md").write_text(GUIDE)
    (folder / "copy.md").write_text(GUIDE)
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")
    return folder


def run(*arguments: object, code: int = 0) -> tuple[list[dict[str, Any]], str]:
    done = CliRunner().invoke(app, ["check", *map(str, arguments)])
    assert done.exit_code == code, (done.output, done.exception)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def report(folder: Path, recipe: str) -> Report:
    return check_documents(read_folder(folder), recipe, tokenizer="words")


def test_sound_files_pass_and_skipped_ones_are_listed(docs: Path) -> None:
    (row,), err = run(docs)
    assert row["laws"] == {}
    assert row["documents"] == 2
    assert "every law holds" in err
    assert "skipped photo.jpg: no reader for .jpg files" in err
    assert row["skipped"] == [{"id": "photo.jpg", "reason": "no reader for .jpg files"}]


def test_every_broken_law_is_told_with_document_and_place(tmp_path: Path, broken: str) -> None:
    (tmp_path / "a.txt").write_text("One here.\nTwo lost.\nThree here.\nFour lost.\n")
    (tmp_path / "b.txt").write_text("Five lost.\nSix many.\n")
    (tmp_path / "c.txt").write_text("Seven here.\n")
    (row,), err = run(tmp_path, "-r", broken, code=1)
    lost, many = row["laws"]["L3"], row["laws"]["L4"]
    assert lost["found"] == 3
    assert [(e["document_id"], e["line"], e["after"].strip()) for e in lost["examples"]] == [
        ("a.txt", 1, "Two lost."),
        ("a.txt", 3, "Four lost."),
        ("b.txt", 1, "Five lost."),
    ]
    assert many["found"] == 1
    assert many["examples"][0]["note"].endswith("says 3 tokens and has 2")
    assert "broken: L3, L4" in err
    assert row["documents"] == 3


def test_examine_goes_on_where_check_chunker_stops_at_the_first(broken: str) -> None:
    document = Document.from_text("One lost.\nTwo many.\nThree lost.\n", id="x")
    chunks, violations = examine(chunker(broken), document)
    assert len(chunks) == 1
    assert [violation.law for violation in violations] == ["L4", "L3", "L3"]
    with pytest.raises(AssertionError, match=r"^L4: .* says 3 tokens and has 2$"):
        check_chunker(chunker(broken), document)


def test_bad_input_ends_with_code_2(docs: Path, tmp_path: Path) -> None:
    assert "no such file" in run(tmp_path / "missing", code=2)[1]
    assert "did you mean 'structural'" in run(docs, "-r", "strutural()", code=2)[1]
    assert "no encoder 'none'" in run(docs, "-e", "none", code=2)[1]
    assert "no documents in" in run(docs, "-g", "*.xyz", code=2)[1]


def test_recipes_are_compared_on_the_same_documents(docs: Path) -> None:
    rows, _ = run(docs, "-r", "fixed(size=12)", "-r", "structural(size=12)", "-t", "words")
    assert [row["recipe"] for row in rows] == [
        "fixed(size=12, tokenizer='words')",
        "structural(size=12, tokenizer='words')",
    ]
    fixed, structural = (row["findings"] for row in rows)
    assert fixed["rows_cut"]["found"] > structural["rows_cut"]["found"] == 0
    assert fixed["sentences_cut"]["found"] > structural["sentences_cut"]["found"]


def test_copies_and_what_is_left_out_are_counted_across_documents(docs: Path) -> None:
    made = report(docs, "structural(size=200)")
    assert made.sizes.n_chunks == 4
    assert (made["equal"].found, made["equal"].of, made["alike"].found) == (2, 4, 0)
    assert made["equal"].examples[0].note == "100% as in copy.md:4"
    assert made["equal"].examples[0].line == 4
    assert made.left_out == {"front matter, kept as metadata": 2 * len("---title:Guide---")}


def test_examples_are_three_at_most_and_stand_at_their_place(docs: Path) -> None:
    made = report(docs, "fixed(size=3)")
    torn = made["sentences_cut"]
    assert torn.found > len(torn.examples) == 3
    for example in torn.examples:
        text = (docs / example.document_id).read_text()
        assert text.startswith(example.after, example.start)
        assert text[: example.start].endswith(example.before)
        assert text.count("\n", 0, example.start) + 1 == example.line


def test_the_table_says_what_json_says(docs: Path) -> None:
    made = report(docs, "fixed(size=12)")
    fields = report_fields(made)
    cells = {label: cell.plain for label, (cell,) in table_rows([made])}
    assert cells["Chunks"] == str(fields["chunks"])
    assert cells["Tokens: least ¼ median ¾ most"].split() == [
        str(fields["tokens"][key]) for key in ("least", "first_quartile", "median", "third_quartile", "most")
    ]
    assert cells["Characters left out: front matter, kept as metadata"] == str(sum(fields["left_out"].values()))
    told = [tuple(map(int, match.groups())) for cell in cells.values() if (match := re.match(r"(\d+) of (\d+)", cell))]
    assert told == [(f["found"], f["of"]) for f in fields["findings"].values() if f["found"]]
    assert sum(cell == "none" for cell in cells.values()) == sum(
        f["of"] > 0 == f["found"] for f in fields["findings"].values()
    )
    assert set(FINDINGS) < set(fields["findings"])


def test_what_is_printed_names_the_places_and_steers_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("The pump\x1b]0;owned\x07 [bold]runs[/bold] all day long.\n\x9bOne two three four.")
    monkeypatch.setenv("COLUMNS", "100")
    print_reports([report(tmp_path, "fixed(size=3)")])
    out = capsys.readouterr().out
    assert not set(out) & set("\x1b\x07\x9b")
    assert "Cuts inside a sentence" in out
    assert "a.txt:1 @" in out
    assert "[bold]runs" in out


def test_an_encoder_adds_its_limit_and_the_cohesion(docs: Path) -> None:
    (row,), _ = run(docs, "-r", "fixed(size=300)", "-e", "all-MiniLM-L6-v2")
    assert row["findings"]["over_limit"] == {"found": 0, "of": 2, "examples": [], "share": 0.0}
    assert row["cohesion"]["n_inside"] == 4
    (row,), _ = run(docs)
    assert "over_limit" not in row["findings"]
    assert row["cohesion"] is None


def test_a_chunk_outside_its_document_is_a_violation_and_no_crash() -> None:
    document = read_text("Text.", id="x")

    class Outside(Broken):
        budget, cuts_units = Budget(40, WORDS), False

        def dropped(self, _document: Document) -> list[Drop]:
            return []

        def __call__(self, *_: object) -> Iterator[Chunk]:
            yield Chunk("x", (Span(0, 99),), "Text.", token_count=1)
            yield Chunk("x", (), "", token_count=0)

    _, violations = examine(Outside(), document)  # type: ignore[arg-type]
    laws = [violation.law for violation in violations]
    assert laws == ["L1", "L1", "L1", "L3"]
