"""Cut along a document's own structure: sections, then blocks, list items, sentences.

Headings stay with what follows them, tables are cut between rows with their header riding along,
code is cut between lines, and neither is cut at all where it fits.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.fences import fence_meta, fences
from chunkwise.chunkers.levels import (
    Level,
    among,
    heading_ends,
    not_inside,
    outside,
    page_ends,
    paragraph_ends,
    paragraphs,
    solid_blocks,
    units,
    where,
)
from chunkwise.chunkers.pack import fits, packer
from chunkwise.chunkers.riding import Rider, Riders
from chunkwise.core.outline import body, outline
from chunkwise.core.protocols import Budget, Reserve, Ruler, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.spans import gaps
from chunkwise.core.types import Block, Chunk, Document, Span
from chunkwise.text.graphemes import first_ink
from chunkwise.text.tokens import DEFAULT_TOKENIZER

# How a caption begins, in some languages.
_CAPTION = re.compile(
    r"[*_]*(?:table|figure|fig\.|listing|tab\.|tabelle|abbildung|tableau|tabla|tabela|\u8868|\u56fe|\u56f3)\s*\d",
    re.IGNORECASE,
)


@strategy
@dataclass(frozen=True, slots=True)
class Structural:
    """Cut a section at a time; text without headings is one section.

    A section below `min_size` tokens is joined to the one that it is under, or that is under it; with `siblings`
    also to one of the same level. 0 leaves every section alone.
    `fill` is how full a chunk must be for a block's end to be preferred to a sentence's.
    `balance` makes the chunks of a section about even instead of full.
    Front matter becomes metadata and is in no chunk.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    siblings: bool = False
    fill: Annotated[float, Range(0, 0.9, least=0, most=1)] = 0.5
    balance: bool = False
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    @property
    def streamable(self) -> bool:
        """Whether nothing is planned ahead."""
        return not self.balance

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        text = document.text
        budget = Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(text)
        riders = Riders(_riders(document), ruler, budget, reserve, _row_at(document))
        fence = fence_meta(document)
        whole, reluctant = _levels(document, self.language, fits(text, ruler, budget.room))
        engine = packer(
            document,
            budget,
            ruler=ruler,
            whole=whole,
            reluctant=reluctant,
            fill=self.fill,
            min_size=self.min_size,
            balance=self.balance,
            reserve=lambda start: reserve(start) + riders.cost(start),
        )
        cut = cutter(document, budget)
        sections = _sections(document)
        for part in within:
            for section in _merged(self, document, _pieces(sections, part), ruler, reserve):
                for span in engine.pack(*section):
                    yield riders.chunk(cut, span, meta=fence(span))


def _levels(document: Document, language: str, fits: Callable[[Span], bool]) -> tuple[list[Level], list[Level]]:
    """Return the levels whose units stay whole where they fit, and the reluctant ones; each coarse to fine.

    Reluctant are the places after an introduction, after a heading, inside a table or code that fits alone.
    """
    text = document.text
    nested: dict[int, list[int]] = {}
    announced: set[int] = set()
    for before, block in _following(document):
        if _introduces(document, before, block):
            announced.add(block.span.start)
        elif before is None or before.kind != "heading":
            nested.setdefault(0 if block.kind == "heading" else block.level, []).append(block.span.start)
    solid = solid_blocks(document)
    kept = [block.span for block in solid if block.kind != "heading" and fits(block.span)]
    groups = [end for block in solid if block.kind == "code" for end in paragraph_ends(text, *block.span)]
    single = where(units(document, language), lambda place: place not in announced)
    blocks = [level for depth in sorted(nested) for level in among(outside(nested[depth], kept))]
    whole = [
        *among(page_ends(document)),
        *(blocks or [paragraphs(document)]),  # a text without blocks has its blank lines
        *among(outside(groups, kept)),
        where(single, not_inside(kept)) if kept else single,
    ]
    parting = [level for places in (announced, *heading_ends(document), groups) for level in among(places)]
    return whole, [*parting, units(document, language)]


def _riders(document: Document) -> Iterator[Rider]:
    """Yield what rides along with what is cut off from it: with rows their header, with code the line of its fence."""
    blocks = document.blocks
    for block in outline(document).blocks("header"):
        yield Rider(blocks[block.parent].span, block.span)
    for fence in fences(document):
        yield Rider(fence.span, fence.opener)


def _row_at(document: Document) -> Callable[[int], Span | None]:
    """Return a function to the row of a table that holds an offset."""
    rows = [block.span for block in outline(document).blocks("row")]

    def row(start: int) -> Span | None:
        index = bisect_right(rows, (start, len(document.text))) - 1
        return rows[index] if index >= 0 and start < rows[index].end else None

    return row


@lru_cache(maxsize=4)
def _following(document: Document) -> list[tuple[Block | None, Block]]:
    """Return each block that may start a chunk, with the sibling before it."""
    blocks, last = document.blocks, dict[int, Block]()
    found: list[tuple[Block | None, Block]] = []
    for block in blocks:
        if block.kind in ("page", "header", "row"):
            continue
        before = last.get(block.parent)
        opening = Span(blocks[block.parent].span.start, block.span.start) if block.parent >= 0 else None
        # On the first line of the block around it, only that one's mark ("- ") stands before it.
        if before is not None or opening is None or _has_break(opening.slice(document.text)):
            found.append((before, block))
        last[block.parent] = block
    return found


def _has_break(text: str) -> bool:
    return "\n" in text or "\r" in text


def _introduces(document: Document, before: Block | None, block: Block) -> bool:
    """Tell whether a paragraph announces the block after it, as in "For example:", or is its caption.

    The words of an item announce the list in it.
    """
    if block.kind == "list" and block.parent >= 0 and document.blocks[block.parent].kind == "item":
        return True
    announced = (
        before is not None and before.kind == "paragraph" and block.kind in ("list", "code", "table", "quote", "math")
    )
    if before is None or not announced:
        return False
    words = before.span.slice(document.text).strip()
    return words.endswith((":", "\uff1a")) or (block.kind in ("table", "code") and _CAPTION.match(words) is not None)


def _pieces(spans: Sequence[Span], within: Span) -> list[Span]:
    """Return what lies `within` of these spans, which are disjoint and in order."""
    first, last = bisect_right(spans, (within.start, within.start)) - 1, bisect_left(spans, (within.end, within.end))
    pieces = (Span(max(span.start, within.start), min(span.end, within.end)) for span in spans[max(first, 0) : last])
    return [piece for piece in pieces if piece.start < piece.end]


@lru_cache(maxsize=4)
def _sections(document: Document) -> list[Span]:
    """Return the sections of a document, front matter left out; a heading without text joins the next."""
    start, stop = body(document)
    headings = [heading.span for heading in outline(document).headings]
    starts = [start, *(heading.start for heading in headings), stop]
    sections: list[Span] = []
    for i, (start, end) in enumerate(itertools.pairwise(starts)):
        bare = bool(sections) and (
            _is_bare(document, sections[-1], headings) or (i == 1 and _is_noise(document, sections[0]))
        )
        if bare:
            sections[-1] = Span(sections[-1].start, end)
        elif first_ink(document.text, start, end) < end:
            sections.append(Span(start, end))
    return sections


def _is_noise(document: Document, preamble: Span) -> bool:
    """Tell whether the text before the first heading holds rules and comments only."""
    text = document.text
    noise = [
        block.span
        for block in document.blocks
        if block.kind == "rule" or (block.kind == "html" and block.span.slice(text).lstrip().startswith("<!--"))
    ]
    return all(first_ink(text, *gap) == gap.end for gap in gaps(noise, preamble))


def _is_bare(document: Document, section: Span, headings: Sequence[Span]) -> bool:
    """Tell whether a section ends in a heading with nothing under it."""
    index = bisect_right(headings, (section.end - 1, len(document.text))) - 1
    if index < 0 or headings[index].start < section.start:
        return False
    return first_ink(document.text, headings[index].end, section.end) == section.end


def _merged(
    strategy: Structural, document: Document, sections: Sequence[Span], ruler: Ruler, reserve: Reserve
) -> Iterator[Span]:
    """Yield the sections, those below `min_size` joined to the one before while they fit."""
    if not strategy.min_size or not sections:
        yield from sections
        return
    places, room = outline(document), Budget(strategy.size, strategy.tokenizer).room
    group = sections[0]
    for section in sections[1:]:
        small = min(ruler.count(*group), ruler.count(*section)) < strategy.min_size
        joined = Span(group.start, section.end)
        belongs = small and (strategy.siblings or places.is_under(section, group))
        if belongs and ruler.count(*joined) <= room - reserve(joined.start):
            group = joined
        else:
            yield group
            group = section
    yield group
