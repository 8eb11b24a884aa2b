"""Cut along a document's own structure: sections, then blocks, list items, sentences.

Headings stay with what follows them, tables are cut between rows with their header riding along,
code is cut between lines, and neither is cut at all where it fits.
"""

from __future__ import annotations

import re
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
from chunkwise.chunkers.riding import Rider, Riders, header_riders, row_at
from chunkwise.chunkers.sections import merged, sections
from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.spans import pieces
from chunkwise.core.types import Block, Chunk, Document, Span
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
        fence, places = fence_meta(document), outline(document)
        opened = (Rider(one.span, one.opener) for one in fences(document))
        riders = Riders([*header_riders(document), *opened], ruler, budget, reserve, row_at(document))
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
            reserve=riders.reserve,
        )
        cut = cutter(document, budget)
        found = sections(document)
        for part in within:
            belong = (lambda _one, _other: True) if self.siblings else places.heads
            for span in engine.each(merged(pieces(found, part), ruler, budget.room, self.min_size, reserve, belong)):
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
    every = units(document, language)
    single = where(every, lambda place: place not in announced)
    blocks = [level for depth in sorted(nested) for level in among(outside(nested[depth], kept))]
    whole = [
        *among(page_ends(document)),
        *(blocks or [paragraphs(document)]),  # a text without blocks has its blank lines
        *among(outside(groups, kept)),
        where(single, not_inside(kept)) if kept else single,
    ]
    parting = [level for places in (announced, *heading_ends(document), groups) for level in among(places)]
    return whole, [*parting, every]


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
    if before is None or before.kind != "paragraph" or block.kind not in ("list", "code", "table", "quote", "math"):
        return False
    words = before.span.slice(document.text).strip()
    return words.endswith((":", "\uff1a")) or (block.kind in ("table", "code") and _CAPTION.match(words) is not None)
