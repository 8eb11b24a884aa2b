"""Cut code along its syntax: functions and classes whole, with their comments and decorators.

A class that is over the limit is cut between its methods, and each piece carries the class's signature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from chunkwise.chunkers.code_levels import CodeLevels, Label
from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.fences import fence_meta, fences
from chunkwise.chunkers.levels import Level, among, heading_ends, not_inside, paragraphs, units, where
from chunkwise.chunkers.pack import fits, packer
from chunkwise.chunkers.riding import Rider, Riders
from chunkwise.core.outline import body, outline
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Block, Chunk, Document, Meta, Span
from chunkwise.text.tokens import DEFAULT_TOKENIZER

# Signatures may take at most this share of a chunk; of several, the innermost go first.
_MOST = 0.25


@strategy
@dataclass(frozen=True, slots=True)
class Code:
    """Fill chunks up to `size` tokens with whole definitions, or, where one does not fit, with whole parts of it.

    `signatures` lets the heads of the definitions around a piece ride along with it. `language` is that of the
    code where the document does not say it. A chunk's headings end with the names of the definitions it is in.
    Code in an unknown language, or that does not parse, is cut by its indents and blank lines;
    `meta["syntax"]` says so. Text around code is cut at paragraphs and sentences.
    Needs the extra `code`.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 300
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    fill: Annotated[float, Range(0, 0.9, least=0, most=1)] = 0.5
    signatures: bool = True
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def outlined(self, document: Document) -> Document:
        """Return the document; as one block of code, where a language is given and the document has no blocks."""
        return document if self.language == "auto" or document.blocks else _as_code(document, self.language)

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        text, budget = document.text, Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(text)
        found = CodeLevels(document, fits(text, ruler, budget.room))
        blocks = outline(document).blocks("code")
        for block in blocks:
            found.add(block, block.label if self.language == "auto" else self.language)
        riders = Riders(
            [
                *(Rider(fence.span, fence.opener) for fence in fences(document)),
                *(found.riders if self.signatures else ()),
            ],
            ruler,
            budget,
            reserve,
            share=_MOST,
        )
        parting = [level for places in (*heading_ends(document), found.partings) for level in among(places)]
        engine = packer(
            document,
            budget,
            ruler=ruler,
            whole=[
                *_around(document, blocks, paragraphs(document)),
                *found.levels(),
                *_around(document, blocks, units(document, "auto")),
            ],
            reluctant=parting,
            fill=self.fill,
            min_size=self.min_size,
            reserve=riders.reserve,
        )
        cut, labels, fence = cutter(document, budget), found.labels(), fence_meta(document)
        for span in engine.each(within):
            yield _described(riders.chunk(cut, span), labels(span), fence(span))


def _described(chunk: Chunk, label: Label, meta: Meta) -> Chunk:
    """Return the chunk under the names of the definitions it is in, with a word on code that did not parse."""
    syntax = {"syntax": "by indents"} if label.by_indents else {}
    if not (label.names or meta or syntax):
        return chunk
    return replace(chunk, headings=(*chunk.headings, *label.names), meta={**chunk.meta, **meta, **syntax})


def _around(document: Document, blocks: Sequence[Block], level: Level) -> list[Level]:
    """Return the level outside code; none where all is code."""
    spans = [block.span for block in blocks]
    whole = body(document)
    if len(spans) == 1 and spans[0].start <= whole.start and whole.end <= spans[0].end:
        return []
    return [where(level, not_inside(spans))] if spans else [level]


@lru_cache(maxsize=4)
def _as_code(document: Document, language: str) -> Document:
    return replace(document, blocks=(Block("code", Span(0, len(document.text)), label=language),))
