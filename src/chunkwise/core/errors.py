"""The errors that Chunkwise raises. Each message names the place and the remedy."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


class ChunkwiseError(Exception):
    """The root of every error that is the user's to mend."""


class RecipeError(ChunkwiseError):
    """A recipe that can't be parsed, or a parameter out of its range."""


class ConfigError(ChunkwiseError):
    """A file of a config that can't be read or written, or that says what can't be done."""


class ReadError(ChunkwiseError):
    """A file that can't be read as a document."""


class EncodeError(ChunkwiseError):
    """A text that an encoder can't take, or an encoder that does not answer."""


class AnswerError(ChunkwiseError):
    """A language model that can't be asked, or answers that can't be kept."""


class RerankError(ChunkwiseError):
    """Hits that a reranker could not judge; their order stays."""


class StoreError(ChunkwiseError):
    """An index that can't be opened, or that does not fit what is asked of it."""


class MissingExtraError(ChunkwiseError):
    """A package that belongs to an extra which is not installed."""


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional dependency.

    Raises: MissingExtraError, which names the extra to install.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as err:
        if err.name is None or not (module + ".").startswith(err.name + "."):
            raise
        message = f"{module} is not installed; run: pip install 'chunkwise[{extra}]'"
        raise MissingExtraError(message) from err
