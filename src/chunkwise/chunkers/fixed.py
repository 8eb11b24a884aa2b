"""Cut every `size` tokens, words, characters or bytes, wherever that falls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.pack import Packer
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.tokens import DEFAULT_TOKENIZER, tokenizer


@strategy
@dataclass(frozen=True, slots=True)
class Fixed:
    """Cut every `size` units. A grapheme is never cut; white space at a chunk's ends is left out.

    With the units "words", "characters" and "bytes" these are also what `token_count` counts.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    unit: Literal["tokens", "words", "characters", "bytes"] = "tokens"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    cuts_units: ClassVar[bool] = True
    streamable: ClassVar[bool] = True

    @property
    def budget(self) -> Budget:
        """The size, in the unit's own counting."""
        return Budget(self.size, self.tokenizer if self.unit == "tokens" else tokenizer(self.unit))

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        ruler = self.budget.tokenizer.measure(document.text)
        cut = cutter(document, self.budget)
        packer = Packer(document.text, ruler, self.budget.room, whole=(), reserve=reserve)
        for span in packer.each(within):
            yield cut(span)
