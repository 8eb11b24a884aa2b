"""Any `tokenizer.json` as a tokenizer: exact always, and measured in one pass where its definition proves it may be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Ruler
from chunkwise.text.engines import BYTE_PAIRS
from chunkwise.text.rulers import TokenRuler, token_ruler
from chunkwise.text.segments import Encoding, Ints, grouped, segments
from chunkwise.text.unicode import encodable

MINILM = "all-MiniLM-L6-v2"

# Words never span a blank. Nor do BERT's pre-tokens, nor a mark, nor (where it sets them apart) an ideograph.
AT_BLANKS = re.compile(r"(?=[ \t\r\n])|(?<=[ \t\r\n])")
_ALONE = r" \t\r\n!-/:-@\[-`{-~\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f\u3400-\u4dbf\u4e00-\u9fff"
_LIKE_BERT = re.compile(rf"(?=[{_ALONE}])|(?<=[{_ALONE}])")
# A pre-token of the GPT family may begin with a blank, and never has one further on; nor a mark after a letter.
_LIKE_GPT = re.compile(r"(?<=\S)(?=[ \t])|(?<=[A-Za-z0-9])(?=[\r\n.,;:!?)\]}])")

# How the GPT family splits a text: GPT-2 (what ByteLevel does by itself), Qwen 2, Llama 3 and cl100k, o200k.
# Source: the `pre_tokenizer` of their tokenizer.json.
_GPT_PATTERNS = {
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    BYTE_PAIRS["o200k_base"][0],
}
# Normalizers that neither join nor part what stands on two sides of a blank.
# Source: UAX #15 §1.2: normal forms are closed under concatenation before a character that composes with none.
_LOCAL_NORMALIZERS = ("NFC", "NFD", "NFKC", "NFKD")

# How many characters are encoded at once: longer texts take these tokenizers more time a character.
_SEGMENT = 1 << 13

# Every stage of a recipe measures the same text, so the last few rulers are kept.
_KEPT = 4


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """Count the tokens of a `tokenizer.json`: a file, the folder that holds it, or the default encoder's."""

    name: str

    @property
    def n_special(self) -> int:
        """How many tokens the post-processor adds around one text."""
        if self.name == MINILM:
            return 2  # [CLS] and [SEP]; a test compares this with the file
        return huggingface(self.name).num_special_tokens_to_add(False)

    @property
    def encoding(self) -> Encoding:
        """How it encodes a text in pieces."""
        return _encoding(self.name)

    def count(self, text: str) -> int:
        """Return the tokens of `text`, special tokens included."""
        return len(huggingface(self.name).encode(encodable(text)).ids)

    def measure(self, text: str) -> Ruler:
        """Encode `text` once and return a ruler over it."""
        return _measure(self.name, text)


@lru_cache(maxsize=_KEPT)
def huggingface(name: str) -> tokenizers.Tokenizer:
    """Load a `tokenizer.json` so that it neither truncates nor pads, and special tokens in text are text.

    Raises: RecipeError if the file is no tokenizer.
    """
    if name == MINILM:
        content = (resources.files("chunkwise.text") / "data" / f"{MINILM}.tokenizer.json").read_text("utf-8")
    else:
        content = tokenizer_file(name).read_text("utf-8")
    try:
        definition = json.loads(content)
        if definition.get("model", {}).get("dropout"):  # a way of training; counts must not be random
            content = json.dumps({**definition, "model": {**definition["model"], "dropout": None}})
        loaded = tokenizers.Tokenizer.from_str(content)
    except Exception as err:  # tokenizers raises a bare Exception
        raise RecipeError(f"{name} is no tokenizer.json of Hugging Face: {err}") from err
    loaded.no_truncation()
    loaded.no_padding()
    loaded.encode_special_tokens = True
    return loaded


def tokens_of(name: str, text: str) -> tuple[Ints, Ints, Ints]:
    """Return the ids of a text's tokens, without special ones, where each starts, and where it ends."""
    ids, spans = list[int](), list[tuple[int, int]]()
    encoding = _encoding(name)
    for piece in segments(text, encoding.sync, encoding.size):
        found = huggingface(name).encode(encodable(piece.slice(text)), add_special_tokens=False)
        ids += found.ids
        spans += [(piece.start + start, piece.start + end) for start, end in found.offsets]
    edges = np.maximum.accumulate(np.array(spans, np.int32).reshape(-1, 2))
    return np.array(ids, np.int32), edges[:, 0], edges[:, 1]


def unknown_share(name: str, text: str) -> float:
    """Return the share of a text's characters, blanks left out, in words that the tokenizer has no tokens for."""
    loaded = huggingface(name)
    unknown = getattr(loaded.model, "unk_token", None)
    if unknown is None:
        return 0.0
    found = loaded.encode(encodable(text), add_special_tokens=False)
    lengths = [stop - start for start, stop in found.offsets]
    lost = sum(n for n, token in zip(lengths, found.tokens, strict=True) if token == unknown)
    return lost / max(1, sum(lengths))


def tokenizer_file(name: str) -> Path:
    """Return where the `tokenizer.json` of this path is, if there is one."""
    path = Path(name)
    return path / "tokenizer.json" if path.is_dir() else path


def sync_of(definition: Mapping[str, Any]) -> re.Pattern[str] | None:
    """Return where a tokenizer surely parts a text, by its definition; None if that proves nothing.

    Known are BERT's, and byte-level ones that split as the GPT family does.
    """
    if any(_is_matched_over_syncs(token) for token in definition.get("added_tokens") or ()):
        return None
    normalizer, splitter = definition.get("normalizer") or {}, definition.get("pre_tokenizer") or {}
    if (normalizer.get("type"), splitter.get("type")) == ("BertNormalizer", "BertPreTokenizer"):
        return _LIKE_BERT if normalizer.get("handle_chinese_chars") else AT_BLANKS
    if _is_local(normalizer) and _splits_like_gpt(splitter):
        return _LIKE_GPT
    return None


def _is_matched_over_syncs(token: Mapping[str, Any]) -> bool:
    """Tell whether an added token, matched before all else, may have a blank or a mark in it, or looks beside it."""
    looks = token.get("lstrip") or token.get("rstrip") or token.get("single_word")
    return not token.get("special") and bool(looks or not re.fullmatch("[A-Za-z0-9]*", token.get("content", "")))


def _is_local(normalizer: Mapping[str, Any]) -> bool:
    parts = normalizer.get("normalizers", [normalizer]) if normalizer else []
    return all(part.get("type") in _LOCAL_NORMALIZERS for part in parts)


def _splits_like_gpt(splitter: Mapping[str, Any]) -> bool:
    *before, last = splitter.get("pretokenizers") or [splitter]
    if last.get("type") != "ByteLevel" or last.get("add_prefix_space"):
        return False
    if not before:
        return bool(last.get("use_regex", True))
    known = len(before) == 1 and before[0].get("type") == "Split" and before[0].get("behavior") == "Isolated"
    return known and before[0].get("pattern", {}).get("Regex") in _GPT_PATTERNS and not last.get("use_regex", True)


@lru_cache(maxsize=_KEPT)
def _encoding(name: str) -> Encoding:
    loaded = huggingface(name)

    def ends_of(pieces: Iterable[str]) -> Iterator[Ints]:
        for group in grouped(encodable(piece) for piece in pieces):
            for found in loaded.encode_batch(group, add_special_tokens=False):  # on every core
                yield np.maximum.accumulate(np.array([end for _, end in found.offsets], np.int32))

    def count(piece: str) -> int:
        return len(loaded.encode(encodable(piece), add_special_tokens=False).ids)

    return Encoding(ends_of, count, sync_of(json.loads(loaded.to_str())), size=_SEGMENT)


@lru_cache(maxsize=_KEPT)
def _measure(name: str, text: str) -> TokenRuler:
    return token_ruler(text, _encoding(name))
