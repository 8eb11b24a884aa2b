"""A text that comes in pieces: encoded once as it comes, and let go of at its start when it is done with."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

import numpy as np

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Ruler, Tokenizer
from chunkwise.text.bytepairs import BytePairs
from chunkwise.text.huggingface import HuggingFace
from chunkwise.text.rulers import TokenRuler
from chunkwise.text.segments import Encoding, token_ends
from chunkwise.text.tokens import Bytes, Characters, Words

# In characters: how far back a sync point is looked for first.
_NEAR = 64


class Growing:
    """What is kept of a text that comes in pieces, up to the last place where its tokens stay as they are.

    `text` starts `offset` characters after the whole text did, but for its first `n_pinned` characters, which are
    the whole's first and are never let go of; `received` is how far the whole has come.
    A ruler over `text` looks up what one over the whole text would.
    Cost: every character is encoded once. Raises: RecipeError for a tokenizer that parts a text at no known place.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.text = ""
        self.offset = self.received = self.n_pinned = 0
        self.tokenizer = tokenizer
        self._encoding = _encoding(tokenizer)
        self._ends = array("i")
        self._pieces: list[str] = []  # what came after `text`

    def add(self, piece: str) -> None:
        """Take the next piece, which `text` gains with the next `grow`."""
        self._pieces.append(piece)
        self.received += len(piece)

    def grow(self, *, final: bool = False) -> bool:
        """Let `text` gain what can be encoded whatever follows, or all if nothing does; tell whether it gained any."""
        pending, encoding = "".join(self._pieces), self._encoding
        sync = None if final or encoding is None else encoding.sync
        stop = len(pending) if sync is None else _last_sync(pending, sync)
        self._pieces = [pending[stop:]]
        if stop and encoding is not None:
            self._ends += _shifted(token_ends(pending[:stop], encoding), len(self.text))
        self.text += pending[:stop]
        return stop > 0

    def drop(self, length: int) -> None:
        """Let go of the first characters that are not pinned."""
        pinned = self.n_pinned
        self.text = self.text[:pinned] + self.text[pinned + length :]
        self.offset += length
        first, last = bisect_right(self._ends, pinned), bisect_right(self._ends, pinned + length)
        self._ends = self._ends[:first] + _shifted(self._ends[last:], -length)

    def ruler(self) -> Ruler:
        """Return a ruler over `text`."""
        if self._encoding is None:
            return self.tokenizer.measure(self.text)
        return TokenRuler(self.text, ends=self._ends[:], count=self._encoding.count, sync=self._encoding.sync)


def _encoding(tokenizer: Tokenizer) -> Encoding | None:
    """Return how a tokenizer encodes pieces; None if it counts each character by itself."""
    if isinstance(tokenizer, Characters | Bytes):
        return None
    if isinstance(tokenizer, BytePairs | HuggingFace | Words) and tokenizer.encoding.sync is not None:
        return tokenizer.encoding
    raise RecipeError(
        f"{tokenizer.name} can't count a stream: where it parts a text whatever follows is not known; "
        "read the whole text and use chunk, or count with cl100k_base, o200k_base or all-MiniLM-L6-v2"
    )


def _last_sync(text: str, sync: re.Pattern[str]) -> int:
    """Return the last sync point in a text that starts at one; 0 if there is no other."""
    low, width = len(text), _NEAR
    while low > 1:
        low = max(1, len(text) - width)
        places = [match.start() for match in sync.finditer(text, low)]
        if places:
            return places[-1]
        width *= 2
    return 0


def _shifted(ends: array[int], by: int) -> array[int]:
    shifted = array("i")
    shifted.frombytes((np.frombuffer(ends, np.int32) + np.int32(by)).tobytes())
    return shifted
