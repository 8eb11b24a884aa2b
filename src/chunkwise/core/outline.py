"""Where in a document a position stands: under which headings, on which pages."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from chunkwise.core.cells import hull, place_of, sheet_prefix
from chunkwise.core.spans import gaps
from chunkwise.core.types import Block, BlockKind, Document, Drop, Span

# The blocks that a reader of sheets labels with the cells that they fill.
_IN_CELLS: tuple[BlockKind, ...] = ("header", "row", "paragraph")


class Outline:
    """The blocks of one document by kind, and its headings and pages, looked up by offset in O(log n)."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._kinds: dict[str, list[Block]] = {}
        for block in document.blocks:
            self._kinds.setdefault(block.kind, []).append(block)
        # A heading inside a quote or a list heads nothing outside it.
        self.headings = [block for block in self.blocks("heading") if block.parent < 0]
        self._starts = [heading.span.start for heading in self.headings]
        self._paths: list[tuple[Block, ...]] = []
        path: tuple[Block, ...] = ()
        for heading in self.headings:
            path = (*(above for above in path if above.level < heading.level), heading)
            self._paths.append(path)
        self._pages = self.blocks("page")
        self._page_starts = [page.span.start for page in self._pages]
        self._page_ends = [page.span.end for page in self._pages]
        self._rows = [block for block in document.blocks if block.label and _fills_cells(block)]
        self._row_starts = [row.span.start for row in self._rows]
        self._row_ends = [row.span.end for row in self._rows]

    def blocks(self, *kinds: BlockKind) -> list[Block]:
        """Return the blocks of these kinds, in document order; the outer one first of two that start together."""
        found = [block for kind in kinds for block in self._kinds.get(kind, ())]
        return sorted(found, key=lambda block: (block.span.start, -block.span.end)) if len(kinds) > 1 else found

    def path(self, offset: int) -> tuple[Block, ...]:
        """Return the headings over `offset`, outermost first. A heading stands under itself."""
        index = bisect_right(self._starts, offset) - 1
        return self._paths[index] if index >= 0 else ()

    def path_of(self, span: Span) -> tuple[Block, ...]:
        """Return the headings over the first text of `span` that is no heading.

        A span of headings alone stands under the last of them.
        """
        position = span.start
        for index in range(bisect_left(self._starts, position), len(self.headings)):
            heading = self.headings[index]
            if heading.span.start >= span.end or self._text[position : heading.span.start].strip():
                break
            position = heading.span.end
        # The end of a heading's line still stands under it; the next text does so too.
        return self.path(max(span.start, position - 1))

    def titles_of(self, span: Span) -> tuple[str, ...]:
        """Return the titles of the headings over the first text of `span`."""
        return tuple(heading.label for heading in self.path_of(span) if heading.label) if self.headings else ()

    def heads(self, group: Span, section: Span) -> bool:
        """Tell whether every heading in `group` is of a higher level than the first one of the `section` after it."""
        first, last = bisect_left(self._starts, group.start), bisect_left(self._starts, section.start)
        own = self.headings[last].level if last < len(self.headings) else 0
        return all(heading.level < own for heading in self.headings[first:last])

    def above(self, offset: int) -> tuple[Block, ...]:
        """Return the headings over `offset` that begin before it."""
        return tuple(heading for heading in self.path(offset) if heading.span.start < offset)

    def pages(self, span: Span) -> tuple[int, ...]:
        """Return the numbers of the pages that `span` touches."""
        if not self._pages:
            return ()
        first = bisect_right(self._page_ends, span.start)
        last = bisect_left(self._page_starts, span.end)
        return tuple(page.level for page in self._pages[first:last])

    def cells(self, span: Span) -> str:
        """Return the range of cells of the rows that `span` touches, as in `Orders!A2:H40`; one for each sheet.

        It is empty where no reader labelled rows.
        """
        if not self._rows:
            return ""
        first, last = bisect_right(self._row_ends, span.start), bisect_left(self._row_starts, span.end)
        found: dict[str, list[str]] = {}
        for row in self._rows[first:last]:
            page = bisect_right(self._page_starts, row.span.start) - 1
            found.setdefault(self._pages[page].label if page >= 0 else "", []).append(row.label)
        return ", ".join(f"{sheet_prefix(sheet)}{hull(labels)}" for sheet, labels in found.items())


def _fills_cells(block: Block) -> bool:
    return block.kind in _IN_CELLS and place_of(block.label.partition(":")[0]) is not None


@lru_cache(maxsize=4)
def outline(document: Document) -> Outline:
    """Return the outline of a document. The last few are kept."""
    return Outline(document)


def front_matter(document: Document) -> list[Drop]:
    """Return the front matter, which is metadata and belongs in no chunk."""
    found = outline(document).blocks("front_matter")
    return [Drop(block.span, "front matter, kept as metadata") for block in found]


def body(document: Document) -> Span:
    """Return the text without the front matter before it."""
    return Span(max((drop.span.end for drop in front_matter(document)), default=0), len(document.text))


def open_text(document: Document) -> list[Span]:
    """Return where blocks may be found that no reader found: paragraphs, or all of a text that has pages only."""
    if all(block.kind == "page" for block in document.blocks):
        return [body(document)]
    return [block.span for block in document.blocks if block.kind == "paragraph" and block.parent < 0]


def with_blocks(document: Document, found: Sequence[Block]) -> Document:
    """Return the document with blocks more, which lie in its `open_text`; the paragraphs there are parted by them.

    A block's `parent` is an index in `found`, or -1.
    """
    if not found:
        return document
    own = len(document.blocks)
    moved = (replace(block, parent=block.parent + own if block.parent >= 0 else -1) for block in found)
    outer = sorted(block.span for block in found if block.parent < 0)
    entries: list[tuple[Span, int, Block]] = []  # the outermost block's span, the block's number, itself
    roots: list[Span] = []
    for number, block in enumerate([*document.blocks, *moved]):
        roots.append(roots[block.parent] if block.parent >= 0 else block.span)
        if number < own and block.kind == "paragraph" and block.parent < 0:
            first, last = (bisect_left(outer, (place, 0)) for place in block.span)
            rest = [gap for gap in gaps(outer[first:last], block.span) if gap.slice(document.text).strip()]
            entries += [(gap, number, replace(block, span=gap)) for gap in rest]
        else:
            entries.append((roots[-1], number, block))
    entries.sort(key=lambda entry: (entry[0].start, -entry[0].end, entry[1]))
    place = {number: i for i, (_, number, _) in enumerate(entries)} | {-1: -1}
    blocks = tuple(replace(block, parent=place.get(block.parent, -1)) for *_, block in entries)
    return replace(document, blocks=blocks)
