"""Read plain text and source code: the file as it is. Form feeds part pages."""

from __future__ import annotations

from chunkwise.core.origins import Origin
from chunkwise.core.types import Block, Document, Source, Span
from chunkwise.readers.decode import decode


def read_plain(source: Source) -> Document:
    """Read a text. Where it has form feeds, the parts between them are its pages."""
    text, meta = decode(source)
    return Document(source.id, text, _pages(text), source.media_type, source.location, meta, Origin())


def read_code(source: Source) -> Document:
    """Read source code as one code block."""
    text, meta = decode(source)
    language = source.media_type.removeprefix("text/x-")
    blocks = (Block("code", Span(0, len(text)), label=language),) if text.strip() else ()
    return Document(source.id, text, blocks, source.media_type, source.location, meta, Origin())


def _pages(text: str) -> tuple[Block, ...]:
    if "\f" not in text:
        return ()
    blocks, start = [], 0
    for number, page in enumerate(text.split("\f"), 1):
        # The form feed belongs to the page that it ends.
        end = min(start + len(page) + 1, len(text))
        blocks.append(Block("page", Span(start, end), level=number))
        start = end
    return tuple(block for block in blocks if block.span.length)
