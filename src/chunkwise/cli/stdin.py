"""Standard input, for `chunkwise chunk -`: cut as it comes where the recipe can, else when all of it is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from chunkwise.cli.large import table_stream
from chunkwise.cli.terminal import fail, say

if TYPE_CHECKING:
    from chunkwise.core.protocols import Chunker
    from chunkwise.core.types import Chunk, Document
    from chunkwise.readers import Format

PLAIN = "plain"

# In bytes: what is taken at most at once. Less is taken where less has come.
_MOST = 1 << 16


def chunks_of_stdin(cut: Chunker, *, id: str, format: str) -> Iterator[Chunk]:
    """Yield the chunks of standard input: of plain and delimited text as it comes, of others when it has ended."""
    from chunkwise.chunkers.stream import Stream
    from chunkwise.core.errors import RecipeError
    from chunkwise.readers.decode import decode_pieces

    if format != PLAIN:
        yield from _chunks_of(cut, id, format)
        return
    try:
        stream = Stream(cut, id=id)
    except RecipeError as err:
        say(f"note: all of standard input is read first: {err}")
        yield from cut(_document(id, format, _pieces()))
        return
    yield from stream.over(decode_pieces(_pieces(), id=id))


def _chunks_of(cut: Chunker, id: str, format: str) -> Iterator[Chunk]:
    """Yield the chunks of a format; of a long table in UTF-8 as it comes."""
    from chunkwise.readers.decode import decode_pieces, is_utf8
    from chunkwise.readers.tabular import SAMPLE

    stream = table_stream(cut, id=id, media_type=_format(format).media_type)
    coming, head = _pieces(), b""
    while len(head) <= SAMPLE and stream is not None and (piece := next(coming, None)) is not None:
        head += piece  # what is shorter need not be in UTF-8
    if stream is not None and len(head) > SAMPLE and is_utf8(head):
        yield from stream.over(decode_pieces(chain([head], coming), id=id))
        return
    if stream is None:
        say(f"note: {format} is cut when all of standard input is read")
    yield from cut(_document(id, format, chain([head], coming)))


def _document(id: str, format: str, pieces: Iterable[bytes]) -> Document:
    from chunkwise.core.types import Source

    found = _format(format)
    return found.reader(Source(id, b"".join(pieces), "", found.media_type))


def _format(name: str) -> Format:
    from chunkwise.readers import READERS

    known = {found.media_type.rpartition("/")[2].removeprefix("x-"): found for found in READERS.values()}
    if name not in known:
        fail(f"no reader for the format {name!r}; known: {', '.join(sorted(known))}")
    return known[name]


def _pieces() -> Iterator[bytes]:
    if sys.stdin is None:
        fail("there is no standard input to read")
    while piece := os.read(sys.stdin.fileno(), _MOST):
        yield piece
