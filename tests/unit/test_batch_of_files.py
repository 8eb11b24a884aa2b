"""A batch of files: what one of them does harms none of the others, whatever it does."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Limits
from chunkwise.readers import READERS, Format, worker
from chunkwise.readers.batch import read_files, read_folder
from chunkwise.readers.read import Found, Reading, Skip, read

READER = """
import os
import sys
import time

from chunkwise.core.types import Block, Document, Span


def read_hostile(source):
    order = source.content.decode()
    if order == "crash":
        os.abort()
    if order == "hang":
        time.sleep(60)
    if order == "grow":
        b"0" * (1 << 33)
    if order == "fault":
        raise KeyError("no such part")
    if order == "chat":
        print("not an answer", flush=True)
        os.write(1, b"nor this\\n")
    text = f"{order} {source.password} \\ud800 \\u2028 \\x00"
    blocks = (Block("table", Span(0, 4), label="x"), Block("row", Span(0, 4), 1, "A1:B1", 0))
    return Document(source.id, text, blocks, source.media_type, source.location, {"pid": os.getpid(), "n": [1, None]})
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for documents; a reader of our own takes the files that end in .hostile."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "hostile_reader.py").write_text(READER)
    monkeypatch.syspath_prepend(tmp_path / "code")
    monkeypatch.setitem(READERS, ".hostile", Format("text/x-hostile", "hostile_reader:read_hostile", isolated=True))
    (tmp_path / "documents").mkdir()
    return tmp_path / "documents"


def write(folder: Path, *orders: str) -> None:
    for number, order in enumerate(orders):
        (folder / f"{number}.hostile").write_text(order)


def test_a_file_that_crashes_or_faults_or_takes_all_memory_costs_no_other_file(folder: Path) -> None:
    write(folder, "one", "crash", "two", "grow", "fault", "three", "crash", "four")
    results = list(read_folder(folder))
    assert [result.text.split()[0] for result in results if isinstance(result, Document)] == [
        *("one", "two", "three", "four")
    ]
    crash, grow, fault, again = (result for result in results if isinstance(result, Skip))
    assert crash.failed
    assert "1.hostile: crashed its parser (signal 6)" in crash.reason
    assert "3.hostile: took more memory than the limit" in grow.reason
    assert "4.hostile: its reader failed, which is a fault of ours (KeyError: 'no such part')" in fault.reason
    assert again.id == "6.hostile"


def test_a_stuck_reader_is_stopped_and_replaced(folder: Path) -> None:
    write(folder, "hang", "one", "hang", "two")
    began = time.monotonic()
    results = list(read_folder(folder, reading=Reading(Limits(seconds=3))))
    assert time.monotonic() - began < 45  # one of them alone sleeps longer
    assert [type(result) for result in results] == [Skip, Document, Skip, Document]
    assert isinstance(results[0], Skip)
    assert "0.hostile: took longer than 3 s to read; if it is to be trusted, raise the limit" in results[0].reason


def test_what_another_process_reads_is_what_is_read_here(folder: Path) -> None:
    write(folder, "one")
    (there,) = read_folder(folder, reading=Reading(password="open sesame"))
    here = read(folder / "0.hostile", reading=Reading(password="open sesame"))
    assert isinstance(there, Document)
    assert (there.text, there.blocks, there.source) == (here.text, here.blocks, here.source)
    assert there.meta["pid"] != here.meta["pid"]
    assert there.meta["n"] == [1, None]


def test_what_a_reader_prints_is_taken_for_no_answer(folder: Path) -> None:
    write(folder, "chat", "one")
    assert all(isinstance(result, Document) for result in read_folder(folder))


def test_files_come_in_order_whoever_reads_them(folder: Path) -> None:
    write(folder, *(f"text {number}" for number in range(12)))
    for number in range(0, 12, 3):
        (folder / f"{number}a.md").write_text(f"# Note {number}\n")
    ids = [result.id for result in read_folder(folder)]
    assert ids == sorted(ids)
    assert len(ids) == 16


def test_processes_end_with_the_batch_also_where_it_is_left_early(folder: Path) -> None:
    write(folder, *(["one"] * 8))
    documents = read_folder(folder)
    first = next(documents)
    assert isinstance(first, Document)
    pid = first.meta["pid"]
    assert isinstance(pid, int)
    assert Path(f"/proc/{pid}").exists() or sys.platform != "linux"
    documents.close()  # type: ignore[attr-defined]  # a generator
    assert not Path(f"/proc/{pid}").exists()


def test_a_hanging_process_ends_by_itself_when_nobody_is_there_to_end_it(folder: Path) -> None:
    write(folder, "hang")
    format, found = READERS[".hostile"], Found(folder / "0.hostile", "0.hostile")
    process = worker._started()
    assert process.stdin is not None
    task = worker._task(found, Reading(Limits(seconds=0.1)), format)
    process.stdin.write(json.dumps(task).encode() + b"\n")
    process.stdin.flush()  # and whoever asked is gone
    assert process.wait(30) == 1
    process.communicate()


def test_fail_ends_the_batch_at_the_first_file_that_can_not_be_read_but_not_for_what_is_passed_over(
    folder: Path,
) -> None:
    (folder / "0.unknown").write_text("no reader")
    (folder / ".hidden").write_text("hidden")
    (folder / "0.md").write_text("")
    write(folder, "fault")
    with pytest.raises(ReadError, match=r"0\.hostile: its reader failed"):
        list(read_folder(folder, on_error="fail"))
    (folder / "0.hostile").unlink()
    assert [isinstance(result, Skip) and result.failed for result in read_folder(folder, on_error="fail")] == [
        False
    ] * 3


def test_a_file_over_the_limit_is_told_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("12345")
    with pytest.raises(ReadError, match=r"a\.md: 5 bytes, over the limit of 4; raise the limit: size"):
        read(tmp_path / "a.md", reading=Reading(Limits(size=4)))


def test_a_password_is_in_no_print_of_what_holds_it() -> None:
    assert "sesame" not in repr(Reading(password="sesame"))


def test_a_file_that_went_away_is_told(tmp_path: Path) -> None:
    (skip,) = read_files([Found(tmp_path / "gone.pdf", "gone.pdf")])
    assert isinstance(skip, Skip)
    assert "no such file" in skip.reason
