"""Splitters of other libraries as recipes: their strings found in the text, and every fault told."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise import check
from chunkwise.chunkers import custom_splitter, external, splitters
from chunkwise.chunkers.aligning import Fault, align
from chunkwise.chunkers.external import faults
from chunkwise.chunkers.splitters import Piece, find_splitter
from chunkwise.core.errors import ChunkwiseError, EncodeError, RecipeError
from chunkwise.core.types import Document
from chunkwise.pipeline import Index, chunk, chunker, parse
from laws.strategies import texts
from unit.commands import rows, run
from unit.hashing import HashingEncoder
from unit.splitters import ChonkieLike, Found, LangChainLike, LlamaLike, Page, careless, lines, windows

TEXT = "One two; three. Four five; six.\nSeven; eight nine. Ten; eleven twelve."


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the splitters that a test names."""
    monkeypatch.setattr(splitters, "_known", dict(splitters._known))
    monkeypatch.setattr(splitters, "_loaded", set(splitters._loaded))


def document(text: str = TEXT) -> Document:
    return Document.from_text(text, id="x")


def placed(text: str, *pieces: str) -> list[tuple[str, dict[Fault, int]]]:
    return [(one.span.slice(text), one.faults) for one in align(text, [Piece(piece) for piece in pieces])]


@given(text=texts, places=st.lists(st.integers(0, 400), max_size=8))
def test_what_only_lost_white_space_is_found_where_it_was_cut(text: str, places: list[int]) -> None:
    edges = sorted({0, len(text), *(min(place, len(text)) for place in places)})
    cut = [text[a:b] for a, b in pairwise(edges)]
    for pieces in (cut, [piece.strip() for piece in cut], [" ".join(piece.split()) for piece in cut]):
        found = align(text, [Piece(piece) for piece in pieces])
        assert ["".join(one.span.slice(text).split()) for one in found] == [
            "".join(piece.split()) for piece in cut if piece.strip()
        ]
        assert all(one.span.end <= other.span.start for one, other in pairwise(found))
        assert {kind for one in found for kind in one.faults} <= {"whitespace"}


@given(step=st.integers(5, 20), size=st.integers(20, 40))
def test_overlapping_pieces_are_found_where_they_were_cut(step: int, size: int) -> None:
    text = " ".join(f"w{number}" for number in range(200))
    starts = range(0, len(text), step)
    found = align(text, [Piece(text[start : start + size].strip()) for start in starts])
    assert [one.faults for one in found if one.faults] == [{"nested": 1}] * sum(
        one.span.end == other.span.end for one, other in pairwise(found)
    )
    for start, one in zip([start for start in starts if text[start : start + size].strip()], found, strict=True):
        assert 0 <= one.span.start - start <= 1  # a blank is stripped


def test_equal_pieces_are_found_one_after_the_other() -> None:
    text = "tick tock " * 40
    found = align(text, [Piece("tick tock")] * 40)
    assert [one.span.start for one in found] == list(range(0, 400, 10))
    assert not any(one.faults for one in found)


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        (["One two; three.", "Four five; six."], [{}, {"lost_after": 33}]),
        (["Seven; eight nine.", "One two; three."], [{"out_of_order": 1}, {"lost_before": 13, "lost_after": 17}]),
        (["One two; three.", "One two; three."], [{}, {"repeated": 1}]),
        (["One two; three. Four five; six.", "three."], [{}, {"nested": 1}]),
        (["One two; three. four FIVE; six."], [{"altered": 1}]),
        (["One two; three. Four five; six. Seven; eight nine."], [{"whitespace": 1}]),
        (["\ufffdOne two; three.\ufffd"], [{"altered": 1}]),
        (["Zebras graze.", "One two; three."], [{"not_found_before": 1}]),
        (["One two; three.", "Zebras graze."], [{"not_found_after": 1}]),
        (["Zebras graze."], []),
        (["", " \n"], []),
    ],
)
def test_every_fault_is_told_at_its_chunk(pieces: list[str], told: list[dict[str, int]]) -> None:
    found = [faults for _, faults in placed(TEXT, *pieces)]
    assert len(found) == len(told)
    for have, want in zip(found, told, strict=True):
        assert {key: number for key, number in have.items() if key in want} == want
        assert have.keys() - {"lost_before", "lost_after"} == want.keys() - {"lost_before", "lost_after"}


def test_a_piece_of_which_words_were_changed_is_found_by_the_rest() -> None:
    text = " ".join(f"word{number}" for number in range(300))
    piece = text[100:900].replace("word40 ", "").replace("word60", "(see note)")
    ((found, told),) = placed(text, piece)
    assert told["altered"] == 1
    assert found == text[100:900].strip()


def test_a_table_whose_header_is_repeated_is_found_by_its_rows() -> None:
    rows = [f"| part {number} of the pump | {number} kg | store {number} |\n" for number in range(6)]
    header = "| Part | Weight | Where it is |\n|---|---|---|\n"
    found = placed(header + "".join(rows), header + "".join(rows[:3]), header + "".join(rows[3:]))
    assert found == [(header + "".join(rows[:3]).rstrip(), {}), ("".join(rows[3:]).rstrip(), {"altered": 1})]


def test_a_wrong_offset_is_told_and_a_right_one_is_believed() -> None:
    text = "über die Pumpe\nüber die Lampe\nüber die Pumpe\n"
    chunks = list(external(ChonkieLike(lines))(document(text)))
    assert [chunk.text for chunk in chunks] == ["über die Pumpe", "über die Lampe", "über die Pumpe"]
    assert [chunk.start for chunk in chunks] == [0, 15, 30]
    assert [chunk.meta["faults"] for chunk in chunks] == [{}, {"wrong_offset": 1}, {"wrong_offset": 1}]
    said = external(lambda _: [Page("über die Pumpe", 30), Found("Pumpe", start_index=39)])
    assert [chunk.start for chunk in said(document(text))] == [30, 39]


def test_separators_that_are_lost_are_told_in_characters() -> None:
    chunks = list(external(LangChainLike())(document()))
    assert [chunk.text for chunk in chunks][:2] == ["One two", "three. Four five"]
    assert faults(chunks) == {"lost_before": 4}
    assert all(TEXT[chunk.start : chunk.end] == chunk.text for chunk in chunks)


def test_an_overlap_is_noted_as_ours_is() -> None:
    chunks = list(external(windows)(document()))
    assert [chunk.meta["overlap"] for chunk in chunks[1:]] == [one.end - other.start for one, other in pairwise(chunks)]
    assert [chunk.own.start for chunk in chunks[1:]] == [chunk.end for chunk in chunks[:-1]]


def test_levels_are_found_though_they_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("llama_index", "llama_index.core", "llama_index.core.schema"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["llama_index.core.schema"].Document = SimpleNamespace  # type: ignore[attr-defined]
    text = "One is. Two is. Three is. Four is."
    found = [chunk.text for chunk in external(LlamaLike())(document(text))]
    assert found == ["One is.", "One is. Two is.", "Two is.", "Three is.", "Three is. Four is.", "Four is."]


def test_tokens_are_ours_and_chunks_over_the_size_are_told() -> None:
    chunks = chunk(document(), external(lines, size=6), tokenizer="words")
    assert [chunk.token_count for chunk in chunks] == [6, 6]
    assert faults(chunks) == {}
    chunks = chunk(document(), external(lines, size=5), tokenizer="words")
    assert [chunk.meta["faults"] for chunk in chunks] == [{"over_size": 6}] * 2


def test_checking_tells_which_laws_a_splitter_breaks(tmp_path: Path) -> None:
    custom_splitter("careless", careless)
    text = "First part.\n\n```\ncode\n```\n\nSecond part.\n\nThird part."
    report = check([document(text)], "external('careless', size=2)", tokenizer="words")
    assert {law.name for law in report.laws} >= {"L3"}


def test_a_splitter_whose_text_is_nowhere_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"x: no text of 1 pieces by .* is in the document"):
        assert list(external(lambda _: ["Zebras graze."])(document())) == []


def test_what_a_splitter_raises_names_the_document() -> None:
    def broken(text: str) -> list[str]:
        raise ValueError("<|endoftext|> is not allowed")

    with pytest.raises(ChunkwiseError, match=r"^x: the splitter .*broken raised ValueError: <\|endoftext\|>"):
        list(external(broken)(document()))


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    source = "class Halves:\n    def split_text(self, text):\n        n = len(text) // 2\n"
    source += "        return [text[:n], text[n:]]\nhalves = Halves()\n"
    (tmp_path / "ours_of_test.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "ours_of_test"
    sys.modules.pop("ours_of_test", None)


def test_a_recipe_names_a_splitter_by_the_path_that_imports_it(module: str) -> None:
    cut = parse(f"external('{module}:halves', size=100) | overlap(sentences=1)")
    assert parse(repr(cut)) == cut == pickle.loads(pickle.dumps(cut))
    assert repr(cut) == f"external(splitter='{module}:halves', size=100) | overlap(sentences=1)"
    assert len(list(cut(document()))) == 2


def test_a_function_is_named_by_its_path_and_an_object_by_its_class() -> None:
    assert repr(external(careless)) == "external(splitter='unit.splitters:careless')"
    one, other = LangChainLike(), LangChainLike()
    assert external(one) == external(one) != external(other)
    assert repr(external(other)) == "external(splitter='LangChainLike 2')"
    assert parse(repr(external(other))) == external(other)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("external('nothing')", ["no splitter 'nothing'", "MODULE:NAME"]),
        ("external('no_such_module:x')", ["can't be imported", "no_such_module", "--load no_such_module.py"]),
        ("external('unit.splitters:nothing')", ["can't be imported", "nothing"]),
        ("external('unit.splitters:LangChainLike')", ["is a class", "splitter = LangChainLike(...)"]),
        ("external('unit.splitters:__name__')", ["is no splitter", "split_text"]),
        ("external(lambda text: [text])", ["is not a number, a string"]),
        ("external(__import__('os').system)", ["is not a number, a string"]),
    ],
)
def test_a_wrong_splitter_says_what_is_wrong(recipe: str, words: list[str]) -> None:
    with pytest.raises(RecipeError) as caught:
        parse(recipe)
    for word in words:
        assert word in str(caught.value)


def test_a_recipe_without_splitter_says_how_to_name_one() -> None:
    with pytest.raises(RecipeError, match=r"external\('MODULE:NAME'\)"):
        chunk(document(), "external()")


def test_an_index_does_not_import_what_it_names(module: str, tmp_path: Path) -> None:
    url = tmp_path / "index"
    Index(url, encoder=HashingEncoder()).add_documents([document()], recipe=f"external('{module}:halves')")
    splitters._known.pop(f"{module}:halves")
    opened = Index(url, encoder=HashingEncoder())
    assert opened.search("seven", k=1), "it is searched without"
    other = Document.from_text("More. And more.", id="y")
    with pytest.raises(RecipeError, match=rf"names the splitter '{module}:halves'.*--load {module}"):
        opened.add_documents([other])
    splitters.allow(module)
    assert opened.add_documents([other]).added == ("y",)


def test_a_typed_recipe_is_trusted_with_an_index_that_names_it(module: str, tmp_path: Path) -> None:
    url, recipe = tmp_path / "index", f"external('{module}:halves')"
    Index(url, encoder=HashingEncoder()).add_documents([document()], recipe=recipe)
    splitters._known.pop(f"{module}:halves")
    added = Index(url, encoder=HashingEncoder()).add_documents([Document.from_text("More.", id="y")], recipe=recipe)
    assert added.added == ("y",)


def test_an_index_takes_long_chunks_of_others_by_their_beginning_and_says_so() -> None:
    class Short(HashingEncoder):
        max_tokens = 12

        def __call__(self, texts: Sequence[str], *, role: Any) -> Any:
            assert all(self.tokenizer.count(text) <= 12 for text in texts)
            return super().__call__(texts, role=role)

    text = " ".join(f"w{number}" for number in range(30)) + "\nA short line.\n"
    index = Index("memory:", encoder=Short(), cache=None)
    added = index.add_documents([document(text)], recipe=external(lines))
    assert any(
        "x: faults of the splitter, in chunks of 2: over_size 1; longer than hashing takes" in n for n in added.notes
    )
    assert index.search("w29", mode="lexical", k=1)[0].chunk.text.startswith("w0 w1")
    with pytest.raises(EncodeError, match="takes 12"):
        Index("memory:", encoder=Short(), cache=None).add_documents([document(text)], recipe="fixed(40, 'words')")


def test_the_command_line_takes_a_splitter_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def cut(text):\n    return text.split('; ')\n")
    (tmp_path / "d.txt").write_text(TEXT)
    out, err = run("--load", "mine.py", "chunk", "d.txt", "-r", "external('mine:cut')", cwd=tmp_path)
    assert [row["text"] for row in rows(out)][:2] == ["One two", "three. Four five"]
    assert "external(splitter='mine:cut')" in err


def test_a_route_and_a_nest_take_a_splitter() -> None:
    custom_splitter("lines", lines)
    routed = chunker("route(prose=external('lines', size=100))", tokenizer="words")
    assert [str(chunk.meta["strategy"]).partition("(")[0] for chunk in routed(document())] == ["external", "external"]
    nested = chunker("nest(200, 100, base=external('lines'))", tokenizer="words")
    assert list(nested(document()))


@pytest.mark.parametrize("name", ["lost", "A:b:c"])
def test_a_name_that_is_given_again_means_the_new_splitter(name: str) -> None:
    custom_splitter(name, lines)
    custom_splitter(name, careless)
    assert find_splitter(name).splitter is careless
