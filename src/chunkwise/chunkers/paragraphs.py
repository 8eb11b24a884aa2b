"""Group whole paragraphs up to `size` tokens; one that does not fit is cut at sentences or lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import (
    among,
    every,
    heading_ends,
    in_code,
    last_resorts,
    paragraph_ends,
    paragraphs,
    units,
    without_orphans,
)
from chunkwise.chunkers.pack import Packer
from chunkwise.core.outline import body
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document
from chunkwise.text.tokens import DEFAULT_TOKENIZER


@strategy
@dataclass(frozen=True, slots=True)
class Paragraphs:
    """Group whole paragraphs, which blank lines part. Only one that alone is over `size` is cut.

    `max_paragraphs` bounds the paragraphs of a chunk, a heading and what follows it being one; None sets no bound.
    `balance` makes chunks about even instead of full.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    max_paragraphs: Annotated[int | None, Range(1, 10, least=1)] = None
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    balance: bool = False
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def __call__(self, document: Document, reserve: Reserve = no_reserve) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        cut = cutter(document, budget)
        text = document.text
        packer = Packer(
            text,
            self.tokenizer.measure(text),
            budget.room,
            whole=[paragraphs(document), units(document, self.language)],
            reluctant=[level for ends in heading_ends(document) for level in among(ends)],
            last_resorts=last_resorts(text),
            fill=0,
            min_size=self.min_size,
            balance=self.balance,
            reserve=reserve,
            keeps_indent=in_code(document),
        )
        start, stop = body(document)
        ends = without_orphans(document, paragraph_ends(text)) if self.max_paragraphs else ()
        for end in [*every(document, ends, self.max_paragraphs or 0), stop]:
            for span in packer.pack(start, end):
                yield cut(span)
            start = end
