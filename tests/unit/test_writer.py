"""The writer of readers: what is written is what the blocks name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.types import Source
from chunkwise.readers.writer import Writer
from laws.strategies import texts


def named(writer: Writer) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, block.span.slice(writer.text)) for block in writer.blocks()]


def test_blocks_are_parted_by_blank_lines_and_hold_their_text() -> None:
    writer = Writer()
    writer.block("heading", "Pumps", level=2, label="Pumps")
    writer.block("code", "a\n  b")
    writer.block("paragraph", "Check.")
    assert writer.text == "Pumps\n\na\n  b\n\nCheck."
    assert named(writer) == [("heading", 2, "Pumps"), ("code", 0, "a\n  b\n"), ("paragraph", 0, "Check.")]


def test_a_block_without_text_is_none_and_leaves_no_gap() -> None:
    writer = Writer()
    writer.block("paragraph", "")
    writer.open("list")
    writer.open("item")
    writer.close()
    writer.close()
    writer.block("paragraph", "One.")
    assert named(writer) == [("paragraph", 0, "One.")]
    assert writer.text == "One."


def test_nested_items_are_indented_and_keep_their_tree() -> None:
    writer = Writer()
    writer.open("list")
    writer.open("item")
    writer.write("- one")
    writer.part(1)
    writer.indent = "  "
    writer.open("list")
    writer.open("item")
    writer.write("- inner\nline")
    writer.close()
    writer.close()
    writer.close()
    writer.close()
    assert writer.text == "- one\n  - inner\n  line"
    assert named(writer)[2:] == [("list", 2, "  - inner\n  line"), ("item", 3, "  - inner\n  line")]


def test_a_table_has_a_row_a_line_and_one_header() -> None:
    writer = Writer()
    writer.table([["a", "b\nc"], ["1", ""], ["", ""]], n_header=1, labels=["A1:B1", "A2:B2", "A3:B3"])
    assert writer.text == "a | b c\n1 |\n|\n"
    assert named(writer)[1:] == [("header", 1, "a | b c\n"), ("row", 1, "1 |\n"), ("row", 1, "|\n")]
    assert [block.label for block in writer.blocks()] == ["", "A1:B1", "A2:B2", "A3:B3"]


def test_what_is_written_says_where_it_starts() -> None:
    writer = Writer()
    writer.indent = "  "
    starts = [writer.write("one\ntwo"), writer.write(" three"), writer.write("")]
    writer.part(1)
    starts.append(writer.write("four"))
    rows = writer.table([["", "a"], ["b", "c"]], n_header=1)
    assert [writer.text[start:].split("\n")[0] for start in starts] == ["one", " three", "", "four"]
    assert [writer.text[start:].split("\n")[0] for start in rows] == ["| a", "b | c"]


def test_a_table_of_nothing_but_a_header_is_closed() -> None:
    writer = Writer()
    writer.table([["a", "b"], ["c", "d"]], n_header=3)
    writer.block("paragraph", "after")
    assert [(kind, level) for kind, level, _ in named(writer)] == [("table", 0), ("header", 1), ("paragraph", 0)]


def test_pages_cut_through_other_blocks() -> None:
    writer = Writer()
    writer.begin_page(1, label="i")
    writer.open("paragraph")
    writer.write("begun here")
    writer.part(1)
    writer.begin_page(2)
    writer.write("ended there")
    writer.close()
    document = writer.document(Source("x", b""), {})
    pages = [(block.level, block.label, block.span.slice(document.text)) for block in document.blocks[::2]]
    assert pages == [(1, "i", "begun here"), (2, "", "ended there")]
    assert document.blocks[1].span == (0, len(document.text))


@given(st.lists(st.tuples(st.sampled_from(["paragraph", "code", "heading", "open", "close", "page", "table"]), texts)))
def test_blocks_nest_and_are_in_order_whatever_is_written(steps: list[tuple[str, str]]) -> None:
    writer, depth = Writer(), 0
    for number, (step, text) in enumerate(steps):
        if step == "open":
            writer.open("list")
            depth += 1
        elif step == "close" and depth:
            writer.close()
            depth -= 1
        elif step == "page":
            writer.begin_page(number)
        elif step == "table":
            writer.table([[text, text]], n_header=number % 2)
        elif step in ("paragraph", "code", "heading"):
            writer.block(step, text)  # type: ignore[arg-type]  # one of them
    for _ in range(depth):
        writer.close()
    found = writer.document(Source("x", b""), {}).blocks
    assert [block.span.start for block in found] == sorted(block.span.start for block in found)
    for index, block in enumerate(found):
        assert 0 <= block.span.start < block.span.end <= writer.length == len(writer.text)
        assert block.parent < index
        if block.parent >= 0:
            outer = found[block.parent].span
            assert outer.start <= block.span.start <= block.span.end <= outer.end
