"""An index that is made by a config, and asked as it says wherever it is opened."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chunkwise
from chunkwise.configs import write_config
from chunkwise.core.config import Config
from chunkwise.core.errors import ConfigError, RecipeError, StoreError
from chunkwise.core.types import Document, Hit
from chunkwise.embed import custom_encoder
from chunkwise.pipeline import Index
from unit.hashing import HashingEncoder

TEXTS = {
    "weir": "The weir was built in 1911. Birds sing all day. The weir leaks in winter.",
    "dam": "The dam is old. Nobody knows who built it. It was painted green in 1950.",
    "pump": "Seals are replaced every six weeks. The pump hums. Valves are closed at night.",
}
DOCUMENTS = [Document.from_text(text, id=id) for id, text in TEXTS.items()]
QUESTION = "When was the weir built?"
CONFIG = Config("sentences(size=40, max_sentences=1)", evidence="assemble-fine", tokens=9, encoder="hashing")


class Counting(HashingEncoder):
    """Count what is embedded, over all indexes."""

    def __init__(self) -> None:
        super().__init__()
        custom_encoder("hashing", self)


@pytest.fixture(autouse=True)
def encoder() -> Counting:
    return Counting()


@pytest.fixture(params=["memory", "lance"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "memory" else str(tmp_path / "index")


def made(config: Config | Path, url: str) -> Index:
    index = Index.from_config(config, url=url, cache=None)
    index.add_documents(DOCUMENTS)
    return index


def told(hits: list[Hit]) -> list[tuple[str, tuple[str, ...], float]]:
    return [(hit.chunk.text, hit.via, hit.score) for hit in hits]


def reopened(index: Index) -> Index:
    return index if index.url == "memory:" else Index(index.url, cache=None)


def test_it_is_asked_as_the_config_says(url: str) -> None:
    index = reopened(made(CONFIG, url))
    assert index.config == CONFIG
    assert told(index.retrieve(QUESTION)) == told(index.assemble(QUESTION, tokens=9, ladder="fine")) != []
    assert told(index.assemble(QUESTION)) == told(index.retrieve(QUESTION))
    assert told(index.retrieve(QUESTION, tokens=30)) == told(index.assemble(QUESTION, tokens=30, ladder="fine"))
    assert told(index.retrieve(QUESTION, where={"document_id": "dam"})) != told(index.retrieve(QUESTION))


def test_chunks_are_found_by_its_retrieval_within_its_tokens(url: str) -> None:
    config = replace(CONFIG, evidence="chunks", retrieval="lexical()", tokens=25)
    index = reopened(made(config, url))
    assert index.config == config
    hits = index.retrieve(QUESTION)
    assert told(hits) == told(index.search(QUESTION, tokens=25, retrieval="lexical()")) != []
    assert {via for hit in hits for via in hit.via} == {"lexical"}
    assert [hit.via for hit in index.search(QUESTION, k=1)] == [("lexical",)]
    assert [hit.via for hit in index.search(QUESTION, k=1, mode="vector")] == [("vector",)]
    assert [hit.via for hit in index.search(QUESTION, k=1, retrieval="vector()")] == [("vector",)]


def test_how_it_is_asked_changes_without_embedding_anything(url: str, encoder: Counting) -> None:
    index = made(CONFIG, url)
    before = len(encoder.seen)
    changed = replace(CONFIG, evidence="chunks", retrieval="vector()", tokens=60)
    if url != "memory:":
        again = made(changed, url)
        assert Index(url, cache=None).config == changed == again.config
        assert Index(url, cache=None).retrieve(QUESTION)[0].via == ("vector",)
    assert index.add_documents(DOCUMENTS).unchanged == tuple(TEXTS)
    assert len(encoder.seen) == before


def test_an_index_that_never_saw_a_config_is_asked_as_ever(url: str) -> None:
    index = Index(url, encoder="hashing", cache=None)
    index.add_documents(DOCUMENTS, recipe=CONFIG.recipe)
    index = reopened(index)
    assert index.config is None
    assert told(index.search(QUESTION)) == told(index.search(QUESTION, k=5, retrieval="hybrid()"))
    assert told(index.retrieve(QUESTION)) == told(index.search(QUESTION, tokens=800, retrieval="hybrid()"))
    assert told(index.assemble(QUESTION)) == told(index.assemble(QUESTION, tokens=800, ladder="default"))


def test_an_index_of_before_there_were_configs_opens_and_takes_one(tmp_path: Path) -> None:
    made(CONFIG, str(tmp_path / "index"))
    edit_info(tmp_path / "index", config=None)
    old = Index(tmp_path / "index", cache=None)
    assert old.config is None
    assert len(old.search(QUESTION)) == 5
    assert old.add_documents(DOCUMENTS).unchanged == tuple(TEXTS)
    assert made(CONFIG, old.url).config == Index(old.url, cache=None).config == CONFIG


def test_adding_without_the_config_keeps_how_it_is_asked(tmp_path: Path) -> None:
    made(CONFIG, str(tmp_path / "index"))
    later = Index(tmp_path / "index", cache=None)
    later.add_documents([Document.from_text("The lock is shut.", id="lock")])
    assert later.config == Index(tmp_path / "index", cache=None).config == CONFIG


def test_what_a_later_version_notes_of_a_config_is_no_error(tmp_path: Path) -> None:
    made(CONFIG, str(tmp_path / "index"))
    edit_info(tmp_path / "index", config={"evidence": "chunks", "order": "newest first"})
    assert Index(tmp_path / "index", cache=None).config == replace(CONFIG, evidence="chunks", tokens=800)


def test_a_damaged_note_of_a_config_is_told(tmp_path: Path) -> None:
    made(CONFIG, str(tmp_path / "index"))
    for config, words in (({"tokens": "9"}, "tokens='9' must be"), ({"retrieval": 7}, "7 is no retrieval")):
        edit_info(tmp_path / "index", config=config)
        with pytest.raises(RecipeError, match=words):
            Index(tmp_path / "index", cache=None).retrieve(QUESTION)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"recipe": "fixed(size=30)"}, r"made with the recipe sentences\(size=40, max_sentences=1\), not fixed"),
        ({"encoder": "static"}, "made with the encoder hashing, not static"),
        ({"encoder": ""}, "made with the encoder hashing, not all-MiniLM-L6-v2"),
        ({"summaries": True}, "made with summaries=False, which stays"),
    ],
)
def test_a_config_of_another_index_is_refused_at_once(changed: dict[str, Any], words: str, tmp_path: Path) -> None:
    made(CONFIG, str(tmp_path / "index"))
    with pytest.raises(StoreError, match=words):
        Index.from_config(replace(CONFIG, **changed), url=tmp_path / "index", cache=None)


def test_what_a_config_leaves_out_is_the_default_and_not_what_the_index_was_made_with(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Weir\n\nThe   weir was built in 1911.\n")
    spaced = replace(CONFIG, clean="spaces")
    index = Index.from_config(spaced, url=tmp_path / "index", cache=None)
    index.add(tmp_path / "docs")
    assert (index.clean, Index(index.url, cache=None).config) == ("spaces", spaced)
    assert "The weir" in index.search("weir", k=1)[0].chunk.text
    again = Index.from_config(CONFIG, url=tmp_path / "index", cache=None)
    assert again.add(tmp_path / "docs").added == ("a.md",)
    assert Index(index.url, cache=None).config == CONFIG
    assert "The   weir" in Index(index.url, cache=None).search("weir", k=1)[0].chunk.text


def test_a_file_serves_as_well_as_a_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_config(CONFIG, "chunkwise.toml")
    assert made(Path("chunkwise.toml"), "memory:").config == CONFIG
    assert chunkwise.Index.from_config(cache=None).url == "index", "both have a usual place"
    write_config(Config("route(prose=sentences(size=40))", encoder="hashing"), "routes.toml")
    assert made(Path("routes.toml"), "memory:").recipe.startswith("route(prose=sentences(size=40), ")


def test_nothing_is_made_by_a_config_that_is_wrong(tmp_path: Path) -> None:
    for config in (Config("structual()"), replace(CONFIG, retrieval="hybird()")):
        with pytest.raises(RecipeError, match="did you mean"):
            Index.from_config(config, url=tmp_path / "index")
    (tmp_path / "wrong.toml").write_text("recipe = 'fixed()'\nretrieval = 'hybird()'")
    with pytest.raises(ConfigError, match="line 2: retrieval"):
        Index.from_config(tmp_path / "wrong.toml", url=tmp_path / "index")
    assert not (tmp_path / "index").exists()


def edit_info(folder: Path, **changed: object) -> None:
    manifest = json.loads((folder / "index.json").read_text())
    manifest["info"] |= changed
    manifest["info"] = {name: value for name, value in manifest["info"].items() if value is not None}
    (folder / "index.json").write_text(json.dumps(manifest))
