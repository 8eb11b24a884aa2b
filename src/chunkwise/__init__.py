"""Cut documents into chunks for retrieval, prove the cuts sound, and measure which cut is right."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chunkwise.configs import read_config, write_config
    from chunkwise.core.config import Config
    from chunkwise.core.errors import (
        ChunkwiseError,
        ConfigError,
        EncodeError,
        MissingExtraError,
        ReadError,
        RecipeError,
        StoreError,
    )
    from chunkwise.core.types import Block, Chunk, Document, Evidence, Hit, Limits, Query, Source, Span
    from chunkwise.health import check
    from chunkwise.pipeline import Index, chunk, parse, stream
    from chunkwise.readers.batch import read_folder
    from chunkwise.readers.read import Reading, Skip, read, read_text
    from chunkwise.text.tokens import custom_tokenizer, tokenizer

__version__ = "0.1.0"

# Name -> module. Imported on first use, so that `import chunkwise` costs nothing.
_PLACES = {
    "Block": "core.types",
    "Chunk": "core.types",
    "ChunkwiseError": "core.errors",
    "Config": "core.config",
    "ConfigError": "core.errors",
    "Document": "core.types",
    "EncodeError": "core.errors",
    "Evidence": "core.types",
    "Hit": "core.types",
    "Index": "pipeline",
    "Limits": "core.types",
    "MissingExtraError": "core.errors",
    "Query": "core.types",
    "ReadError": "core.errors",
    "Reading": "readers.read",
    "RecipeError": "core.errors",
    "Skip": "readers.read",
    "Source": "core.types",
    "Span": "core.types",
    "StoreError": "core.errors",
    "check": "health",
    "chunk": "pipeline",
    "custom_tokenizer": "text.tokens",
    "parse": "pipeline",
    "read": "readers.read",
    "read_config": "configs",
    "read_folder": "readers.batch",
    "read_text": "readers.read",
    "stream": "pipeline",
    "tokenizer": "text.tokens",
    "write_config": "configs",
}

__all__ = [
    "Block",
    "Chunk",
    "ChunkwiseError",
    "Config",
    "ConfigError",
    "Document",
    "EncodeError",
    "Evidence",
    "Hit",
    "Index",
    "Limits",
    "MissingExtraError",
    "Query",
    "ReadError",
    "Reading",
    "RecipeError",
    "Skip",
    "Source",
    "Span",
    "StoreError",
    "check",
    "chunk",
    "custom_tokenizer",
    "parse",
    "read",
    "read_config",
    "read_folder",
    "read_text",
    "stream",
    "tokenizer",
    "write_config",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
