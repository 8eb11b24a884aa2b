"""The byte-pair encodings that OpenAI published, as tokenizers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from chunkwise.core.protocols import Ruler
from chunkwise.text.engines import EngineName, engine, fastest, widths
from chunkwise.text.rulers import TokenRuler, token_ruler
from chunkwise.text.segments import Encoding, Ints, in_threads

# Letters and digits of the commonest scripts: in every version of Unicode they are what they are.
_WORD = (
    r"A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"  # Latin
    r"\u0391-\u03a1\u03a3-\u03c9\u0410-\u044f"  # Greek and Cyrillic
    r"\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff"  # Japanese and Chinese
)

# Where these encodings always part a text. No alternative of their patterns looks back, so what follows such a
# place is split the same without what is before; and none of these places is inside a match: a blank after ink;
# ink after a line feed (o200k ties "/" to it); a line break or a mark that is no apostrophe after a letter or digit.
_SYNC = re.compile(
    r"(?<=\S)(?=[ \t])|(?<=\n)(?=[^\s/])"
    rf"|(?<=[{_WORD}])(?=[\r\n.,;:!?)\]}}\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f])"
)

# Every stage of a recipe measures the same text, so the last few rulers are kept.
_KEPT = 4


@dataclass(frozen=True, slots=True)
class BytePairs:
    """Count the tokens of a byte-pair encoding that OpenAI published. Needs no network.

    `engine` decides how fast that is, not what comes out.
    """

    name: str
    n_special: int = 0
    engine: EngineName = field(default_factory=fastest, compare=False, repr=False)

    @property
    def encoding(self) -> Encoding:
        """How it encodes a text in pieces."""
        return _encoding(self.name, self.engine)

    def count(self, text: str) -> int:
        """Return the tokens of `text`; literal special tokens are ordinary text."""
        return engine(self.name, self.engine).count(text)

    def measure(self, text: str) -> Ruler:
        """Encode `text` once and return a ruler over it."""
        return _measure(self.name, self.engine, text)


@lru_cache(maxsize=_KEPT)
def _encoding(name: str, chosen: EngineName) -> Encoding:
    found = engine(name, chosen)
    width = widths(name)

    def ends_of(piece: str) -> Ints:
        """Return where each token ends, in code points; a token that ends inside one ends after it."""
        return np.cumsum(width.take(found.encode(piece)), dtype=np.int32)

    return Encoding(in_threads(ends_of), found.count, _SYNC)


@lru_cache(maxsize=_KEPT)
def _measure(name: str, chosen: EngineName, text: str) -> TokenRuler:
    return token_ruler(text, _encoding(name, chosen))
