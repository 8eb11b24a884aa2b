"""The file of a PDF: opened with its password, its metadata, its outline and the names of its pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Source
from chunkwise.readers.pdf.headings import Entry

_KEYS = {"Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords"}
# What programs write where nobody gave a name.
_UNNAMED = frozenset(["untitled", "anonymous", "unspecified", "unknown", "(anonymous)", "(unspecified)"])
_DATE = re.compile(
    r"D?:?(?P<digits>\d{4}(?:\d\d){0,5})(?:(?P<zone>Z)|(?P<sign>[+-])(?P<hours>\d\d)'?(?P<minutes>\d\d)?)?"
)
# No more bookmarks are read, and none that are nested deeper.
_MOST_ENTRIES, _DEEPEST = 20_000, 15


def opened(source: Source) -> Any:
    """Open a PDF; the caller closes it.

    Raises: ReadError for a damaged file, a missing or wrong password, and too many pages.
    """
    try:
        file = _loaded(source.content, source.password)
    except pypdfium2.PdfiumError as err:
        raise ReadError(_refusal(source, err)) from err
    n_pages = len(file)
    if 0 < n_pages <= source.limits.pages:
        return file
    file.close()
    if n_pages:
        raise ReadError(
            f"{source.id}: {n_pages} pages are more than the limit of {source.limits.pages}; split the file"
        )
    raise ReadError(f"{source.id}: damaged: no page of it can be found; save it anew with the program that made it")


def _loaded(content: bytes, password: str) -> Any:
    """Open a PDF, also without the password: that of a batch is meant for others of its files."""
    try:
        return pypdfium2.PdfDocument(content, password=password or None)
    except pypdfium2.PdfiumError as err:
        if not password or err.err_code != pdfium.FPDF_ERR_PASSWORD:
            raise
    return pypdfium2.PdfDocument(content)


def metadata(file: Any) -> dict[str, object]:
    """Return title, author, subject, keywords and the ISO date of creation, as far as the file names them."""
    found: dict[str, object] = {}
    for key, name in _KEYS.items():
        value = " ".join(file.get_metadata_value(key).replace("\0", "").split())
        if value and value.lower() not in _UNNAMED:
            found[name] = value
    if date := _date(file.get_metadata_value("CreationDate")) or _date(file.get_metadata_value("ModDate")):
        found["date"] = date
    return found


def outline(file: Any) -> list[Entry]:
    """Return the bookmarks in order; those that lead to no page are left out."""
    entries: list[Entry] = []
    for bookmark in file.get_toc(max_depth=_DEEPEST):
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        title = " ".join(bookmark.get_title().replace("\0", "").split())
        if page is not None and title:
            entries.append(Entry(title, bookmark.level + 1, page))
        if len(entries) == _MOST_ENTRIES:
            break
    return entries


def labels(file: Any) -> dict[int, str]:
    """Return the names of the pages, by their place from 0, that are not their numbers."""
    names = {number: file.get_page_label(number).strip() for number in range(len(file))}
    return {number: name for number, name in names.items() if name not in ("", str(number + 1))}


def _refusal(source: Source, err: pypdfium2.PdfiumError) -> str:
    if err.err_code == pdfium.FPDF_ERR_PASSWORD:
        if source.password:
            return f"{source.id}: the password is wrong; give the right one with --password or CHUNKWISE_PASSWORD"
        return f"{source.id}: encrypted; give its password with --password or CHUNKWISE_PASSWORD"
    if err.err_code == pdfium.FPDF_ERR_SECURITY:
        return f"{source.id}: encrypted in a way that is not supported; save it without encryption"
    return f"{source.id}: no PDF, or damaged; save it anew with the program that made it"


def _date(text: str) -> str:
    """Return a date of PDF as ISO 8601 writes it, or nothing."""
    match = _DATE.match(text.strip())
    if match is None:
        return ""
    digits = match["digits"]
    parts = [int(digits[:4]), *(int(digits[place : place + 2]) for place in range(4, len(digits), 2))]
    zone = None
    if match["zone"]:
        zone = UTC
    elif match["sign"]:
        offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
        zone = timezone(-offset if match["sign"] == "-" else offset) if offset < timedelta(days=1) else None
    try:
        date = datetime(*[*parts, 1, 1][: max(3, len(parts))], tzinfo=zone)  # type: ignore[arg-type,misc]  # whole parts
    except ValueError:
        return ""
    return date.isoformat() if len(parts) > 3 else date.date().isoformat()
