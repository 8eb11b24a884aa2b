"""What is told of chunks by themselves: documents made by hand, where every count is known."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from chunkwise.core.protocols import Budget, Floats2d, Role
from chunkwise.core.types import Chunk, Document, Drop, Span
from chunkwise.evaluate import cohesion as cohesion_module
from chunkwise.evaluate.cohesion import cohesion, embedded_sentences
from chunkwise.evaluate.intrinsic import FINDINGS, deepest, left_out, over_limit, sizes
from chunkwise.pipeline import chunk
from chunkwise.readers.read import read_text
from chunkwise.text.duplicates import Duplicates
from chunkwise.text.tokens import tokenizer

WORDS = Budget(40, tokenizer("words"))

TABLE = "| part | weight |\n|---|---|\n| pump | 80 kg |\n| valve | 12 kg |\n"
FENCE = "```py\na = 1\nb = 2\n```\n"


def cut(document: Document, *places: int, overlap: int = 0) -> list[Chunk]:
    """Cut a document at these places, white space at the ends left out."""
    chunks = []
    for start, end in zip([0, *places], [*places, len(document.text)], strict=True):
        text = document.text[start:end]
        first = start + len(text) - len(text.lstrip())
        repeated = overlap if start else 0
        span = Span(first - repeated, first + len(text.strip()))
        piece = span.slice(document.text)
        tokens = WORDS.tokenizer.count(piece)
        chunks.append(Chunk(document.id, (span,), piece, token_count=tokens, meta={"overlap": repeated}))
    return chunks


def found(name: str, document: Document, chunks: list[Chunk]) -> tuple[list[str], int]:
    """Return what stands at the places of a finding, and of how many."""
    faults = FINDINGS[name](chunks, document, WORDS)
    return [document.text[start:end] or document.text[start : start + 5] for start, end in faults.spans], faults.of


def split(text: str) -> tuple[Document, list[int]]:
    """Read Markdown in which `~` stands for a cut."""
    parts = text.split("~")
    places = [len("".join(parts[: i + 1])) for i in range(len(parts) - 1)]
    return read_text("".join(parts), id="x"), places


def judged(name: str, text: str, overlap: int = 0) -> tuple[list[str], int]:
    document, places = split(text)
    return found(name, document, cut(document, *places, overlap=overlap))


def test_sizes_are_counted_in_tenths_of_the_budget() -> None:
    made = sizes([0, 9, 10, 55, 99, 100, 130], 100)
    assert made.bins == (2, 1, 0, 0, 0, 1, 0, 0, 0, 3)
    assert made.quartiles == (0, 9, 55, 100, 130)
    assert made.mean == pytest.approx(57.57, abs=0.01)
    assert sizes([], 100).n_chunks == 0


def test_tiny_and_over_long_chunks_are_found() -> None:
    document = Document.from_text("One two three. " + "word " * 50, id="x")
    chunks = cut(document, 15)
    assert found("tiny", document, chunks) == (["One two three."], 2)
    assert [len(text.split()) for text in found("over_budget", document, chunks)[0]] == [50]


def test_a_chunk_is_over_an_encoders_limit_by_the_encoders_own_count() -> None:
    document = Document.from_text("one two three four. five six", id="x")
    faults = over_limit(cut(document, 20), Letters())
    assert [span.slice(document.text) for span in faults.spans] == ["one two three four."]


def test_a_cut_inside_a_sentence_is_told_from_one_after_it() -> None:
    assert judged("sentences_cut", "The pump runs. ~The valve is shut.\n\n~The seal~ is old.") == ([" is o"], 3)
    assert judged("sentences_cut", "# Title\n~Text is here.\n\n- item one\n~- item two\n") == ([], 2)


def test_cuts_in_code_and_tables_part_no_sentence() -> None:
    assert judged("sentences_cut", f"Text.\n\n{TABLE[:40]}~{TABLE[40:]}\n{FENCE[:10]}~{FENCE[10:]}") == ([], 0)
    assert judged("sentences_cut", f"Text.\n\n{TABLE}\n~{FENCE}\n~More.") == ([], 2)


def test_what_an_overlap_repeats_is_no_cut() -> None:
    assert judged("sentences_cut", "The pump runs. ~The valve is shut.", overlap=6) == ([], 1)


def test_tables_and_rows_that_are_cut_are_counted() -> None:
    at_row = TABLE.replace("| valve", "~| valve")
    in_row = TABLE.replace("12", "~12")
    assert judged("tables_cut", TABLE) == ([], 1)
    assert judged("tables_cut", f"A.\n\n~{TABLE}\n~B.") == ([], 1)
    assert judged("tables_cut", at_row)[0] == ["\n| va"]
    assert judged("rows_cut", at_row) == ([], 2)
    assert judged("rows_cut", in_row) == ([" 12 k"], 2)
    assert judged("rows_cut", in_row.replace("12", "12 " * 60)) == ([], 2)  # it would not have fitted


def test_a_piece_of_a_table_needs_its_header() -> None:
    text = TABLE.replace("| valve", "~| valve")
    assert judged("headless", text) == (["| valve | 12 kg |"], 1)
    document = read_text(TABLE * 1 + "| seal | 1 kg |\n" * 40, id="x")
    made = chunk(document, "structural(size=40)", tokenizer="words")
    assert len(made) > 2
    assert found("headless", document, made) == ([], len(made) - 1)


def test_code_that_would_have_fitted_is_told_from_code_that_would_not() -> None:
    assert judged("code_cut", FENCE.replace("b =", "~b =")) == (["\nb = "], 1)
    assert judged("code_cut_needlessly", FENCE.replace("b =", "~b =")) == (["\nb = "], 1)
    long = FENCE.replace("b =", "b = 2\n" * 30 + "~b =")
    assert judged("code_cut", long)[1] == 1
    assert judged("code_cut_needlessly", long) == ([], 1)


def test_a_heading_is_an_orphan_where_its_text_is_in_the_next_chunk() -> None:
    text = "# A\n\nText.\n\n## B\n\n~More.\n\n~## C\n\n~Last.\n\n## D\n"
    assert judged("orphan_headings", text) == (["## B"], 4)
    assert judged("bare_headings", text) == (["## C"], 4)


def test_openings_that_point_back_are_found_but_not_under_a_heading() -> None:
    text = "The pump runs.\n\n~However, it leaks.\n\n~# Seals\n\n~They are old.\n\n~- This one is new.\n\n~Its oil."
    assert judged("pointing_back", text) == (["However, it leaks.", "- This one is new.", "Its oil."], 6)
    assert judged("pointing_back", "It runs.") == ([], 1)
    german = "Das ist die Pumpe und der Motor.\n\n~Daher ist sie nicht alt.\n\n~Die Pumpe."
    assert judged("pointing_back", german) == (["Daher ist sie nicht alt."], 3)


def test_only_what_is_in_no_chunk_counts_as_left_out() -> None:
    document = Document.from_text("--- abc --- text.", id="x")
    chunks = cut(document, 11)[1:]
    drops = [Drop(Span(0, 3), "rule"), Drop(Span(3, 11), "rest"), Drop(Span(12, 16), "is in a chunk")]
    assert left_out(chunks, document, drops) == {"rule": 3, "rest": 6}


def test_of_a_hierarchy_the_deepest_level_is_judged() -> None:
    document = Document.from_text("One is. Two is.", id="x")
    small = [Chunk(c.document_id, c.spans, c.text, meta={"level": 1}) for c in cut(document, 7)]
    whole = Chunk("x", (Span(0, 15),), document.text, meta={"level": 0})
    assert deepest([whole, *small]) == small
    assert deepest([whole]) == [whole]


def test_duplicates_are_found_at_their_true_similarity() -> None:
    draw = random.Random(1)
    words = [f"w{draw.randrange(4000)}" for _ in range(200)]
    seen = Duplicates[str]()
    assert seen.add(" ".join(words), "a") is None
    equal = seen.add(" ".join(words).upper(), "b")
    assert equal is not None
    assert (equal.place, equal.earlier, equal.similarity) == ("b", "a", 1.0)
    for name, n_changed in (("near", 5), ("far", 30)):
        changed = list(words)
        for place in range(0, n_changed * 6, 6):
            changed[place] = "other"
        assert seen.add(" ".join(changed), name) is None
    (twin,) = seen.near()
    n_lost = 1 + 4 * 3  # the first word is in one shingle of three words, the others in three
    assert (twin.place, twin.earlier) == ("near", "a")
    assert twin.similarity == pytest.approx((198 - n_lost) / (198 + n_lost), abs=0.01)


def test_thousands_of_texts_alike_cost_no_more_than_others() -> None:
    seen = Duplicates[int]()
    for i in range(3000):
        seen.add(f"a b c d e f g h i j k l m n o p q r s t u v w x y z {i}", i)
    assert sum(1 for _ in seen.near()) == 2999


class Letters:
    """An encoder of one dimension a letter that takes three tokens."""

    name = fingerprint = "letters"
    dim, max_tokens = 26, 3
    tokenizer = tokenizer("words")

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        counts = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], np.float32)
        vectors: Floats2d = counts / np.linalg.norm(counts, axis=1, keepdims=True)
        return vectors


def test_cohesion_is_higher_where_cuts_fall_between_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cohesion_module, "_SHORTEST", 3)
    document = Document.from_text("Aaaa aab. Aaab aaa. Zzzz zzy. Zzzy zzz.", id="x")
    sentences, vectors = embedded_sentences(document, Letters(), most=10)
    assert [span.slice(document.text) for span in sentences] == ["Aaaa aab.", "Aaab aaa.", "Zzzz zzy.", "Zzzy zzz."]
    right, wrong = (cohesion(cut(document, place), sentences, vectors) for place in (20, 10))
    assert (right.n_inside, right.n_across) == (2, 1)
    assert right.difference == pytest.approx(0.99, abs=0.02)
    assert wrong.difference is not None
    assert wrong.difference < 0
    assert cohesion(cut(document, 14), sentences, vectors).n_across == 0  # a sentence that is cut is left out
    assert len(embedded_sentences(document, Letters(), most=2)[0]) == 2
