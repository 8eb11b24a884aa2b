"""Note in chunks what an index needs of their document later, when it assembles evidence or joins neighbours."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chunkwise.chunkers.levels import solid_blocks, unit_ends, without_orphans
from chunkwise.chunkers.riding import header_riders
from chunkwise.core.leaves import leaves
from chunkwise.core.noted import Header, Noted
from chunkwise.core.outline import outline
from chunkwise.core.types import Chunk, Document, Span

# In characters: lines of code are one unit up to a blank line, or as long as they have no more together. So long are
# the sentences of articles (156 in the mean of covidqa); on code it makes units of 27 tokens in the mean. A line alone,
# of 10, says little and shares few words with a question.
_LINES = 150


def with_gaps(chunks: Sequence[Chunk], document: Document) -> tuple[Chunk, ...]:
    """Note in chunks the blank text up to the next one of their level: without it neighbours can't be joined again."""
    before: dict[object, int] = {}
    found = list(chunks)
    for i, chunk in enumerate(chunks):
        if chunk.is_derived:
            continue
        level = chunk.meta.get("level")
        if (last := before.get(level)) is not None:
            gap = document.text[chunks[last].body.end : chunk.own.start]
            if gap and not gap.strip():
                found[last] = replace(Noted.of(chunks[last]), gap=gap).on(chunks[last])
        before[level] = i
    return tuple(found)


def with_units(chunks: Sequence[Chunk], document: Document) -> tuple[Chunk, ...]:
    """Note in chunks that no other is cut from what evidence is made of: their sentences, rows, headers and pages.

    `document` is to have the blocks that the chunker finds.
    Cost: linear; the sentences of the document are those that the chunker has found already, where it looked for all.
    """
    places = _Places(document)
    found = list(chunks)
    for i in leaves(chunks):
        if not chunks[i].is_derived:
            found[i] = places.noted(chunks[i]).on(chunks[i])
    return tuple(found)


def located(chunks: tuple[Chunk, ...], document: Document) -> tuple[Chunk, ...]:
    """Note in chunks where in the raw file they are, if cleaning has moved them: no one can tell later."""
    origin = document.origin
    if not origin:
        return chunks
    return tuple(
        replace(chunk, meta={**chunk.meta, "source_spans": [list(origin.source(*span)) for span in chunk.spans]})
        for chunk in chunks
    )


class _Places:
    """Where in a document units end and pages begin, and which rows are under which header."""

    def __init__(self, document: Document) -> None:
        self._ends = _unit_ends(document)
        self._headers = [Header(rider.span, rider.scope.end) for rider in header_riders(document)]
        self._header_starts = [header.span.start for header in self._headers]
        self._pages = [(page.span.start, page.level) for page in outline(document).blocks("page")]
        self._page_starts = [start for start, _ in self._pages]
        self._origin = document.origin

    def noted(self, chunk: Chunk) -> Noted:
        """Return what is to be noted of a chunk, its gap included."""
        own = chunk.own
        # A chunk of a ladder that is one sentence is that, also where it was too long and has a part of one.
        inside = slice(bisect_right(self._ends, own.start), bisect_left(self._ends, own.end))
        ends = () if chunk.meta.get("sentence") else tuple(self._ends[inside])
        first, last = (bisect_left(self._header_starts, place) for place in own)
        pages = slice(max(bisect_right(self._page_starts, own.start) - 1, 0), bisect_left(self._page_starts, own.end))
        return replace(
            Noted.of(chunk),
            ends=ends,
            headers=tuple(header for header in self._headers[first:last] if header.span.end < own.end) if ends else (),
            pages=tuple(self._pages[pages]) if len(chunk.pages) > 1 else (),
            origin=self._origin.around(*chunk.body) if self._origin else None,
        )


def _unit_ends(document: Document) -> list[int]:
    """Return where sentences and rows end, and groups of lines of code; a heading is with what follows it."""
    headings = [block.span.start for block in solid_blocks(document) if block.kind == "heading" and block.span.start]
    ends = sorted({*unit_ends(document, "auto"), *without_orphans(document, headings)})
    kept, position = list[int](), 0
    for block in solid_blocks(document):
        if block.kind in ("code", "html"):
            first, last = bisect_right(ends, block.span.start), bisect_left(ends, block.span.end)
            kept += ends[position:first]
            kept += _grouped(document.text, block.span, ends[first:last])
            position = last
    return kept + ends[position:]


def _grouped(text: str, block: Span, lines: Sequence[int]) -> Iterator[int]:
    """Yield the ends of lines of code after which another unit begins."""
    start = block.start
    for before, end, after in zip([start, *lines], lines, [*lines[1:], block.end], strict=False):
        if after - start > _LINES or not text[before:end].strip():
            yield end
            start = end
