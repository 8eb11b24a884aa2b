"""Where the character of a byte is: parsers count bytes of UTF-8, everything here code points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def offsets(text: str) -> Callable[[int], int]:
    """Return a function from offsets in bytes of UTF-8 to offsets in code points.

    A lone surrogate counts as the three bytes of what replaces it. Memory: 8 bytes a byte; none for ASCII.
    """
    if text.isascii():
        return int
    content = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    points = np.concatenate(([0], np.cumsum((content & 0xC0) != 0x80)))
    return lambda offset: int(points[offset])
