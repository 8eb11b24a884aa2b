"""Cleaning: what goes, what stays, and where the rest was before."""

from __future__ import annotations

import base64
import json
import pickle
import random
import textwrap
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkwise.core.errors import ReadError
from chunkwise.core.origins import Origin
from chunkwise.core.spans import gaps
from chunkwise.core.types import Block, Document, Source, Span
from chunkwise.pipeline import Index, chunk, chunker
from chunkwise.readers import READERS
from chunkwise.readers.batch import read_folder
from chunkwise.readers.clean import STEPS, cleaned, repeated_lines, steps
from chunkwise.readers.read import Reading, read, read_text
from chunkwise.testing import check_chunker, check_reader
from laws.strategies import EXAMPLES, media_types, texts

BYTES = random.Random(5).randbytes(3000)  # a seed: what is found must not change from run to run
# Joiners that mean something: Persian, Hindi, an emoji of two.
JOINED = "می\u200cخواهم क्\u200dष \U0001f469\u200d\U0001f467"
BLOB = base64.b64encode(BYTES).decode()


def clean(text: str, steps: str, media_type: str = "text/plain") -> str:
    return read_text(text, media_type=media_type, clean=steps).text


def removed(document: Document, raw: str) -> list[str]:
    listed = document.meta.get("removed", [])
    assert isinstance(listed, list)
    return [raw[entry["start"] : entry["end"]] for entry in listed]


# Blobs


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"See ![the plan](data:image/png;base64,{BLOB}).", "See ![the plan]([image/png left out])."),
        (f"[1]: data:;base64,{BLOB}\n", "[1]: [data left out]\n"),
        (f'<img src="data:image/svg+xml;charset=utf8,{"%3Cg%3E" * 60}">', '<img src="[image/svg+xml left out]">'),
        (f"key={BLOB};", "key=[base64 left out];"),
        ("a\n\n" + "\n".join(textwrap.wrap(BLOB, 76)) + "\n\nb", "a\n\n[base64 left out]\n\nb"),
        ("ca: |\n    " + "\r\n    ".join(textwrap.wrap(BLOB, 64)) + "\nb", "ca: |\n    [base64 left out]\nb"),
        (f"digest {BYTES.hex()}.", "digest [hexadecimal left out]."),
    ],
)
def test_bytes_written_as_letters_leave_a_placeholder(text: str, left: str) -> None:
    document = read_text(text)
    assert document.text == left
    start = left.index("[" if left[0] != "[" and "![" not in left else "left out]")
    source = document.source_span(Span(start, start + 3))
    assert source is not None
    assert [source.slice(text)] == removed(document, text)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "ACGTTGCA" * 1000,
        "1234567890" * 100,
        f"https://example.org/f?token={BLOB}",
        "/usr/lib/Python3/SitePackages/FooBar2" * 10,
        "sha512-" + BLOB[:88],
        "an example: data:image/gif;base64,R0lGODlhAQABAAAAACw=",
        "\n".join(random.Random(i).randbytes(32).hex() for i in range(20)),
        "var a=function(b){return b.c?d[0]:e(1,2)};" * 20,
        "-" * 500,
        "水泵每周检查一次" * 100,
    ],
)
def test_what_only_looks_like_a_blob_stays(text: str) -> None:
    document = Document.from_text(text, id="x")
    assert cleaned(document) is document


def test_a_document_without_blobs_is_returned_itself() -> None:
    document = read_text("# One\n\nText.\n", clean="none")
    assert cleaned(document) is document
    assert cleaned(document, "all") is document
    assert "removed" not in document.meta


def test_a_table_of_csv_keeps_its_cells_when_a_picture_goes() -> None:
    text = f'id,picture,note\n1,data:image/png;base64,{BLOB},x\n2,"data:image/png;base64,{BLOB}",y\n'
    document = read_text(text, media_type="text/csv")
    assert document.text.replace("data:image/png;base64,[base64 left out]", "PICTURE") == (
        'id,picture,note\n1,PICTURE,x\n2,"PICTURE",y\n'
    )


def test_code_and_json_lose_blobs_and_stay_whole() -> None:
    document = read_text(json.dumps({"name": "x", "data": BLOB}), media_type="text/x-json")
    assert json.loads(document.text) == {"name": "x", "data": "[base64 left out]"}
    assert document.blocks == (Block("code", Span(0, len(document.text)), label="json"),)


# Other steps


@pytest.mark.parametrize(
    ("step", "text", "left"),
    [
        ("controls", "re\u200bad\x00 me\x1b[31m!\x1b[0m\ufeff", "read me!"),
        ("controls", "tab\tand\fpage\vline\r\n", "tab\tand\fpage\vline\r\n"),
        ("controls", "hy\u00adphen and capabili\u00ad\nties", "hyphen and capabilities"),
        ("controls", "\u202ekcatta\u202c \u200eleft", "kcatta left"),
        ("controls", JOINED, JOINED),
        ("controls", "la\u200cten\u200dt", "latent"),
        ("controls", "สวัสดี\u200bครับ a\u200bb", "สวัสดี\u200bครับ ab"),
        ("controls", "ok" + "".join(chr(0xE0000 + ord(c)) for c in "ignore"), "ok"),
        ("controls", "\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0001f3f4\U000e0067\U000e0062\U000e007f"),
        ("unicode", "cafe\u0301 ｃａｆｅ５ ｶﾞｽ ﬁnd \u1112\u1161\u11ab", "café cafe5 ガス find 한"),
        ("unicode", "水泵，每周！x² ½ ™", "水泵，每周！x² ½ ™"),
        ("hyphens", "powerful capabili-\nties of a well-\nknown model", "powerful capabilities of a well-known model"),
        ("spaces", "a   b \t\n\n\n\n\tc\u00a0 d  ", "a b\n\n\tc d"),
        ("spaces", "e  \u0301x", "e \u0301x"),
        ("spaces", "a\r \nb\r\n\r\n\r\nc", "a\r \nb\r\n\r\nc"),
        ("navigation", "[Skip to content](#main)\nPumps\nHome » Docs » Pumps\nPage 3 of 12", "Pumps\n"),
        ("navigation", "Zum Inhalt springen\nPumpe\n返回顶部\nSeite 3 von 12\n↑ Back to top", "Pumpe\n"),
        ("navigation", "We use cookies to improve. By continuing you agree to that.\nText", "Text"),
        ("navigation", "We use cookies to store your cart.", "We use cookies to store your cart."),
        ("navigation", "Skip to content, it says. Home > x?", "Skip to content, it says. Home > x?"),
    ],
)
def test_a_step_takes_out_its_own_and_no_more(step: str, text: str, left: str) -> None:
    assert clean(text, step) == left
    assert clean(text, "none") == text


def test_code_tables_and_headings_keep_what_means_something_there() -> None:
    text = (
        "# Page 3 of 12\n\n```py\nif  x:  \n\n\n\n    cafe\u0301 = 'Skip to content'\nSkip to content\n```\n\n"
        "| a    | b-  |\n|---|---|\n| 1 | x   y |\n\n- one\n\n    - deep    item\n"
    )
    assert clean(text, "all", "text/markdown") == text.replace("a    |", "a |").replace("x   y", "x y").replace(
        "b-  |", "b- |"
    ).replace("deep    item", "deep item")


def test_a_hyphen_that_ends_a_heading_joins_nothing() -> None:
    text = "Pump-\n=====\nhouse\n\n# Valve-\nhouse"
    assert clean(text, "all", "text/markdown") == text


def test_steps_are_named_once_and_taken_in_one_order() -> None:
    assert steps("spaces,blobs, spaces") == ("blobs", "spaces")
    assert steps("all") == STEPS
    assert steps("none") == ()
    with pytest.raises(ReadError, match=r"no step 'blob'; known: controls, .* or none"):
        Reading(clean="blob")


def test_blocks_move_along_and_empty_ones_go() -> None:
    text = "Skip to content\n\n# Cafe\u0301  \u200bPumps\n\n- Back to top\n- Share this\n\n1. a  b\n"
    document = read_text(text, clean="all")
    kinds = [(block.kind, block.label, block.span.slice(document.text)) for block in document.blocks]
    assert kinds == [
        ("heading", "Café Pumps", "# Café Pumps"),
        ("list", "", "1. a b"),
        ("item", "", "1. a b"),
    ]
    assert [block.parent for block in document.blocks] == [-1, -1, 1]


def test_what_was_removed_is_listed_in_order_with_places_in_the_file() -> None:
    text = f"\ufeffSkip to content\nA\u200bB ![x](data:image/png;base64,{BLOB})"
    document = read_text(text, clean="all")
    assert removed(document, text) == ["\ufeff", "Skip to content\n", "\u200b", f"data:image/png;base64,{BLOB}"]
    many = read_text("a\u200b" * 3000, clean="controls")
    assert len(removed(many, "")) == 1000
    assert many.meta["n_removed"] == 3000


def test_text_of_a_reader_s_own_has_no_place_in_a_raw_text_and_is_cleaned_all_the_same() -> None:
    written = Document("x.pdf", "Skip to content\nText", (Block("page", Span(0, 20), 1),), "application/pdf")
    document = cleaned(written, "navigation")
    assert document.text == "Text"
    assert document.blocks == (Block("page", Span(0, 4), 1),)
    assert document.source_span(Span(0, 4)) is None
    assert document.meta["removed"] == [{"start": 0, "end": 16, "reason": "navigation"}]


# Batches


def test_lines_that_most_documents_share_go_and_headings_stay(tmp_path: Path) -> None:
    for i in range(4):
        text = f"# Introduction\n\nACME Pumps Ltd., internal\n\nPage {i} tells of pumps.\n\nYes\n"
        (tmp_path / f"{i}.md").write_text(text + ("ACME  Pumps Ltd., internal" if i else ""))
    (tmp_path / "other.md").write_text("# Introduction\n\nNothing shared.\n")
    (tmp_path / "bad.md").write_bytes(bytes(range(32)) * 8)
    documents = [d for d in read_folder(tmp_path, reading=Reading(clean="all")) if isinstance(d, Document)]
    assert [document.text for document in documents] == [
        *(f"# Introduction\n\nPage {i} tells of pumps.\n\nYes\n" for i in range(4)),
        "# Introduction\n\nNothing shared.\n",
    ]
    assert "ACME" in read(tmp_path / "0.md", reading=Reading(clean="all")).text


def test_what_is_read_in_another_process_is_cleaned_as_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text(f"\u200bA line for all\n\nText  {i}")
    here = list(read_folder(tmp_path, reading=Reading(clean="all")))
    monkeypatch.setitem(READERS, ".txt", replace(READERS[".txt"], isolated=True))
    assert list(read_folder(tmp_path, reading=Reading(clean="all"))) == here
    assert isinstance(here[0], Document)
    assert here[0].text == "\nText 0"
    assert here[0].source_span(Span(1, 7)) == (17, 24)


def test_two_documents_are_too_few_to_share_a_line() -> None:
    document = read_text("One line for all\n\nText")
    assert repeated_lines([document, document]) == frozenset()
    assert repeated_lines([document] * 3) == {"One line for all"}  # "Text" is too short


def test_an_index_remembers_how_it_cleans_and_cuts_again_when_that_changes(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("Skip to content\n\nThe pump   runs.\n")
    (folder / "b.md").write_text("Nothing to clean.\n")
    index = Index(tmp_path / "index")
    index.add(folder, reading=Reading(clean="navigation,spaces"))
    again = Index(tmp_path / "index")
    assert again.clean == "navigation,spaces"
    assert again.add(folder).unchanged == ("a.md", "b.md")
    (found,) = again.chunks("a.md")
    assert (found.text, found.meta["source_spans"]) == ("The pump runs.", [[17, 33]])
    changed = again.add(folder, reading=Reading(clean="none"))
    assert (changed.added, changed.unchanged) == (("a.md",), ("b.md",))
    assert Index(tmp_path / "index").clean == "none"


# Positions


def test_places_are_found_through_two_cleanings() -> None:
    text = f"a\u200b b   {BLOB}  \n\n\n\nlast"
    once = read_text(text, clean="controls")
    twice = cleaned(cleaned(once, "blobs"), "spaces")
    assert twice.text == "a b [base64 left out]\n\nlast"
    assert twice.source_span(Span(0, 3)) == (0, 4)
    assert twice.source_span(Span(4, 5)) == (text.index(BLOB), text.index(BLOB) + len(BLOB))
    assert twice.source_span(Span(23, 27)) == (len(text) - 4, len(text))
    assert pickle.loads(pickle.dumps(twice)) == twice
    assert len({hash(twice), hash(cleaned(read_text(text, clean="none"), "controls,blobs,spaces"))}) == 1


edits = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4), st.integers(0, 3)), max_size=12)


def made(drawn: list[tuple[int, int, int]]) -> tuple[Origin, int]:
    """Return an origin, and how long a text it needs: a gap, a length and a new length for each edit."""
    found, end = [], 0
    for gap, length, new in drawn:
        found.append((end + gap, end + gap + length, new))
        end += gap + length
    return Origin.of(found), end


@given(first=edits, second=edits, spans=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=2))
def test_one_map_of_two_leads_where_the_two_lead(
    first: list[tuple[int, int, int]], second: list[tuple[int, int, int]], spans: list[tuple[int, int]]
) -> None:
    (one, _), (two, _) = made(first), made(second)
    both = one.then(two)
    edited = list(zip(both.text[::2], both.text[1::2], strict=True))
    for span in (Span(min(pair), max(pair)) for pair in spans):
        through = one.source(*two.source(*span))
        start, end = both.source(*span)
        assert start <= through[0] <= through[1] <= end or start == end
        if span.length and not any(a < span.end and span.start < b for a, b in edited):
            assert both.source(*span) == through
    ordered = sorted(Span(min(pair), max(pair)) for pair in spans)
    for a, b in pairwise(ordered):
        if a.end <= b.end:
            (a_start, a_end), (b_start, b_end) = both.source(*a), both.source(*b)
            assert a_start <= b_start
            assert a_end <= b_end


# Laws

_DIRTY = [
    "Skip to content\n",
    "Back to top",
    "Page 3 of 12\n",
    "\n\n\n\n",
    "   ",
    " \t\n",
    "\u200b",
    "\u00ad\n",
    "\u00ad",
    "capabili-\nties ",
    "well-\nknown ",
    "foot-\nnote footnote ",
    "cafe\u0301",
    "ﬁ",
    "ｶﾞ",
    "\u1112\u1161\u11ab",
    "\x1b[1m",
    "\u202e",
    "\u200d",
    BLOB[:300],
    f"data:image/png;base64,{BLOB[:100]}",
    "\n".join(textwrap.wrap(BLOB, 64)[:6]) + "\n",
    "| a   | b |\n|---|---|\n| x-\n",
    "- item  \n    more\n",
    "```\ncode  \n\n\n\n```\n",
]
dirty = st.one_of(st.sampled_from(_DIRTY), texts)
dirt = st.lists(dirty, max_size=12).map("".join)
names = st.one_of(st.sampled_from([*STEPS, "all"]), st.lists(st.sampled_from(STEPS), min_size=1).map(",".join))


@settings(max_examples=5 * EXAMPLES)
@given(text=dirt, media_type=media_types, clean=names)
def test_cleaning_keeps_its_promises(text: str, media_type: str, clean: str) -> None:
    raw = read_text(text, media_type=media_type, clean="none")
    document = cleaned(raw, clean)
    assert cleaned(document, clean) is document, "cleaning again changes something"
    if all(block.span.length for block in raw.blocks):
        check_reader(lambda _: document, Source("text", b""))
    assert document.origin is not None
    edges = [0, *document.origin.text, len(document.text)]
    kept = [Span(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
    for span in kept:
        source = document.source_span(span)
        assert source is not None
        assert source.slice(text) == span.slice(document.text)
    if "unicode" not in steps(clean):
        listed = document.meta.get("removed", [])
        assert isinstance(listed, list)
        told = [Span(entry["start"], entry["end"]) for entry in listed]
        covered = [Span(*document.origin.source(*span)) for span in kept] + told
        assert all(not gap.slice(text).strip() for gap in gaps(covered, Span(0, len(text)))), "lost, and not listed"
    for block in raw.blocks:
        start, end = document.origin.place(*block.span)
        if block.kind == "table" and document.text[start:end].strip():
            assert document.text.count("\n", start, end) == text.count("\n", *block.span), "a row is gone"
    for cut in ("structural(size=40)", "recursive(size=40)"):
        check_chunker(chunker(cut, tokenizer="words"), document)
    assert document.text.strip() or not chunk(document)
