"""Read PDF: the text layer in reading order, with headings, paragraphs, lists, tables, code and pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pypdfium2

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Source
from chunkwise.readers.pdf.aligned import Table
from chunkwise.readers.pdf.file import labels, metadata, opened, outline
from chunkwise.readers.pdf.headings import outline_lines, with_headings
from chunkwise.readers.pdf.lines import Line, joined_rows, page_lines
from chunkwise.readers.pdf.order import in_reading_order
from chunkwise.readers.pdf.paragraphs import body_of
from chunkwise.readers.pdf.pieces import pieces
from chunkwise.readers.pdf.repeated import Edge, edges, repeated
from chunkwise.readers.pdf.ruled import replaced, ruled_tables
from chunkwise.readers.pdf.words import page_words
from chunkwise.readers.pdf.write import write

# A page with a larger share of characters without a meaning has a font that does not tell what its glyphs are.
_MOST_UNKNOWN = 0.3
_UNKNOWN = re.compile(r"[\ue000-\uf8ff\ufffd]")
# In a message: pages that are named one by one.
_MOST_NAMED = 8


def read_pdf(source: Source) -> Document:
    """Read a PDF by its text layer.

    `meta` has its title, author, date and pages; what was left out is under `left_out`, and what a person should know,
    as of pages without text, under `warnings`.
    Raises: ReadError for a damaged file, a missing or wrong password, too many pages, and for scans without text.
    """
    file = opened(source)
    try:
        read = _Pages()
        for number in range(len(file)):
            _read_page(file, number, read)
        if not any(read.lines) and read.textless:
            raise ReadError(
                f"{source.id}: no text layer in its {len(file)} page{'s' * (len(file) != 1)} (a scan?). "
                "Pass it through OCR first, or skip it with --on-error skip"
            )
        return _document(source, file, read)
    finally:
        file.close()


@dataclass(slots=True)
class _Pages:
    """What was found on the pages so far. Lists of numbers are of pages, from 0."""

    lines: list[list[Line]] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    tables: dict[tuple[int, float, float], Table] = field(default_factory=dict)
    n_outside: int = 0
    blank: list[int] = field(default_factory=list)
    textless: list[int] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)


def _read_page(file: Any, number: int, read: _Pages) -> None:
    """Add the lines of a page; one that PDFium can't load is noted as damaged."""
    page = textpage = None
    try:
        page = file[number]
        textpage = page.get_textpage()
        _read_text(page, textpage, number, read)
    except pypdfium2.PdfiumError:  # of this page alone; the others may be sound
        read.damaged.append(number)
        read.lines.append([])
    finally:
        for part in (textpage, page):
            if part is not None:
                part.close()


def _read_text(page: Any, textpage: Any, number: int, read: _Pages) -> None:
    found = page_words(textpage, page.get_bbox())
    words = found.words
    read.n_outside += found.n_outside
    if not words:
        (read.textless if any(page.get_objects(max_depth=1)) else read.blank).append(number)
    if words and not found.turned and (tables := ruled_tables(page, words)):
        words = replaced(words, tables)
        read.tables |= {(number, table.box[3], table.box[1]): table.table for table in tables}
    lines = page_lines(textpage, words, number)
    if _is_unknown(lines):
        read.unknown.append(number)
    if 2 * sum(line.right_to_left for line in lines) > len(lines):
        lines = [_mirrored(line) for line in lines]
    read.lines.append(lines)
    read.edges += edges(lines, found.bounds[1], found.bounds[3])


def _document(source: Source, file: Any, read: _Pages) -> Document:
    gone, left_out = repeated(read.edges, len(file))
    if all(
        (line.page, line.row) in gone for lines in read.lines for line in lines
    ):  # labels, tickets: no text but that
        gone, left_out = set(), []
    pages = [
        joined_rows(in_reading_order([line for line in lines if (line.page, line.row) not in gone]))
        for lines in read.lines
    ]
    body, entries = body_of(pages), outline(file)
    found = pieces(pages, body, outline_lines(entries, pages), read.tables)
    with_headings(found, entries, body)
    if read.n_outside:
        left_out.append(f"{read.n_outside} words outside the edges of their pages")
    meta = metadata(file) | {"n_pages": len(file)}
    if left_out:
        meta["left_out"] = left_out
    if warnings := _warnings(read):
        meta["warnings"] = warnings
    return write(found, labels(file)).document(source, meta)


def _mirrored(line: Line) -> Line:
    """Turn left and right around, so that the line runs as others do."""
    return line._replace(left=-line.right, right=-line.left)


def _is_unknown(lines: Sequence[Line]) -> bool:
    """Tell whether most characters are of private use, or replaced because nothing tells what they are."""
    text = "".join(line.text for line in lines)
    return len(_UNKNOWN.findall(text)) > _MOST_UNKNOWN * len(text)


def _warnings(read: _Pages) -> list[str]:
    told = (
        (read.textless, "no text layer (a scan?)"),
        (read.blank, "no extractable text"),
        (read.damaged, "damaged, and left out"),
        (read.unknown, "fonts that do not tell what their characters are: the text can't be read"),
    )
    return [f"{_named(numbers)}: {words}" for numbers, words in told if numbers]


def _named(numbers: Sequence[int]) -> str:
    names = ", ".join(str(number + 1) for number in numbers[:_MOST_NAMED])
    more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
    return f"page{'s' * (len(numbers) != 1)} {names}{more}"
