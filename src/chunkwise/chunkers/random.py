"""Cut at random sizes: for making more training data of a text, not for search."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, ClassVar

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.pack import Packer
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.tokens import DEFAULT_TOKENIZER
from chunkwise.text.words import last_word


@strategy
@dataclass(frozen=True, slots=True)
class Random:
    """Draw every chunk's size from `least` to `size` tokens, and cut before a word. Only for augmenting training data.

    None for `least` is a quarter of the size. A chunk is smaller only at the end, or where a transform needs the room.
    The draw depends on the seed, the document's id and where the chunk starts. `meta["augmentation"]` is True.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    least: Annotated[int | None, Range(16, 256, log=True, least=1)] = None
    seed: Annotated[int, Range(0, 9)] = 0
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    cuts_units: ClassVar[bool] = True

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        cut = cutter(document, budget)
        least = self.least if self.least is not None else self.size // 4

        @lru_cache(maxsize=16)  # a packer asks more than once for the same start
        def unused(start: int) -> int:
            # Seeded with a text, the draw is the same in every process.
            drawn = random.Random(f"{self.seed}/{document.id}/{start}").randint(least, self.size)  # noqa: S311  # no secret
            return max(self.size - drawn, reserve(start))

        engine = Packer(
            document.text,
            self.tokenizer.measure(document.text),
            budget.room,
            whole=(partial(last_word, document.text),),
            reserve=unused,
        )
        for span in engine.each(within):
            yield cut(span, meta={"augmentation": True})
