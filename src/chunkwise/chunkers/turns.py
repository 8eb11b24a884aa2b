"""Group whole turns of the speakers in a transcript; one that does not fit is cut at sentences, under its speaker."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import among, heading_ends, not_inside, solid_blocks, units, where
from chunkwise.chunkers.pack import packer
from chunkwise.chunkers.riding import Rider, Riders
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.graphemes import first_ink
from chunkwise.text.tokens import DEFAULT_TOKENIZER
from chunkwise.text.turns import Turn, turns


@strategy
@dataclass(frozen=True, slots=True)
class Turns:
    """Group whole turns. The speaker's label rides along with the later pieces of one that is over `size`.

    A turn begins at a line such as `Alice: ...`, `[00:01:02] ALICE (CEO): ...` or `Alice 00:01:02`. Text without any
    is cut at sentences. `meta["speakers"]` names who speaks in the chunk, in order.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 300
    min_size: Annotated[int, Range(0, 100, least=0)] = 0
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        text = document.text
        budget = Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(text)
        found = _turns(document)
        starts = [turn.start for turn in found]
        openings = [Span(turn.start, first_ink(text, turn.label.end, len(text)) + 1) for turn in found]
        parting = [*heading_ends(document), [opening.end - 1 for opening in openings]]
        riders = Riders(_riders(text, found), ruler, budget, reserve)
        single = units(document, self.language)
        engine = packer(
            document,
            budget,
            ruler=ruler,
            whole=[*among(starts), where(single, not_inside(openings)) if openings else single],
            reluctant=[level for places in parting for level in among(places)],
            fill=0,
            min_size=self.min_size,
            reserve=riders.reserve,
        )
        cut = cutter(document, budget)
        for span in engine.each(within):
            first, last = max(bisect_right(starts, span.start) - 1, 0), bisect_left(starts, span.end)
            speakers = list(dict.fromkeys(turn.speaker for turn in found[first:last]))
            yield riders.chunk(cut, span, meta={"speakers": speakers})


@lru_cache(maxsize=4)
def _turns(document: Document) -> tuple[Turn, ...]:
    """Return the turns; nobody speaks in code or tables."""
    allowed = not_inside([Span(block.span.start - 1, block.span.end) for block in solid_blocks(document)])
    return tuple(turn for turn in turns(document.text) if allowed(turn.label.start))


def _riders(text: str, found: Sequence[Turn]) -> Iterator[Rider]:
    """Yield the label of every turn, up to the next one."""
    ends = [*(turn.start for turn in found[1:]), len(text)]
    for turn, end in zip(found, ends, strict=False):
        yield Rider(Span(turn.start, end), turn.label)
