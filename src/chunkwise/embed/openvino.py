"""Run a model with OpenVINO, in the numbers that the processor is fastest with: bfloat16 where it has them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError, require
from chunkwise.embed.models import Integer, LoadedModel, known_inputs, known_output

_EXTRA = "openvino"
_TELEMETRY = "openvino_telemetry"
# Tiles of a processor's matrix unit have 16 rows. Source: Intel AMX, Architecture Instruction Set Extensions, ch. 3.
_MULTIPLE = 16
_INTEGERS: dict[str, Integer] = {"i64": np.int64, "i32": np.int32}


def load_openvino(file: Path) -> LoadedModel:
    """Load an ONNX model. Its weights are turned to floating point once, so that activations are never made 8-bit.

    Raises: EncodeError if OpenVINO can't; MissingExtraError.
    """
    openvino, passes = _quietly_imported()
    core = openvino.Core()
    try:
        model = core.read_model(str(file))
        # Of 8-bit weights OpenVINO multiplies 8-bit activations, which costs .0005 of the cosine and wins no time.
        folding = passes.Manager()
        folding.register_pass(passes.ConstantFolding())
        folding.run_passes(model)
        compiled = core.compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY"})
    except RuntimeError as err:
        raise EncodeError(f"{file} can't be loaded by OpenVINO: {err}; run: pip uninstall openvino") from err
    inputs = {one.any_name: _INTEGERS.get(one.element_type.to_string()) for one in compiled.inputs}
    shapes = {one.any_name: [_length(size) for size in one.partial_shape] for one in compiled.outputs}
    output, dim = known_output(file, shapes)

    def run(names: list[str], feeds: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        # A request holds its results, and threads must not share one.
        results = compiled.create_infer_request().infer(feeds)
        return [results[name] for name in names]

    return LoadedModel(file, known_inputs(file, inputs), output, dim, run, (RuntimeError,), _MULTIPLE)


def _quietly_imported() -> tuple[ModuleType, ModuleType]:
    """Import OpenVINO without the part that reports to a statistics server when it is imported.

    It is made to be left out: where it is not installed, OpenVINO reports nothing. Who has imported OpenVINO before
    has chosen for himself.
    """
    absent = _TELEMETRY not in sys.modules
    if absent:
        sys.modules[_TELEMETRY] = None  # type: ignore[assignment]  # Python's own mark for what can't be imported
    try:
        return require("openvino", extra=_EXTRA), require("openvino.passes", extra=_EXTRA)
    finally:
        if absent:
            del sys.modules[_TELEMETRY]


def _length(size: Any) -> int | None:  # the package has no types
    return int(size.get_length()) if size.is_static else None
