"""Judge texts with a cross-encoder from a local folder: ONNX, or a model of sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError, require
from chunkwise.embed.batches import batches
from chunkwise.embed.folders import most_tokens
from chunkwise.embed.models import Integer, known_inputs
from chunkwise.embed.onnx import INTEGERS, padding_id, session_of
from chunkwise.text.huggingface import huggingface
from chunkwise.text.unicode import encodable

PACKAGE = "sentence-transformers:"

# Padded tokens in one run, as for encoders: see embed/onnx.py.
_PADDED_TOKENS = 16 * 256


@dataclass(frozen=True, slots=True)
class OnnxCrossEncoder:
    """Run a cross-encoder with onnxruntime on the CPU. The first use loads it.

    `name` is a folder with tokenizer.json and model.onnx, or onnx/model.onnx. A text is read up to what the model takes
    together with the question; scores are as the model gives them, of two labels the second less the first.
    """

    name: str

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text. Raises: EncodeError if the folder holds no cross-encoder; MissingExtraError."""
        model = _load(Path(self.name))
        pairs = [(encodable(query), encodable(text)) for text in texts]
        rows = model.tokenizer.encode_batch(pairs)
        scores = np.zeros(len(rows), np.float64)
        for batch in batches([len(row.ids) for row in rows], most_tokens=_PADDED_TOKENS):
            scores[batch] = model.judge([rows[index] for index in batch])
        return [float(score) for score in scores]


@dataclass(frozen=True, slots=True)
class PackageCrossEncoder:
    """Run a cross-encoder of sentence-transformers with PyTorch. The first use loads it; nothing is downloaded."""

    path: str

    @property
    def name(self) -> str:
        """The specification that finds this reranker again."""
        return PACKAGE + self.path

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text. Raises: EncodeError if the folder holds no cross-encoder; MissingExtraError."""
        if not texts:
            return []
        pairs = [(encodable(query), encodable(text)) for text in texts]
        scores = np.asarray(_load_package(self.path).predict(pairs, show_progress_bar=False), np.float64)
        return [float(score) for score in _flat(scores, self.path)]


@dataclass(frozen=True, slots=True)
class _Model:
    folder: Path
    tokenizer: tokenizers.Tokenizer
    padding: int
    inputs: Mapping[str, Integer]
    run: Callable[[None, Mapping[str, NDArray[Any]]], Sequence[NDArray[Any]]]
    errors: tuple[type[Exception], ...]

    def judge(self, rows: Sequence[tokenizers.Encoding]) -> NDArray[np.float64]:
        """Return the scores of pairs of question and text, which are padded to the longest."""
        shape = (len(rows), max(len(row.ids) for row in rows))
        filled = {
            "input_ids": np.full(shape, self.padding, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.zeros(shape, np.int64),
        }
        for i, row in enumerate(rows):
            filled["input_ids"][i, : len(row.ids)] = row.ids
            filled["attention_mask"][i, : len(row.ids)] = 1
            filled["token_type_ids"][i, : len(row.ids)] = row.type_ids
        feeds = {name: filled[name].astype(integer, copy=False) for name, integer in self.inputs.items()}
        try:
            output = self.run(None, feeds)[0]
        except self.errors as err:
            raise EncodeError(
                f"{self.folder} can't judge {shape[0]} texts of up to {shape[1]} tokens: {err}; "
                "export it with free batch and sequence sizes, and check its max tokens"
            ) from err
        return _flat(np.asarray(output, np.float64), str(self.folder))


def _flat(output: NDArray[np.float64], place: str) -> NDArray[np.float64]:
    """Return one score a row of what a model gives."""
    if output.ndim == 1:
        return output
    if output.ndim == 2 and output.shape[1] in (1, 2):
        return output[:, -1] - (output[:, 0] if output.shape[1] == 2 else 0)
    raise EncodeError(f"{place} gives an output of shape {output.shape}; a cross-encoder gives one score for each text")


@lru_cache(maxsize=2)
def _load(folder: Path) -> _Model:
    """Load a model with its tokenizer.

    Raises: EncodeError if the folder holds none; MissingExtraError.
    """
    file = next((file for file in (folder / "model.onnx", folder / "onnx" / "model.onnx") if file.is_file()), None)
    if file is None or not (folder / "tokenizer.json").is_file():
        raise EncodeError(
            f"{folder} is no ONNX folder of a cross-encoder: it needs tokenizer.json and model.onnx; "
            f"make one with: optimum-cli export onnx --task text-classification --model MODEL {folder}"
        )
    session, errors = session_of(file)
    declared = {one.name: INTEGERS.get(one.type) for one in session.get_inputs()}
    inputs = known_inputs(file, declared, task="text-classification")
    # A copy: the one that counts tokens does not truncate.
    tokenizer = tokenizers.Tokenizer.from_str(huggingface(str(folder)).to_str())
    tokenizer.encode_special_tokens = True
    tokenizer.enable_truncation(most_tokens(folder))
    return _Model(folder, tokenizer, padding_id(str(folder)), inputs, session.run, errors)


@lru_cache(maxsize=2)
def _load_package(path: str) -> Any:  # the package is not installed where types are checked
    package = require("sentence_transformers", extra="sentence-transformers")
    try:
        return package.CrossEncoder(path, local_files_only=True)
    except (OSError, ValueError, RuntimeError) as err:
        raise EncodeError(f"{path} can't be loaded as a cross-encoder: {err}; save the model again") from err
