"""Between strings and UTF-8: what can't be encoded, and where a byte's character is."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer or parser takes, by one character each."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def offsets(text: str) -> Callable[[int], int]:
    """Return a function from offsets in bytes of UTF-8 to offsets in code points.

    A lone surrogate counts as the three bytes of what replaces it. Memory: 8 bytes a byte; none for ASCII.
    """
    if text.isascii():
        return int
    content = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    points = np.concatenate(([0], np.cumsum((content & 0xC0) != 0x80)))
    return lambda offset: int(points[offset])
