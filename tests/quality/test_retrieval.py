"""The demo's questions: floors on how many answers are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chunkwise import Index
from chunkwise.pipeline import Mode
from scripts import script

ROOT = Path(__file__).resolve().parents[2]
DEMO = script(ROOT / "examples" / "demo.py")
QUESTIONS = [json.loads(line) for line in (ROOT / "examples" / "questions.jsonl").read_text("utf-8").splitlines()]


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
def test_answers_are_found(index: Index, mode: Mode, floor: int) -> None:
    found = sum(DEMO.answered(question, index.search(question["query"], k=5, mode=mode)) for question in QUESTIONS)
    assert found >= floor
