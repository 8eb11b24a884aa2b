"""Sections: a heading with the text under it, up to the next heading."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache

from chunkwise.core.outline import body, outline
from chunkwise.core.protocols import Reserve, Ruler
from chunkwise.core.spans import gaps
from chunkwise.core.types import Document, Span
from chunkwise.text.graphemes import first_ink


@lru_cache(maxsize=4)
def sections(document: Document) -> list[Span]:
    """Return the sections of a document, front matter left out; a heading without text joins the next."""
    start, stop = body(document)
    headings = [heading.span for heading in outline(document).headings]
    starts = [start, *(heading.start for heading in headings), stop]
    found: list[Span] = []
    for i, (start, end) in enumerate(itertools.pairwise(starts)):
        bare = bool(found) and (_is_bare(document, found[-1], headings) or (i == 1 and _is_noise(document, found[0])))
        if bare:
            found[-1] = Span(found[-1].start, end)
        elif first_ink(document.text, start, end) < end:
            found.append(Span(start, end))
    return found


def _is_noise(document: Document, preamble: Span) -> bool:
    """Tell whether the text before the first heading holds rules and comments only."""
    text = document.text
    noise = [
        block.span
        for block in document.blocks
        if block.kind == "rule" or (block.kind == "html" and block.span.slice(text).lstrip().startswith("<!--"))
    ]
    return all(first_ink(text, *gap) == gap.end for gap in gaps(noise, preamble))


def _is_bare(document: Document, section: Span, headings: Sequence[Span]) -> bool:
    """Tell whether a section ends in a heading with nothing under it."""
    index = bisect_right(headings, (section.end - 1, len(document.text))) - 1
    if index < 0 or headings[index].start < section.start:
        return False
    return first_ink(document.text, headings[index].end, section.end) == section.end


def merged(
    sections: Sequence[Span],
    ruler: Ruler,
    room: int,
    min_size: int,
    reserve: Reserve,
    belong: Callable[[Span, Span], bool] = lambda _one, _other: True,
) -> list[Span]:
    """Join sections below `min_size` to the one before, or else to the one after, while they fit and `belong`."""
    joined: list[Span] = []
    for section in sections:
        if min_size and joined and belong(joined[-1], section):
            both = Span(joined[-1].start, section.end)
            small = min(ruler.count(*joined[-1]), ruler.count(*section)) < min_size
            if small and ruler.count(*both) <= room - reserve(both.start):
                joined[-1] = both
                continue
        joined.append(section)
    return joined
