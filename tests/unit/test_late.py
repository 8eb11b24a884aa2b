"""Late chunking: vectors of chunks that have seen the text around them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import chunkwise as cw
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.embed import cached, encoder
from chunkwise.embed.late import late
from chunkwise.embed.onnx import OnnxEncoder, minilm
from chunkwise.pipeline import chunker
from oracles import late as slow
from unit.hashing import HashingEncoder

PROSE = "Berlin is the capital of Germany. It has 3.85 million inhabitants. The city lies on the Spree.\n\n" * 9
TEXTS = {
    "one window": PROSE[:300],
    "several windows": PROSE,
    "chinese": "水泵每周检查一次。阀门必须关闭！" * 30,
    "emoji": "A \U0001f469\u200d\U0001f469\u200d\U0001f467 family e\u0301ats \U0001f1eb\U0001f1f7 naïve. " * 14,
    "right to left": "שלום עולם. بِسْمِ اللَّهِ مَرْحَبًا. نعم؟ " * 12,
    "lone surrogates": "The pump \ud800 runs. " * 60,
}


def windowed(max_tokens: int) -> OnnxEncoder:
    return OnnxEncoder(name=minilm().name, max_tokens=max_tokens)


def cut(text: str, size: int = 40) -> tuple[Document, list[Chunk]]:
    document = Document.from_text(text, id="x")
    return document, list(chunker(f"sentences(size={size})", tokenizer=minilm().tokenizer)(document))


@pytest.mark.parametrize("name", sorted(set(TEXTS) - {"lone surrogates"}))  # the twin encodes none
@pytest.mark.parametrize("max_tokens", [33, 64, 256])
def test_vectors_are_those_of_the_slow_twin(name: str, max_tokens: int) -> None:
    document, chunks = cut(TEXTS[name][:900])
    fast, twin = late(windowed(max_tokens))(document, chunks), slow.late(windowed(max_tokens), document, chunks)
    np.testing.assert_allclose(fast, twin, atol=1e-5)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_chunk_has_a_unit_vector(name: str) -> None:
    document, chunks = cut(TEXTS[name])
    vectors = late(minilm())(document, chunks)
    assert vectors.shape == (len(chunks), minilm().dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_chunk_knows_what_its_words_stand_for() -> None:
    document, chunks = cut(PROSE[:96], size=16)
    assert chunks[1].text.startswith("It has")
    question = minilm()(["How many people live in Berlin?"], role="query")[0]
    plain = minilm()([chunks[1].text], role="passage")[0]
    assert late(minilm())(document, chunks)[1] @ question > plain @ question + 0.1


def test_a_text_that_is_one_chunk_is_nearly_the_text_encoded() -> None:
    document, chunks = cut("The pump is checked weekly, and oiled twice a year by the team.")
    (vector,), (plain,) = late(minilm())(document, chunks), minilm()([chunks[0].text], role="passage")
    assert vector @ plain > 0.98  # all but the vectors of the special tokens


def test_documents_together_give_what_each_gives_alone() -> None:
    pairs = [cut(TEXTS["chinese"]), cut(PROSE), (Document.from_text("", id="e"), []), cut(PROSE[:100])]
    alone = np.concatenate([late(minilm())(*pair) for pair in pairs])
    np.testing.assert_allclose(late(minilm()).each(pairs), alone, atol=1e-5)


def test_what_rides_along_counts_and_what_the_tokenizer_drops_is_encoded_by_itself() -> None:
    document = Document.from_text("name and age\n\nAnn is 7\n\n\u200b", id="x")
    texts = [Span(0, 12), Span(14, 22)]
    rider = Chunk("x", tuple(texts), "name and ageAnn is 7")
    own, unseen = Chunk("x", (texts[1],), "Ann is 7"), Chunk("x", (Span(24, 25),), "\u200b")
    vectors = late(minilm())(document, [rider, own, unseen])
    assert 0.5 < vectors[0] @ vectors[1] < 0.999
    np.testing.assert_allclose(vectors[2], minilm()(["\u200b"], role="passage")[0], atol=1e-6)


def test_what_is_derived_is_encoded_by_itself(tmp_path: Path) -> None:
    document, chunks = cut(PROSE[:96], size=16)
    says = replace(chunks[1], context="Berlin has 3.85 million inhabitants.\n\n", meta={"derived": "proposition"})
    for encode in (minilm(), cached(minilm(), tmp_path / "vectors.sqlite")):
        vectors = late(encode)(document, [*chunks, says])
        np.testing.assert_allclose(vectors[-1], minilm()([says.embed_text], role="passage")[0], atol=1e-5)
        np.testing.assert_allclose(vectors[:-1], late(minilm())(document, chunks), atol=1e-5)


def test_a_prefix_goes_before_every_window_and_into_no_mean() -> None:
    document, chunks = cut(PROSE)
    prefixed = OnnxEncoder(name=minilm().name, max_tokens=100, passage_prefix="passage: ")
    rows = [np.array([3000, 2003], np.int32)]
    assert dict(prefixed.token_vectors(rows))[0].shape == (2, minilm().dim)
    assert not np.allclose(late(prefixed)(document, chunks), late(windowed(100))(document, chunks), atol=1e-3)


def test_an_encoder_without_vectors_of_tokens_is_refused() -> None:
    with pytest.raises(cw.EncodeError, match="hashing gives no vectors of tokens"):
        late(HashingEncoder())
    with pytest.raises(cw.EncodeError, match="gives no vectors of tokens"):
        late(encoder("http://localhost:1/v1#model"))
    document, chunks = cut(PROSE)
    with pytest.raises(cw.EncodeError, match="of its first token"):
        late(OnnxEncoder(name=minilm().name, max_tokens=64, pooling="cls"))(document, chunks)


def test_an_index_embeds_late_and_remembers_it(tmp_path: Path) -> None:
    document, chunks = cut(PROSE)
    index = cw.Index(tmp_path / "i", late=True)
    index.add_documents([document], recipe="sentences(size=40)")
    again = cw.Index(tmp_path / "i")
    assert again.late
    (hit,) = again.search("Berlin", k=1, mode="vector")
    (question,) = minilm()(["Berlin"], role="query")
    assert hit.score == pytest.approx(float((late(minilm())(document, chunks) @ question).max()), abs=1e-3)
    with pytest.raises(cw.StoreError, match="made with late=True"):
        cw.Index(tmp_path / "i", late=False)


def test_an_index_that_was_made_before_there_was_late_chunking_is_not_late(tmp_path: Path) -> None:
    index = cw.Index(tmp_path / "i", encoder=HashingEncoder())
    index.add_documents([Document.from_text("The pump runs.", id="x")])
    description = tmp_path / "i" / "index.json"
    written = json.loads(description.read_text("utf-8"))
    assert written["info"].pop("late") is False
    description.write_text(json.dumps(written), "utf-8")
    assert not cw.Index(tmp_path / "i", encoder=HashingEncoder()).late
    with pytest.raises(cw.StoreError, match="made with late=False"):
        cw.Index(tmp_path / "i", encoder=HashingEncoder(), late=True)
