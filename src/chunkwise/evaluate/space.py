"""Which configs a tuner tries: the ranges on the dataclasses, walked from coarse to fine.

First every strategy at sizes a factor of two apart; then, around the best of these, sizes between, overlaps and
contexts; then, of the best indexes, ways to rank and kinds of evidence, which need no other index.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from chunkwise.core.config import EVIDENCE, Config, EvidenceKind
from chunkwise.core.errors import RecipeError
from chunkwise.core.recipes import STRATEGIES, TRANSFORMS, Range, meant, ranges
from chunkwise.core.retrievals import FINDERS

# What cuts running text by itself, with no model and no second recipe.
PROSE = ("structural", "recursive", "sentences", "paragraphs", "fixed")

_HEADED = "context(headings=True)"
_CONTEXTS = ("", _HEADED, "context(headings=True, title=True)")

# In tokens: where one starts from. Source: DESIGN, section 9; it is near the best on each public set.
_USUAL = 200

# Sizes as near to the largest as this are not tried beside it.
_NEAR = 1.2


@dataclass(frozen=True, slots=True)
class Cut:
    """A recipe in parts: a strategy at a size, what is repeated of the chunk before, what stands before the text."""

    strategy: str
    size: int
    overlap: str = ""
    context: str = _HEADED

    @property
    def recipe(self) -> str:
        """The recipe, written out."""
        return " | ".join(filter(None, (f"{self.strategy}(size={self.size})", self.overlap, self.context)))


def sizes(strategy: str, most: int, *, factor: float = 2.0) -> list[int]:
    """Return sizes of a strategy's range, each `factor` times the one before, and `most`, the largest to be tried.

    `most` is what an encoder takes: beyond that chunks would be cut to it anyway.
    Raises: RecipeError for a strategy that has no size.
    """
    known = [name for name, cls in STRATEGIES.items() if "size" in ranges(cls)]
    if strategy not in known:
        raise RecipeError(f"no strategy {strategy!r} with a size to search{meant(strategy, known)}; {', '.join(known)}")
    bounds = ranges(STRATEGIES[strategy])["size"]
    top = min(most, int(bounds.high))
    found = [size for size in _steps(bounds, factor) if size * _NEAR <= top]
    return [*found, top]


def coarse(strategies: Sequence[str], most: int) -> list[Cut]:
    """Return the first cuts to try: each strategy at each size, usual sizes first, for there may be no time for all."""
    cuts = [Cut(strategy, size) for strategy in strategies for size in sizes(strategy, most)]
    return sorted(cuts, key=lambda cut: abs(math.log(cut.size / _USUAL)))


def around(cut: Cut, most: int) -> list[Cut]:
    """Return cuts that differ from one in its size, its overlap or its context, in one of them at a time."""
    near = sizes(cut.strategy, most, factor=math.sqrt(2))
    place = min(range(len(near)), key=lambda i: abs(math.log(near[i] / cut.size)))
    beside = [near[i] for i in (place - 1, place + 1) if 0 <= i < len(near)]
    return [
        *(replace(cut, size=size) for size in beside if size != cut.size),
        *(replace(cut, overlap=overlap) for overlap in overlaps() if overlap != cut.overlap),
        *(replace(cut, context=context) for context in _CONTEXTS if context != cut.context),
    ]


def overlaps() -> list[str]:
    """Return overlaps to try: none, as few sentences as there can be, and a share in the middle of its range."""
    bounds = ranges(TRANSFORMS["overlap"])
    share = math.sqrt(bounds["ratio"].low * bounds["ratio"].high)
    return ["", f"overlap(sentences={int(bounds['sentences'].low)})", f"overlap(ratio={share:.2g})"]


def asked(
    config: Config, kinds: Iterable[EvidenceKind] = EVIDENCE, *, ranked_by: Iterable[str] | None = None
) -> Iterator[Config]:
    """Yield the ways to ask an index: by each kind of evidence, and of chunks by each way to rank, by default all."""
    for kind in kinds:
        if kind != "chunks":
            yield replace(config, evidence=kind, retrieval="hybrid()")
            continue
        for retrieval in rankings() if ranked_by is None else ranked_by:
            yield replace(config, evidence=kind, retrieval=retrieval)


def rankings() -> list[str]:
    """Return ways to rank: as by default, with less and more weight on meaning, by words and by meaning alone."""
    bounds = ranges(FINDERS["hybrid"])["alpha"]
    quarter = (bounds.high - bounds.low) / 4
    others = (f"hybrid(alpha={bounds.low + share * quarter:g})" for share in (1, 2))
    return ["hybrid()", *others, "lexical()", "vector()"]


def _steps(bounds: Range, factor: float) -> Iterator[int]:
    size = bounds.low
    while round(size) <= bounds.high:
        yield round(size)
        size *= factor
