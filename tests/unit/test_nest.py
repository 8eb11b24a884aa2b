"""Levels of chunks: every child inside its parent, each level within its own size."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import RecipeError
from chunkwise.core.spans import contains
from chunkwise.core.types import Chunk, Document
from chunkwise.pipeline import Index, chunk, chunker, parse
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker
from laws.strategies import documents

DAM = Document.from_text("The dam was inspected in spring. " * 300, id="dam")
BASES = ["recursive()", "structural()", "sentences(max_sentences=3)", "fixed()", "code()"]


def levels(chunks: list[Chunk]) -> dict[int, list[Chunk]]:
    def level(chunk: Chunk) -> int:
        assert isinstance(chunk.meta["level"], int)
        return chunk.meta["level"]

    return {key: list(group) for key, group in groupby(sorted(chunks, key=level), key=level)}


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("pipe", ["", " | overlap(ratio=0.2)", " | context(headings=True)"])
@given(document=documents, smallest=st.integers(8, 40), sentences=st.booleans())
def test_every_child_lies_in_its_parent(
    base: str, pipe: str, document: Document, smallest: int, *, sentences: bool
) -> None:
    sizes = [6 * smallest, 3 * smallest, smallest]
    more = ", sentences=True" if sentences else ""
    cut = chunker(f"nest({sizes[0]}, {sizes[1]}, {sizes[2]}, base={base}{more}){pipe}", tokenizer="words")
    sizes.append(smallest)
    chunks = check_chunker(cut, document)
    by_id = {c.id: c for c in chunks}
    for level, members in levels(chunks).items():
        for c in members:
            assert c.token_count <= sizes[level]
            assert (c.parent == "") == (level == 0)
            if c.parent:
                assert by_id[c.parent].meta["level"] == level - 1
                assert contains(by_id[c.parent].body, c.body)


def test_parents_come_before_their_children_and_in_order_of_the_text() -> None:
    chunks = chunk(DAM, "nest(400, 100)", tokenizer="words")
    assert [c.meta["level"] for c in chunks[:7]] == [0, 1, 1, 1, 1, 1, 0]
    seen: set[str] = set()
    for c in chunks:
        assert not c.parent or c.parent in seen
        seen.add(c.id)


def test_a_chunk_that_needs_no_cutting_is_its_own_child() -> None:
    chunks = chunk(Document.from_text("One short line.", id="x"), "nest(40, 20, 10)", tokenizer="words")
    assert [c.text for c in chunks] == ["One short line."] * 3
    assert len({c.id for c in chunks}) == 3
    assert [c.parent for c in chunks] == ["", chunks[0].id, chunks[1].id]


def test_an_overlap_is_in_proportion_to_each_level() -> None:
    chunks = chunk(DAM, "nest(400, 100) | overlap(ratio=0.1)", tokenizer="words")
    repeated = {
        level: max(len(c.text[: int(str(c.meta["overlap"]))].split()) for c in found)
        for level, found in levels(chunks).items()
    }
    assert repeated[0] in range(30, 41)
    assert repeated[1] in range(5, 11)


def test_a_nest_prints_as_it_parses_and_takes_its_sizes_without_brackets() -> None:
    assert parse("nest(400, 100)") == parse("nest(sizes=[400, 100])")
    assert parse("nest(400, 100) | context()") == parse("nest(400, 100, base=recursive(fill=0) | context())")


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("nest(100, 200)", r"sizes=\[100, 200\] must fall"),
        ("nest(100, 100)", "must fall"),
        ("nest(sizes=[])", "must fall"),
        ("nest(100, 50, base=nest(20, 10))", "has levels of its own"),
        ("nest(400, 20) | overlap(tokens=30)", "tokens=30 must be less than size=1"),
        ("nest(400, 40, base=recursive(min_size=60))", "min_size=60 must be less than size=40"),
        ("nest(base='paragraph')", "must be a recipe"),
        ("nest('a', 'b')", "must be a list of integers"),
    ],
)
def test_sizes_that_do_not_go_together_are_refused(recipe: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        chunker(recipe)


def test_an_index_holds_all_levels_and_finds_the_leaves() -> None:
    index = Index("memory:")
    added = index.add_documents([DAM], recipe="nest(2048, 512, 128)")
    assert added.notes == ()
    assert added.n_chunks == len(index) == len(index.chunks("dam")) > 10
    assert {c.meta["level"] for c in index.chunks("dam")} == {0, 1, 2}
    assert {hit.chunk.meta["level"] for hit in index.search("When was the dam inspected?", k=50)} == {2}
    assert {hit.chunk.meta["level"] for hit in index.search("dam", k=50, where={"level": 1})} == {1}


def test_levels_over_the_encoders_limit_are_lowered_only_if_they_are_embedded() -> None:
    index = Index("memory:")
    notes = index.add_documents([DAM], recipe="nest(2048, 512)").notes
    assert "size=512 is more than all-MiniLM-L6-v2 takes, which is 256; cut by nest(sizes=(2048, 512, 256)" in notes[0]
    assert index.recipe.startswith("nest(sizes=(2048, 512, 256)")


def test_the_last_level_of_a_ladder_is_of_single_sentences_without_what_follows_the_nest() -> None:
    text = "# Dams\n\nThe dam holds. It was built in 1911.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"
    document = read_text(text, id="dams.md")
    chunks = chunk(document, "nest(50, base=structural(), sentences=True) | context(headings=True)", tokenizer="words")
    last = [c for c in chunks if c.meta["level"] == 1]
    assert [c.body.slice(text).strip() for c in last] == [
        "# Dams\n\nThe dam holds.",
        "It was built in 1911.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "| 3 | 4 |",
    ]
    assert not any(c.context for c in last)
    assert last[-1].text == "| a | b |\n|---|---|\n| 3 | 4 |"
    assert parse(repr(chunker("nest(50, sentences=True)"))) == parse("nest(50, sentences=True)")


def test_the_last_level_of_a_ladder_holds_single_records_of_delimited_text() -> None:
    rows = ['1,"a weir. It leaks"\n', '2,"a dam\non two lines"\n', "3,a gate\n"]
    document = read_text("id,note\n" + "".join(rows), id="t", media_type="text/csv")
    chunks = chunk(document, "nest(60, base=structural(), sentences=True)")
    singles = [one.body.slice(document.text) for one in chunks if "sentence" in one.meta]
    assert [text.strip() for text in singles] == [f"id,note\n{rows[0]}".strip(), *(row.strip() for row in rows[1:])]
