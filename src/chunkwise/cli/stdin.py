"""Standard input, for `chunkwise chunk -`: cut as it comes where the recipe can, else when all of it is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chunkwise.cli.terminal import chunk_fields, fail, say, source_fields

if TYPE_CHECKING:
    from chunkwise.core.protocols import Chunker
    from chunkwise.core.types import Document

PLAIN = "plain"

# In bytes: what is taken at most at once. Less is taken where less has come.
_MOST = 1 << 16


def rows_of_stdin(cut: Chunker, *, id: str, format: str, clean: str | None) -> Iterator[dict[str, Any]]:
    """Yield what is written of the chunks of standard input.

    Plain text is cut as it comes, and not cleaned unless that is asked for; another format when it has ended.
    """
    from chunkwise.chunkers.stream import Stream
    from chunkwise.core.errors import RecipeError
    from chunkwise.readers.decode import decode_pieces

    if format != PLAIN or clean not in (None, "none"):
        say(f"note: {'what is cleaned' if format == PLAIN else format} is cut when all of standard input is read")
        yield from _rows(cut, _document(id, format, clean))
        return
    try:
        stream = Stream(cut, id=id)
    except RecipeError as err:
        say(f"note: all of standard input is read first: {err}")
        yield from _rows(cut, _document(id, format, "none"))
        return
    chunks = stream.over(decode_pieces(_pieces(), id=id))
    yield from (chunk_fields(chunk, index) for index, chunk in enumerate(chunks))


def _rows(cut: Chunker, document: Document) -> Iterator[dict[str, Any]]:
    for index, chunk in enumerate(cut(document)):
        yield {**chunk_fields(chunk, index), **source_fields(chunk, document)}


def _document(id: str, format: str, clean: str | None) -> Document:
    from chunkwise.core.types import Source
    from chunkwise.readers import READERS
    from chunkwise.readers.clean import DEFAULT, cleaned, steps

    known = {found.media_type.rpartition("/")[2].removeprefix("x-"): found for found in READERS.values()}
    if format not in known:
        fail(f"no reader for the format {format!r}; known: {', '.join(sorted(known))}")
    found, wanted = known[format], DEFAULT if clean is None else clean
    steps(wanted)  # what can't be done is told before anything is waited for
    return cleaned(found.reader(Source(id, b"".join(_pieces()), "", found.media_type)), wanted)


def _pieces() -> Iterator[bytes]:
    if sys.stdin is None:
        fail("there is no standard input to read")
    while piece := os.read(sys.stdin.fileno(), _MOST):
        yield piece
