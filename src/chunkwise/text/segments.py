"""Encode a long text piece by piece: bounded memory, and every core where the engine lets go of the lock."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.types import Span

Ints: TypeAlias = NDArray[np.int32]

# How many characters are encoded at once: enough for a call to cost nothing, little enough for a bound on memory.
SEGMENT = 1 << 18


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a tokenizer encodes: what it makes of a piece by itself, and where a text parts into such pieces.

    `ends_of` returns where the tokens of a piece end, int32 [n_tokens], in order; `count` how many they are.
    `sync` matches, with no width, where the tokenizer always parts a text; None if no such place is known.
    So many characters as `size` are encoded at once. `threads` pay where that lets go of the interpreter's lock.
    """

    ends_of: Callable[[str], Ints]
    count: Callable[[str], int]
    sync: re.Pattern[str] | None
    size: int = SEGMENT
    threads: bool = False


def segments(text: str, sync: re.Pattern[str] | None, size: int = SEGMENT) -> Iterator[Span]:
    """Yield stretches that may be encoded one by one, for they meet at sync points; one if none is known."""
    start = 0
    while sync is not None and len(text) - start > 2 * size:
        found = sync.search(text, start + size)
        if found is None:
            break
        yield Span(start, found.start())
        start = found.start()
    yield Span(start, len(text))


def token_ends(text: str, encoding: Encoding) -> array[int]:
    """Return where the tokens of a text end, never going back."""

    def shifted(span: Span) -> Ints:
        return encoding.ends_of(span.slice(text)) + np.int32(span.start)

    pieces = segments(text, encoding.sync, encoding.size)
    if not encoding.threads or len(text) <= 2 * encoding.size:
        return _joined(map(shifted, pieces))
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return _joined(pool.map(shifted, pieces))


def _joined(pieces: Iterator[Ints]) -> array[int]:
    ends = array("i")
    for piece in pieces:
        ends.frombytes(piece.tobytes())
    return ends
