"""What was measured for the frontier, kept as one JSON file for each set and method."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.embed import minilm
from frontier_methods import METHODS, Method

# In tokens of cl100k_base, of what is returned.
BUDGETS = (100, 200, 400, 800, 1200, 2000, 3000)
SETS = ("xquad-en", "chroma", "covidqa", "qmsum", "xquad-zh", "xquad-ar", "xquad-hi")

Metric: TypeAlias = Literal["recall", "precision", "iou"]


@dataclass(frozen=True, slots=True)
class Result:
    """What a method scored on a set: for each budget a value for each question. `tokens` is what it returned."""

    set: str
    method: str
    recipe: str
    vectors: str
    fingerprint: str
    budgets: tuple[int, ...]
    n_chunks: int
    seconds: float
    recall: list[list[float]]
    precision: list[list[float]]
    iou: list[list[float]]
    tokens: list[list[int]]

    def scores(self, metric: Metric) -> NDArray[np.float64]:
        """Return a metric's values, [n_budgets, n_questions]."""
        return np.array(getattr(self, metric), np.float64)


Found: TypeAlias = Mapping[str, Mapping[str, Result]]
"""Results by set and method."""


def keep(folder: Path, result: Result) -> None:
    """Write a result, whole or not at all."""
    path = _path(folder, result.set, result.method)
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".half")
    half.write_text(json.dumps(asdict(result)), "utf-8")
    half.replace(path)


def stored(folder: Path, name: str, method: Method) -> Result | None:
    """Return what has been measured, unless the recipe, the model or the budgets have changed since."""
    path = _path(folder, name, method.name)
    if not path.is_file():
        return None
    told = json.loads(path.read_text("utf-8"))
    result = Result(**{**told, "budgets": tuple(told["budgets"])})
    same = (result.recipe, result.vectors, result.fingerprint, result.budgets)
    return result if same == (*method.indexed, minilm().fingerprint, BUDGETS) else None


def all_stored(folder: Path) -> Found:
    """Return what has been measured of every set and method, in their order."""
    return {
        name: {method.name: result for method in METHODS if (result := stored(folder, name, method)) is not None}
        for name in SETS
    }


def _path(folder: Path, name: str, method: str) -> Path:
    return folder / name / f"{method.replace(', ', '-').replace(' ', '-')}.json"
