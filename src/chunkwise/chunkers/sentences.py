"""Group whole sentences up to `size` tokens; rows and lines of code count as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import parts, unit_ends, units
from chunkwise.chunkers.pack import packer
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.tokens import DEFAULT_TOKENIZER


@strategy
@dataclass(frozen=True, slots=True)
class Sentences:
    """Group whole sentences. Only one that alone is over `size` is cut.

    `max_sentences` bounds the sentences of a chunk; None sets no bound.
    `balance` makes chunks about even instead of full.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    max_sentences: Annotated[int | None, Range(1, 20, least=1)] = None
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    balance: bool = False
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    @property
    def streamable(self) -> bool:
        """Whether nothing is counted from the start or planned ahead."""
        return not self.balance and self.max_sentences is None

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        cut = cutter(document, budget)
        engine = packer(
            document,
            budget,
            ruler=self.tokenizer.measure(document.text),
            whole=[units(document, self.language)],
            reserve=reserve,
            min_size=self.min_size,
            balance=self.balance,
        )
        for span in engine.each(
            parts(document, within, partial(unit_ends, document, self.language), self.max_sentences)
        ):
            yield cut(span)
