"""Cut in levels: every chunk of one level is cut into smaller ones of the next.

Small chunks are found, and the larger one around them is what a reader is given: auto-merging retrieval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import Annotated

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.riding import Riders, header_riders, row_at
from chunkwise.core.errors import RecipeError
from chunkwise.core.parsing import parse, with_size, with_tokenizer
from chunkwise.core.protocols import Budget, Chunker, Reserve, Transform, no_reserve
from chunkwise.core.recipes import Range, numbered, strategy
from chunkwise.core.types import Chunk, Document, Drop, Span


def _recursive() -> Chunker:
    return parse("recursive(fill=0)")


@strategy
@dataclass(frozen=True, slots=True)
class Nest:
    """Cut by `base` at the first of `sizes`, each of these chunks at the second, and so on; parents come first.

    `sizes` are in tokens and fall, as in `nest(2048, 512, 128)`; that of `base` itself is not used. A chunk's level
    is `meta["level"]`, 0 for the largest; `parent` is the id of the chunk around it. Each level holds all the text.
    What follows a nest in a recipe follows its base at each level: an overlap of a `ratio` is in proportion to each.
    With `sentences` there is one more level, of single sentences, rows and lines of code, which nothing follows and
    whose chunks have `meta["sentence"]`: a ladder, of which evidence is assembled. See chunkwise.retrieve.assemble.
    """

    sizes: Annotated[tuple[int, ...], Range(64, 2048, log=True)] = (2048, 512, 128)
    base: Chunker = field(default_factory=_recursive)
    sentences: bool = False

    def __post_init__(self) -> None:
        if not self.sizes or any(outer <= inner for outer, inner in pairwise(self.sizes)):
            raise RecipeError(f"nest: sizes={list(self.sizes)} must fall from level to level; try nest(2048, 512, 128)")
        if self.base.leaf_budget != self.base.budget:
            raise RecipeError(f"nest: base={self.base!r} has levels of its own; give all sizes to one nest")
        for size in self.sizes:
            with_size(self.base, size)  # is refused where, say, an overlap does not fit it

    @property
    def budget(self) -> Budget:
        """What no chunk of the first level exceeds."""
        return Budget(self.sizes[0], self.base.budget.tokenizer)

    @property
    def leaf_budget(self) -> Budget:
        """What no chunk of the last level exceeds."""
        return Budget(self.sizes[-1], self.base.budget.tokenizer)

    @property
    def cuts_units(self) -> bool:
        """Whether the base may cut a row or a line that fits."""
        return self.base.cuts_units

    def __or__(self, other: Transform) -> Nest:
        return replace(self, base=self.base | other)

    def dropped(self, document: Document) -> Sequence[Drop]:
        """Return what the base leaves out."""
        return self.base.dropped(document)

    def outlined(self, document: Document) -> Document:
        """Return the document with the blocks that the base finds."""
        return self.base.outlined(document)

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        found: list[tuple[int, int, Chunk]] = []
        cuts: list[Callable[..., Iterator[Chunk]]] = [with_size(self.base, size) for size in self.sizes]
        if self.sentences:
            cuts.append(self._single)
        for level, cut in enumerate(cuts):
            chunks = list(cut(document, reserve, within))
            within = [chunk.own for chunk in chunks]
            found += [(own.start, level, chunk) for own, chunk in zip(within, chunks, strict=True)]
            if not within:
                return
        found.sort(key=itemgetter(0, 1))  # parents before what is in them
        last = [""] * (len(self.sizes) + 1)
        told_apart = numbered(chunk for _, _, chunk in found)
        for (_, level, _), chunk in zip(found, told_apart, strict=True):
            meta = {**chunk.meta, "level": level, **({"sentence": True} if level == len(self.sizes) else {})}
            child = replace(chunk, parent=last[level - 1] if level else "", meta=meta)
            last[level] = child.id
            yield child

    def _single(self, document: Document, reserve: Reserve, within: Sequence[Span]) -> Iterator[Chunk]:
        """Cut into sentences and rows; a row has the header of its table with it, where both fit."""
        budget = self.leaf_budget
        cut = with_tokenizer(parse(f"sentences(size={budget.size}, max_sentences=1)"), budget.tokenizer)
        ruler = budget.tokenizer.measure(document.text)
        riders = Riders(header_riders(document), ruler, budget, reserve, row_at(document))
        make = cutter(document, budget)
        for chunk in cut(document, reserve, within):
            yield riders.chunk(make, chunk.body)
