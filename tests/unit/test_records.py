"""Rows of tables, records of logs, members of JSON, pages, random sizes: what is promised beyond the laws."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.errors import RecipeError
from chunkwise.core.spans import contains, overlaps
from chunkwise.core.types import Chunk, Span
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker, check_locality
from chunkwise.text.json_spans import Members
from chunkwise.text.records import Records, cells, record_starts

CSV, TSV, MD, PLAIN, JSON = "text/csv", "text/tab-separated-values", "text/markdown", "text/plain", "text/x-json"


def cut(text: str, recipe: str, media_type: str = PLAIN, tokenizer: str = "characters") -> list[Chunk]:
    return check_chunker(chunker(recipe, tokenizer=tokenizer), read_text(text, id="x", media_type=media_type))


def texts(text: str, recipe: str, media_type: str = PLAIN) -> list[str]:
    return [chunk.text for chunk in cut(text, recipe, media_type)]


def records(text: str, delimiter: str = ",") -> list[str]:
    edges = [*record_starts(text, 0, len(text), delimiter), len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\nc,d", ["a,b\n", "c,d"]),
        ("a\r\nb\rc\n", ["a\r\n", "b\r", "c\n"]),
        ('a,"x\ny"\nb', ['a,"x\ny"\n', "b"]),
        ('"a ""q""\n",1\nb', ['"a ""q""\n",1\n', "b"]),
        ('5" pipe\nb', ['5" pipe\n', "b"]),
        ('a, "x\ny"', ['a, "x\n', 'y"']),
        ('a,"open\nb\n', ['a,"open\n', "b\n"]),
        ('\ufeff"a\nb",c\nd', ['\ufeff"a\nb",c\n', "d"]),
    ],
)
def test_a_quoted_field_may_hold_line_breaks_and_a_stray_quote_is_text(text: str, expected: list[str]) -> None:
    assert records(text) == expected


@given(st.text('ab",\n\r', max_size=60))
def test_records_that_are_looked_for_backwards_are_those_found_forwards(text: str) -> None:
    found, starts = Records(text, 0, len(text), ","), list(record_starts(text, 0, len(text), ","))
    for hi in range(len(text)):
        place = found.last(-1, hi)
        allowed = starts if '"' in text else [*starts, *(i + 1 for i, c in enumerate(text) if c == "\r")]
        assert place == max(start for start in allowed if start <= hi)
    assert [found.at(start).start for start in starts[:-1]] == starts[:-1]
    assert ",".join(cell.slice(text) for cell in cells(text, Span(0, len(text)), ",")) == text


@pytest.mark.parametrize(
    ("text", "media_type", "delimiter", "header"),
    [
        ("id,name\n1,x\n2,y\n", CSV, ",", "id,name\n"),
        ("id;name,first\n1;x\n2;y\n", CSV, ";", "id;name,first\n"),
        ("id\tname\n1\tx\n", TSV, "\t", "id\tname\n"),
        ("1,x\n2,y\n", CSV, ",", None),
        ("a,,c\n1,2,3\n", CSV, ",", None),
        (",a,b\n0,1,2\n", CSV, ",", ",a,b\n"),
        ("a,a\n1,2\n", CSV, ",", None),
        ("a,a\n1,2\n3,4\n", CSV, ",", "a,a\n"),  # above numbers
        ("name,\nAnn,5\nBob,\n", CSV, ",", None),
        ("id,name,\n1,Ann,\n2,Bob,\n", CSV, ",", "id,name,\n"),
        ("land,2022,2023\nx,1,2\n", CSV, ",", "land,2022,2023\n"),
        (",2023,2022\nx,1,2\n", CSV, ",", ",2023,2022\n"),
        ("land,2022,2022\nx,1,2\n", CSV, ",", None),
        ("2021,2022,2023\n1,1,2\n", CSV, ",", None),
        ("\n\nReport\nby us\n\nid,name\n1,x\n2,y\n", CSV, ",", "id,name\n"),
        ("\ufeffid,name\r\n1,x\r\n", CSV, ",", "\ufeffid,name\r\n"),
        ("name\nAda, the first\nBob\nCy\nDee\n", CSV, ",", "name\n"),
        ("Export of May;;\nNord;;\n;;\nPart;Price;Note\nSeal;2,50;old\nValve;11,00;\n", CSV, ";", "Part;Price;Note\n"),
        ("Part;Price;Note\nSeal;;\nValve;11,00;\n", CSV, ";", "Part;Price;Note\n"),
        ("a;;\nb;;\nc;;\n", CSV, ";", None),
    ],
)
def test_the_reader_finds_the_delimiter_and_the_header(
    text: str, media_type: str, delimiter: str, header: str | None
) -> None:
    table, *rest = read_text(text, media_type=media_type).blocks
    assert (table.kind, table.label) == ("table", delimiter)
    assert [(block.kind, block.span.slice(text)) for block in rest] == ([("header", header)] if header else [])


def test_a_table_of_many_rows_has_no_block_for_each() -> None:
    assert len(read_text("id,name\n" + "1,x\n" * 5000, media_type=CSV).blocks) == 2


def test_every_chunk_of_a_table_has_the_header_and_whole_records() -> None:
    text = "id,note\r\n" + "".join(f'{i},"line one of {i}\r\nand ""two"""\r\n' for i in range(30))
    chunks = cut(text, "rows(size=120)", CSV)
    assert all(chunk.text.startswith("id,note\r\n") for chunk in chunks)
    own = [record for chunk in chunks for record in records(chunk.text + "\r\n")[1:]]
    assert own == [record for record in records(text)[1:] if record.strip()]


def test_a_record_over_the_size_is_cut_between_cells() -> None:
    text = "id,a,b\n1," + "x" * 22 + ',"' + "y, " * 8 + 'y",z\n2,b,c\n'
    one, other, _ = texts(text, "rows(size=40)", CSV)
    assert (one, other) == ("id,a,b\n1," + "x" * 22 + ",", 'id,a,b\n"' + "y, " * 8 + 'y",z')


def test_a_record_that_fits_only_alone_goes_without_the_header() -> None:
    text = "a long title of the first,another title\n" + "x" * 55 + ",y\n1,2\n"
    assert texts(text, "rows(size=60)", CSV)[1] == "x" * 55 + ",y"


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_no_chunk_has_more_rows_than_asked_for(limit: int) -> None:
    text = "id,name\n" + "".join(f"{i},x\n" for i in range(11))
    counts = [len(chunk.body.slice(text).split("\n")) for chunk in cut(text, f"rows(size=500, max_rows={limit})", CSV)]
    assert counts[0] == limit + 1  # the header is no row
    assert set(counts[1:-1]) <= {limit}


def test_a_stack_trace_stays_with_its_record() -> None:
    head = "".join(f"2026-11-30T02:40:{i:02}Z INFO step {i}\n" for i in range(9))
    trace = "2026-11-30T02:41:00Z ERROR boom\nTraceback:\n  File x\n\nValueError: y"
    chunks = texts(head + trace + "\n" + head, "rows(size=100)")
    assert any(trace in text for text in chunks)


@pytest.mark.parametrize(
    "mark",
    [
        "Nov 30 02:40:03 host sshd[1]:",
        "[2026-11-30 02:40:03]",
        "INFO ",
        "[error]",
        "1764470403.123 ",
        "[   12.345678]",
        '10.0.0.1 - - [30/Nov/2026:02:40:03 +0000] "GET / HTTP/1.1"',
        "E1130 02:40:03.000000",
        "level=info",
    ],
)
def test_a_line_of_a_log_begins_with_a_time_or_a_level(mark: str) -> None:
    text = f"{mark} one\n  more of one\n" * 6
    assert all(chunk.startswith(mark) for chunk in texts(text, f"rows(size={len(mark) + 30})"))


def test_every_line_of_other_text_is_a_row() -> None:
    assert texts("one two. three\nfour\nfive\n", "rows(size=15)") == ["one two. three", "four\nfive"]


def test_prose_around_a_table_is_in_other_chunks_but_for_its_heading() -> None:
    text = "Intro text.\n\n## Parts\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\nAfter it.\n"
    assert [t.split("\n")[0] for t in texts(text, "rows(size=200)", MD)] == ["Intro text.", "## Parts", "After it."]


@pytest.mark.parametrize("media_type", [PLAIN, MD])
def test_rows_of_pipes_above_the_delimiter_are_all_header(media_type: str) -> None:
    header = "| A | B |\n| a | b |\n|---|---|\n"
    text = f"Said before.\nOn two lines.\n\n{header}" + "| 1 | 2 |\n" * 6
    one, other = tables = texts(text, "rows(size=60)", media_type)[-2:]
    assert one.count("| 1 |") == other.count("| 1 |") == 3
    assert all(table.startswith(header) for table in tables)
    recipe = chunker("rows(size=60)")
    once = recipe.outlined(read_text(text, media_type=media_type))
    assert recipe.outlined(once) is once


VALUE = {
    "name": "x",
    "users": [{"id": i, "tags": ["a", "b"], "address": {"city": "C" * 12}} for i in range(6)],
    "odd key'": {"deep": {"text": "word " * 30, "n": 1}},
    "end": True,
}


@pytest.mark.parametrize("indent", [None, 1])
def test_members_of_json_are_whole_under_their_path(indent: int | None) -> None:
    text = json.dumps(VALUE, indent=indent)
    members = Members(text)
    fitting = [Span(a, b) for a, b in zip(members.starts, members.ends, strict=True) if b - a <= 100]
    for chunk in cut(text, "json(size=150)", JSON):
        assert chunk.context in ("", f"{chunk.meta['path']}\n", "$..deep.text\n")
        for span in fitting:
            assert contains(chunk.body, Span(span.start, span.end - 1)) or not overlaps(chunk.body, span)


def test_the_path_names_what_holds_the_first_member() -> None:
    paths = [chunk.meta["path"] for chunk in cut(json.dumps(VALUE), "json(size=90)", JSON)]
    assert {"$", "$.users", "$['odd key\\''].deep", "$['odd key\\''].deep.text"} <= set(paths)
    assert {chunk.context for chunk in cut(json.dumps(VALUE), "json(size=90, path=False)", JSON)} == {""}


def test_each_line_of_json_lines_is_whole() -> None:
    lines = [json.dumps({"i": i, "t": "word " * (i % 5)}) for i in range(20)]
    assert [line for text in texts("\n".join(lines), "json(size=100)", JSON) for line in text.split("\n")] == lines


def test_a_hostile_name_is_escaped_and_a_long_one_is_a_wildcard() -> None:
    text = json.dumps({"a\n'b\\\u202e": {"k" * 5000: ["word " * 60, "word " * 60]}})
    paths = {str(chunk.meta["path"]) for chunk in cut(text, "json(size=100)", JSON)}
    assert "$['a\\n\\'b\\\\\\u202e'][*][1]" in paths
    assert not any("\n" in path or len(path) > 400 for path in paths)


@pytest.mark.parametrize(
    "text",
    ["[" * 10_000 + "]" * 10_000, '{"a":' * 10_000, "[1,]]}}[", '{"a" "b" : : 1, c}', "[" + "1," * 9000, '["\\', "[/*"],
)
def test_deep_or_broken_json_is_cut_all_the_same(text: str) -> None:
    assert cut(text, "json(size=40)", JSON, "cl100k_base")


def test_headings_come_before_the_path() -> None:
    document = read_text("# A\n\n" + json.dumps(VALUE), media_type=MD)
    body = Span(document.text.index("{"), len(document.text))
    recipe = chunker("json(size=150) | context()", tokenizer="characters")
    assert not any(chunk.context.startswith("A\n$") for chunk in recipe(document, within=[body]))  # it is no JSON
    inner = read_text(json.dumps(VALUE), media_type=JSON)
    assert any(chunk.context == "$.users\n" for chunk in recipe(inner))


def test_a_chunk_has_no_more_pages_than_asked_for() -> None:
    text = "\f".join(f"Page {i}.\n\nSome text of it." for i in range(7))
    assert [chunk.pages for chunk in cut(text, "pages(size=500)")] == [(i,) for i in range(1, 8)]
    assert [chunk.pages for chunk in cut(text, "pages(size=500, max_pages=3)")] == [(1, 2, 3), (4, 5, 6), (7,)]
    assert {len(chunk.pages) for chunk in cut(text, "pages(size=60, max_pages=3)")} == {1, 2}


def test_a_page_over_the_size_shares_no_chunk() -> None:
    text = "Short.\n\f" + "A sentence of it. " * 20 + "\n\fShort again.\n"
    assert all(len(chunk.pages) == 1 for chunk in cut(text, "pages(size=100, max_pages=9)"))


def test_random_sizes_are_drawn_between_the_bounds_and_come_again() -> None:
    text = "The crew logged every valve reading before noon. " * 200
    chunks = cut(text, "random(size=60, least=20, seed=3)", tokenizer="words")
    sizes = [chunk.token_count for chunk in chunks[:-1]]
    assert set(sizes) <= set(range(20, 61))
    assert len(set(sizes)) > 20
    assert all(chunk.meta["augmentation"] is True for chunk in chunks)
    assert [chunk.spans for chunk in cut(text, "random(size=60, least=20, seed=4)", tokenizer="words")] != [
        chunk.spans for chunk in chunks
    ]


def test_the_least_random_size_is_below_the_most() -> None:
    with pytest.raises(RecipeError, match=r"least=80 must be less than size=60; try least=15"):
        chunker("random(size=60, least=80)")


TABULAR = st.lists(
    st.sampled_from(['"a\nb"', '"', '""', ",", "a", "1", "\n", "\r\n", "\r", "word one two, ", ";", "\t", "x" * 40]),
    max_size=40,
).map("".join)
LOGS = st.lists(
    st.sampled_from(["2026-11-30 10:00:00 x\n", "  at f\n", "INFO y\n", "\n", "z" * 50 + "\n"]), max_size=30
)
PIPES = st.lists(
    st.sampled_from(["| a | b |\n", "|---|---|\n", "|:-\n", "\n", "text\n", "> | q |\n", "- | a |\n", "\r\n", "# H\n"]),
    max_size=24,
)
BRACKETS = st.lists(
    st.sampled_from(["{", "}", "[", "]", ",", ":", '"k"', '"long text of a value"', "12", "true", "\n", " ", "//c\n"]),
    max_size=40,
)


@given(text=TABULAR, size=st.integers(5, 80))
def test_the_laws_hold_for_delimited_text(text: str, size: int) -> None:
    for media_type in (CSV, TSV):
        cut(text, f"rows(size={size}) | overlap(sentences=1)", media_type)
        cut(text, f"structural(size={size})", media_type)


@given(text=st.one_of(LOGS, PIPES).map("".join), size=st.integers(5, 80), limit=st.integers(1, 4))
def test_the_laws_hold_for_logs_and_tables_of_pipes(text: str, size: int, limit: int) -> None:
    for media_type in (PLAIN, MD):
        cut(text, f"rows(size={size}, max_rows={limit}) | context()", media_type)
        cut(text, f"rows(size={size}) | overlap(tokens=2)", media_type)


@given(text=BRACKETS.map("".join), size=st.integers(5, 60))
def test_the_laws_hold_for_what_is_nearly_json(text: str, size: int) -> None:
    cut("[" + text, f"json(size={size}) | overlap(tokens=2) | context()", JSON)


@pytest.mark.parametrize(
    ("recipe", "media_type", "record"),
    [
        ("rows(size=40)", CSV, 'id,"a ""b""\nc"\n'),
        ("rows(size=40, max_rows=2)", CSV, "1,2\n"),
        ("json(size=40)", JSON, '{"a": [1, 2, {"b": "c"}]}\n'),
        ("pages(size=40)", PLAIN, "A page. Of text.\n\f"),
        ("rows(size=40)", PLAIN, "2026-11-30 10:00:00 INFO x\n  more\n"),
    ],
)
@pytest.mark.parametrize("addition", ['"', "]}", '{"z": 1}', "| a |\n|---|\n| b |\n", "no log at all\n" * 9])
def test_an_edit_at_the_end_changes_no_record_before(recipe: str, media_type: str, record: str, addition: str) -> None:
    check_locality(chunker(recipe, tokenizer="words"), read_text(record * 600, media_type=media_type), addition)


@pytest.mark.parametrize("line", ["sep=;\r\n", '"sep=;"\n', "SEP=; \n", "\ufeffsep=;\n"])
def test_the_line_that_tells_excel_the_delimiter_is_no_row(line: str) -> None:
    text = line + "name,first;x\nAnn,1;2\nBob,2;3\n"
    document = read_text(text, media_type=CSV)
    assert [(block.kind, block.span.slice(text)) for block in document.blocks] == [
        ("front_matter", line),
        ("table", text[len(line) :]),
        ("header", "name,first;x\n"),
    ]
    (chunk,) = cut(text, "rows(size=60)", CSV)
    assert chunk.text == text[len(line) :].rstrip()


def test_a_table_after_much_white_space_is_lines_of_text() -> None:
    text = "\n" * 70_000 + "id,name\n1,Ann\n"
    assert read_text(text, media_type=CSV).blocks == ()
    assert [chunk.text for chunk in cut(text, "rows(size=60)", CSV)] == ["id,name\n1,Ann"]
