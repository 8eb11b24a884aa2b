"""Cuts by meaning: each scorer on vectors that a person can follow, and what the engine makes of its places."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chunkwise as cw
from chunkwise.chunkers.cluster import Cluster
from chunkwise.chunkers.scorers import DoublePass, Drop, Gradient, MaxMin
from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.core.recipes import SCORERS, scorer
from chunkwise.core.scoring import Passage
from chunkwise.core.types import Span
from chunkwise.embed import custom_encoder, encoder
from chunkwise.pipeline import chunk, chunker
from unit.hashing import ForgetfulEncoder, HashingEncoder

TOPICS = {
    "pump": "The pump runs. Check the pump. Oil the pump. The pump stops.",
    "rent": "Rent is due. Pay rent monthly. Late rent costs rent. Rent may rise.",
    "tea": "Tea is hot. Green tea tastes. Black tea tastes. Cold tea tastes.",
}
STORY = " ".join(TOPICS.values())


class Topics(HashingEncoder):
    """Know the three topics, and nothing else."""

    name = "topics"
    dim = 3

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        self.seen += texts
        counts = [[text.lower().count(topic) for topic in TOPICS] for text in texts]
        vectors = np.array(counts, np.float32).reshape(-1, 3) + 1e-3
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


custom_encoder("topics", Topics())
custom_encoder("hashing", ForgetfulEncoder())


def passage(vectors: Sequence[Sequence[float]], room: int = 100, lengths: Sequence[int] = ()) -> Passage:
    """Return sentences of one letter each, with these vectors."""
    matrix = np.array(vectors, np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    text = "".join(chr(ord("a") + i) for i in range(len(vectors)))
    spans = [Span(i, i + 1) for i in range(len(text))]

    def encode(texts: Sequence[str]) -> Floats2d:
        means = [np.mean([matrix[ord(letter) - ord("a")] for letter in one], axis=0) for one in texts]
        return np.array([mean / np.linalg.norm(mean) for mean in means], np.float32)

    return Passage(text, spans, lengths or [1] * len(text), room, encode)


A, B, C = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "written",
    [
        "drop(window=1)",
        "drop(percentile=75, window=1)",
        "drop(deviations=1, window=1)",
        "max_min()",
        "double_pass()",
        "cluster(piece=3)",
    ],
)
def test_topics_are_parted_where_they_change(written: str) -> None:
    chunks = chunk(
        cw.Document.from_text(STORY, id="x"), f"scored(size=60, scorer={written}, encoder='topics', min_size=0)"
    )
    assert [chunk.text for chunk in chunks] == list(TOPICS.values())


def test_windows_are_as_many_sentences_as_they_say_and_stay_in_the_passage() -> None:
    five = passage([A] * 5)
    assert five.windows(1) == ["a", "b", "c", "d", "e"]
    assert five.windows(2) == ["ab", "bc", "cd", "de", "e"]
    assert five.windows(3) == ["ab", "abc", "bcd", "cde", "de"]


def test_a_drop_parts_below_its_threshold_only() -> None:
    sentences = passage([A, [1, 0.5, 0], B, B])  # similarities .89, .45, 1
    assert Drop(threshold=0.4, window=1)(sentences) == []
    assert Drop(threshold=0.5, window=1)(sentences) == [2]
    assert Drop(threshold=0.9, window=1)(sentences) == [1, 2]
    assert Drop()(passage([A])) == []


def test_a_percentile_is_of_the_whole_text_or_of_its_horizon() -> None:
    small, large = [1, 0.5, 0], B  # a small drop, and later two large ones
    sentences = passage([A, A, A, small, A, A, large, A, A])
    assert Drop(percentile=70, window=1)(sentences) == [6, 7]
    assert 3 in Drop(percentile=70, window=1, horizon=3)(sentences)


def test_a_gradient_sees_where_the_distance_rises() -> None:
    assert Gradient(percentile=80, window=1)(passage([A, A, A, B, C, A, A, A])) == [2, 3]
    assert Gradient()(passage([A, B])) == []


def test_max_min_asks_more_of_a_large_group() -> None:
    near = [1, 0.6, 0]  # .86 from the first
    assert MaxMin(threshold=0.6)(passage([A, near, [1, 0.3, 0], B])) == [0, 3]
    assert MaxMin(threshold=0.6, first=0.5)(passage([A, near])) == [0, 1]
    assert MaxMin(strictness=1)(passage([A, A, near])) == [0]
    assert MaxMin(strictness=1)(passage([A, A, A, A, near])) == [0, 4]


def test_a_second_pass_joins_over_a_digression() -> None:
    digression = passage([A, A, B, A, A])
    assert DoublePass()(digression) == [0]
    assert DoublePass(reach=1)(digression) == [0, 2, 3]
    assert DoublePass()(passage([A, A, B, A, A], room=4)) == [0, 2, 3]


@given(st.lists(st.tuples(*[st.floats(-1, 1)] * 3), min_size=1, max_size=7), st.integers(2, 12), st.data())
def test_no_grouping_is_worth_more_than_the_clusters(
    vectors: list[tuple[float, ...]], room: int, data: st.DataObject
) -> None:
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=len(vectors), max_size=len(vectors)))
    sentences = passage([(*vector, 1.5) for vector in vectors], room, lengths)
    encoded = sentences.encode(list(sentences.text)).astype(float)
    similar = encoded @ encoded.T
    pairs = list(itertools.combinations(range(len(vectors)), 2))
    mean = np.mean([similar[pair] for pair in pairs]) if pairs else 0

    def worth(starts: Sequence[int]) -> float:
        group = np.searchsorted(starts, range(len(vectors)), side="right")
        return sum(float(similar[i, j] - mean) for i, j in pairs if group[i] == group[j])

    def allowed(starts: Sequence[int]) -> bool:
        edges = [*starts, len(vectors)]
        return all(b - a == 1 or sum(lengths[a:b]) <= room for a, b in itertools.pairwise(edges))

    every = [
        [0, *rest]
        for n in range(len(vectors))
        for rest in itertools.combinations(range(1, len(vectors)), n)
        if allowed([0, *rest])
    ]
    found = Cluster(piece=1)(sentences)
    assert allowed(found)
    assert worth(found) == pytest.approx(max(map(worth, every)), abs=1e-5)


def test_a_cluster_joins_sentences_to_pieces_first() -> None:
    sentences = passage([A, B, A, B], lengths=[1, 1, 1, 1])
    assert set(Cluster(piece=2)(sentences)) <= {0, 2}


def test_few_chunks_are_below_the_floor() -> None:
    text = "\n\n".join(f"{topic} {i}. " * (1 + i % 3) for i in range(60) for topic in TOPICS.values())
    chunks = chunk(
        cw.Document.from_text(text, id="x"),
        "scored(size=80, min_size=30, scorer=drop(threshold=0.99), encoder='topics')",
    )
    assert len(chunks) > 20
    assert sum(chunk.token_count < 30 for chunk in chunks) <= 0.05 * len(chunks)


def test_what_cutting_a_group_leaves_small_joins_a_neighbour_that_has_room() -> None:
    first, long = "Check the pump and " + "then " * 9 + "oil.", "Oil " + "and oil " * 10 + "the pump."
    document = cw.Document.from_text(f"{first}\n\nOil it. {long}", id="x")  # a paragraph's end is the better place
    recipe = "scored(size=24, min_size={}, scorer=drop(), encoder='topics', tokenizer='words')"
    assert [made.text for made in chunk(document, recipe.format(0))] == [first, "Oil it.", long]
    assert [made.text for made in chunk(document, recipe.format(6))] == [f"{first}\n\nOil it.", long]


def test_a_section_starts_a_chunk_and_a_small_end_stays_in_its_section() -> None:
    document = cw.read_text(f"# Pumps\n\n{TOPICS['pump'] * 3} Tea!\n\n# Rent\n\n{TOPICS['rent'] * 3}", id="x")
    chunks = chunk(document, "scored(size=100, scorer=drop(window=1), encoder='topics', min_size=20)")
    assert [chunk.headings for chunk in chunks] == [("Pumps",), ("Rent",)]
    assert chunks[0].text.endswith("Tea!")


def test_a_table_and_a_block_of_code_are_never_parted_by_meaning() -> None:
    table = "| item | cost |\n|---|---|\n| pump | 1 |\n| rent | 2 |\n| tea | 3 |"
    code = "```py\npump = 1\nrent = 2\ntea = 3\n```"
    document = cw.read_text(f"{TOPICS['pump']}\n\n{table}\n\n{TOPICS['rent']}\n\n{code}\n", id="x")
    chunks = chunk(document, "scored(size=60, scorer=drop(threshold=1, window=1), encoder='topics', min_size=0)")
    for block in (table, code):
        assert any(block in chunk.text for chunk in chunks)


def test_a_table_that_is_cut_keeps_its_header() -> None:
    rows = "".join(f"| pump {i} | {i} |\n" for i in range(30))
    document = cw.read_text(f"Costs.\n\n| item | cost |\n|---|---|\n{rows}", id="x")
    later = chunk(document, "scored(size=60, encoder='topics')")[1:]
    assert later
    assert all(chunk.text.startswith("| item | cost |") for chunk in later)


def test_of_a_sentence_that_is_longer_than_the_encoder_takes_it_sees_the_beginning() -> None:
    topics = Topics()
    custom_encoder("short", topics)
    chunk(cw.Document.from_text("pump " * 900 + ". Tea is hot.", id="x"), "scored(size=50, encoder='short')")
    longest = max(topics.tokenizer.count(text) for text in topics.seen)
    assert topics.max_tokens - 8 < longest <= topics.max_tokens


def test_a_recipe_names_scorers_that_print_as_they_parse() -> None:
    for recipe in (
        "scored(size=200, scorer=drop(threshold=0.75))",
        "scored(size=200, scorer=drop(percentile=95, window=5, horizon=100), encoder='hashing')",
        "scored(size=90, min_size=10, scorer=cluster(piece=40))",
        "nest(sizes=(400, 100), base=scored(size=200, scorer=max_min(threshold=0.5)))",
    ):
        assert repr(chunker(recipe)) == recipe
    assert chunker("scored(scorer=drop)") == chunker("scored()")


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("scored(scorer=dorp())", ["no scorer 'dorp'", "did you mean 'drop'"]),
        ("scored(scorer=recursive())", ["no scorer 'recursive'", "comes first in a recipe"]),
        ("scored(scorer=drop() | overlap(tokens=2))", ["can't read", "drop() | overlap"]),
        ("scored(scorer=3)", ["scorer=3 must be a scorer", "try scorer="]),
        ("drop(threshold=0.5)", ["no strategy 'drop'", "scored(scorer=drop())"]),
        ("scored(scorer=drop(percentile=95, threshold=0.5))", ["2 rules", "give one of"]),
        ("scored(scorer=drop(horizon=50))", ["horizon is about percentile"]),
        ("scored(scorer=drop(percentile=101))", ["at most 100"]),
        ("scored(size=100, min_size=100)", ["min_size=100 must be less"]),
        ("scored(encoder=5)", ["encoder=5 must be a string"]),
        ("recursive(size=drop())", ["no strategy 'drop'"]),
    ],
)
def test_what_is_wrong_with_a_scorer_is_named(recipe: str, words: list[str]) -> None:
    with pytest.raises(RecipeError) as caught:
        chunker(recipe)
    assert all(word in str(caught.value) for word in words), caught.value


def test_an_encoder_that_nothing_knows_is_named_with_what_is_known() -> None:
    with pytest.raises(cw.EncodeError, match="no encoder 'nope'"):
        chunk(cw.Document.from_text("A b. C d.", id="x"), "scored(encoder='nope')")


def test_cutting_where_no_encoders_are_known_says_what_to_do() -> None:
    program = (
        "from chunkwise.chunkers.scored import Scored; from chunkwise.core.types import Document\n"
        "list(Scored()(Document.from_text('A b. C d.', id='x')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert "RecipeError: 'all-MiniLM-L6-v2' can't be found: no encoders are known yet" in last
    assert "chunkwise.chunk" in last


def test_an_encoder_of_ones_own_is_found_by_name() -> None:
    own = custom_encoder("own", Topics())
    assert encoder("own") is own


def test_a_scorer_of_ones_own_may_read_the_sentences_and_need_no_encoder() -> None:
    @scorer
    @dataclass(frozen=True, slots=True)
    class Starts:
        word: str = "However"

        local = True

        def __call__(self, passage: Passage) -> Sequence[int]:
            return [i for i in range(len(passage.spans)) if passage.slice(i, i + 1).startswith(self.word)]

    try:
        recipe = "scored(size=40, min_size=0, scorer=starts(word='Pay'), encoder='nobody')"
        custom_encoder("nobody", HashingEncoder())
        chunks = chunk(cw.Document.from_text(TOPICS["rent"], id="x"), recipe)
        assert [chunk.text for chunk in chunks] == [
            "Rent is due.",
            "Pay rent monthly. Late rent costs rent. Rent may rise.",
        ]
    finally:
        SCORERS.pop("starts")
