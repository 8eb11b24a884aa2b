"""What the folder of a model says of it: its limit, its prompts, what its vectors depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from chunkwise.core.errors import EncodeError

# Source: BERT's input length, when a folder does not say.
_MAX_TOKENS = 512
# Tokenizers write 1e30 for "no limit".
NO_LIMIT = 10**6
# These count positions from the padding id on, so two of them hold no token.
# Source: transformers, create_position_ids_from_input_ids.
_SHIFTED_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet")
# Files that a vector depends on: weights, tokenizers, settings. Not a README.
_OF_MODELS = (".bin", ".data", ".json", ".model", ".onnx", ".onnx_data", ".safetensors", ".txt")


def content_hash(folder: Path) -> str:
    """Hash the files of a model, by their path in the folder. Cost: the first time, all of them are read.

    Raises: EncodeError if there are none.
    """
    files = sorted(file for file in folder.rglob("*") if file.suffix in _OF_MODELS and file.is_file())
    if not files:
        raise EncodeError(f"{folder} holds no model; give the folder that one was saved to")
    content = [(file.relative_to(folder).as_posix(), file_hash(file)) for file in files]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def fingerprint(scheme: str, folder: Path) -> str:
    """Hash the files of a model, and the way from a text to its vector.

    Raises: EncodeError if there are no files.
    """
    return hashlib.sha256(json.dumps([scheme, content_hash(folder)]).encode()).hexdigest()


@lru_cache(maxsize=64)
def file_hash(file: Path) -> str:
    """Return the sha256 of a file, which is read once."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def tokenizer_folder(folder: Path) -> str:
    """Return where the `tokenizer.json` of a model is: beside it, or in the folder of its first module.

    Raises: EncodeError if there is none: chunks could not be counted as the model counts them.
    """
    places = [folder, *sorted(folder.glob("0_*"))]
    found = next((place for place in places if (place / "tokenizer.json").is_file()), None)
    if found is None:
        raise EncodeError(f"{folder} has no tokenizer.json; save the model again with its fast tokenizer")
    return str(found)


def most_tokens(folder: Path) -> int:
    """Return the tokens that a model takes, from the first file that says so."""
    settings = config(folder, "config.json")
    positions = _whole_number(settings, "max_position_embeddings")
    if settings.get("model_type") in _SHIFTED_POSITIONS:
        positions = max(positions - 2, 0)
    return (
        _whole_number(config(folder, "sentence_bert_config.json"), "max_seq_length")
        or _whole_number(config(folder, "tokenizer_config.json"), "model_max_length")
        or positions
        or _MAX_TOKENS
    )


def prompts(folder: Path) -> tuple[str, str]:
    """Return what goes before a query, and before a passage.

    Source: sentence-transformers 5, encode_query and encode_document.
    """
    known = config(folder, "config_sentence_transformers.json").get("prompts")
    return _prompt(known, "query"), _prompt(known, "document", "passage", "corpus")


def config(folder: Path, name: str) -> Mapping[str, Any]:
    """Read a JSON file of a folder; one that is missing is empty, a list is put under the file's stem.

    Raises: EncodeError if it is no JSON.
    """
    file = folder / name
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text("utf-8"))
    except ValueError as err:
        raise EncodeError(f"{file} is no JSON: {err}; download or export the folder again") from err
    return content if isinstance(content, dict) else {file.stem: content}


def _prompt(known: object, *names: str) -> str:
    if not isinstance(known, dict):
        return ""
    return next((str(known[name]) for name in names if known.get(name)), "")


def _whole_number(settings: Mapping[str, Any], key: str) -> int:
    """Return a positive number of a config, or 0 if it sets none."""
    number = settings.get(key)
    return number if isinstance(number, int) and 0 < number < NO_LIMIT else 0
