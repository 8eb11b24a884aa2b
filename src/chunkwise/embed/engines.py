"""Which engine runs a model: onnxruntime, or another one where that is faster and its vectors are equal.

A short probe tells, once for each model, processor and version; what it found is kept in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Floats2d
from chunkwise.embed.batches import unit
from chunkwise.embed.folders import file_hash
from chunkwise.kept import make_private, user_folder

ENGINE_VARIABLE = "CHUNKWISE_ENGINE"
"""Names the engine to take: "auto", "onnxruntime", or "openvino", which then need not be faster."""

EngineName: TypeAlias = Literal["auto", "onnxruntime", "openvino"]

# Less is not worth vectors that are rounded otherwise, and a second library in memory.
_WORTH = 1.2
# Cosine with the reference's vector, of every text of the probe. Int8 weights, as the default model has, are as far
# from the original's. Source: docs/decisions/0026-engines.md.
_EQUAL = 0.999
# Of how many runs the fastest counts, for each engine: what else the machine does makes runs slower, never faster.
_RUNS = 3
# Raise it when the probe changes.
_SCHEME = "engines-1"

Run: TypeAlias = Callable[[], Floats2d]
"""Encode the texts of the probe, to vectors [n_texts, dim] of any length."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a probe found of an engine: how many times as fast as the reference, and the least cosine with it."""

    taken: bool
    speedup: float = 0.0
    cosine: float = 0.0
    failure: str = ""

    def __str__(self) -> str:
        if self.failure:
            return f"onnxruntime; {self.failure}"
        found = f"{self.speedup:.1f} times as fast as onnxruntime, cosine {self.cosine:.4f}"
        return f"openvino, {found}" if self.taken else f"onnxruntime; openvino is {found}"


def judge(reference: Run, rival: Run) -> Verdict:
    """Compare two engines on the same texts, run in turn. One that is faster, but not equal, is warned of.

    Cost: eight runs.
    """
    expected, found = reference(), rival()
    cosine = _least_cosine(expected, found) if expected.shape == found.shape else 0.0
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_RUNS):
        for run, taken in zip((reference, rival), times, strict=True):
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
    speedup = min(times[0]) / min(times[1])
    if speedup >= _WORTH and cosine < _EQUAL:
        warnings.warn(
            f"OpenVINO would be {speedup:.1f} times as fast as onnxruntime here, but its vectors are others (cosine "
            f"{cosine:.4f}), so onnxruntime runs; try another version of openvino",
            stacklevel=2,
        )
    return Verdict(speedup >= _WORTH and cosine >= _EQUAL, speedup, cosine)


def recall(file: Path) -> Verdict | None:
    """Return what was found for a model on this machine with these versions, if that is kept."""
    with suppress(OSError, ValueError, TypeError):  # not there, or not as we write it: it is made again
        return Verdict(**json.loads(_place(file).read_text("utf-8")))
    return None


def keep(file: Path, verdict: Verdict) -> None:
    """Keep a verdict for other processes, if there is a place for it."""
    kept = _place(file)
    written = kept.with_suffix(f".{os.getpid()}")
    with suppress(OSError):  # without a cache folder every process probes
        make_private(kept.parent)
        written.write_text(json.dumps(asdict(verdict)), "utf-8")
        written.replace(kept)


def wanted() -> EngineName:
    """Return the engine that the environment names; onnxruntime where there is no other.

    Raises: EncodeError for a name that is not known.
    """
    name = os.environ.get(ENGINE_VARIABLE, "") or "auto"
    for known in get_args(EngineName):
        if name == known:
            return "onnxruntime" if name == "auto" and not find_spec("openvino") else known
    raise EncodeError(f"{ENGINE_VARIABLE}={name!r} is not one of {', '.join(get_args(EngineName))}")


def _least_cosine(expected: Floats2d, found: Floats2d) -> float:
    rows = range(len(expected))
    if not np.isfinite(found).all() or not found.any(axis=1).all():
        return 0.0
    return float((unit(expected, rows, "onnxruntime") * unit(found, rows, "openvino")).sum(axis=1).min())


def _place(file: Path) -> Path:
    versions = [_version(name) for name in ("onnxruntime", "openvino")]
    known = json.dumps([_SCHEME, file_hash(file), _processor(), os.cpu_count(), *versions])
    return user_folder() / "engines" / f"{hashlib.sha256(known.encode()).hexdigest()[:32]}.json"


def _version(package: str) -> str:
    with suppress(PackageNotFoundError):  # onnxruntime has other names with other devices
        return version(package)
    return ""


def _processor() -> str:
    """Name the processor and what it can do: a home folder can be shared by several machines."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))}))
    return f"{platform.machine()} {platform.processor()}"
