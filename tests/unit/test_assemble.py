"""Evidence: exact spans within a budget, the best sentences first paid for, in the order of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chunkwise.core.errors import ChunkwiseError, StoreError
from chunkwise.core.protocols import Entry
from chunkwise.core.spans import join, union
from chunkwise.core.types import Chunk, Document, Hit, Span
from chunkwise.pipeline import Index
from chunkwise.readers.read import read, read_text
from chunkwise.retrieve.assemble import LADDERS, Ladder, Question, scores
from chunkwise.retrieve.sentences import Sentences
from chunkwise.text.terms import terms
from laws.strategies import documents
from oracles.assembly import slow_scores, slow_stretches
from unit.hashing import HashingEncoder, hashed

LADDER = "nest(60, base=structural(), sentences=True)"
RECIPES = [
    LADDER,
    "structural(size=40) | context(headings=True)",
    "recursive(size=40) | overlap(tokens=10)",
    "nest(80, 40)",
    "fixed(size=30)",
]
PUMPS = """# Pumps

## Seals

Seals are replaced every six weeks. Worn seals leak oil on the floor. The floor is swept at night.

## Lamps

Lamps are checked daily.

| lamp | hours |
|------|-------|
| hall | 900   |
| yard | 400   |
"""


def built(document: Document, recipe: str) -> Index:
    index = Index("memory:", encoder=HashingEncoder())
    index.add_documents([document, Document.from_text("Nothing of note happened.", id="z")], recipe=recipe)
    return index


def words_of(hits: list[Hit]) -> list[str]:
    return [" ".join(hit.chunk.text.split()) for hit in hits]


@pytest.mark.parametrize("recipe", RECIPES)
@given(document=documents, tokens=st.integers(1, 200), number=st.integers(0, 50))
def test_evidence_is_verbatim_disjoint_and_within_the_budget(
    recipe: str, document: Document, tokens: int, number: int
) -> None:
    index = built(document, recipe)
    question = (document.text.split() or ["note"])[number % max(len(document.text.split()), 1)]
    tokenizer = index.encoder.tokenizer
    for ladder in LADDERS:
        hits = index.assemble(question, tokens=tokens, ladder=ladder)
        assert sum(hit.chunk.token_count for hit in hits) <= tokens
        texts = {document.id: document.text, "z": "Nothing of note happened."}
        for hit in hits:
            assert hit.chunk.text == join(texts[hit.chunk.document_id], hit.chunk.spans)
            assert hit.chunk.token_count == tokenizer.count(hit.chunk.text) - tokenizer.n_special
            assert 0 <= hit.score <= 1.000001
        bodies = [hit.chunk.body for hit in hits if hit.chunk.document_id == document.id]
        assert all(one.end <= other.start for one, other in pairwise(bodies))
        assert sorted(hit.rank for hit in hits) == list(range(1, len(hits) + 1))
        ranked = sorted(hits, key=lambda hit: hit.rank)
        assert all(one.score >= other.score for one, other in pairwise(ranked))
        assert hits == index.assemble(question, tokens=tokens, ladder=ladder)


@pytest.mark.parametrize("recipe", RECIPES)
@given(document=documents)
def test_a_budget_that_pays_for_all_brings_all_that_was_cut(recipe: str, document: Document) -> None:
    index = built(document, recipe)
    hits = [hit.chunk for hit in index.assemble("note", tokens=10**6) if hit.chunk.document_id == document.id]
    found = union(span for chunk in hits for span in chunk.spans)
    missing = [
        character
        for chunk in index.chunks(document.id)
        for span in chunk.spans
        for place, character in enumerate(span.slice(document.text), span.start)
        if not character.isspace() and not any(one.start <= place < one.end for one in found)
    ]
    assert not missing


@example(texts=[["oil"], ["seal."]], asked=["dam"], ladder=LADDERS["default"], marks=[False])
@given(
    texts=st.lists(
        st.lists(st.sampled_from(["dam", "oil", "pump", "seal.", "lamp", "weir", "gate"]), max_size=30), max_size=4
    ),
    asked=st.lists(st.sampled_from(["dam", "oil", "weir", "none"]), min_size=1, max_size=4),
    ladder=st.sampled_from([*LADDERS.values(), Ladder((3, 9, 20), weights=(0, 1, 2), neighbour=0, alpha=0.7)]),
    marks=st.lists(st.booleans(), min_size=1, max_size=5),
)
def test_scores_are_those_of_a_slow_reference(
    texts: list[list[str]], asked: list[str], ladder: Ladder, marks: list[bool]
) -> None:
    entries = list(entries_of(texts, marks))
    sentences = Sentences(entries, n_special=0)
    if not len(sentences):
        return
    question = Question(terms(" ".join(asked)), hashed([" ".join(asked)], 8)[0])
    found = scores(sentences, question, ladder, np.ones(len(sentences), np.bool_))
    vectors = np.concatenate([entry.vectors for entry in entries])
    assert np.allclose(found, slow_scores(sentences, vectors, question, ladder), atol=1e-4)
    for size in ladder.sizes:
        starts = [stretch[0] for stretch in slow_stretches(sentences, size)]
        assert sentences.rung(size).starts.tolist() == starts


def entries_of(texts: list[list[str]], marks: list[bool]) -> Iterator[Entry]:
    """Yield a document for each text, a chunk for every three words; `marks` say which begin a section."""
    for number, words in enumerate(texts):
        chunks, start, section = [], 0, 0
        for i in range(0, len(words), 3):
            piece = " ".join(words[i : i + 3])
            section += marks[i % len(marks)]
            chunks.append(
                Chunk(
                    str(number),
                    (Span(start, start + len(piece)),),
                    piece,
                    token_count=len(words[i : i + 3]),
                    headings=(f"part {section}",),
                    ordinal=i,
                    meta={"sentence": True},
                )
            )
            start += len(piece) + 1
        vectors = hashed([chunk.text for chunk in chunks], 8)
        yield Entry(str(number), "", "", tuple(chunks), vectors, {})


def test_what_answers_comes_without_what_stands_around_it() -> None:
    index = built(read_text(PUMPS, id="pumps.md"), LADDER)
    hits = index.assemble("How often are seals replaced?", tokens=13, ladder="fine")
    assert words_of(hits) == ["# Pumps ## Seals Seals are replaced every six weeks."]
    assert hits[0].chunk.headings == ("Pumps", "Seals")
    assert hits[0].via == ("assembled",)


def test_sentences_that_meet_are_joined_with_what_stands_between_them() -> None:
    index = built(read_text(PUMPS, id="pumps.md"), LADDER)
    hits = index.assemble("seals replaced, swept at night", tokens=30, ladder="fine")
    assert (
        "Seals are replaced every six weeks. Worn seals leak oil on the floor. The floor is swept" in words_of(hits)[0]
    )


def test_a_row_comes_with_its_header_once() -> None:
    index = built(read_text(PUMPS, id="pumps.md"), LADDER)
    hits = index.assemble("yard 400", tokens=60, ladder="fine")
    rows = next(hit.chunk for hit in hits if "yard" in hit.chunk.text)
    assert rows.text.count("| lamp | hours |") == 1


def test_as_many_rows_are_bought_as_the_budget_pays_for_with_their_headers() -> None:
    names = [f"a rather long name of column {i}" for i in range(9)]
    rows = [f"| {'hall' if i % 9 else 'yard'} {i} |" + " 1 |" * 8 for i in range(90)]
    table = "\n".join([f"| {' | '.join(names)} |", "|" + "---|" * 9, *rows])
    index = built(read_text(f"# Lamps\n\n{table}\n", id="t.md"), "nest(200, base=structural(), sentences=True)")
    for tokens in (200, 400, 800, 1500):
        hits = [hit.chunk for hit in index.assemble("yard", tokens=tokens)]
        assert 0.75 * tokens <= sum(chunk.token_count for chunk in hits) <= tokens
        assert any("yard" in chunk.text for chunk in hits)


@pytest.mark.parametrize("recipe", [LADDER, "structural(size=60)"])
def test_a_passage_of_a_sheet_names_its_cells_with_the_sheet(recipe: str) -> None:
    file = Path(__file__).parents[1] / "golden" / "files" / "readers" / "orders.xlsx"
    index = built(read(file), recipe)
    hits = index.assemble("Norway", tokens=200)
    cells = [str(hit.chunk.meta["cells"]) for hit in hits if "Norway" in hit.chunk.text]
    assert cells
    assert all(re.fullmatch(r"'Sales by land'!A\d:E\d", one) for one in cells)


def test_what_a_sentence_points_back_to_or_announces_comes_with_it() -> None:
    filler = "Birds sing all day long in that old tree. " * 90
    text = f"{filler}\n\nThe weir leaks. It was built in 1911 by hand. {filler}\n\nAsked for:\n\n> Give me the year."
    index = built(read_text(text, id="w"), LADDER)
    for question, expected in (("built 1911 hand", "The weir leaks. It was"), ("asked", "Asked for: > Give me")):
        hits = index.assemble(question, tokens=100, ladder=Ladder((20,), sentence=9, gap=0))
        assert expected in words_of(sorted(hits, key=lambda hit: hit.rank))[0]


@pytest.mark.parametrize("recipe", [LADDER, "structural(size=60)"])
def test_a_passage_is_of_one_section_and_a_heading_is_never_alone(recipe: str) -> None:
    index = built(read_text(PUMPS, id="pumps.md"), recipe)
    hits = index.assemble("seals lamps", tokens=200)
    found = [(hit.chunk.headings, " ".join(hit.chunk.text.split())[:20]) for hit in hits if hit.chunk.headings]
    assert found == [(("Pumps", "Seals"), "# Pumps ## Seals Sea"), (("Pumps", "Lamps"), "## Lamps Lamps are c")]
    alone = index.assemble("seals", tokens=3, ladder="fine")
    assert not any(hit.chunk.text.startswith("#") for hit in alone)


@pytest.mark.parametrize("recipe", [LADDER, "structural(size=60)"])
def test_of_a_table_the_rows_that_match_are_bought(recipe: str) -> None:
    names, towns = ["Ada", "Lopez", "Kim", "Ono", "Roy", "Sen", "Wu"], ["Oslo", "Rome", "Bonn"]
    orders = [f"| {i} | {names[i % 7]} | {towns[i % 3]} |" for i in range(120)]
    text = "\n".join(["| order | name | town |", "|---|---|---|", *orders]) + "\n"
    hits = built(read_text(text, id="orders.md"), recipe).assemble("Which orders did Lopez place in Oslo?", tokens=200)
    matching = [hit.chunk.text for hit in hits if "Lopez | Oslo" in hit.chunk.text]
    assert len(matching) >= 4
    assert all(text.startswith("| order | name | town |") for text in matching)


def test_passages_are_in_the_order_of_the_text_and_the_best_document_comes_first() -> None:
    index = Index("memory:", encoder=HashingEncoder())
    first = "Dams hold water. " + "Birds sing all day. " * 90 + "The weir was built in 1911."
    index.add_documents(
        [Document.from_text("The weir is old.", id="a"), Document.from_text(first, id="b")], recipe=LADDER
    )
    hits = index.assemble("In which year was the weir built? dams", tokens=20, ladder=Ladder((20,), sentence=9))
    assert [(hit.chunk.document_id, hit.chunk.text) for hit in hits] == [
        ("b", "Dams hold water."),
        ("b", "The weir was built in 1911."),
        ("a", "The weir is old."),
    ]
    assert hits[1].rank == 1


def test_what_copies_of_a_document_say_is_paid_for_once() -> None:
    index = Index("memory:", encoder=HashingEncoder())
    copies = [Document.from_text("The weir is old. The gate is new.", id=f"v{i}") for i in range(9)]
    index.add_documents([*copies, Document.from_text("Of the weir more is said here.", id="z")], recipe=LADDER)
    found = sorted(words_of(index.assemble("weir", tokens=100)))
    assert found == ["Of the weir more is said here.", "The weir is old. The gate is new."]


def test_a_filter_leaves_only_what_it_names() -> None:
    index = Index("memory:", encoder=HashingEncoder())
    index.add_documents([Document.from_text(f"The dam is {id}.", id=id) for id in ("a", "b")], recipe=LADDER)
    hits = index.assemble("dam", where={"document_id": "b"})
    assert [hit.chunk.document_id for hit in hits] == ["b"]
    assert index.assemble("dam", where={"document_id": "c"}) == []


def test_what_a_filter_excludes_is_not_bought_for_the_sake_of_another() -> None:
    text = "1. Dams\n\nThe dam is old:\n\n2. Notice\n\nIt is a month.\n\n3. Weirs\n\nIt is a dam, too.\n"
    index = built(Document.from_text(text, id="a"), "clauses(size=15)")
    for clauses in (["1", "3"], ["1"], ["3"]):
        hits = index.assemble("dam", where={"clause": clauses})
        assert [hit.chunk.text[0] for hit in hits] == clauses


def test_tokens_are_those_of_the_tokenizer_that_is_named() -> None:
    index = built(Document.from_text("The dam is old. " * 40, id="a"), LADDER)
    hits = index.assemble("dam", tokens=100, tokenizer="characters")
    assert 80 <= sum(len(hit.chunk.text) for hit in hits) <= 100


def test_what_is_added_later_is_found(tmp_path: Path) -> None:
    for url in ("memory:", tmp_path / "index"):
        index = Index(url, encoder=HashingEncoder())
        index.add_documents([Document.from_text("The dam is old.", id="a")], recipe=LADDER)
        assert words_of(index.assemble("dam weir")) == ["The dam is old."]
        index.add_documents([Document.from_text("The weir is new.", id="b")])
        assert sorted(words_of(index.assemble("dam weir"))) == ["The dam is old.", "The weir is new."]
        index.delete("a")
        assert words_of(index.assemble("dam weir")) == ["The weir is new."]


def test_both_stores_assemble_alike(tmp_path: Path) -> None:
    found = []
    for url in ("memory:", tmp_path / "index"):
        index = Index(url, encoder=HashingEncoder())
        index.add_documents([read_text(PUMPS, id="pumps.md"), Document.from_text("The yard.", id="y")], recipe=LADDER)
        found.append(index.assemble("yard lamps", tokens=30))
    assert [hit.chunk for hit in found[0]] == [hit.chunk for hit in found[1]]


def test_what_can_not_be_asked_is_told() -> None:
    index = built(Document.from_text("The dam.", id="a"), LADDER)
    with pytest.raises(ChunkwiseError, match="question is empty"):
        index.assemble("  ")
    with pytest.raises(ChunkwiseError, match="tokens=0 must be at least 1"):
        index.assemble("dam", tokens=0)
    with pytest.raises(ChunkwiseError, match="ladder='steep' is not one of default, fine, coarse"):
        index.assemble("dam", ladder="steep")
    with pytest.raises(ChunkwiseError, match="1 weights for 2 sizes"):
        Ladder((100, 200), weights=(1,))
    for wrong in ({"alpha": 2}, {"neighbour": -1}, {"sentence": -1}, {"weights": (-1,)}, {"gap": -1}):
        with pytest.raises(ChunkwiseError, match="below 0"):
            Ladder((100,), **wrong)
    with pytest.raises(ChunkwiseError, match="something must weigh"):
        Ladder((100,), weights=(0,), sentence=0)
    with pytest.raises(StoreError, match="holds no chunks"):
        Index("memory:", encoder=HashingEncoder()).assemble("dam")
