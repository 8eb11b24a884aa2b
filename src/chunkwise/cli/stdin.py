"""Standard input, for `chunkwise chunk -`: cut as it comes where the recipe can, else when all of it is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chunkwise.cli.terminal import fail, say

if TYPE_CHECKING:
    from chunkwise.core.protocols import Chunker
    from chunkwise.core.types import Chunk, Document

PLAIN = "plain"

# In bytes: what is taken at most at once. Less is taken where less has come.
_MOST = 1 << 16


def chunks_of_stdin(cut: Chunker, *, id: str, format: str) -> Iterator[Chunk]:
    """Yield the chunks of standard input: of plain text as it comes, of another format when it has ended."""
    from chunkwise.chunkers.stream import Stream
    from chunkwise.core.errors import RecipeError
    from chunkwise.readers.decode import decode_pieces

    if format != PLAIN:
        say(f"note: {format} is cut when all of standard input is read")
        yield from cut(_document(id, format))
        return
    try:
        stream = Stream(cut, id=id)
    except RecipeError as err:
        say(f"note: all of standard input is read first: {err}")
        yield from cut(_document(id, format))
        return
    yield from stream.over(decode_pieces(_pieces(), id=id))


def _document(id: str, format: str) -> Document:
    from chunkwise.core.types import Source
    from chunkwise.readers import READERS

    known = {found.media_type.rpartition("/")[2].removeprefix("x-"): found for found in READERS.values()}
    if format not in known:
        fail(f"no reader for the format {format!r}; known: {', '.join(sorted(known))}")
    found = known[format]
    return found.reader(Source(id, b"".join(_pieces()), "", found.media_type))


def _pieces() -> Iterator[bytes]:
    if sys.stdin is None:
        fail("there is no standard input to read")
    while piece := os.read(sys.stdin.fileno(), _MOST):
        yield piece
