"""Which engine runs a model: what a probe decides, and what is remembered of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from chunkwise.core.errors import EncodeError, MissingExtraError
from chunkwise.core.protocols import Floats2d
from chunkwise.embed import engines, minilm, onnx
from chunkwise.embed.engines import Verdict, judge
from chunkwise.embed.models import LoadedModel
from chunkwise.embed.openvino import load_openvino

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
    """Let the engine be chosen, with a memory of the test's own; return what each probe found.

    OpenVINO need not be installed: onnxruntime stands in for it.
    """
    monkeypatch.setenv("CHUNKWISE_ENGINE", "auto")
    monkeypatch.setattr(engines, "find_spec", lambda name: name == "openvino")
    monkeypatch.setattr(onnx, "load_openvino", onnx._load)
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


def test_doctor_probes_once_where_nothing_can_be_kept(
    probes: list[Verdict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHUNKWISE_CACHE", str(tmp_path / "file"))
    assert onnx.engine(minilm()).startswith("openvino, 2.0 times as fast")
    assert len(probes) == 1


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
    monkeypatch.setattr(onnx, "load_openvino", load_openvino)
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(MissingExtraError, match=r"chunkwise\[openvino\]"):
        chosen()
