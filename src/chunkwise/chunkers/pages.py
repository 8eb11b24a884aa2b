"""Cut at pages; one that does not fit is cut at paragraphs, then sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import outside, paragraphs, units
from chunkwise.chunkers.pack import packer
from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Reserve, Ruler, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.spans import pieces
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.tokens import DEFAULT_TOKENIZER


@strategy
@dataclass(frozen=True, slots=True)
class Pages:
    """Put up to `max_pages` whole pages in a chunk. Text without pages is one page.

    A page over `size` shares no chunk with another. `min_size` is the fewest tokens that its last chunk should have.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    max_pages: Annotated[int, Range(1, 8, least=1)] = 1
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(document.text)
        cut = cutter(document, budget)
        engine = packer(
            document,
            budget,
            ruler=ruler,
            whole=[paragraphs(document), units(document, self.language)],
            reserve=reserve,
            min_size=self.min_size,
        )
        pages = _pages(document)
        for part in within:
            for span in engine.each(self._groups(pieces(pages, part), ruler, budget.room, reserve)):
                yield cut(span)

    def _groups(self, pages: Sequence[Span], ruler: Ruler, room: int, reserve: Reserve) -> Iterator[Span]:
        """Yield as many pages at a time as are allowed and fit."""
        start, n_pages = 0, 0
        for i, page in enumerate(pages):
            first = pages[start].start
            if n_pages and (n_pages == self.max_pages or ruler.count(first, page.end) > room - reserve(first)):
                yield Span(first, page.start)
                start, n_pages = i, 0
            n_pages += 1
        if pages:
            yield Span(pages[start].start, pages[-1].end)


def _pages(document: Document) -> list[Span]:
    """Return the pages as a partition of the text; a row that goes over the end of one is not cut there."""
    found = outline(document)
    rows = [row.span for row in found.blocks("row")]
    starts = outside((page.span.start for page in found.blocks("page")), rows)
    edges = sorted({0, *starts, len(document.text)})
    return [Span(start, end) for start, end in pairwise(edges)]
