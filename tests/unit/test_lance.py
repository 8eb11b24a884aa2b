"""The store in a folder: what is there after a kill, beside other processes, and in a place that is not its own."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import Entry
from chunkwise.stores import lance
from chunkwise.stores.lance import LanceStore
from unit.entries import INFO, X, entry, texts, vector_of
from unit.processes import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def on_disk(folder: Path) -> LanceStore:
    store = LanceStore(folder)
    store.describe(INFO)
    return store


def test_an_index_is_there_when_it_is_opened_again(on_disk: LanceStore, folder: Path) -> None:
    on_disk.replace([entry("a.md", "one", "two"), entry("empty.md")])
    on_disk.finish()
    again = LanceStore(folder)
    assert again.info == INFO
    assert again.documents() == on_disk.documents()
    assert again.chunks("a.md") == on_disk.chunks("a.md")
    assert again.nearest(X, 5, {}) == on_disk.nearest(X, 5, {})
    assert again.matching("two", 5, {}) == on_disk.matching("two", 5, {})


def test_opening_an_index_that_is_not_there_makes_no_folder(folder: Path) -> None:
    assert LanceStore(folder).count() == 0
    assert not folder.exists()


def test_index_json_says_what_it_is(on_disk: LanceStore, folder: Path) -> None:
    assert on_disk.info == INFO
    assert json.loads((folder / "index.json").read_text()) == {"chunkwise_index": 2, "info": INFO}
    assert [path.name for path in folder.iterdir()] == ["index.json"]


def test_a_reader_sees_what_another_store_writes(on_disk: LanceStore, folder: Path) -> None:
    reader = LanceStore(folder)
    assert reader.count() == 0
    for i in range(1, 4):
        on_disk.replace([entry(f"{i}.md", "word")])
        assert len(reader.matching("word", 5, {})) == reader.count() == i
        on_disk.finish()


def test_one_call_of_replace_is_one_commit(on_disk: LanceStore) -> None:
    on_disk.replace([entry("a.md", "one", "two"), entry("b.md", "three")])
    before = on_disk._table().version
    on_disk.replace([entry("a.md", "four"), entry("b.md"), entry("c.md", "five")])
    assert on_disk._table().version == before + 1


def test_an_index_that_was_never_finished_matches(on_disk: LanceStore, folder: Path) -> None:
    on_disk.replace([entry("a.md", "one"), entry("b.md", "two")])
    killed = LanceStore(folder)
    assert texts(killed.matching("two", 5, {})) == ["two"]
    killed.replace([entry("c.md", "two again")])
    assert texts(killed.matching("two", 5, {})) == ["two", "two again"]


def test_above_a_size_a_graph_finds_the_nearest(on_disk: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance, "APPROXIMATE_FROM", 300)
    words = [f"word{i}" for i in range(400)]
    on_disk.replace([entry("a.md", *words[:300])])
    on_disk.finish()
    assert "vector" not in on_disk._indexed(on_disk._table())
    on_disk.replace([entry("b.md", *words[300:]), entry("empty.md")])
    on_disk.finish()
    assert "vector" in on_disk._indexed(on_disk._table())
    on_disk.replace([entry("c.md", "late")])
    for word in (words[3], words[350], "late"):
        [(found, score)] = on_disk.nearest(vector_of(word), 1, {})
        assert found.text == word
        assert score == pytest.approx(1.0, abs=1e-5)
    assert len(on_disk.nearest(X, 402, {})) == 401


@pytest.mark.parametrize("name", ["notes.md", ".git", "chunks.lance"])
def test_a_folder_of_somebody_else_is_refused_and_left_alone(folder: Path, name: str) -> None:
    folder.mkdir()
    (folder / name).write_text("mine")
    with pytest.raises(StoreError, match=r"not empty and holds no index; name a new folder .*index\.index"):
        LanceStore(folder)
    assert [path.name for path in folder.iterdir()] == [name]
    assert (folder / name).read_text() == "mine"


def test_an_empty_folder_is_a_new_index(folder: Path) -> None:
    folder.mkdir()
    store = LanceStore(folder)
    store.describe(INFO)
    assert LanceStore(folder).info == INFO


def test_a_file_is_no_folder(folder: Path) -> None:
    folder.write_text("text")
    with pytest.raises(StoreError, match="is a file"):
        LanceStore(folder)
    assert folder.read_text() == "text"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"chunkwise_index": 2, "info"', "is damaged"),
        ("", "is damaged"),
        ('{"chunkwise_index": 2}', "does not say `dim`"),
        ('{"chunkwise_index": 99, "info": {"dim": 4}}', "format 99, this version reads 2.*upgrade"),
        ('{"chunkwise_index": 1, "info": {"dim": 4}}', "format 1 of an earlier version, .*index again"),
        ('{"name": "a web page"}', "not written by Chunkwise"),
        ("[]", "not written by Chunkwise"),
    ],
)
def test_an_unreadable_index_json_says_why(on_disk: LanceStore, folder: Path, content: str, reason: str) -> None:
    on_disk.replace([entry("a.md", "one")])
    (folder / "index.json").write_text(content)
    with pytest.raises(StoreError, match=reason):
        LanceStore(folder)
    assert (folder / "index.json").read_text() == content


def test_nobody_is_told_to_move_a_folder_that_may_be_his_own(folder: Path) -> None:
    folder.mkdir()
    (folder / "index.json").write_text("{broken")
    with pytest.raises(StoreError, match="Name another folder"):
        LanceStore(folder)
    assert (folder / "index.json").read_text() == "{broken"


def test_a_kill_while_the_index_is_made_leaves_a_new_index(folder: Path) -> None:
    folder.mkdir()
    (folder / "index.json.4711").write_text('{"chunk')
    store = LanceStore(folder)
    assert store.info == {}
    store.describe(INFO)
    (folder / "chunks.lance" / "_versions").mkdir(parents=True)
    assert store.count() == 0
    store.replace([entry("a.md", "one")])
    assert LanceStore(folder).count() == 1


def test_a_damaged_table_is_an_error_that_names_the_index(on_disk: LanceStore, folder: Path) -> None:
    on_disk.replace([entry("a.md", "one")])
    for path in (folder / "chunks.lance" / "_versions").glob("*.manifest"):
        os.truncate(path, 20)
    with pytest.raises(StoreError, match=r"can't open the index .*move it away and index again"):
        LanceStore(folder).count()


def test_an_index_in_a_place_that_can_not_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = LanceStore(tmp_path / "file" / "index")
    with pytest.raises(StoreError, match="can't write to the index"):
        store.describe(INFO)
    assert store.info == {}


QUIET = """
from chunkwise.stores import lance
from unit.entries import INFO, X, entry
lance.APPROXIMATE_FROM = 300
store = lance.LanceStore(sys.argv[1])
store.describe(INFO)
for round in range(3):
    store.replace([entry(f"{i}.md", *[f"word{round} {i} {j}" for j in range(40)]) for i in range(10)])
    store.finish()
store.delete(["0.md"])
store.finish()
print(len(store.nearest(X, 5, {"document_id": "1.md"})), len(store.matching("word2", 5, {})))
"""


def test_nothing_is_printed_on_the_way(folder: Path) -> None:
    out, err = run(QUIET, str(folder)).communicate()
    assert (out, err) == ("5 5\n", "")


WRITER = """
from chunkwise.stores.lance import LanceStore
from unit.entries import INFO
from unit.test_lance import written
store = LanceStore(sys.argv[1])
store.describe(INFO)
for batch in range(1000):
    store.replace([written(f"{i}.md", batch) for i in range(batch % 3, 40)])
    print(batch, flush=True)
    if batch % 4 == 3:
        store.finish()
"""


def written(document_id: str, batch: int) -> Entry:
    """Return what the writer stores of a document in a batch: more chunks in one batch, fewer in another."""
    made = entry(document_id, *[f"batch {batch} piece {i}" for i in range(batch * 7 % 5)])
    return replace(made, fingerprint=str(batch))


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has SIGKILL")
@pytest.mark.parametrize("acknowledged", [3, 6, 12])
def test_a_kill_in_the_middle_of_writing_loses_nothing_that_was_acknowledged(folder: Path, acknowledged: int) -> None:
    writer = run(WRITER, str(folder))
    assert writer.stdout is not None
    last = -1
    for line in writer.stdout:
        last = int(line)
        if last >= acknowledged:
            writer.kill()  # SIGKILL; what it had said by then is still read
    assert writer.wait() == -signal.SIGKILL, writer.stderr and writer.stderr.read()
    writer.stdout.close()
    if writer.stderr is not None:
        writer.stderr.close()

    store = LanceStore(folder)
    prints = {id: int(fingerprint) for id, (fingerprint, _) in store.documents().items()}
    newest = max(prints.values())
    assert newest in (last, last + 1)
    for i in range(40):
        # A batch leaves out the first documents; theirs are from the batch before it that did not.
        batch = max(batch for batch in range(newest + 1) if batch % 3 <= i)
        id = f"{i}.md"
        assert prints[id] == batch
        assert tuple(store.chunks(id)) == written(id, batch).chunks
    assert store.count() == sum(len(store.chunks(id)) for id in prints)

    store.replace([entry("after.md", "written after the kill")])
    store.finish()
    assert texts(store.matching("kill", 5, {})) == ["written after the kill"]


RIVAL = """
from chunkwise.stores.lance import LanceStore
from unit.entries import INFO, entry
store, me = LanceStore(sys.argv[1]), sys.argv[2]
store.describe(INFO)
for round in range(8):
    store.replace([entry(f"{me}{i}.md", *[f"round {round} {j}" for j in range(3)]) for i in range(5)])
    store.finish()
"""


def test_processes_may_write_to_one_index_at_once(folder: Path) -> None:
    rivals = [run(RIVAL, str(folder), name) for name in ("left", "right", "middle")]
    assert [rival.communicate() for rival in rivals] == [("", "")] * 3
    store = LanceStore(folder)
    assert set(store.documents()) == {f"{name}{i}.md" for name in ("left", "right", "middle") for i in range(5)}
    assert {chunk.text for chunk, _ in store.nearest(X, 100, {})} == {f"round 7 {j}" for j in range(3)}
    assert store.count() == 45
