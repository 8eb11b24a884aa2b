"""Fences of Markdown: the lines that open and close a block of code, and what a cut inside one means."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from chunkwise.core.outline import outline
from chunkwise.core.types import Block, Document, Meta, Span
from chunkwise.text.graphemes import last_ink
from chunkwise.text.words import LINE_BREAK, line_start

# In characters: how far a fence may be indented, in lists and quotes.
_LONGEST_MARGIN = 200

_MARKS = ("```", "~~~")


class Fence(NamedTuple):
    """A fenced block: its whole span, the line that opens it, and the code in it."""

    span: Span
    opener: Span
    code: Span


@lru_cache(maxsize=4)
def fences(document: Document) -> list[Fence]:
    """Return the fenced blocks of a document, in order."""
    return [fence for block in outline(document).blocks("code") if (fence := fence_of(document.text, block))]


def fence_of(text: str, block: Block) -> Fence | None:
    """Return the fence of a block of code, if it has one."""
    span = block.span
    if not text[span.start : min(span.end, span.start + _LONGEST_MARGIN)].lstrip(" \t>").startswith(_MARKS):
        return None
    first = LINE_BREAK.search(text, *span)
    opener = Span(span.start, first.end() if first else span.end)
    end = last_ink(text, *span)
    closer = max(line_start(text, end), opener.end)
    last = text[closer:end].strip(" \t>")
    closed = closer >= opener.end and last.startswith(_MARKS) and not last.strip("`~")
    return Fence(span, opener, Span(opener.end, closer if closed else span.end))


def partings(document: Document) -> list[tuple[Span, int]]:
    """Return what no cut should part from the text after it: openers, and the last line before a closer.

    Each with where that text starts.
    """
    found = []
    for fence in fences(document):
        found.append((fence.opener, fence.code.start))
        if fence.code.length and fence.code.end < fence.span.end:
            found.append((Span(fence.code.end - 1, fence.code.end), fence.code.end))
    return found


def fence_meta(document: Document) -> Callable[[Span], Meta]:
    """Return a function to what a chunk's meta says of a fence that it holds a part of.

    "opened" where only the chunk's end is inside a fence, "continued" where both ends are, "closed" where only its
    start is.
    """
    spans = [fence.span for fence in fences(document)]
    starts, ends = [span.start for span in spans], [last_ink(document.text, *span) for span in spans]

    def inside(position: int) -> bool:
        index = bisect_left(starts, position) - 1
        return index >= 0 and position < ends[index]

    def meta(span: Span) -> Meta:
        state = {(True, False): "closed", (True, True): "continued", (False, True): "opened"}
        found = state.get((inside(span.start), inside(span.end)))
        return {"fence": found} if found else {}

    return meta if spans else lambda _: {}
