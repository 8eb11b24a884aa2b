"""Encode a long text piece by piece: bounded memory, and every core where the engine lets go of the lock."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.types import Span

Ints: TypeAlias = NDArray[np.int32]

# How many characters are encoded at once: enough for a call to cost nothing, little enough for a bound on memory.
SEGMENT = 1 << 18
# How many pieces are handed to the cores together: enough for sixteen, little enough for a bound on memory.
_GROUP = 32


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a tokenizer encodes: what it makes of a piece by itself, and where a text parts into such pieces.

    `ends_of` yields where the tokens of each of some pieces end, int32 [n_tokens], in order; `count` how many one has.
    `sync` matches, with no width, where the tokenizer always parts a text; None if no such place is known.
    A piece has about `size` characters.
    """

    ends_of: Callable[[Iterable[str]], Iterator[Ints]]
    count: Callable[[str], int]
    sync: re.Pattern[str] | None
    size: int = SEGMENT


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
    spans = list(segments(text, encoding.sync, encoding.size))
    ends = array("i")
    for span, own in zip(spans, encoding.ends_of(span.slice(text) for span in spans), strict=True):
        ends.frombytes((own + np.int32(span.start)).tobytes())
    return ends


def in_threads(ends_of: Callable[[str], Ints]) -> Callable[[Iterable[str]], Iterator[Ints]]:
    """Return what does with many pieces what `ends_of` does with one, on every core if it lets go of the lock."""

    def each(pieces: Iterable[str]) -> Iterator[Ints]:
        for group in grouped(pieces):
            if len(group) == 1:
                yield ends_of(group[0])
                continue
            with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
                yield from pool.map(ends_of, group)

    return each


def grouped(pieces: Iterable[str]) -> Iterator[list[str]]:
    """Yield pieces in groups that are worth sharing among cores."""
    rest = iter(pieces)
    while group := list(islice(rest, _GROUP)):
        yield group
