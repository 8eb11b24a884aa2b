"""The demo's questions: floors on how many answers are found."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from chunkwise import Index

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = [json.loads(line) for line in (ROOT / "examples" / "questions.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples" / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def index() -> Index:
    made = Index("memory:")
    made.add(ROOT / "examples" / "corpus")
    return made


def test_the_evidence_stands_where_the_questions_say() -> None:
    for question in QUESTIONS:
        for evidence in question["evidence"]:
            text = (ROOT / "examples" / "corpus" / evidence["document"]).read_bytes().decode("utf-8")
            assert text[evidence["start"] : evidence["end"]] == evidence["text"]


@pytest.mark.parametrize(("mode", "floor"), [("vector", 37), ("lexical", 32), ("hybrid", 36)])
def test_answers_are_found(demo: ModuleType, index: Index, mode: str, floor: int) -> None:
    found = sum(demo.answered(question, index.search(question["query"], k=5, mode=mode)) for question in QUESTIONS)  # type: ignore[arg-type]
    assert found >= floor
