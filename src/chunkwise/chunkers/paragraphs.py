"""Group whole paragraphs up to `size` tokens; one that does not fit is cut at sentences or lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import paragraph_ends, paragraphs, parts, units, without_orphans
from chunkwise.chunkers.pack import packer
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document, Span
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

    @property
    def streamable(self) -> bool:
        """Whether nothing is counted from the start or planned ahead."""
        return not self.balance and self.max_paragraphs is None

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        cut = cutter(document, budget)
        engine = packer(
            document,
            budget,
            ruler=self.tokenizer.measure(document.text),
            whole=[paragraphs(document), units(document, self.language)],
            reserve=reserve,
            fill=0,
            min_size=self.min_size,
            balance=self.balance,
        )
        for span in engine.each(parts(document, within, partial(_ends, document), self.max_paragraphs)):
            yield cut(span)


def _ends(document: Document) -> list[int]:
    return without_orphans(document, paragraph_ends(document.text))
