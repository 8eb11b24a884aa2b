"""Tokenizers by name: characters, bytes, words, byte-pair encodings, any `tokenizer.json`, any function that counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial

import numpy as np

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Ruler, Tokenizer
from chunkwise.core.recipes import resolver
from chunkwise.text.bytepairs import BytePairs
from chunkwise.text.engines import BYTE_PAIRS
from chunkwise.text.huggingface import AT_BLANKS, MINILM, HuggingFace, tokenizer_file
from chunkwise.text.rulers import ByteRuler, CharacterRuler, TokenRuler, token_ruler
from chunkwise.text.segments import Encoding, Ints
from chunkwise.text.unicode import encodable
from chunkwise.text.words import WORD, stretches

# So many tokens of a character are told apart, when a function counts more.
_MOST = 8
# A function that counts less than once in so many characters is asked for the whole.
_COARSE = 64

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
        return _measured_bytes(text)


@dataclass(frozen=True, slots=True)
class Words:
    """Count words: runs of non-space; in scripts without spaces, every character."""

    name: str = "words"
    n_special: int = 0

    @property
    def encoding(self) -> Encoding:
        """How it finds words in pieces of a text."""
        return Encoding(partial(map, _word_ends), self.count, AT_BLANKS)

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
    n_special: int
    function: Callable[[str], int] = field(compare=False, repr=False)

    def count(self, text: str) -> int:
        """Return what the function counts.

        Raises: RecipeError if that is no whole number of at least 0.
        """
        return _counted(self.name, self.function, text)

    def measure(self, text: str) -> Ruler:
        """Count `text` in short stretches and return a ruler over it.

        Where they add up is not known, so that every slice which is asked for is counted whole:
        exact, at the cost of about three passes.
        """
        return _measured_custom(self, text)


_custom: dict[str, Custom] = {}


def custom_tokenizer(name: str, count: Callable[[str], int]) -> Tokenizer:
    """Make a tokenizer of a function that counts, and let recipes find it by `name` in this process.

    `count("")` is taken as the tokens that are added to every text. A function that is defined once more, as in a
    notebook, takes the place of the one before. A recipe pickles if the function does.
    Raises: RecipeError if another tokenizer has that name, or the function does not count.

    >>> custom_tokenizer("syllables", lambda text: sum(letter in "aeiou" for letter in text)).count("a level")
    3
    """
    known = _custom.get(name)
    same = known is None or _place(known.function) == _place(count)
    if not name.strip() or name in _NAMED or tokenizer_file(name).is_file() or not same:
        raise RecipeError(f"another tokenizer is named {name!r}, or nothing can be; choose another name")
    _custom[name] = Custom(name, _counted(name, count, ""), count)
    return _custom[name]


def _place(function: Callable[[str], int]) -> tuple[str, str]:
    return getattr(function, "__module__", ""), getattr(function, "__qualname__", repr(function))


def _counted(name: str, function: Callable[[str], int], text: str) -> int:
    count = function(text) if callable(function) else None
    if isinstance(count, (int, np.integer)) and count >= 0:
        return int(count)
    raise RecipeError(
        f"the tokenizer {name!r} must be a function that returns a whole number of at least 0, "
        f"not {count!r} for {text[:40]!r}"
    )


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
    return ByteRuler(text)


@lru_cache(maxsize=_KEPT)
def _measured_words(words: Words, text: str) -> TokenRuler:
    return token_ruler(text, words.encoding)


def _word_ends(piece: str) -> Ints:
    return np.array([match.end() for match in WORD.finditer(piece)], np.int32)


@lru_cache(maxsize=_KEPT)
def _measured_custom(counter: Custom, text: str) -> TokenRuler:
    """Spread the count of each stretch evenly over it: good enough to look up, for no count is taken from it."""
    special = counter.n_special

    def count(piece: str) -> int:
        return counter.count(piece) - special

    def ends_of(piece: str) -> Ints:
        parts = [
            np.linspace(start, end, min(max(0, count(piece[start:end])), _MOST * (end - start)) + 1, dtype=np.int32)[1:]
            for start, end in stretches(piece)
        ]
        ends = np.concatenate([np.empty(0, np.int32), *parts])
        if len(ends) * _COARSE < len(piece):  # it counts nothing in so short a stretch
            ends = np.linspace(0, len(piece), count(piece) + 1, dtype=np.int32)[1:]
        return ends

    return token_ruler(text, Encoding(partial(map, ends_of), count, sync=None))


resolver(Tokenizer, tokenizer)
