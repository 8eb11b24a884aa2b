"""Tokenizers by name: characters, bytes, words, byte-pair encodings, any `tokenizer.json`, any function that counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Ruler, Tokenizer
from chunkwise.core.recipes import resolver
from chunkwise.text.bytepairs import BytePairs
from chunkwise.text.engines import BYTE_PAIRS
from chunkwise.text.huggingface import AT_BLANKS, MINILM, HuggingFace, tokenizer_file
from chunkwise.text.rulers import ByteRuler, CharacterRuler, TokenRuler
from chunkwise.text.segments import Ints, token_ends
from chunkwise.text.unicode import encodable
from chunkwise.text.words import WORD, stretches

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
class Bytes:
    """Count bytes of UTF-8."""

    name: str = "bytes"
    n_special: int = 0

    def count(self, text: str) -> int:
        """Return the bytes of `text`; a lone surrogate has three, as its replacement has."""
        return len(encodable(text).encode())

    def measure(self, text: str) -> Ruler:
        """Return a ruler over `text`."""
        return CharacterRuler(len(text)) if text.isascii() else _measured_bytes(text)


@dataclass(frozen=True, slots=True)
class Words:
    """Count words: runs of non-space; in scripts without spaces, every character."""

    name: str = "words"
    n_special: int = 0

    def count(self, text: str) -> int:
        """Return the number of words in `text`."""
        return sum(1 for _ in WORD.finditer(text))

    def measure(self, text: str) -> Ruler:
        """Find the words of `text` once and return a ruler over it."""
        return _measured_words(self, text)


@dataclass(frozen=True, slots=True)
class Custom:
    """Count with a function of one's own. `n_special` is what it counts for an empty text."""

    name: str
    function: Callable[[str], int] = field(compare=False, repr=False)

    @property
    def n_special(self) -> int:
        """What the function counts for an empty text: the tokens that it adds to every one."""
        return self.function("")

    def count(self, text: str) -> int:
        """Return what the function counts."""
        return self.function(text)

    def measure(self, text: str) -> Ruler:
        """Count `text` in short stretches and return a ruler over it.

        Where they add up is not known, so that every slice which is asked for is counted whole:
        exact, at the cost of about two passes.
        """
        return _measured_custom(self, text)


_custom: dict[str, Custom] = {}


def custom_tokenizer(name: str, count: Callable[[str], int]) -> Tokenizer:
    """Make a tokenizer of a function that counts, and let recipes find it by `name` in this process.

    Raises: RecipeError if another tokenizer has that name.

    >>> custom_tokenizer("syllables", lambda text: sum(letter in "aeiou" for letter in text)).count("a level")
    3
    """
    known = _custom.get(name)
    if name in _NAMED or (known is not None and known.function is not count):
        raise RecipeError(f"another tokenizer is named {name!r}; choose another name")
    return _custom.setdefault(name, Custom(name, count))


def tokenizer(name: str) -> Tokenizer:
    """Find a tokenizer: "characters", "bytes", "words", "cl100k_base", "o200k_base", "all-MiniLM-L6-v2", or a path.

    Raises: RecipeError if the name is none of these. Nothing is ever downloaded.
    """
    if (known := _NAMED.get(name) or _custom.get(name)) is not None:
        return known
    if tokenizer_file(name).is_file():
        return HuggingFace(name)
    raise RecipeError(
        f"no tokenizer {name!r}; known: {', '.join((*_NAMED, *_custom))}. For any other, give the path of its "
        "tokenizer.json (nothing is downloaded), or a function that counts to custom_tokenizer"
    )


_ALWAYS: tuple[Tokenizer, ...] = (Characters(), Bytes(), Words(), *map(BytePairs, BYTE_PAIRS), HuggingFace(MINILM))
_NAMED = {found.name: found for found in _ALWAYS}

DEFAULT_TOKENIZER: Tokenizer = _NAMED[MINILM]


@lru_cache(maxsize=_KEPT)
def _measured_bytes(text: str) -> ByteRuler:
    return ByteRuler(encodable(text))


@lru_cache(maxsize=_KEPT)
def _measured_words(words: Words, text: str) -> TokenRuler:
    def ends_of(piece: str) -> Ints:
        return np.array([match.end() for match in WORD.finditer(piece)], np.int32)

    return TokenRuler(text, ends=token_ends(text, AT_BLANKS, ends_of), count=words.count, sync=AT_BLANKS)


@lru_cache(maxsize=_KEPT)
def _measured_custom(counter: Custom, text: str) -> TokenRuler:
    """Spread the count of each stretch evenly over it: good enough to look up, for no count is taken from it."""
    special = counter.n_special

    def count(piece: str) -> int:
        return counter.count(piece) - special

    def ends_of(piece: str) -> Ints:
        parts = [
            np.linspace(start, end, max(0, count(piece[start:end])) + 1, dtype=np.int32)[1:]
            for start, end in stretches(piece)
        ]
        return np.concatenate([np.empty(0, np.int32), *parts])

    return TokenRuler(text, ends=token_ends(text, None, ends_of), count=count, sync=None)


resolver(Tokenizer, tokenizer)
