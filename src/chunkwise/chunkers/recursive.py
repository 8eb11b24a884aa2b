"""Cut at paragraphs; where one does not fit at sentences or lines, then clauses, words, graphemes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import Level, among, page_ends, paragraphs, units
from chunkwise.chunkers.pack import packer
from chunkwise.chunkers.separators import Keep, Separators, compiled
from chunkwise.core.errors import RecipeError
from chunkwise.core.outline import front_matter
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document, Drop, Span
from chunkwise.text.tokens import DEFAULT_TOKENIZER


@strategy
@dataclass(frozen=True, slots=True)
class Recursive:
    """Fill chunks up to `size` tokens, preferring coarse boundaries. Sections may share a chunk.

    `fill` is how full a chunk must be for a paragraph's end to be preferred to a sentence's;
    0 never cuts a paragraph that fits. In code and tables, lines and rows stand in for sentences.
    `balance` makes chunks about even instead of full.
    `separators`, coarse to fine, are cut at in place of all these; with `regex` they are regular
    expressions. One at which the text is cut stays with the chunk on its `keep` side, or with "none" is in neither.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    fill: Annotated[float, Range(0, 0.9, least=0, most=1)] = 0.5
    balance: bool = False
    separators: tuple[str, ...] = ()
    regex: bool = False
    keep: Keep = "left"
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def __post_init__(self) -> None:
        if not self.separators and (self.regex or self.keep != "left"):
            raise RecipeError("recursive: regex and keep are about separators; give some, as in separators=['. ']")
        for separator in self.separators if self.regex else ():
            compiled(separator)

    @property
    def cuts_units(self) -> bool:
        """Whether a row or a line may be cut that fits: separators know nothing of them."""
        return bool(self.separators)

    @property
    def streamable(self) -> bool:
        """Whether nothing is planned ahead; a pattern of one's own may look anywhere."""
        return not (self.balance or self.separators)

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        cut = cutter(document, budget)
        own = self._separators(document)
        engine = packer(
            document,
            budget,
            ruler=self.tokenizer.measure(document.text),
            whole=own.levels if own else self._levels(document),
            reserve=reserve,
            reluctant=() if own else None,
            fill=self.fill,
            min_size=self.min_size,
            balance=self.balance,
            separators=own if self.keep == "none" else None,
        )
        for span in engine.each(within):
            yield cut(span)

    def dropped(self, document: Document) -> Sequence[Drop]:
        """Return the front matter, and with `keep="none"` every separator, which is in no chunk where it ends one."""
        own = self._separators(document) if self.keep == "none" else None
        return [*front_matter(document), *(Drop(span, "separator") for span in (own.spans() if own else ()))]

    def _levels(self, document: Document) -> list[Level]:
        return [*among(page_ends(document)), paragraphs(document), units(document, self.language)]

    def _separators(self, document: Document) -> Separators | None:
        if not self.separators:
            return None
        return Separators(document.text, self.separators, patterns=self.regex, keep=self.keep)
