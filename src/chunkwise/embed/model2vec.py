"""Encode with a static model of Model2Vec that lies in a folder. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from chunkwise.core.errors import EncodeError, require
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.embed.batches import check_texts, unit
from chunkwise.embed.folders import fingerprint, tokenizer_folder
from chunkwise.text.huggingface import HuggingFace
from chunkwise.text.unicode import encodable

PREFIX = "model2vec:"

_EXTRA = "model2vec"
# Raise it when the way from a text to its vector changes.
_SCHEME = "model2vec-1"
# No text is too long for a mean; this is only to be more than any chunk has.
_MAX_TOKENS = 10**9


@dataclass(frozen=True, slots=True)
class Model2VecEncoder:
    """Add up the vectors of a text's tokens, of texts of any length. The first use loads the model."""

    path: str

    @property
    def name(self) -> str:
        """The specification that finds this encoder again."""
        return PREFIX + self.path

    @property
    def fingerprint(self) -> str:
        """A hash of the files of the model."""
        return fingerprint(_SCHEME, Path(self.path))

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return int(_load(self.path).dim)

    @property
    def max_tokens(self) -> int:
        """More than any text has."""
        return _MAX_TOKENS

    @property
    def tokenizer(self) -> HuggingFace:
        """The model's own tokenizer."""
        return HuggingFace(tokenizer_folder(Path(self.path)))

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:  # noqa: ARG002 - both roles are alike
        """Encode texts as unit vectors [n_texts, dim]. A text without a known token is like the mean of all tokens.

        Raises: EncodeError if the folder holds no model; MissingExtraError.
        """
        check_texts(texts)
        if not texts:
            return np.empty((0, self.dim), np.float32)
        model = _load(self.path)
        inputs = [encodable(text) for text in texts]
        # By itself it cuts texts off after 512 tokens.
        vectors = model.encode(inputs, max_length=None, show_progress_bar=False, use_multiprocessing=False)
        vectors = np.asarray(vectors, np.float32)
        unknown = ~vectors.any(axis=1)
        if unknown.any():
            vectors[unknown] = model.embedding.mean(axis=0)
        return unit(vectors, range(len(texts)), self.name)


@lru_cache(maxsize=2)
def _load(path: str) -> Any:  # the package is not installed where types are checked
    """Load a model.

    Raises: EncodeError if the folder holds none; MissingExtraError.
    """
    package = require("model2vec", extra=_EXTRA)
    if not Path(path).is_dir():
        raise EncodeError(f"{path} is no folder; give the one that the model was saved to")
    try:
        return package.StaticModel.from_pretrained(path)
    except (OSError, ValueError, KeyError) as err:
        raise EncodeError(f"{path} can't be loaded by model2vec: {err}; save the model again") from err
