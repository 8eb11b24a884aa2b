"""Finders, and how a token budget is spent: by hand-computed scores."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from chunkwise.core.errors import RecipeError, StoreError
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.core.retrievals import FINDERS, STEPS, Retrieval, Scope
from chunkwise.core.types import Document, Hit
from chunkwise.pipeline import Index, retriever
from chunkwise.retrieve import AutoMerge, Hybrid, Lexical, Mmr, Vector, Window, custom_reranker
from chunkwise.stores import open_store
from unit.entries import DIM, INFO, X, Y, chunk, pack, texts
from unit.hashing import HashingEncoder


class Pointing(HashingEncoder):
    """Point every question along the first axis."""

    dim = DIM

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        return np.stack([X for _ in texts])


@pytest.fixture
def scope() -> Scope:
    store = open_store("memory:")
    store.describe(INFO)
    pieces = [chunk("a", "red"), chunk("a", "red apple pie"), chunk("a", "nothing")]
    near = (0.6 * X + 0.8 * Y).astype("float32")
    store.replace([pack("a", pieces, [Y, near, X])])
    return Scope(store, Pointing(), HashingEncoder.tokenizer)


def scores(hits: Sequence[Hit]) -> dict[str, float]:
    return {hit.chunk.text: hit.score for hit in hits}


def test_a_convex_score_adds_both_legs_scaled_to_one(scope: Scope) -> None:
    dense, lexical = scores(Vector()("red", 3, scope=scope)), scores(Lexical()("red", 3, scope=scope))
    assert dense == pytest.approx({"nothing": 1, "red apple pie": 0.6, "red": 0})
    assert set(lexical) == {"red", "red apple pie"}
    hits = Hybrid(alpha=0.25)("red", 3, scope=scope)
    # Dense 0, 0.6, 1 stay; lexical is scaled to 1 and 0, and the third chunk has no word of it.
    assert scores(hits) == pytest.approx({"red": 0.75, "nothing": 0.25, "red apple pie": 0.15})
    assert [hit.via for hit in hits] == [("vector", "lexical"), ("vector",), ("vector", "lexical")]
    assert [hit.rank for hit in hits] == [1, 2, 3]


def test_reciprocal_ranks_count_only_places(scope: Scope) -> None:
    hits = Hybrid(fusion="rrf")("red", 3, scope=scope)
    expected = {"red apple pie": 1 / 62 + 1 / 62, "red": 1 / 63 + 1 / 61, "nothing": 1 / 61}
    assert scores(hits) == pytest.approx(expected)
    assert [hit.chunk.text for hit in hits] == ["red", "red apple pie", "nothing"]


def test_alpha_reaches_from_words_alone_to_meaning_alone(scope: Scope) -> None:
    assert texts([(hit.chunk, 0) for hit in Hybrid(alpha=1)("red", 1, scope=scope)]) == ["nothing"]
    assert texts([(hit.chunk, 0) for hit in Hybrid(alpha=0)("red", 1, scope=scope)]) == ["red"]


EXAMPLES = {
    "hybrid": "hybrid(alpha=0.3)",
    "lexical": "lexical()",
    "vector": "vector()",
    "auto_merge": "auto_merge(threshold=0.7)",
    "edges": "edges(n=2)",
    "fold": "fold(similarity=0.9)",
    "mmr": "mmr(diversity=0.5, depth=20)",
    "parent": "parent(levels=2)",
    "two_stage": "two_stage(sections=3, by='document')",
    "rerank": "rerank(model='length', depth=20)",
    "window": "window(n=3)",
}


def test_every_finder_and_step_prints_as_it_parses() -> None:
    custom_reranker("length", lambda _query, texts: [len(text) for text in texts])
    assert {*FINDERS, *STEPS} <= set(EXAMPLES)
    for name, example in EXAMPLES.items():
        recipe = example if name in FINDERS else f"hybrid(alpha=0.4) | {example}"
        how = retriever(recipe)
        assert repr(how) == recipe
        assert retriever(repr(how)) == how
        assert hash(retriever(recipe)) == hash(how)
        if name != "rerank":  # a function of a test does not pickle
            assert pickle.loads(pickle.dumps(how)) == how


def test_a_retrieval_can_be_put_together_in_python() -> None:
    how = Hybrid(fusion="rrf") | Mmr() | AutoMerge()  # type: ignore[operator]
    assert repr(how) == "hybrid(alpha=0.4, fusion='rrf') | mmr(diversity=0.3) | auto_merge(threshold=0.5)"
    assert how == retriever(repr(how))
    assert retriever(how) is how
    assert retriever(Lexical()) == Retrieval(Lexical())


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("hybird()", "no finder 'hybird'; did you mean 'hybrid'"),
        ("mmr()", "it comes after a finder in a retrieval"),
        ("hybrid() | lexical()", "it comes first in a retrieval"),
        ("hybrid() | overlap()", r"no step 'overlap' \(it comes after a strategy\)"),
        ("hybrid(alpha=2)", "alpha=2 must be at most 1"),
        ("hybrid(alpha=0.3, fusion='rrf')", "no use for alpha=0.3"),
        ("hybrid(fusion='sum')", "not one of 'convex', 'rrf'"),
        ("hybrid() | window() | mmr()", "comes after window.* which widens"),
        ("hybrid() | mmr(lambda=0.5)", "can't read the recipe"),
        ("hybrid() | mmr(divers=0.5)", "did you mean 'diversity'"),
        ("", "can't read the recipe ''.*hybrid"),
        ("hybrid()[0]", "as a stage of a recipe; try 'hybrid"),
        ("hybrid() | fold(similarity=0)", "at least 0.01"),
    ],
)
def test_what_is_wrong_with_a_retrieval_is_named(recipe: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        retriever(recipe)


def test_a_mode_and_a_retrieval_together_are_refused() -> None:
    index = Index("memory:", encoder=HashingEncoder())
    with pytest.raises(RecipeError, match="leave one of them out"):
        index.search("x", mode="vector", retrieval="hybrid()")
    with pytest.raises(RecipeError, match="is no retrieval"):
        index.search("x", retrieval=3)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="holds no chunks"):
        index.search("x", retrieval="lexical() | window()")
    assert Window(2).widens


def test_a_plain_search_needs_no_tokenizer_of_the_recipe() -> None:
    index = Index("memory:", encoder=HashingEncoder())
    index.add_documents(
        [Document.from_text("One. Two.", id="a")], recipe="sentences(max_sentences=1, tokenizer='words')"
    )
    index._store.describe({**index._store.info, "tokenizer": "gone"})
    assert index.search("one", k=1, retrieval="hybrid() | mmr()")
    with pytest.raises(RecipeError, match="gone"):
        index.search("one", k=1, retrieval="hybrid() | window()")
