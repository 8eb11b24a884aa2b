"""With a cache, what was embedded once is not embedded again: not for another recipe, nor to find cuts, nor late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import chunkwise as cw
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.core.types import Document
from chunkwise.embed import Cached, cached, custom_encoder, encoder, minilm
from chunkwise.embed.late import late
from chunkwise.pipeline import Index, chunk
from chunkwise.text.segments import Ints
from unit.hashing import HashingEncoder

TEXT = "\n\n".join(
    f"# Valve {n}\n\nValve {n} is checked on day {n}. Its seal is number {n + 7}. A wet seal is replaced at once. "
    + (f"The pump of valve {n} stands in the cellar. Rain can flood that cellar. Sand blocks the filter." * (n % 2))
    for n in range(12)
)
SCORED = "scored(size={size}, scorer=drop(threshold=0.5), encoder='counting')"


class Counting(HashingEncoder):
    """Note how many texts, and tokens one by one, are encoded. It is cut and embedded with."""

    name = "counting"
    dim = 16
    tokenizer = minilm().tokenizer

    def __init__(self) -> None:
        super().__init__()
        self.n_texts = self.n_tokens = 0

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        self.n_texts += len(texts)
        return super().__call__(texts, role=role)

    def token_vectors(self, rows: Sequence[Ints]) -> Iterator[tuple[int, Floats2d]]:
        for number, row in enumerate(rows):
            self.n_tokens += len(row)
            yield number, np.array([[id % (n + 3) for n in range(self.dim)] for id in row], np.float32)

    def forget(self) -> None:
        self.n_texts = self.n_tokens = 0
        self.seen.clear()


@pytest.fixture
def counting() -> Counting:
    found = Counting()
    custom_encoder("counting", found)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "vectors.sqlite"


def index(file: Path | None, recipe: str, *, text: str = TEXT, late: bool = False) -> list[str]:
    """Index one document, and return the texts of its chunks."""
    made = Index("memory:", encoder="counting", cache=file, late=late)
    made.add_documents([cw.read_text(text, id="valves.md")], recipe=recipe)
    return [chunk.embed_text for chunk in made.chunks("valves.md")]


@pytest.mark.parametrize("recipe", ["structural(size=60) | context(headings=True)", SCORED.format(size=60)])
@pytest.mark.parametrize("is_late", [False, True])
def test_the_same_recipe_embeds_nothing_again(recipe: str, is_late: bool, counting: Counting, file: Path) -> None:
    first = index(file, recipe, late=is_late)
    assert counting.n_texts + counting.n_tokens > 0
    counting.forget()
    assert index(file, recipe, late=is_late) == first
    assert (counting.n_texts, counting.n_tokens) == (0, 0)
    index(None, recipe, late=is_late)
    assert counting.n_texts + counting.n_tokens > 0


def test_another_size_embeds_only_texts_that_are_new(counting: Counting, file: Path) -> None:
    before = set(index(file, "structural(size=40)"))
    counting.forget()
    after = index(file, "structural(size=60)")
    assert 0 < len(set(after) & before) < len(set(after))
    assert sorted(counting.seen) == sorted(set(after) - before)


def test_another_size_finds_its_cuts_with_the_vectors_of_before(counting: Counting, file: Path) -> None:
    before = set(index(file, SCORED.format(size=40)))
    sentences = set(counting.seen) - before
    counting.forget()
    after = set(index(file, SCORED.format(size=70)))
    assert len(sentences) > 40
    assert not sentences & set(counting.seen)
    assert set(counting.seen) <= after


def test_an_edit_at_the_end_finds_its_cuts_with_few_new_vectors(counting: Counting, file: Path) -> None:
    index(file, SCORED.format(size=40))
    counting.forget()
    index(file, SCORED.format(size=40), text=TEXT + " The gate is shut.")
    assert 0 < counting.n_texts < 8


def test_late_vectors_are_kept_by_the_text_they_have_seen(counting: Counting, file: Path) -> None:
    recipe = "structural(size=60)"
    index(file, recipe, late=True)
    for other in ({"text": TEXT + " More."}, {"recipe": "structural(size=30)"}):
        counting.forget()
        index(file, **{"recipe": recipe, "late": True, **other})  # type: ignore[arg-type]
        assert counting.n_tokens > 0


def test_late_vectors_are_the_same_from_the_cache(counting: Counting, file: Path) -> None:
    documents = [Document.from_text(text, id=text[:4]) for text in (TEXT, "One more. " * 9, "")]
    pairs = [(document, chunk(document, "sentences(size=30)", tokenizer=counting.tokenizer)) for document in documents]
    plain = late(counting).each(pairs)
    kept = Cached(counting, file)
    assert np.array_equal(late(kept).each(pairs[1:]), plain[-len(pairs[1][1]) :])
    assert np.array_equal(late(kept).each(pairs), plain)
    counting.forget()
    assert np.array_equal(late(kept).each(pairs), plain)
    assert np.array_equal(late(kept)(*pairs[0]), plain[: len(pairs[0][1])])
    assert counting.n_tokens == 0
    assert late(kept).each([]).shape == late(kept).each([(documents[2], [])]).shape == (0, counting.dim)


def test_a_late_vector_is_not_that_of_the_text_alone(file: Path) -> None:
    document = Document.from_text("Berlin is a city. It has 3.85 million inhabitants.", id="x")
    chunks = chunk(document, "sentences(max_sentences=1)", tokenizer=minilm().tokenizer)
    kept = cached(minilm(), file)
    alone = kept([one.text for one in chunks], role="passage")
    assert np.abs(late(kept)(document, chunks) - late(minilm())(document, chunks)).max() < 1e-5
    assert (late(kept)(document, chunks) * alone).sum(axis=1).max() < 0.99


def test_a_cache_around_an_encoder_without_tokens_can_not_embed_late(file: Path) -> None:
    with pytest.raises(cw.EncodeError, match="gives no vectors of tokens"):
        late(Cached(HashingEncoder(), file))
    with pytest.raises(cw.EncodeError, match="gives no vectors of tokens"):
        list(Cached(HashingEncoder(), file).token_vectors([]))


def test_a_name_that_begins_like_a_quick_encoders_keeps_its_vectors(file: Path) -> None:
    named = Counting()
    custom_encoder("static-like", named)
    recipe = "scored(size={size}, scorer=drop(threshold=0.5), encoder='static-like')"
    for size in (40, 70):
        named.forget()
        Index("memory:", encoder="static", cache=file).add_documents(
            [cw.read_text(TEXT, id="x")], recipe=recipe.format(size=size)
        )
    assert named.seen == []


def test_cutting_by_itself_keeps_nothing(counting: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_CACHE", str(tmp_path / "user"))
    chunk(cw.read_text(TEXT, id="x"), SCORED.format(size=40))
    index(None, SCORED.format(size=40))
    assert not (tmp_path / "user").exists()


def test_by_default_vectors_of_encoders_of_your_own_and_quick_ones_are_not_kept(
    counting: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_CACHE", str(tmp_path / "user"))
    recipes = {"counting": SCORED.format(size=40), "static": "scored(size=40, encoder='static')"}
    for recipe in recipes.values():
        made = Index("memory:", encoder="static")
        made.add_documents([cw.read_text(TEXT, id="valves.md")], recipe=recipe)
        texts = {one.embed_text for one in made.chunks("valves.md")}
        kept = Cached(encoder("static"), tmp_path / "user" / "embeddings.sqlite")
        assert kept.recall(kept._keys(sorted(texts), "passage")).keys() == set(kept._keys(sorted(texts), "passage"))
    windows = sorted(set(counting.seen))
    assert len(windows) > 50
    for named in (encoder("static"), counting):
        kept = Cached(named, tmp_path / "user" / "embeddings.sqlite")
        assert len(kept.recall(kept._keys(windows, "passage"))) < 10  # a chunk can be what a window was
