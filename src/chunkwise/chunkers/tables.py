"""Tables in a document: those that its reader found, those of pipes in its text, and what leads up to one."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from chunkwise.core.outline import open_text, outline, with_blocks
from chunkwise.core.types import Block, Document, Span
from chunkwise.text.graphemes import first_ink, last_ink
from chunkwise.text.logs import is_log
from chunkwise.text.tables import header_start, pipe_tables
from chunkwise.text.words import last_line, last_paragraph

# In characters: a paragraph of one line right before a table that is no longer is its caption.
_LONGEST_CAPTION = 200


class Table(NamedTuple):
    """A table from its heading or caption (`lead`) on; `first` is where its first row starts."""

    lead: int
    start: int
    first: int
    end: int


@lru_cache(maxsize=4)
def with_tables(document: Document) -> Document:
    """Return the document with the tables of pipes that its reader did not find, or not with all of their headers."""
    if "|" not in document.text or (is_plain(document) and is_log(document.text)):
        return document
    document, found = _without_cut_headers(document)
    for start, end in open_text(document):
        for table in pipe_tables(document.text, start, end):
            parent = len(found)
            found.append(Block("table", table.span))
            found.append(Block("header", table.header, level=1, parent=parent))
            found.extend(Block("row", row, level=1, parent=parent) for row in table.rows)
    return with_blocks(document, found)


def is_plain(document: Document) -> bool:
    """Tell whether a text has no blocks but pages and tables, so that its lines are its rows."""
    return all(block.kind in ("page", "table", "header", "row") for block in document.blocks)


def tables(document: Document) -> list[Table]:
    """Return the outermost tables in order."""
    text = document.text
    headers = {block.parent: block.span for block in outline(document).blocks("header")}
    found: list[Table] = []
    for index, block in enumerate(document.blocks):
        floor = found[-1].end if found else 0
        if block.kind == "table" and block.span.start >= floor:
            start, end = block.span
            header = headers.get(index, Span(start, start))
            found.append(Table(lead(document, floor, start), start, first_ink(text, header.end, end), end))
    return found


def _without_cut_headers(document: Document) -> tuple[Document, list[Block]]:
    """Return the document without the tables that have a header of several rows, and these tables, made whole.

    Parsers of Markdown take the row right above the |---| for the header, and those above it for a paragraph.
    """
    text, blocks = document.text, document.blocks
    paragraphs = [block.span for block in blocks if block.kind == "paragraph" and block.parent < 0]
    kept: list[Block] = []
    found: list[Block] = []
    places: dict[int, int] = {-1: -1}  # a block's index -> its index in what is kept, or below -1 in what is found
    for index, block in enumerate(blocks):
        parent, first = places[block.parent], block.span.start
        if block.kind == "table" and block.parent < 0:
            around = bisect_left(paragraphs, block.span) - 1
            if around >= 0 and not text[paragraphs[around].end : first].strip():
                first = header_start(text, paragraphs[around].start, first)
        if first < block.span.start or parent < -1:
            if block.kind == "header":
                first = found[-2 - parent].span.start
            places[index] = -2 - len(found)
            found.append(replace(block, span=Span(first, block.span.end), parent=-2 - parent if parent < -1 else -1))
        else:
            places[index] = len(kept)
            kept.append(replace(block, parent=parent))
    return (replace(document, blocks=tuple(kept)), found) if found else (document, [])


def lead(document: Document, floor: int, table: int) -> int:
    """Return where the caption and the headings right before a table start, else where it does."""
    text, headings = document.text, outline(document).headings
    start, end = table, last_ink(text, floor, table)
    bottom = max(floor, end - _LONGEST_CAPTION)
    line = last_line(text, bottom, end) or bottom
    after_break = last_paragraph(text, max(floor, line - 2), line) == line
    alone = line == 0 or (line > bottom and after_break) or line == floor
    if end > floor and alone and text[end:table].count("\n") <= 2:
        start = first_ink(text, line, end)
    index = bisect_left(headings, start, key=lambda heading: heading.span.start) - 1
    while index >= 0 and (span := headings[index].span).start >= floor and not text[span.end : start].strip():
        start, index = span.start, index - 1
    return start
