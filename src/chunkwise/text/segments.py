"""Encode a long text piece by piece: bounded memory, and every core where the engine lets go of the lock."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.types import Span

Ints: TypeAlias = NDArray[np.int32]

# How many characters are encoded at once.
SEGMENT = 1 << 18


def segments(text: str, sync: re.Pattern[str] | None) -> Iterator[Span]:
    """Yield stretches that may be encoded one by one, for they meet at sync points; one if none is known."""
    start = 0
    while sync is not None and len(text) - start > 2 * SEGMENT:
        found = sync.search(text, start + SEGMENT)
        if found is None:
            break
        yield Span(start, found.start())
        start = found.start()
    yield Span(start, len(text))


def columns(text: str, sync: re.Pattern[str] | None, encode: Callable[[str], Ints]) -> list[array[int]]:
    """Encode a text in segments and return its columns, each an array of offsets in `text`.

    `encode` returns int32 [n_columns, n_tokens] of offsets in the piece that it is given.
    """

    def shifted(span: Span) -> Ints:
        return encode(span.slice(text)) + np.int32(span.start)

    spans = list(segments(text, sync))
    if len(spans) == 1:
        pieces: Iterator[Ints] = map(shifted, spans)
        return _joined(pieces)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return _joined(pool.map(shifted, spans))


def _joined(pieces: Iterator[Ints]) -> list[array[int]]:
    whole: list[array[int]] = []
    for piece in pieces:
        whole = whole or [array("i") for _ in piece]
        for column, part in zip(whole, piece, strict=True):
            column.frombytes(part.tobytes())
    return whole
