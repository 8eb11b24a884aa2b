"""Cut contracts, statutes and standards clause by clause, by the numbers that clauses have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import followed, paragraphs, units, where
from chunkwise.chunkers.pack import packer
from chunkwise.chunkers.riding import Riders, header_riders, row_at
from chunkwise.chunkers.sections import merged, sections
from chunkwise.core.outline import Outline, open_text, outline, with_blocks
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.spans import pieces
from chunkwise.core.types import Block, Chunk, Document, Span
from chunkwise.text.clauses import Given, clauses, designation, last_item
from chunkwise.text.tokens import DEFAULT_TOKENIZER


@strategy
@dataclass(frozen=True, slots=True)
class Clauses:
    """Cut a clause at a time, with its heading; a long one at items, paragraphs, sentences.

    A clause below `min_size` tokens is joined to neighbours of the same parent, or to the parent's own text;
    0 leaves every clause alone. A chunk's headings are the path of its clause, as in `("11 Tests", "11.5 General")`;
    `meta["clause"]` is the clause's number.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 400
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def outlined(self, document: Document) -> Document:
        """Return the document with the headings of clauses."""
        return _outlined(document)

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(document.text)
        places, found = outline(document), sections(document)
        riders = Riders(header_riders(document), ruler, budget, reserve, row_at(document))
        items = where(partial(last_item, document.text), followed(document))
        engine = packer(
            document,
            budget,
            ruler=ruler,
            whole=[items, paragraphs(document), units(document, self.language)],
            min_size=self.min_size,
            reserve=riders.reserve,
        )
        cut = cutter(document, budget)
        belong = partial(_belong, places)
        for part in within:
            for span in engine.each(merged(pieces(found, part), ruler, budget.room, self.min_size, reserve, belong)):
                number = _number(places, span)
                yield riders.chunk(cut, span, meta={"clause": number} if number else {})


@lru_cache(maxsize=4)
def _outlined(document: Document) -> Document:
    if "clauses" in document.meta:  # found before
        return document
    given = [Given(block.span.start, block.label, block.level) for block in outline(document).headings]
    found = [
        Block("heading", clause.heading, clause.level, clause.title)
        for clause in clauses(document.text, open_text(document), given)
    ]
    return replace(with_blocks(document, found), meta={**document.meta, "clauses": len(found)}) if found else document


def _number(places: Outline, span: Span) -> str:
    """Return the number of the innermost clause that a chunk starts in."""
    numbers = (designation(heading.label) for heading in reversed(places.path_of(span)))
    return next(filter(None, numbers), "")


def _belong(places: Outline, one: Span, other: Span) -> bool:
    """Tell whether two sections have one parent, or the first is the parent of the other."""
    before, after = places.path_of(one), places.path_of(other)
    return after[:-1] in (before[:-1], before)
