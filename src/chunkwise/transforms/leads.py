"""Sentences that say what a chunk is about and do not stand in it: the first of its section, those beside it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache

from chunkwise.chunkers.levels import inside, sentence_ends, solid_blocks
from chunkwise.core.outline import body, outline
from chunkwise.core.protocols import Budget
from chunkwise.core.types import Document, Span
from chunkwise.text.graphemes import first_ink
from chunkwise.text.words import last_word
from chunkwise.transforms.overlap import Overlap, begins

# In characters: a longer sentence is cut there, long before which it has said what it is about.
_LONGEST = 500

# In characters: how far from the text's start the first heading still is its title.
_TITLE_REACH = 2000


def title(document: Document) -> str:
    """Return the title in the metadata, else the first heading, if that stands near the start; else nothing."""
    given = document.meta.get("title")
    if isinstance(given, str) and given.strip():
        return " ".join(given.split())
    headings = outline(document).headings
    near = bool(headings) and headings[0].span.start < body(document).start + _TITLE_REACH
    return headings[0].label if near else ""


@lru_cache(maxsize=4)
def leads(document: Document) -> Callable[[int], str]:
    """Return a function from where a chunk starts to the first sentence of its section, if that ends before it.

    Of the sections around it the innermost that has one; where none has, the first sentence of the text. It looks at
    nothing after the chunk's start. Source: Nenkova 2005, AAAI: in news, no system of 2001 to 2004 beat the lead.
    """
    places = outline(document)
    starts = [body(document).start, *(heading.span.end for heading in places.headings)]
    stops = [*(heading.span.start for heading in places.headings), len(document.text)]
    sentence = lru_cache(maxsize=64)(lambda index: _first_sentence(document, starts[index], stops[index]))
    index_of = {heading.span.start: i for i, heading in enumerate(places.headings, 1)}

    def lead(start: int) -> str:
        around = [index_of[heading.span.start] for heading in places.above(start)]
        for index in (*reversed(around), 0):
            found = sentence(index)
            if found.length and found.end <= start:
                return " ".join(found.slice(document.text).split())
        return ""

    return lead


def before(document: Document, budget: Budget, within: Sequence[Span], count: int) -> Callable[[int], str]:
    """Return a function from where a chunk starts to the last sentences before it, in its own section."""
    begin = begins(Overlap(sentences=count), document, budget, tuple(within))
    return lambda start: " ".join(document.text[begin(start) : start].split())


def after(document: Document, within: Sequence[Span], count: int) -> Callable[[int], str]:
    """Return a function from where a chunk ends to the first sentences after it, in its own section."""
    edges, in_solid = _edges(document, tuple(within)), inside([block.span for block in solid_blocks(document)])

    def follow(end: int) -> str:
        stop = first = first_ink(document.text, end, len(document.text))
        if in_solid(first):
            return ""
        edge = edges[bisect_left(edges, max(end, 1))] if end < len(document.text) else end
        for _ in range(count):
            stop = _end_after(document, stop, edge)
        return " ".join(document.text[first:stop].split()) if first < edge else ""

    return follow


@lru_cache(maxsize=4)
def _edges(document: Document, within: tuple[Span, ...]) -> list[int]:
    """Return the places that what follows a chunk does not go beyond: headings, code, tables, the end of a part."""
    solid = [block.span.start for block in solid_blocks(document)]
    return sorted({*solid, *(span.end for span in within), len(document.text)})


def _first_sentence(document: Document, start: int, stop: int) -> Span:
    """Return the first sentence of running text in a range; an empty span where there is none."""
    solid = [block.span for block in solid_blocks(document)]
    starts = [span.start for span in solid]
    start = first_ink(document.text, start, stop)
    while start < stop and (index := bisect_right(starts, start) - 1) >= 0 and start < solid[index].end:
        start = first_ink(document.text, solid[index].end, stop)
    following = bisect_left(starts, start)
    stop = min(stop, solid[following].start) if following < len(solid) else stop
    return Span(start, max(start, _end_after(document, start, stop)))


def _end_after(document: Document, start: int, stop: int) -> int:
    """Return the first end of a sentence after `start`, not beyond `stop`; of a very long one the end of a word."""
    if start >= stop:
        return start
    reach = min(stop, start + _LONGEST)
    last, found, hi = sentence_ends(document, "auto").last, 0, reach
    while hi > start and (end := last(start, hi)) is not None:
        found, hi = end, end - 1
    return found or (stop if reach == stop else last_word(document.text, start, reach) or reach)
