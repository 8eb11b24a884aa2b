"""Clauses and turns: which lines begin one, and what is promised of the chunks beyond the laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkwise.core.types import Chunk, Document, Span
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read_text
from chunkwise.testing import check_chunker, check_locality
from chunkwise.text.clauses import Clause, clauses
from chunkwise.text.turns import turns


def cut(text: str, recipe: str, media_type: str = "text/plain") -> list[Chunk]:
    return check_chunker(chunker(recipe, tokenizer="characters"), read_text(text, id="x", media_type=media_type))


def found(text: str) -> list[Clause]:
    return list(clauses(text, [Span(0, len(text))]))


def titles(text: str) -> list[str]:
    return [clause.title for clause in found(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("11 Tests\n\n11.5 General\nThey apply.\n", ["11 Tests", "11.5 General"]),
        ("1. Rent\nText.\n1.1 The Tenant shall pay.\n", ["1 Rent", "1.1"]),
        ("10.5.2.21aa\tMultirate\nText.\n10.5.2.21ab\tOther\nText.", ["10.5.2.21aa Multirate", "10.5.2.21ab Other"]),
        ("A.1 Scope\n\nText.\n\nA.1.1 Limits\n\nText.", ["A.1 Scope", "A.1.1 Limits"]),
        ("Article 5\nRent\n\nText.\n", ["Article 5 Rent"]),
        ("Artikel 1\n\nText.\n\nArtículo 2.º\n\nTexto.\n", ["Artikel 1", "Artículo 2.º"]),
        ("CHAPTER IV\n\nText.\n\nChapter V: Ends\n\nText.", ["CHAPTER IV", "Chapter V Ends"]),
        ("Section 1.1 Payment Terms. The Buyer shall pay.\n", ["Section 1.1 Payment Terms"]),
        ("§ 12 Frist\n\nText.\n\n§ 13a\n\nText.", ["§ 12 Frist", "§ 13a"]),
        ("**1.1 Rent**\n\nText.\n", ["1.1 Rent"]),
        ('  0. Definitions.\n\n  "This License" refers.\n', ["0 Definitions"]),
        ("5.1 (a) The Tenant pays.\n", []),  # the first of a text, and no title
        ("5 Rent\n\nText.\n\n5.1 (a) The Tenant pays.\n", ["5 Rent", "5.1"]),
    ],
)
def test_a_clause_is_known_by_its_number(text: str, expected: list[str]) -> None:
    assert titles(text) == expected


@pytest.mark.parametrize(
    "line",
    [
        "1.2 and 1.3 apply.",
        "1.2, as amended.",
        "1.2 Any tenant",
        "Section 9 of this lease.",
        "Article 2 applies.",
        "1.2(b) or",
        "2026 was a year",
    ],
)
def test_a_reference_that_begins_a_line_heads_nothing(line: str) -> None:
    text = f"1 Rent\n\n1.1 General\nThe rent is due as is stated in\n{line}\nand so on.\n"
    assert titles(text) == ["1 Rent", "1.1 General"]


@pytest.mark.parametrize(
    "line",
    [
        "1 Rent .......... 3",
        "1 Rent\t3",
        "12",
        "3.5 7.2 9.1",
        "1.07 Million were paid",
        "30 days after",
        "PARTY A",
        "Figure 2 Pump",
        "3 Months later the\nhouse was sold.",
    ],
)
def test_what_only_looks_like_a_number_heads_nothing(line: str) -> None:
    assert titles(f"Text before it\n{line}\nText after it.\n") == []


def test_clauses_nest_by_their_numbers_and_words() -> None:
    text = (
        "CHAPTER I\n\nSection 1\n\nArticle 1\nScope\n\n1. It applies to all.\n\n2. It ends.\n\nArticle 2\nTerms\n\n"
        "Terms are these.\n\nSection 2\n\nArticle 3\nDuties\n\nDo them.\n\nCHAPTER II\n\nArticle 4\nEnd\n\nIt ends.\n"
    )
    levels = [(clause.title, clause.level) for clause in found(text)]
    assert levels == [
        ("CHAPTER I", 1),
        ("Section 1", 2),
        ("Article 1 Scope", 3),
        ("1", 4),
        ("2", 4),
        ("Article 2 Terms", 3),
        ("Section 2", 2),
        ("Article 3 Duties", 3),
        ("CHAPTER II", 1),
        ("Article 4 End", 2),
    ]


def test_numbers_begin_anew_in_a_schedule_and_may_leave_some_out() -> None:
    text = (
        "1. Rent\nDue.\n\n2. Term\nLong.\n\n4. End\nSoon.\n\n"
        "Schedule 1\nFees\n\n1. The fee is due.\n\n2. The fine is due.\n"
    )
    assert titles(text) == ["1 Rent", "2 Term", "4 End", "Schedule 1 Fees", "1", "2"]


LEASE = (
    "# Lease\n\nBetween us.\n\n1.1 Rent\nThe rent is due. It is paid in cash.\n\n1.2 Term\nOne year.\n\n"
    "1.3 Duties\nThe Tenant shall:\n(a) sweep the yard, and keep the gate shut at night;\n(b) feed the goat.\n"
)


def test_headings_and_context_hold_the_path_of_the_clause() -> None:
    chunks = cut(LEASE, "clauses(size=90) | context()", "text/markdown")
    assert [chunk.meta.get("clause") for chunk in chunks] == [None, "1.1", "1.2", "1.3", "1.3"]
    assert chunks[-1].headings == ("Lease", "1.3 Duties")
    assert chunks[-1].context == "Lease > 1.3 Duties\n"
    assert chunks[-1].text.startswith("(b)")


def test_small_clauses_of_one_parent_are_joined_where_that_is_asked() -> None:
    text = "1 A\n\n1.1 The first one is.\n\n1.2 The second one is.\n\n2 B\n\n2.1 The third one is.\n"
    assert len(cut(text, "clauses(size=300)")) == 3
    assert [chunk.text[:3] for chunk in cut(text, "clauses(size=300, min_size=100)")] == ["1 A", "2 B"]


@pytest.mark.parametrize("media_type", ["text/plain", "text/markdown"])
def test_clauses_that_were_found_are_not_looked_for_again(media_type: str) -> None:
    recipe, document = chunker("clauses | context()"), read_text(LEASE, media_type=media_type)
    once = recipe.outlined(document)
    assert recipe.outlined(once) is once
    assert [block.label for block in once.blocks if block.kind == "heading"][-1] == "1.3 Duties"
    for block in once.blocks:
        assert block.parent < 0 or once.blocks[block.parent].span.start <= block.span.start


@pytest.mark.parametrize(
    ("line", "speaker"),
    [
        ("Alice: hello", "Alice"),
        ("ALICE (CEO): hello", "ALICE"),
        ("The Chair (Hon. A. Rota (Nipissing, Lib.)): hello", "The Chair"),
        ("[00:01:02] Bob: hello", "Bob"),
        ("00:01 - Bob: hello", "Bob"),
        ("Bob Smith 00:01:02\nhello", "Bob Smith"),
        ("SPEAKER_00: hello", "SPEAKER_00"),
        ("Speaker 1: hello", "Speaker 1"),
        ("**Alice:** hello", "Alice"),
        ("**Alice**: hello", "Alice"),
        ("**Alice** (00:01): hello", "Alice"),
        ("Q: hello?", "Q"),
        ("<v Bob Jones>hello</v>", "Bob Jones"),
        ("PhD A: hello", "PhD A"),
        ("Jean-Luc de la Tour: hello", "Jean-Luc de la Tour"),
        ("张三：你好", "张三"),
        ("user: hello", "user"),
    ],
)
def test_a_turn_begins_with_who_speaks(line: str, speaker: str) -> None:
    assert [turn.speaker for turn in turns(f"Some text\n{line}\nmore\n")] == [speaker]


@pytest.mark.parametrize(
    "line",
    ["https://example.org: x", "12:30 we left", "Note: this", "Step 3: that", "There is one thing: we saw", "C:\\x: y"],
)
def test_a_colon_alone_makes_no_speaker(line: str) -> None:
    assert not list(turns(f"Some text\n{line}\nmore\n"))


def test_a_time_alone_in_its_line_belongs_to_the_turn_after_it() -> None:
    text = "Ann: one\n00:01:00\nBob: two\n\n2\n00:01:05.000 --> 00:01:09.000\n<v Cy>three</v>\n"
    assert [chunk.text[:5] for chunk in cut(text, "turns(size=60)")] == ["Ann: ", "2\n00:"]


def test_a_turn_that_fits_is_whole_and_a_longer_one_keeps_its_speaker() -> None:
    text = "Ann: Yes. No.\nBob: " + "This is a sentence. " * 12 + "\nAnn: Well then.\n"
    chunks = cut(text, "turns(size=100)")
    assert chunks[0].text == "Ann: Yes. No."
    assert {chunk.text for chunk in chunks[1:-1]} == {"Bob: " + ("This is a sentence. " * 4).strip()}
    assert [chunk.meta["speakers"] for chunk in chunks] == [["Ann"], ["Bob"], ["Bob"], ["Bob"], ["Ann"]]


def test_text_without_speakers_is_cut_at_sentences() -> None:
    chunks = cut("This is a sentence. " * 12, "turns(size=50)")
    assert {chunk.text for chunk in chunks} == {"This is a sentence. This is a sentence."}
    assert not any(chunk.meta["speakers"] for chunk in chunks)


LEGAL = st.lists(
    st.sampled_from(
        [
            "1. A\n",
            "1.1 The b\n",
            "2\tC\n",
            "§ 3\n",
            "Article 4\n",
            "Title D\n",
            "(a) item;\n",
            "\n",
            "Text. More.\n",
            "5.\n",
            "# H\n",
            "- x\n",
            "\r\n",
            "**6 F**\n",
            "Section 1.1 Pay. Now.\n",
            "| a |\n|---|\n| b |\n",
            "\x0c",
            "7 g\n",
        ]
    ),
    max_size=24,
).map("".join)
TALK = st.lists(
    st.sampled_from(
        [
            "Ann: hi. ",
            "Bob:\n",
            "00:01\n",
            "[00:02] Cy: yes. No. ",
            "\n",
            "text. ",
            "<v D>x</v>\n",
            "**E:** y\n",
            "\r\n",
            "| a |\n|---|\n| b |\n",
            "```\nAnn: code\n```\n",
            "张：好。",
            "x" * 40,
        ]
    ),
    max_size=24,
).map("".join)


@given(text=LEGAL, size=st.integers(5, 80), least=st.integers(0, 4))
def test_the_laws_hold_for_legal_texts(text: str, size: int, least: int) -> None:
    for media_type in ("text/plain", "text/markdown"):
        cut(text, f"clauses(size={size}, min_size={least}) | context() | overlap(sentences=1)", media_type)


@given(text=TALK, size=st.integers(5, 80))
def test_the_laws_hold_for_transcripts(text: str, size: int) -> None:
    for media_type in ("text/plain", "text/markdown"):
        cut(text, f"turns(size={size}) | overlap(tokens=2) | context()", media_type)


@pytest.mark.parametrize("text", ["1.1 A\n\nText of it. More of it.\n\n", "Ann: One. Two.\nBob: Three.\n"])
@pytest.mark.parametrize("addition", ["1.2 B\nText.\n", "Ann: Four.\n", "# H\n", "\n"])
@pytest.mark.parametrize("recipe", ["clauses(size=40) | context()", "turns(size=40)"])
def test_an_edit_at_the_end_changes_no_chunk_before(recipe: str, text: str, addition: str) -> None:
    check_locality(chunker(recipe, tokenizer="words"), Document.from_text(text * 400, id="x"), addition)


def test_the_first_line_of_a_wrapped_text_is_no_title() -> None:
    text = (
        "4. Copies\nYou may copy it.\n\n"
        "5. A program that contains no derivative of any portion of the\n"
        "Library, but is designed to work with it, is free.\n"
    )
    chunks = chunker("clauses(size=30)", tokenizer="words")(read_text(text, media_type="text/plain"))
    assert [c.headings for c in chunks] == [("4 Copies",), ("5",)]
