"""Sentence boundaries against gold: floors that must not fall."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from chunkwise.text.sentences import sentence_spans

SHARED = Path(os.environ.get("CHUNKWISE_SHARED", Path(__file__).resolve().parents[3] / "shared"))
DATA = SHARED / "data" / "sentences"

# Measured, then rounded down to half a point.
FLOORS = {"ar": 99.0, "de": 98.5, "hi": 99.5, "ru": 98.5, "zh": 99.0}


def groups(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def boundaries(pieces: list[str], joint: str) -> set[int]:
    """Return where sentences end, counted in characters that are not white space."""
    ends, position = set(), 0
    for piece in pieces:
        position += len("".join((piece + joint).split()))
        ends.add(position)
    return ends


def f1(language: str) -> float:
    right = found = gold = 0
    for group in groups(f"pud-{language}"):
        sentences, joint = group["sentences"], group["joined_by"]
        assert isinstance(sentences, list)
        assert isinstance(joint, str)
        text = joint.join(sentences)
        inner = boundaries(sentences, "")
        ours = boundaries([span.slice(text) for span in sentence_spans(text)], "")
        last = max(inner)
        right += len((inner & ours) - {last})
        found += len(ours - {last})
        gold += len(inner - {last})
    return 200 * right / (found + gold)


@pytest.mark.parametrize("language", sorted(FLOORS))
def test_boundaries_are_those_of_the_treebank(language: str) -> None:
    assert f1(language) >= FLOORS[language]


def test_the_english_golden_rules_hold() -> None:
    right = 0
    for rule in groups("golden-en"):
        text = str(rule["text"])
        right += [span.slice(text).strip() for span in sentence_spans(text, "en")] == rule["sentences"]
    assert right >= 43
