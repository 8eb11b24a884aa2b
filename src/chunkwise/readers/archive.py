"""Open the archive that an Office file is, after a look at how large it would grow."""

from __future__ import annotations

import io
import struct
import zlib
from zipfile import BadZipFile, ZipFile

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Source

# What opening and unpacking a damaged archive raises.
DAMAGED = (
    *(BadZipFile, zlib.error, struct.error, EOFError),
    *(OSError, ValueError, RuntimeError, LookupError, NotImplementedError),
)
# No Office file has so many parts; a bomb of empty ones has.
_MOST_PARTS = 20_000


def unpacked(source: Source) -> ZipFile:
    """Return the archive in a source; its parts are unpacked when they are read.

    Its directory names the size of each part, and no more than that is ever read of it.
    Raises: ReadError if it is damaged, encrypted, or over its limits.
    """
    try:
        archive = ZipFile(io.BytesIO(source.content))
        parts = archive.infolist()
    except DAMAGED as err:
        raise ReadError(f"{source.id}: a damaged archive ({err}); open it in its program and save it anew") from err
    if any(part.flag_bits & 1 for part in parts):
        raise ReadError(f"{source.id}: an encrypted archive; save it without a password")
    if len(parts) > _MOST_PARTS:
        raise ReadError(f"{source.id}: {len(parts):,} parts in one archive, more than {_MOST_PARTS:,}; not read")
    size, limit = sum(part.file_size for part in parts), source.limits.expanded
    if size > limit:
        raise ReadError(
            f"{source.id}: would grow from {len(source.content):,} to {size:,} bytes, over the limit of {limit:,}; "
            "if it is to be trusted, raise the limit: expanded"
        )
    return archive
