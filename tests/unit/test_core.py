"""Records, spans and the outline."""

from __future__ import annotations

import itertools
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import MissingExtraError, require
from chunkwise.core.outline import Outline
from chunkwise.core.recipes import numbered
from chunkwise.core.spans import contains, gaps, intersect, join, overlaps, union
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.readers.read import read_text

spans = st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))


def positions(many: list[Span]) -> set[int]:
    return {place for span in many for place in range(*span)}


@given(st.lists(spans))
def test_a_union_covers_the_same_places_in_disjoint_spans(many: list[Span]) -> None:
    joined = union(many)
    assert positions(joined) == positions(many)
    assert all(one.end < other.start for one, other in itertools.pairwise(joined))


@given(st.lists(spans), spans)
def test_gaps_are_what_is_left(many: list[Span], within: Span) -> None:
    assert positions(list(gaps(many, within))) == positions([within]) - positions(many)


@given(spans, spans)
def test_spans_compare_like_sets_of_places(one: Span, other: Span) -> None:
    shared = intersect(one, other)
    assert positions([shared] if shared else []) == positions([one]) & positions([other])
    if one.length and other.length:
        assert overlaps(one, other) == bool(shared)
        assert contains(one, other) == (positions([other]) <= positions([one]))


def test_join_puts_spans_one_after_the_other() -> None:
    assert join("abcdef", [Span(4, 6), Span(0, 2)]) == "efab"


def test_records_can_not_be_changed() -> None:
    chunk = Chunk("d", (Span(0, 1),), "a")
    with pytest.raises(FrozenInstanceError):
        chunk.text = "b"  # type: ignore[misc]


def test_an_id_depends_on_content_and_place_among_equals_only() -> None:
    chunk = Chunk("d", (Span(0, 1),), "a", token_count=1, headings=("H",))
    assert replace(chunk, spans=(Span(7, 8),), headings=(), meta={"x": 1}).id == chunk.id
    for other in (
        replace(chunk, text="b"),
        replace(chunk, context="c"),
        replace(chunk, document_id="e"),
        replace(chunk, ordinal=1),
        Chunk("da", (Span(0, 1),), ""),
    ):
        assert other.id != chunk.id


def test_equal_chunks_are_numbered() -> None:
    chunks = [Chunk("d", (Span(i, i + 1),), text) for i, text in enumerate("aba")]
    assert [chunk.ordinal for chunk in numbered(chunks)] == [0, 0, 1]
    assert len({chunk.id for chunk in numbered(chunks)}) == 3


def test_chunks_can_be_put_in_sets_and_copied() -> None:
    chunk = Chunk("d", (Span(0, 1),), "a", meta={"overlap": 0})
    assert len({chunk, replace(chunk)}) == 1


def test_a_heading_path_leaves_out_what_a_shallower_heading_closed() -> None:
    document = read_text("# Doc\n\n### Sub\n\nSub text.\n\n## Section\n\nSection text.\n")
    outline = Outline(document)
    assert [block.label for block in outline.path(document.text.index("Section text"))] == ["Doc", "Section"]
    assert [block.label for block in outline.path(document.text.index("Sub text"))] == ["Doc", "Sub"]
    assert outline.path(0)[0].label == "Doc"
    assert outline.above(document.text.index("## Section"))[0].label == "Doc"


def test_a_heading_in_a_quote_heads_nothing_outside_it() -> None:
    document = read_text("# Doc\n\n> # Quoted\n> text\n\nAfter.\n")
    assert [block.label for block in Outline(document).path(document.text.index("After"))] == ["Doc"]


def test_a_missing_package_names_the_extra_to_install() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'chunkwise\[search\]'"):
        require("no_such_package_at_all", extra="search")


def test_an_import_error_inside_a_package_is_not_hidden(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "broken_inside.py").write_text("import another_missing_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="another_missing_package"):
        require("broken_inside", extra="search")


def test_a_document_of_a_string_has_its_text_untouched() -> None:
    text = "\ufeffA\r\nb\x00"
    assert Document.from_text(text, id="x").text == text
