"""Cut smaller where a text is dense with numbers, names and long words, larger where it is thin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import among, page_ends, paragraphs, units
from chunkwise.chunkers.pack import packer
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.density import density
from chunkwise.text.tokens import DEFAULT_TOKENIZER

# A text is thin, or dense, where so large a share of its words tell something. Source: of stretches of 1,000
# characters, 5 % of a president's speech are below the first, 5 % of financial reports above the second.
_THIN, _DENSE = 0.15, 0.44


@strategy
@dataclass(frozen=True, slots=True)
class Density:
    """Fill chunks up to `size` tokens where the text is thin, to `least` where it is dense; else something between.

    None for `least` is a quarter of the size. How dense a text is, from 0 to 1, is the share of its next words that
    are numbers, names or long: `meta["density"]`. Cuts are at paragraphs, then sentences, as `recursive` makes them.
    """

    size: Annotated[int, Range(128, 1024, log=True, least=1)] = 400
    least: Annotated[int | None, Range(32, 256, log=True, least=1)] = None
    fill: Annotated[float, Range(0, 0.9, least=0, most=1)] = 0.5
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    streamable: ClassVar[bool] = True

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        text, budget = document.text, Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(text)
        least = self.least if self.least is not None else self.size // 4

        @lru_cache(maxsize=16)  # a packer asks more than once for the same start
        def dense(start: int) -> float:
            return density(text, start, ruler.fit(start, budget.room))

        def spared(start: int) -> int:
            share = min(max((dense(start) - _THIN) / (_DENSE - _THIN), 0), 1)
            return max(reserve(start), round(share * (self.size - least)))

        engine = packer(
            document,
            budget,
            ruler=ruler,
            whole=[*among(page_ends(document)), paragraphs(document), units(document, self.language)],
            reserve=spared,
            fill=self.fill,
        )
        cut = cutter(document, budget)
        for span in engine.each(within):
            yield cut(span, meta={"density": round(dense(span.start), 2)})
