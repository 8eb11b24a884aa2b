"""Cut at paragraphs; where one does not fit at sentences or lines, then clauses, words, graphemes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import (
    among,
    heading_ends,
    in_code,
    last_resorts,
    page_ends,
    paragraphs,
    units,
)
from chunkwise.chunkers.pack import Packer
from chunkwise.core.outline import body
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document
from chunkwise.text.tokens import DEFAULT_TOKENIZER


@strategy
@dataclass(frozen=True, slots=True)
class Recursive:
    """Fill chunks up to `size` tokens, preferring coarse boundaries. Sections may share a chunk.

    `fill` is how full a chunk must be for a paragraph's end to be preferred to a sentence's;
    0 never cuts a paragraph that fits. In code and tables, lines and rows stand in for sentences.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    fill: Annotated[float, Range(0, 0.9, least=0, most=1)] = 0.5
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def __call__(self, document: Document, reserve: Reserve = no_reserve) -> Iterator[Chunk]:
        text = document.text
        budget = Budget(self.size, self.tokenizer)
        cut = cutter(document, budget)
        packer = Packer(
            text,
            self.tokenizer.measure(text),
            budget.room,
            whole=[*among(page_ends(document)), paragraphs(document), units(document, self.language)],
            reluctant=[level for ends in heading_ends(document) for level in among(ends)],
            last_resorts=last_resorts(text),
            fill=self.fill,
            min_size=self.min_size,
            reserve=reserve,
            keeps_indent=in_code(document),
        )
        for span in packer.pack(*body(document)):
            yield cut(span)
