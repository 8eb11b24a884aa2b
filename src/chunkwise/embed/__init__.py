"""Encoders: texts in, unit vectors out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Encoder
from chunkwise.core.recipes import resolver
from chunkwise.embed.cache import USER_CACHE, Cached, cached, cached_if_possible, place
from chunkwise.embed.fastembed import FastembedEncoder
from chunkwise.embed.http import HttpEncoder
from chunkwise.embed.model2vec import Model2VecEncoder
from chunkwise.embed.onnx import minilm, onnx_folder
from chunkwise.embed.sentence_transformers import SentenceTransformersEncoder
from chunkwise.embed.static import STATIC, StaticEncoder
from chunkwise.text.huggingface import MINILM

__all__ = [
    "Cached",
    "FastembedEncoder",
    "HttpEncoder",
    "Model2VecEncoder",
    "SentenceTransformersEncoder",
    "StaticEncoder",
    "cached",
    "custom_encoder",
    "encoder",
    "minilm",
    "onnx_folder",
    "takes",
]

_custom: dict[str, Encoder] = {}

# What stands before the first colon of a specification, and what is made of the rest. Each is an extra.
_PACKAGES: Mapping[str, Callable[[str], Encoder]] = {
    "fastembed": FastembedEncoder,
    "model2vec": Model2VecEncoder,
    "sentence-transformers": SentenceTransformersEncoder,
}
# Encoders that run no model.
_QUICK = (StaticEncoder, Model2VecEncoder)


def encoder(spec: str = MINILM) -> Encoder:
    """Find an encoder by its name: of a model, a URL, a folder, or a package with a model.

    These are "all-MiniLM-L6-v2", "static", "https://HOST/v1#MODEL", the path of an ONNX folder,
    "sentence-transformers:PATH", "model2vec:PATH" and "fastembed:NAME", and those of your own.

    Loads no model and opens no connection.
    Raises: EncodeError if `spec` is none of these.
    """
    if spec in _custom:
        return _custom[spec]
    if spec == MINILM:
        return minilm()
    if spec == STATIC:
        return StaticEncoder()
    if spec.lower().startswith(("http://", "https://")):
        url, _, model = spec.partition("#")
        if not model:
            raise EncodeError("the URL of an encoder ends with its model: https://HOST/v1#MODEL")
        return HttpEncoder(url, model)
    package, _, model = spec.partition(":")
    if package in _PACKAGES and model:
        return _PACKAGES[package](model)
    if spec and Path(spec).is_dir():
        return onnx_folder(spec)
    raise EncodeError(
        f"no encoder {spec!r}; {_guess(spec)}known: {MINILM!r}, {STATIC!r}, 'https://HOST/v1#MODEL' for a server that "
        "speaks OpenAI's protocol, the path of a folder with model.onnx and tokenizer.json, and with their extras "
        "'sentence-transformers:PATH', 'model2vec:PATH', 'fastembed:NAME' (nothing is downloaded)"
    )


def _guess(spec: str) -> str:
    # Of a path or a name like "sentence-transformers/all-MiniLM-L6-v2" the last part tells.
    near = get_close_matches(spec.rpartition("/")[2].lower(), [MINILM.lower()])
    return f"did you mean {MINILM!r}? " if near else ""


def custom_encoder(name: str, encoder: Encoder) -> Encoder:
    """Let recipes and indexes name an encoder of your own. A name that is given again means the new one."""
    _custom[name] = encoder
    return encoder


def takes(encoder: Encoder, text: str) -> bool:
    """Tell whether a text is within an encoder's limit. A token is at least one byte, so most texts need no count."""
    few = len(text.encode("utf-8", "replace")) + encoder.tokenizer.n_special <= encoder.max_tokens
    return few or encoder.tokenizer.count(text) <= encoder.max_tokens


def _of_recipe(spec: str) -> Encoder:
    """Find an encoder that a recipe names; while an index is made, its vectors are kept where the index's are.

    Not those that are quicker made than found; nor, by default, those of your own encoders, as with an index.
    """
    found, path = encoder(spec), place()
    if path is None or isinstance(found, _QUICK) or (path == USER_CACHE and spec in _custom):
        return found
    return cached_if_possible(found, path)[0]


resolver(Encoder, _of_recipe)
