"""Evidence from an index of ordinary chunks keeps to the blocks of the document, which are noted when it is indexed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.cli.terminal import chunk_fields
from chunkwise.core.noted import Noted
from chunkwise.core.origins import Origin
from chunkwise.core.types import Chunk, Document, Hit, Span
from chunkwise.pipeline import DEFAULT_RECIPE, Index
from chunkwise.readers.read import read, read_text
from chunkwise.retrieve.assemble import Ladder
from chunkwise.retrieve.sentences import Sentences
from unit.hashing import HashingEncoder

FILES = Path(__file__).parents[1] / "golden" / "files" / "readers"
ALONE = Ladder((20,), sentence=9, gap=0)

RELEASES = """# Releases

| version | what changed | who |
|---------|--------------|-----|
| 1.1 | The gate was hung. Paint is dry. | Kim |
| 1.2 | The cache was added! Tests pass. | Ada |
| 1.3 | Docs are new. See below. | Lee |

The weir was built in 1911.
"""


def built(document: Document, recipe: str = DEFAULT_RECIPE) -> Index:
    index = Index("memory:", encoder=HashingEncoder())
    index.add_documents([document], recipe=recipe)
    return index


def units_of(document: Document, recipe: str = DEFAULT_RECIPE) -> list[str]:
    index = built(document, recipe)
    return [sentence.text for sentence in Sentences(index._store.entries(), n_special=0).each]


def best(index: Index, question: str, tokens: int = 30) -> Chunk:
    hits: list[Hit] = index.assemble(question, tokens=tokens, ladder=ALONE)
    return min(hits, key=lambda hit: hit.rank).chunk


def test_a_row_of_a_table_is_one_unit_and_brings_the_header_from_its_own_chunk() -> None:
    document = read_text(RELEASES, id="r.md")
    passage = best(built(document), "cache tests", tokens=60)
    header = document.text[: document.text.index("| 1.1")].removeprefix("# Releases\n\n")
    assert passage.text == header + "| 1.2 | The cache was added! Tests pass. | Ada |"
    assert passage.text == "".join(span.slice(document.text) for span in passage.spans)
    assert len(built(document).chunks("r.md")) == 1  # so the header rides along with no chunk


def test_what_follows_a_table_comes_without_its_header_and_rows_that_are_joined_have_it_once() -> None:
    index = built(read_text(RELEASES, id="r.md"))
    assert best(index, "weir 1911").text == "The weir was built in 1911."
    rows = best(index, "cache 1.2 docs 1.3 below", tokens=95).text
    assert rows.count("| version |") == 1
    assert "| 1.2 | The cache was added! Tests pass. | Ada |\n| 1.3 | Docs are new. See below. | Lee |" in rows


@pytest.mark.parametrize("tokens", range(5, 60, 5))
def test_headers_from_the_same_chunk_are_paid_for(tokens: int) -> None:
    hits = built(read_text(RELEASES, id="r.md")).assemble("docs gate below", tokens=tokens, ladder=ALONE)
    assert sum(hit.chunk.token_count for hit in hits) <= tokens


def test_a_row_of_delimited_text_brings_the_header() -> None:
    text = 'town,told\nAdria,"Calm. It is old."\nBrae,"Loud! It is new."\nCove,"Wet. It is far."\n'
    document = read_text(text, id="t.csv", media_type="text/csv")
    assert (
        best(built(document, "structural(size=200)"), "Brae loud", tokens=18).text
        == 'town,told\nBrae,"Loud! It is new."'
    )


CODE = '''import os


def cut(text: str) -> list[str]:
    """Cut. What is left? Nothing."""
    return text.split(". ")

def count(text: str) -> int:
    total = sum(1 for line in text.splitlines() if line.strip() and not line.startswith("#"))
    print("Done! All of it. Now go.", total, text[:100], text[100:200], sep=" ... ", end="")
    return total
'''


def test_code_is_parted_at_blank_lines_and_between_lines_never_inside_one(tmp_path: Path) -> None:
    file = tmp_path / "cut.py"
    file.write_text(CODE)
    units = units_of(read(file))
    assert units[:2] == ["import os", CODE[CODE.index("def cut") : CODE.index("\n\ndef count")]]
    lines = {line.strip() for line in CODE.splitlines() if line.strip()}
    assert {line.strip() for unit in units for line in unit.splitlines() if line.strip()} == lines
    assert len(units) == 4  # the lines of a long block are not one unit


@pytest.mark.parametrize("name", ["manual.pdf", "manual.docx", "guide.html"])
def test_a_heading_without_a_mark_is_never_a_unit_by_itself(name: str) -> None:
    document = read(FILES / name)
    titles = {block.label for block in document.blocks if block.kind == "heading" and block.label}
    assert titles
    units = units_of(document)
    assert not titles.intersection(units)
    assert any(unit.startswith(title) for unit in units for title in titles)


def test_the_pages_of_a_passage_are_its_own() -> None:
    index = built(read(FILES / "manual.pdf"))
    on_both = [chunk for chunk in index.chunks("manual.pdf") if chunk.pages == (1, 2)]
    units = [one for one in Sentences(index._store.entries(), n_special=0).each if one.chunk in on_both]
    assert {(1,), (1, 2)} <= {unit.pages for unit in units}
    document = read(FILES / "manual.pdf")
    pages = [block for block in document.blocks if block.kind == "page"]
    for unit in units:
        expected = tuple(
            page.level for page in pages if max(page.span.start, unit.span.start) < min(page.span.end, unit.span.end)
        )
        assert unit.pages == expected


@pytest.mark.parametrize("recipe", [DEFAULT_RECIPE, "sentences(size=12)"])  # also chunks that no edit is in or before
def test_a_passage_of_a_cleaned_document_tells_where_it_is_in_the_file(recipe: str) -> None:
    raw = "Pumps are old. The we\u00adir \u200bleaks a lot. The gate\u200b is new.\n\nBirds sing.\n"
    document = read_text(raw, id="a.txt", media_type="text/plain", clean="spaces, unicode, controls")
    index = built(document, recipe)
    for question, source in (("pumps", "Pumps are old."), ("gate new", "The gate\u200b is new.")):
        passage = best(index, question, tokens=5)
        assert passage.text == source.replace("\u200b", "")
        assert passage.meta["source_spans"] == [[raw.index(source), raw.index(source) + len(source)]]


@given(
    lengths=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(0, 3)), max_size=6),
    places=st.lists(st.integers(0, 40), min_size=4, max_size=4).map(sorted),
)
def test_the_edits_around_a_part_tell_its_source_as_all_edits_do(
    lengths: list[tuple[int, int, int]], places: list[int]
) -> None:
    edits, start = [], 0
    for before, removed, put in lengths:
        edits.append((start + before + 1, start + before + 1 + removed, put))
        start = edits[-1][1]
    whole = Origin.of(edits)
    outer, inner = (places[0], places[3]), (places[1], places[2])
    assert whole.around(*outer).source(*inner) == whole.source(*inner)


def test_a_passage_keeps_what_its_chunks_say_of_it_and_lists_what_they_say_differently() -> None:
    text = "1. Dams\n\nThe dam is old.\n\n2. Weirs\n\nThe weir is new.\n"
    index = built(Document.from_text(text, id="a"), "clauses(size=15)")
    assert best(index, "weir new", tokens=12).meta == {"clause": "2"}
    talk = "Ada: The dam is old.\nKim: The weir is new.\nLee: The gate is shut.\n"
    index = built(Document.from_text(talk, id="t"), "turns(size=15)")
    hits = index.assemble("dam weir gate", tokens=90)
    assert [hit.chunk.meta for hit in hits] == [{"speakers": ["Ada", "Kim", "Lee"]}]


def test_what_is_noted_comes_back_and_is_not_written_out() -> None:
    index = built(read_text(RELEASES, id="r.md"), "nest(80, 20)")
    for chunk in index.chunks("r.md"):
        assert Noted.of(chunk).on(chunk) == chunk
        assert (Noted.of(chunk).ends is None) is (chunk.meta["level"] == 0)
        assert "noted" not in chunk_fields(chunk, 0)["meta"]


def test_without_notes_sentences_are_found_as_those_of_prose() -> None:
    chunk = Chunk("a", (Span(0, 30),), "The dam is old. The gate is new"[:30])
    assert Noted.of(chunk) == Noted()
    assert Noted.of(Chunk("a", (Span(0, 1),), "a", meta={"noted": "by hand"})) == Noted()
