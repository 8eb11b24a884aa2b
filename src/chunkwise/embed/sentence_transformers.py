"""Encode with a model of sentence-transformers that lies in a folder. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from chunkwise.core.errors import EncodeError, require
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.embed.batches import check_texts, measured, n_added, unit
from chunkwise.embed.folders import NO_LIMIT, fingerprint, prompts, tokenizer_folder
from chunkwise.text.huggingface import HuggingFace
from chunkwise.text.unicode import encodable

PREFIX = "sentence-transformers:"

_EXTRA = "sentence-transformers"
# Raise it when the way from a text to its vector changes.
_SCHEME = "sentence-transformers-1"


@dataclass(frozen=True, slots=True)
class SentenceTransformersEncoder:
    """Run a model with PyTorch, on the device that sentence-transformers chooses. The first use loads it.

    Queries and passages get the prompts that the model was saved with, for which `max_tokens` leaves room.
    """

    path: str
    _: KW_ONLY
    batch_size: int = 32

    @property
    def name(self) -> str:
        """The specification that finds this encoder again."""
        return PREFIX + self.path

    @property
    def fingerprint(self) -> str:
        """A hash of the files of the model. Devices differ by what they round, which it does not tell."""
        return fingerprint(_SCHEME, Path(self.path))

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return int(self(["dim"], role="passage").shape[1])

    @property
    def max_tokens(self) -> int:
        """The longest text that the model takes, less the longer of its prompts."""
        limit = int(_load(self.path).max_seq_length or NO_LIMIT)
        return limit - n_added(self.tokenizer, *prompts(Path(self.path)))

    @property
    def tokenizer(self) -> HuggingFace:
        """The model's own tokenizer."""
        return HuggingFace(tokenizer_folder(Path(self.path)))

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        """Encode texts as unit vectors [n_texts, dim].

        Raises: EncodeError if a text is too long, before the model runs; MissingExtraError.
        """
        check_texts(texts)
        if not texts:
            return np.empty((0, self.dim), np.float32)
        measured(texts, self, role=role)
        model = _load(self.path)
        encode = model.encode_query if role == "query" else model.encode_document
        inputs = [encodable(text) for text in texts]
        vectors = encode(inputs, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True)
        return unit(np.asarray(vectors), range(len(texts)), self.name)


@lru_cache(maxsize=2)
def _load(path: str) -> Any:  # the package is not installed where types are checked
    """Load a model.

    Raises: EncodeError if the folder holds none; MissingExtraError.
    """
    package = require("sentence_transformers", extra=_EXTRA)
    try:
        return package.SentenceTransformer(path, local_files_only=True)
    except (OSError, ValueError, RuntimeError) as err:
        raise EncodeError(f"{path} can't be loaded by sentence-transformers: {err}; save the model again") from err
