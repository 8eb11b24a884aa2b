"""Encode with a model that fastembed knows and that is on this machine already. Nothing is downloaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from chunkwise.core.errors import EncodeError, require
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.embed.batches import check_texts, encode_batches, measured, n_added
from chunkwise.embed.folders import NO_LIMIT, content_hash, tokenizer_folder
from chunkwise.text.huggingface import HuggingFace
from chunkwise.text.unicode import encodable

PREFIX = "fastembed:"

_EXTRA = "fastembed"
# Raise it when the way from a text to its vector changes.
_SCHEME = "fastembed-1"
# Padded tokens in one run: fastembed takes texts as they come, so like lengths are put together here.
_PADDED_TOKENS = 16 * 256


@dataclass(frozen=True, slots=True)
class FastembedEncoder:
    """Run a model with fastembed. The first use loads it, of `folder`, or else of fastembed's own cache.

    `query_prefix` and `passage_prefix` go before every text of their role: fastembed itself adds them for few models.
    `max_tokens` leaves room for the longer one.
    """

    model: str
    _: KW_ONLY
    folder: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def name(self) -> str:
        """The specification that finds this encoder again."""
        return PREFIX + self.model

    @property
    def fingerprint(self) -> str:
        """A hash of the model's files and the prefixes."""
        content = [_SCHEME, self.model, content_hash(_place(self)), self.query_prefix, self.passage_prefix]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return int(_load(self.model, self.folder).embedding_size)

    @property
    def max_tokens(self) -> int:
        """Where fastembed would cut a text off, less the longer of the prefixes."""
        truncation = _load(self.model, self.folder).model.tokenizer.truncation or {}
        limit = int(truncation.get("max_length", NO_LIMIT))
        return limit - n_added(self.tokenizer, self.query_prefix, self.passage_prefix)

    @property
    def tokenizer(self) -> HuggingFace:
        """The model's own tokenizer."""
        return HuggingFace(tokenizer_folder(_place(self)))

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        """Encode texts as unit vectors [n_texts, dim].

        Raises: EncodeError if a text is too long, before the model runs; MissingExtraError.
        """
        check_texts(texts)
        if not texts:
            return np.empty((0, self.dim), np.float32)
        lengths = measured(texts, self, role=role)
        prefix = self.query_prefix if role == "query" else self.passage_prefix
        inputs = [encodable(prefix + text) for text in texts]
        model = _load(self.model, self.folder)
        embed = model.query_embed if role == "query" else model.passage_embed
        return encode_batches(
            lengths,
            lambda batch: np.stack(list(embed([inputs[index] for index in batch]))),
            name=self.name,
            most_tokens=_PADDED_TOKENS,
        )


def _place(encoder: FastembedEncoder) -> Path:
    """Return the folder of the files that were loaded."""
    # No public name says where in its cache they are.
    return Path(encoder.folder or _load(encoder.model, encoder.folder).model._model_dir)


@lru_cache(maxsize=2)
def _load(model: str, folder: str) -> Any:  # the package is not installed where types are checked
    """Load a model.

    Raises: EncodeError if fastembed does not know it, or has not got its files; MissingExtraError.
    """
    package = require("fastembed", extra=_EXTRA)
    try:
        return package.TextEmbedding(model, local_files_only=True, specific_model_path=folder or None)
    except (OSError, ValueError, RuntimeError) as err:
        raise EncodeError(
            f"fastembed can't load {model!r}: {err}; fetch it once with fastembed itself, or give its folder"
        ) from err
