"""How well the static encoder tells a change of subject: floors that must not fall."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from chunkwise.embed.static import StaticEncoder
from chunkwise.text.sentences import sentence_spans

SHARED = Path(os.environ.get("CHUNKWISE_SHARED", Path(__file__).resolve().parents[3] / "shared"))
ARTICLES = SHARED / "data" / "xquad-en" / "documents"


def sentences(text: str) -> list[str]:
    pieces = (span.slice(text).strip() for span in sentence_spans(text, "en"))
    return [piece for piece in pieces if len(piece) > 20]


def area_under_curve(similarity: np.ndarray, changes: np.ndarray) -> float:
    """Return how often two neighbours of different subjects are less alike than two of the same one."""
    apart, together = similarity[changes], similarity[~changes]
    return float((apart[:, None] < together[None, :]).mean())


def test_neighbours_from_two_articles_are_less_alike_than_neighbours_from_one() -> None:
    texts, changes = list[str](), list[bool]()
    for path in sorted(ARTICLES.iterdir()):
        head = path.read_text("utf-8")[:3000]
        for index, sentence in enumerate(sentences(head)):
            texts.append(sentence)
            changes.append(index == 0)
    vectors = StaticEncoder()(texts, role="passage")
    next_one = (vectors[1:] * vectors[:-1]).sum(axis=1)
    next_three = np.array(
        [cosine(vectors[max(0, i - 3) : i].sum(0), vectors[i : i + 3].sum(0)) for i in range(1, len(texts))]
    )
    assert area_under_curve(next_one, np.array(changes[1:])) > 0.91
    assert area_under_curve(next_three, np.array(changes[1:])) > 0.95


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
