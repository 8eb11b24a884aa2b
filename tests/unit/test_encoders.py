"""Encoders of every kind: how one is found, and what all of them refuse and keep."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Encoder
from chunkwise.embed import HttpEncoder, encoder, minilm, onnx_folder
from chunkwise.text.huggingface import MINILM
from unit.models import model_folder


def test_a_single_string_is_no_list_of_texts() -> None:
    for encode in (minilm(), HttpEncoder("http://127.0.0.1:1/v1", "m")):
        with pytest.raises(EncodeError, match=r"write \[text\]"):
            encode("hello", role="query")


def test_encoders_pickle_and_compare_by_value(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    for encode in (minilm(), onnx_folder(folder), HttpEncoder("http://h/v1", "m")):
        assert pickle.loads(pickle.dumps(encode)) == encode
        assert hash(pickle.loads(pickle.dumps(encode))) == hash(encode)


def test_an_encoder_is_found_by_its_specification(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    found: list[Encoder] = [encoder(), encoder("https://host:8080/v1#BAAI/bge-m3"), encoder(str(folder))]
    assert [one.name for one in found] == [MINILM, "BAAI/bge-m3@host:8080", str(folder)]
    assert [one.max_tokens for one in found] == [256, 8191, 512]
    assert found[1].tokenizer.name == "cl100k_base"


def test_a_url_is_the_same_with_and_without_a_slash_at_its_end() -> None:
    assert encoder("http://host/v1/#m").fingerprint == encoder("http://host/v1#m").fingerprint
    assert encoder("http://host/v1#m").fingerprint != encoder("http://other/v1#m").fingerprint
    assert encoder("http://host/v1#m").fingerprint != encoder("http://host/v1#n").fingerprint


def test_a_url_without_a_model_says_where_the_model_goes() -> None:
    for spec in ("https://host/v1", "https://host/v1#"):
        with pytest.raises(EncodeError, match="https://HOST/v1#MODEL"):
            encoder(spec)


@pytest.mark.parametrize("spec", ["all-MiniLM-L6", "all-minilm-l6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_a_near_miss_is_told_what_was_meant(spec: str) -> None:
    with pytest.raises(EncodeError, match="did you mean 'all-MiniLM-L6-v2'"):
        encoder(spec)


@pytest.mark.parametrize("spec", ["no-such-model", "", "openai"])
def test_an_unknown_encoder_lists_the_forms_that_are_known(spec: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encoder(spec)
    for form in (MINILM, "https://HOST/v1#MODEL", "model.onnx", "nothing is downloaded"):
        assert form in str(caught.value)
    assert "did you mean" not in str(caught.value)
