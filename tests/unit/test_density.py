"""Chunks are smaller where a text tells more."""

from __future__ import annotations

import pytest

from chunkwise.core.errors import RecipeError
from chunkwise.core.types import Document
from chunkwise.pipeline import chunk, chunker
from chunkwise.text.density import density

THIN = "And so it was that we went on and on, as we did all day. "
DENSE = "In 1969 Armstrong piloted Eagle; Aldrich measured 384400 kilometres, Houston confirmed Tranquility. "


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0),
        ("It was so.", 0),
        ("It was so. The end.", 0),  # a sentence's capital is no name
        ("We met Ann there", 1 / 4),
        ("We met 7 there", 1 / 4),
        ("an extraordinarily long one", 1 / 4),
        ("水泵每周检查7次", 1 / 7),
    ],
)
def test_numbers_names_and_long_words_tell(text: str, share: float) -> None:
    assert density(text, 0, len(text)) == pytest.approx(share, abs=0.02)


def test_dense_text_is_cut_smaller_than_thin_text() -> None:
    document = Document.from_text(THIN * 60 + "\n\n" + DENSE * 60, id="x")
    chunks = chunk(document, "density(size=200, least=40)", tokenizer="words")
    border = len(THIN) * 60
    thin = [c.token_count for c in chunks if c.end < border]
    dense = [c.token_count for c in chunks if c.start > border]
    assert min(thin[:-2]) > 170
    assert max(dense) <= 40
    assert all(isinstance(c.meta["density"], float) for c in chunks)


def test_a_sentence_that_fits_the_size_is_not_cut_for_being_dense() -> None:
    sentence = "Armstrong 1969 " * 30 + "end."
    chunks = chunk(
        Document.from_text(sentence + " " + sentence, id="x"), "density(size=100, least=20)", tokenizer="words"
    )
    assert [c.token_count for c in chunks] == [61, 61]


def test_the_least_must_be_less_than_the_size() -> None:
    with pytest.raises(RecipeError, match="least=100 must be less than size=90; try least=22"):
        chunker("density(size=90, least=100)")
