"""An index from the outside: added to, brought up to date, killed, searched."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import chunkwise as cw
from chunkwise.core.types import Document
from chunkwise.pipeline import Index
from chunkwise.presets import PRESETS
from chunkwise.retrieve.search import within
from unit.hashing import HashingEncoder

URLS = ["memory:", "folder"]


@pytest.fixture(params=URLS)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Index:
    return Index("memory:" if request.param == "memory:" else tmp_path / "index", encoder=HashingEncoder())


def test_documents_in_a_script_that_the_encoder_does_not_know_are_told() -> None:
    thai, khmer = "คนงานตรวจปั๊มน้ำทุกวัน " * 20, "កម្មករពិនិត្យម៉ាស៊ីនបូមទឹក " * 20
    texts = {
        "a": "The pump runs. " * 20,
        "b": thai,
        "c": khmer,
        "d": "水泵运行。" * 20,
        "e": "मजदूर पंप की जांच करते हैं। " * 20,
    }
    index = Index("memory:", encoder=HashingEncoder())
    added = index.add_documents(Document.from_text(text, id=id) for id, text in texts.items())
    assert len(added.notes) == 1
    assert added.notes[0].startswith("b and 2 more: much of the text is in words that hashing does not know")
    assert index.add_documents([Document.from_text(texts["a"], id="f")]).notes == ()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "pumps.md").write_text(
        "# Pumps\n\n## Seals\n\nSeals are replaced every six weeks.\n\n## Oil\n\nOil is checked daily.\n"
    )
    (docs / "sub" / "notice.txt").write_text("The notice period is three months.")
    (docs / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    (docs / "broken.md").write_bytes(bytes(600))
    return docs


def test_a_folder_becomes_hits_with_their_place(index: Index, folder: Path) -> None:
    result = index.add(folder, recipe="structural(size=100) | context(headings=True)")
    assert result.added == ("pumps.md", "sub/notice.txt")
    assert {skip.id for skip in result.skipped} == {"photo.jpg", "broken.md"}
    assert index.documents() == ["pumps.md", "sub/notice.txt"]
    hit = index.search("How long is the notice period?", k=1)[0]
    assert hit.chunk.document_id == "sub/notice.txt"
    assert hit.chunk.text == "The notice period is three months."
    assert hit.rank == 1
    assert set(hit.via) == {"vector", "lexical"}
    seals = index.search("seals replaced", k=1, mode="lexical")[0].chunk
    assert seals.headings == ("Pumps", "Seals")


def test_only_what_changed_is_embedded_again(index: Index, folder: Path) -> None:
    encoder = index.encoder
    assert isinstance(encoder, HashingEncoder)
    index.add(folder)
    encoder.seen.clear()
    assert index.add(folder).unchanged == ("pumps.md", "sub/notice.txt")
    assert encoder.seen == []
    (folder / "sub" / "notice.txt").write_text("The notice period is six months.")
    result = index.add(folder)
    assert (result.added, result.unchanged) == (("sub/notice.txt",), ("pumps.md",))
    assert encoder.seen == ["The notice period is six months."]
    assert "six" in index.search("notice period", k=1)[0].chunk.text


def test_a_file_that_is_gone_is_removed_and_others_stay(index: Index, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("Something else.")
    index.add(folder, other)
    (folder / "pumps.md").unlink()
    assert index.add(folder).removed == ("pumps.md",)
    assert index.documents() == ["b.md", "sub/notice.txt"]
    assert index.add(folder, globs=["*.nothing"]).removed == ()


def test_a_file_that_holds_no_text_any_more_is_removed(index: Index, folder: Path) -> None:
    index.add(folder)
    (folder / "pumps.md").write_text("")
    (folder / "sub" / "notice.txt").write_bytes(bytes(range(256)) * 9)
    assert set(index.add(folder).removed) == {"pumps.md", "sub/notice.txt"}
    assert len(index) == 0


def test_a_folder_that_was_moved_is_followed(index: Index, folder: Path) -> None:
    index.add(folder)
    moved = folder.rename(folder.with_name("moved"))
    index.add(moved)
    (moved / "pumps.md").unlink()
    assert index.add(moved).removed == ("pumps.md",)


def test_an_index_inside_its_own_folder_is_no_document(folder: Path) -> None:
    for _ in range(2):
        Index(folder / "index", encoder=HashingEncoder()).add(folder)
    assert Index(folder / "index", encoder=HashingEncoder()).documents() == ["pumps.md", "sub/notice.txt"]


def test_wrong_arguments_are_told(index: Index) -> None:
    index.add_documents([Document.from_text("Text.", id="a")])
    with pytest.raises(cw.ChunkwiseError, match="mode='words' is not one of hybrid, vector, lexical"):
        index.search("x", mode="words")  # type: ignore[arg-type]
    with pytest.raises(cw.ChunkwiseError, match="read_text"):
        cw.chunk("text")  # type: ignore[arg-type]
    assert cw.chunk(Document.from_text("One two.", id="a"), "fixed(size=1)", tokenizer=cw.tokenizer("words"))


def test_two_files_of_one_id_do_not_replace_each_other(index: Index, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "pumps.md").write_text("Rival.")
    result = index.add(folder, other)
    (clash,) = (skip for skip in result.skipped if skip.id == "pumps.md")
    assert "index a folder above both" in clash.reason
    assert index.add(other).skipped[0].reason == clash.reason
    assert "Rival" not in index.chunks("pumps.md")[0].text


def test_a_size_beyond_the_encoder_is_capped_aloud(index: Index, folder: Path) -> None:
    result = index.add(folder, recipe="structural(size=400)")
    assert index.recipe == "structural(size=256)"
    assert "size=400" in result.notes[0]
    assert "256" in result.notes[0]


def test_a_chunk_beyond_the_encoder_is_refused_before_anything_is_embedded(index: Index, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("incomprehensibilities notwithstanding " * 400)
    with pytest.raises(cw.EncodeError, match=r"long\.txt, chunk 0: .* which takes 256; .*tokenizer='all-MiniLM-L6-v2'"):
        index.add(tmp_path / "long.txt", recipe="fixed(size=1000, tokenizer='cl100k_base')")
    assert isinstance(index.encoder, HashingEncoder)
    assert index.encoder.seen == []
    # The index is not bound to a recipe that has failed.
    index.add(tmp_path / "long.txt", recipe="fixed(size=100)")
    assert index.recipe == "fixed(size=100)"


def test_a_folder_without_documents_makes_no_index(index: Index, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert index.add(tmp_path / "empty").added == ()
    assert len(index) == 0
    assert index.recipe == ""


def test_another_recipe_or_encoder_is_refused(folder: Path, tmp_path: Path) -> None:
    Index(tmp_path / "i", encoder=HashingEncoder()).add(folder, recipe="fixed(size=50)")
    again = Index(tmp_path / "i", encoder=HashingEncoder())
    assert again.recipe == "fixed(size=50)"
    with pytest.raises(cw.StoreError, match="made with the recipe"):
        again.add(folder, recipe="fixed(size=60)")
    with pytest.raises(cw.StoreError, match="made with the encoder hashing"):
        Index(tmp_path / "i", encoder="all-MiniLM-L6-v2")
    changed = HashingEncoder()
    changed.fingerprint = "2"
    with pytest.raises(cw.StoreError, match="another version"):
        Index(tmp_path / "i", encoder=changed)
    assert len(again.search("seals", mode="lexical", k=3)) >= 1


def test_documents_read_elsewhere_can_be_added(index: Index) -> None:
    texts = ["Seals are replaced every six weeks.", "", "The notice period is three months."]
    documents = [Document.from_text(text, id=f"d{i}", meta={"language": "en"}) for i, text in enumerate(texts)]
    index.add_documents(documents)
    assert index.search("notice", k=1, where={"language": "en"})[0].chunk.document_id == "d2"
    assert index.search("notice", k=1, where={"document_id": ["d0"]})[0].chunk.document_id == "d0"
    assert index.search("notice", k=1, where={"language": "de"}) == []
    index.delete("d2")
    assert index.documents() == ["d0", "d1"]


def test_a_token_budget_is_kept(index: Index) -> None:
    index.add_documents([Document.from_text(f"Valve {i} is checked on day {i}.", id=str(i)) for i in range(30)])
    hits = index.search("When is valve 7 checked?", tokens=60)
    assert 1 < sum(hit.chunk.token_count for hit in hits) <= 60
    assert within(hits, 1) == []


@pytest.mark.parametrize("question", ["", "  ", "\n"])
def test_an_empty_question_and_an_empty_index_are_told(index: Index, question: str) -> None:
    with pytest.raises(cw.StoreError, match="holds no chunks"):
        index.search("anything")
    index.add_documents([Document.from_text("Text.", id="a")])
    with pytest.raises(cw.ChunkwiseError, match="question is empty"):
        index.search(question)
    with pytest.raises(cw.ChunkwiseError, match="at least 1"):
        index.search("x", k=0)


def test_hits_of_a_hybrid_search_are_scored_from_0_to_1_and_ordered(index: Index) -> None:
    index.add_documents([Document.from_text(f"Valve {i} rests. " * (i + 1), id=str(i)) for i in range(9)])
    hits = index.search("valve 3", k=9)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert all(1 >= one.score >= other.score >= 0 for one, other in itertools.pairwise(hits))


# Index a folder; with two more arguments, kill this process some milliseconds into the n-th write.
PROGRAM = """
import os, signal, sys, threading, time
from unit.hashing import HashingEncoder
import chunkwise.pipeline as pipeline

pipeline._GROUP = 16
index = pipeline.Index(sys.argv[2], encoder=HashingEncoder())
if len(sys.argv) > 3:
    write, calls = index._store.replace, []

    def kill_later(*arguments):
        calls.append(1)
        if len(calls) == int(sys.argv[3]):
            threading.Timer(float(sys.argv[4]) / 1000, os.kill, (os.getpid(), signal.SIGKILL)).start()
        write(*arguments)

    index._store.replace = kill_later
index.add(sys.argv[1])
"""


def contents(url: Path) -> dict[str, list[tuple[str, str]]]:
    index = Index(url, encoder=HashingEncoder())
    return {id: [(chunk.id, chunk.text) for chunk in index.chunks(id)] for id in index.documents()}


def test_two_indexers_at_once_store_everything_once(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for i in range(40):
        (docs / f"{i:03}.md").write_text(f"# Document {i}\n\n" + f"Valve {i} is checked. " * 60)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, "-c", PROGRAM, str(docs), str(tmp_path / "both")]
    both = [subprocess.Popen(program, env=environment) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    made = contents(tmp_path / "both")
    assert len(made) == 40
    assert all(len(set(chunks)) == len(chunks) > 1 for chunks in made.values())


def test_killing_the_indexer_loses_nothing_and_running_again_ends_the_same(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for i in range(120):
        (docs / f"{i:03}.md").write_text(f"# Document {i}\n\n" + f"Valve {i} is checked. " * 60)
    program = [sys.executable, "-c", PROGRAM, str(docs)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([*program, str(tmp_path / "calm")], check=True, env=environment)
    before: dict[str, list[tuple[str, str]]] = {}
    for write, milliseconds in ((1, 3), (2, 0), (3, 10), (2, 25), (2, 60)):
        arguments = [str(tmp_path / "killed"), str(write), str(milliseconds)]
        killed = subprocess.run([*program, *arguments], env=environment, check=False)
        assert killed.returncode == -signal.SIGKILL
        now = contents(tmp_path / "killed")
        assert before.items() <= now.items()
        assert len(now) < 120
        before = now
    assert before
    subprocess.run([*program, str(tmp_path / "killed")], check=True, env=environment)
    assert contents(tmp_path / "killed") == contents(tmp_path / "calm")
    found = [
        [
            (hit.chunk.id, round(hit.score, 5))
            for hit in Index(tmp_path / name, encoder=HashingEncoder()).search("valve 7")
        ]
        for name in ("calm", "killed")
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", PRESETS)
def test_what_every_preset_makes_can_be_kept(name: str) -> None:
    talk, terms = "ANN: The weir leaks.\n\nBOB: Since when?\n\n" * 9, "1. Dams\n\n1.1 The dam is old.\n\n" * 9
    texts = [talk, terms, '{"a": [1, 2]}']
    documents = [Document.from_text(text, id=str(i)) for i, text in enumerate(texts)]
    index = Index("memory:", encoder=HashingEncoder(), cache=None)
    table = cw.read_text("a,b\n1,2\n", id="t", media_type="text/csv")
    index.add_documents([*documents, table], recipe=PRESETS[name].recipe)
    assert index.search("weir")
    assert index.assemble("weir")
