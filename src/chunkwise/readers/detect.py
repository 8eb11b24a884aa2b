"""Tell a file's format by its name and by how its bytes begin; where they disagree, the bytes are right."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import ZipFile

from chunkwise.core.errors import ReadError
from chunkwise.readers import READERS, TEXT, Format
from chunkwise.readers.archive import DAMAGED

# In bytes: how far into a file its signature may stand. Source: PDF 1.7, implementation note 13: 1,024.
HEAD = 1024

_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--.{0,500}?-->\s*+)?<(?:!doctype\s+html|html)\b", re.I | re.S
)
# What an archive holds if it is one of these.
_PARTS = {
    "word/document.xml": ".docx",
    "ppt/presentation.xml": ".pptx",
    "xl/workbook.xml": ".xlsx",
    "xl/workbook.bin": ".xlsb",
}
_LONGEST_TYPE = 100  # in bytes
_MIME_TYPES = {b"application/vnd.oasis.opendocument.spreadsheet": ".ods"}


def format_of(path: Path, head: bytes, *, id: str) -> Format:
    """Return the format of a file, called `id` in errors, whose first `HEAD` bytes are `head`.

    Raises: ReadError if it is of a binary format that is not read, or not of the format that its name says.
    """
    suffix = path.suffix.lower()
    named = READERS.get(suffix)
    if b"%PDF-" in head and (head.startswith(b"%PDF-") or _is_binary(named)):
        return READERS[".pdf"]
    if head.startswith(b"PK\x03\x04"):
        return _archived(path, named, id)
    if head.startswith(_OLE2):
        return _compound(named, id)
    if (named is None or _is_binary(named)) and _HTML.match(head):
        return READERS[".html"]  # what a server sent instead, or a page that a program saved as a sheet
    if _is_binary(named):
        raise ReadError(_mistaken(path, head, id))
    return named or TEXT


def _is_binary(named: Format | None) -> bool:
    """Tell whether a format has a signature that is known here: so have all that this package reads but texts."""
    return named is not None and named.place.startswith(".") and not named.media_type.startswith("text/")


def _archived(path: Path, named: Format | None, id: str) -> Format:
    """Return the format of what is in an archive; that of its name if the archive is damaged or says nothing."""
    try:
        with ZipFile(path) as archive:
            names = set(archive.namelist())
            declared = archive.open("mimetype").read(_LONGEST_TYPE) if "mimetype" in names else b""
    except DAMAGED:  # its reader will say what is wrong
        names, declared = set(), b""
    suffix = next((suffix for part, suffix in _PARTS.items() if part in names), _MIME_TYPES.get(declared.strip()))
    if suffix is not None:
        return READERS[suffix]
    if named is None or not _is_binary(named):
        raise ReadError(f"{id}: an archive; unpack it first")
    return named


def _compound(named: Format | None, id: str) -> Format:
    """Return the format of a compound file: an old one of Office, or an encrypted new one."""
    if named is not None and _is_binary(named):
        return named
    raise ReadError(
        f"{id}: an old Office file, or an encrypted one; save it as .docx, .pptx or .xlsx without a password"
    )


def _mistaken(path: Path, head: bytes, id: str) -> str:
    if not head.strip():
        return f"{id}: empty"
    kind = path.suffix.lower().lstrip(".").upper()
    return f"{id}: no {kind} file, whatever its name says: it begins with {head[:16]!r}"
