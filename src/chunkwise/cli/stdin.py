"""Standard input, for `chunkwise chunk -`: cut as it comes where the recipe can, else when all of it is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from chunkwise.cli.large import table_stream
from chunkwise.cli.terminal import chunk_fields, fail, say, source_fields

if TYPE_CHECKING:
    from chunkwise.core.protocols import Chunker
    from chunkwise.core.types import Document
    from chunkwise.readers import Format

PLAIN = "plain"

# In bytes: what is taken at most at once. Less is taken where less has come.
_MOST = 1 << 16


def rows_of_stdin(cut: Chunker, *, id: str, format: str, clean: str | None) -> Iterator[dict[str, Any]]:
    """Yield what is written of the chunks of standard input.

    Plain text and tables are cut as they come where the recipe can, and then not cleaned unless that is asked for;
    what is of another format, or to be cleaned, is cut when it has ended.
    """
    from chunkwise.readers.clean import steps

    steps(clean or "none")  # what can't be done is told before anything is waited for
    if clean not in (None, "none"):
        say("note: what is cleaned is cut when all of standard input is read")
        yield from _rows(cut, _document(id, format, clean, _pieces()))
    elif format == PLAIN:
        yield from _rows_of_text(cut, id)
    else:
        yield from _rows_of_format(cut, id, format, clean)


def _rows_of_text(cut: Chunker, id: str) -> Iterator[dict[str, Any]]:
    """Yield what is written of plain text, as it comes where the recipe can."""
    from chunkwise.chunkers.stream import Stream
    from chunkwise.core.errors import RecipeError
    from chunkwise.readers.decode import decode_pieces

    try:
        stream = Stream(cut, id=id)
    except RecipeError as err:
        say(f"note: all of standard input is read first: {err}")
        yield from _rows(cut, _document(id, PLAIN, "none", _pieces()))
        return
    chunks = stream.over(decode_pieces(_pieces(), id=id))
    yield from (chunk_fields(chunk, index) for index, chunk in enumerate(chunks))


def _rows_of_format(cut: Chunker, id: str, format: str, clean: str | None) -> Iterator[dict[str, Any]]:
    """Yield what is written of a format; of a long table in UTF-8 as it comes."""
    from chunkwise.readers.decode import decode_pieces, is_utf8
    from chunkwise.readers.tabular import SAMPLE

    stream = table_stream(cut, id=id, media_type=_format(format).media_type)
    if stream is None:
        say(f"note: {format} is cut when all of standard input is read")
        yield from _rows(cut, _document(id, format, clean, _pieces()))
        return
    coming, head = _pieces(), b""
    while len(head) <= SAMPLE and (piece := next(coming, None)) is not None:
        head += piece  # what is shorter need not be in UTF-8
    if len(head) > SAMPLE and is_utf8(head):
        chunks = stream.over(decode_pieces(chain([head], coming), id=id))
        yield from (chunk_fields(chunk, index) for index, chunk in enumerate(chunks))
        return
    yield from _rows(cut, _document(id, format, "none", chain([head], coming)))


def _rows(cut: Chunker, document: Document) -> Iterator[dict[str, Any]]:
    for index, chunk in enumerate(cut(document)):
        yield {**chunk_fields(chunk, index), **source_fields(chunk, document)}


def _document(id: str, format: str, clean: str | None, pieces: Iterable[bytes]) -> Document:
    from chunkwise.core.types import Source
    from chunkwise.readers.clean import DEFAULT, cleaned

    found = _format(format)
    return cleaned(found.reader(Source(id, b"".join(pieces), "", found.media_type)), clean or DEFAULT)


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
