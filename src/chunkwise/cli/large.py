"""Large files of delimited text, and tables on standard input: cut as they are read, with the chunks of the whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chunkwise.chunkers.stream import Stream
    from chunkwise.core.protocols import Chunker
    from chunkwise.core.types import Chunk
    from chunkwise.readers.read import Found, Reading

# In bytes: a smaller file is read whole, which takes less time, and about four times as much memory.
LARGE = 1 << 24
_PIECE = 1 << 16


def is_large_table(file: Found, cut: Chunker, *, reading: Reading) -> bool:
    """Tell whether a file is delimited text that is better cut as it is read, and that can be.

    It is within the limit of size, in UTF-8 throughout or in what its byte order mark says, and holds nothing to be
    cleaned: it is read once for that.
    """
    from chunkwise.core.errors import ReadError
    from chunkwise.readers.clean import DEFAULT, steps
    from chunkwise.readers.decode import decode_pieces, is_utf8
    from chunkwise.readers.read import find_format

    wanted = steps(reading.clean or DEFAULT)
    if wanted and wanted != steps(DEFAULT):
        return False

    try:
        if not LARGE <= os.path.getsize(file.path) <= reading.limits.size:
            return False
        media_type = find_format(file).media_type
        if table_stream(cut, id=file.id, media_type=media_type) is None or not is_utf8(next(_pieces(file), b"")):
            return False
        return _is_clean_text(decode_pieces(_pieces(file), id=file.id), look=bool(wanted))
    except (OSError, ReadError):  # reading it whole will tell
        return False


def _is_clean_text(pieces: Iterable[str], *, look: bool) -> bool:
    """Tell whether a table that comes in pieces is more than white space, and holds no blobs if one is to `look`."""
    from chunkwise.text.blobs import blobs

    inked, line = False, ""
    for piece in pieces:
        inked = inked or not piece.isspace()
        lines = line + piece
        end = lines.rfind("\n") + 1 if look else len(lines)
        if look and blobs(lines[:end]):
            return False
        line = lines[end:]  # in a table no blob goes over the end of a line
    return inked and not (look and blobs(line))


def chunks_of_file(file: Found, cut: Chunker) -> Iterator[Chunk]:
    """Yield the chunks of a file that `is_large_table`."""
    from chunkwise.chunkers.stream import Stream
    from chunkwise.readers.decode import decode_pieces
    from chunkwise.readers.read import find_format

    stream = Stream(cut, id=file.id, media_type=find_format(file).media_type)
    return stream.over(decode_pieces(_pieces(file), id=file.id))


def table_stream(cut: Chunker, *, id: str, media_type: str) -> Stream | None:
    """Return a stream for delimited text; None if that is something else, or can't be cut as it comes."""
    from chunkwise.chunkers.stream import TABLES, Stream
    from chunkwise.core.errors import RecipeError

    if media_type not in TABLES or not cut.streams_tables:
        return None
    try:
        return Stream(cut, id=id, media_type=media_type)
    except RecipeError:  # its tokenizer can't
        return None


def _pieces(file: Found) -> Iterator[bytes]:
    with file.path.open("rb") as content:
        while piece := content.read(_PIECE):
            yield piece
