"""Whether chunks that were never embedded get the vectors that they would have had, about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from chunkwise import updating
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.core.types import Chunk, Document
from chunkwise.embed.cache import Keeping
from chunkwise.evaluate.screening import Screen, shortlist, surrogates
from chunkwise.pipeline import chunker
from chunkwise.updating import Update
from unit.hashing import HashingEncoder

WORDS = ("harbour", "crane", "tide", "cargo", "rope", "sail", "keel", "mast", "anchor", "deck", "pilot", "buoy", "fog")


def document(id: str = "port.txt", seed: int = 0) -> Document:
    """A title, and 400 sentences that share few words."""
    rng = np.random.default_rng(seed)
    sentences = [" ".join(rng.choice(WORDS, 9)).capitalize() + f" {number}." for number in range(400)]
    paragraphs = [" ".join(sentences[at : at + 8]) for at in range(0, 400, 8)]
    return Document.from_text("\n\n".join(paragraphs), id=id, meta={"title": "Notes of a harbour master"})


def cut(recipe: str, one: Document) -> list[Chunk]:
    return list(chunker(recipe, tokenizer=HashingEncoder.tokenizer)(one))


def embedded(chunks: Sequence[Chunk]) -> Floats2d:
    return HashingEncoder()([chunk.embed_text for chunk in chunks], role="passage")


def test_a_chunk_that_is_a_passage_has_its_vector() -> None:
    one = document()
    chunks = list(Screen(HashingEncoder()).passages(one))
    np.testing.assert_allclose(Screen(HashingEncoder())([(one, chunks)]), embedded(chunks), atol=1e-6)


@pytest.mark.parametrize(
    ("recipe", "share"),
    [
        ("recursive(size=200)", 0.9),
        ("fixed(size=64)", 0.55),  # those within one passage share its vector
        ("sentences(size=250) | overlap(ratio=0.4)", 0.9),
        ("recursive(size=150) | context(title=True)", 0.9),
        ("recursive(size=150) | context(neighbours=1)", 0.9),
    ],
)
def test_vectors_are_near_those_of_chunks_that_are_embedded_and_nearest_to_their_own(recipe: str, share: float) -> None:
    one = document()
    chunks = cut(recipe, one)
    found, real = Screen(HashingEncoder())([(one, chunks)]), embedded(chunks)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    cosines = found @ real.T
    assert cosines.diagonal().mean() > 0.9
    assert np.mean(cosines.argmax(axis=1) == np.arange(len(chunks))) >= share


def test_only_the_first_recipe_costs_a_pass() -> None:
    encoder, one = HashingEncoder(), document()
    screen = Screen(encoder)
    screen([(one, cut("recursive(size=200)", one))])
    n_texts, n_tokens = len(encoder.seen), screen.n_tokens
    assert n_tokens == sum(encoder.tokenizer.count(text) - encoder.tokenizer.n_special for text in encoder.seen)
    for recipe in (
        "fixed(size=80)",
        "paragraphs(size=250) | overlap(sentences=1)",
        "sentences() | context(neighbours=1)",
    ):
        screen([(one, cut(recipe, one))])
    assert (len(encoder.seen), screen.n_tokens) == (n_texts, n_tokens)


def test_a_title_is_encoded_once_and_moves_every_vector_towards_it() -> None:
    encoder, one = HashingEncoder(), document()
    screen = Screen(encoder)
    titled = cut("recursive(size=120) | context(title=True)", one)
    plain = [replace(chunk, context="") for chunk in titled]
    title = encoder(["Notes of a harbour master"], role="query")[0]
    without, found = screen([(one, plain)]) @ title, screen([(one, titled)]) @ title
    assert encoder.seen.count("Notes of a harbour master") == 1
    assert np.all(found > without)


def test_text_that_an_overlap_repeats_is_text_of_the_chunk() -> None:
    one = Document.from_text("\n\n".join(f"{word} " * 60 for word in WORDS), id="words.txt")
    chunks = cut("fixed(size=60) | overlap(ratio=0.4)", one)
    repeating = Screen(HashingEncoder())([(one, chunks)])
    own = Screen(HashingEncoder())([(one, [replace(chunk, spans=(chunk.own,), text="") for chunk in chunks])])
    assert (own[:-1] * own[1:]).sum() < (repeating[:-1] * repeating[1:]).sum()


def test_documents_may_come_together_or_one_by_one() -> None:
    pairs = [(one, cut("sentences(size=90)", one)) for one in (document("a", 1), document("b", 2), document("c", 3))]
    together, alone = Screen(HashingEncoder()), Screen(HashingEncoder())
    np.testing.assert_array_equal(together(pairs), np.concatenate([alone([pair]) for pair in pairs]))


def test_two_documents_of_one_id_are_not_taken_for_each_other() -> None:
    screen = Screen(HashingEncoder())
    for seed in (1, 2):
        one = document(seed=seed)
        chunks = list(screen.passages(one))
        np.testing.assert_allclose(screen([(one, chunks)]), embedded(chunks), atol=1e-6)


def test_a_derived_chunk_has_the_vector_of_what_it_says() -> None:
    one = document()
    said = Chunk(one.id, (cut("recursive(size=100)", one)[0].body,), "Ships in fog", meta={"derived": "summary"})
    np.testing.assert_allclose(Screen(HashingEncoder())([(one, [said])]), embedded([said]), atol=1e-6)


def test_nothing_to_embed_gives_no_vectors() -> None:
    assert Screen(HashingEncoder())([]).shape == (0, HashingEncoder.dim)
    assert Screen(HashingEncoder())([(Document.from_text(" \n", id="blank"), [])]).shape == (0, HashingEncoder.dim)


class Short(HashingEncoder):
    max_tokens = 40

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        assert all(self.tokenizer.count(text) <= self.max_tokens for text in texts)
        return super().__call__(texts, role=role)


def test_an_encoder_of_short_texts_is_given_shorter_passages() -> None:
    one = document()
    chunks = cut("recursive(size=40)", one)
    np.testing.assert_allclose(Screen(Short())([(one, chunks)]), embedded(chunks), atol=1e-6)


def test_surrogates_search_in_the_space_of_their_own_questions() -> None:
    one = document()
    chunks = cut("sentences(size=120)", one)
    for surrogate in surrogates(HashingEncoder()):
        vectors = surrogate.embed([(one, chunks)])
        asked = surrogate.encoder([chunks[3].text], role="query")[0]
        assert vectors.shape == (len(chunks), len(asked))
        assert int((vectors @ asked).argmax()) == 3


def test_only_the_passages_are_given_to_the_encoder() -> None:
    encoder, one = HashingEncoder(), document()
    for surrogate in surrogates(encoder):
        surrogate.embed([(one, cut("sentences(size=120)", one))])
    assert encoder.seen == [chunk.text for chunk in Screen(encoder).passages(one)]


def test_a_shortlist_has_the_best_that_are_paid_for_and_of_equals_the_cheaper() -> None:
    screened = {"best": 0.9, "dear": 0.8, "same": 0.7, "cheaper": 0.7, "last": 0.1}
    tokens = {"best": 100, "dear": 150, "same": 60, "cheaper": 50, "last": 50}
    assert shortlist(screened, tokens, budget=200) == ["best", "cheaper", "last"]
    assert shortlist(screened, tokens, budget=49) == []


def test_an_index_of_several_levels_is_screened_like_any_other() -> None:
    encoder, one = HashingEncoder(), document()
    recipe = chunker("nest(200, 100) | context(title=True)", tokenizer=encoder.tokenizer)
    found, real = (
        Update({}, Keeping(recipe, None), encoder=encoder, embed=embed)
        for embed in (Screen(encoder), partial(updating.embedded, encoder))
    )
    for update in (found, real):
        update.take(one)
    (screened,), (indexed,) = found.entries(), real.entries()
    assert [chunk.id for chunk in screened.chunks] == [chunk.id for chunk in indexed.chunks]
    assert (screened.vectors * indexed.vectors).sum(axis=1).mean() > 0.9
