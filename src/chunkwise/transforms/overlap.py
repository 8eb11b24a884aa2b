"""Let every chunk but the first begin with the end of the text before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, ClassVar

from chunkwise.chunkers.levels import units
from chunkwise.core.errors import RecipeError
from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Reserve, Ruler
from chunkwise.core.recipes import Range, transform
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text import graphemes
from chunkwise.text.graphemes import first_ink, joins
from chunkwise.text.words import next_word

# Whole sentences may take at most this share of a chunk; of a longer one its last words are taken.
_MOST_FOR_SENTENCES = 0.25


@transform
@dataclass(frozen=True, slots=True)
class Overlap:
    """Repeat the end of the text before: whole `sentences`, or up to `tokens`, or a `ratio` of the size.

    Exactly one of the three is given. The repeated text counts against the size; it begins at a
    sentence or a word, and does not cross a heading. Its length is in `meta["overlap"]`, in characters.
    """

    sentences: Annotated[int | None, Range(1, 3, least=0)] = None
    tokens: Annotated[int | None, Range(10, 200, log=True, least=0)] = None
    ratio: Annotated[float | None, Range(0.05, 0.5, least=0)] = None

    streamable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        given = [name for name in ("sentences", "tokens", "ratio") if getattr(self, name) is not None]
        if len(given) != 1:
            named = " and ".join(given) or "none"
            raise RecipeError(f"overlap takes one of sentences, tokens, ratio, not {named}; try overlap(sentences=1)")

    @property
    def language(self) -> str | None:
        """The language of the sentences that it looks for; None if it looks for none."""
        return "auto" if self.sentences is not None else None

    def check(self, budget: Budget) -> None:
        """Refuse an overlap that leaves a chunk nothing of its own."""
        if self.sentences is not None:
            return
        if self.ratio is not None and self.ratio >= 1:
            raise RecipeError(f"overlap: ratio={self.ratio} must be less than 1; try ratio=0.15")
        if self.most(budget) >= budget.room:
            special = "" if budget.room == budget.size else f" (of {budget.size}, the rest are special tokens)"
            raise RecipeError(
                f"overlap: tokens={self.most(budget)} must be less than size={budget.room}{special}; "
                f"try tokens={max(1, budget.room * 15 // 100)}, which is 15 %"
            )

    def reserve(self, document: Document, budget: Budget, within: Sequence[Span]) -> Reserve:
        """Ask for the tokens of the text that would be repeated."""
        ruler = budget.tokenizer.measure(document.text)
        begin = begins(self, document, budget, tuple(within))

        def reserve(start: int) -> int:
            first = begin(start)
            return ruler.count(first, start) if first < start else 0

        return reserve

    def __call__(
        self, chunks: Iterable[Chunk], document: Document, budget: Budget, within: Sequence[Span]
    ) -> Iterator[Chunk]:
        ruler = budget.tokenizer.measure(document.text)
        begin = begins(self, document, budget, tuple(within))
        places = outline(document)
        least = len(document.text)  # the first chunk has nothing before it
        for chunk in chunks:
            body = chunk.body
            first = begin(body.start) if len(chunk.spans) == 1 else body.start
            if first < least:
                first = next_word(document.text, least, body.start) or body.start
            extended, n_tokens = _within(chunk, document.text, ruler, budget, min(first, body.start))
            repeated = {"overlap": body.start - extended.start}
            if extended == body:
                yield replace(chunk, meta={**chunk.meta, **repeated})
            else:
                yield replace(
                    chunk,
                    spans=(extended,),
                    text=extended.slice(document.text),
                    token_count=n_tokens,
                    pages=places.pages(extended),
                    meta={**chunk.meta, **repeated},
                )
            least = extended.start + 1

    def most(self, budget: Budget) -> int:
        """Return how many tokens may be repeated."""
        if self.sentences is not None:
            return max(1, int(budget.room * _MOST_FOR_SENTENCES))
        return self.tokens if self.tokens is not None else int(budget.size * (self.ratio or 0))

    def reach(self, document: Document, ruler: Ruler, most: int) -> Callable[[int], int]:
        """Return a function from a chunk's start to about the earliest place that its overlap may begin at."""
        if self.sentences is None:
            return lambda start: ruler.fit_back(start, most)
        count, ends = self.sentences, units(document, self.language or "auto")

        def reach(start: int) -> int:
            earliest, first = ruler.fit_back(start, most), start
            for _ in range(count):
                end = ends(earliest - 1, first - 1)
                if end is None:
                    return earliest
                first = end
            return first

        return reach


# The chunker asks first what to leave free, and the transform then does it: for the same starts.
@lru_cache(maxsize=2)
def begins(overlap: Overlap, document: Document, budget: Budget, within: tuple[Span, ...]) -> Callable[[int], int]:
    """Return a function from a chunk's start to where the text that an overlap repeats begins."""
    text, ruler = document.text, budget.tokenizer.measure(document.text)
    most = overlap.most(budget)
    reach = overlap.reach(document, ruler, most)
    floors = _floors(document, within)

    @lru_cache(maxsize=16)
    def begin(start: int) -> int:
        floor = floors(start)
        first = first_ink(text, max(reach(start), floor), start)
        begins_word = text[first - 1 : first].isspace() and not joins(text, first)
        if first < start and first != floor and not begins_word:
            word = next_word(text, first, start)
            first = word if word is not None else graphemes.following(text, first, start)
        while first < start and ruler.count(first, start) > most:
            first = next_word(text, first + 1, start) or start
        return first

    return begin


def _within(chunk: Chunk, text: str, ruler: Ruler, budget: Budget, first: int) -> tuple[Span, int]:
    """Return the chunk's span begun at `first`, or as soon after as the budget allows, and its tokens."""
    body = chunk.body
    while first < body.start:
        count = ruler.count(first, body.end, before=chunk.context) + budget.tokenizer.n_special
        if count <= budget.size and not text[first].isspace():
            return Span(first, body.end), count
        first = next_word(text, first + 1, body.start) or body.start
    return body, chunk.token_count


def _floors(document: Document, within: Sequence[Span]) -> Callable[[int], int]:
    """Return a function from a chunk's start to the place that its overlap may not go beyond.

    What was cut by itself repeats nothing from before it. The text before a heading belongs to another
    section, and the heading itself is context; a table or code is not repeated, except that a chunk
    inside code may repeat lines of it.
    """
    edges = {0, *(span.start for span in within)}
    tables = []
    for block in document.blocks:
        if block.kind == "heading" and block.parent < 0:
            edges |= set(block.span)
        elif block.kind in ("code", "table", "html", "front_matter"):
            edges |= set(block.span)
            tables += [block.span] if block.kind == "table" else []
    ordered = sorted(edges)
    rows = [table.start for table in tables]

    def floor(start: int) -> int:
        index = bisect_right(rows, start) - 1
        if index >= 0 and start < tables[index].end:
            return start
        return ordered[bisect_right(ordered, start) - 1]

    return floor
