"""Put chunks of one document together again, and tell where a seam between two of them parts what belongs together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from chunkwise.core.noted import Noted
from chunkwise.core.protocols import Tokenizer
from chunkwise.core.types import Chunk, Span
from chunkwise.text.sentences import SentenceEnds

# In characters: how much of the text on either side of a seam is looked at. Two or three sentences; how one begins
# tells nothing of where it ends.
_AROUND = 300

_ITEM = re.compile(r"[ \t]*(?:[-*+\u2022\u2023\u25e6\u2043\u2013]|(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)])[ \t]+\S")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+\S")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


class _Piece(NamedTuple):
    """A span of a document, its text, and where in the raw file it was, if that is another place."""

    span: Span
    text: str
    source: Span | None


def joined(chunks: Sequence[Chunk], tokenizer: Tokenizer) -> Chunk:
    """Return one chunk of several of a document, in order: the spans of all, each place once.

    What touches or overlaps is one span, also over a gap that an index has noted. Context and headings are the first
    chunk's, where it is read from. One chunk alone is returned as it is.
    """
    if len(chunks) == 1:
        return chunks[0]
    pieces = _united(chain.from_iterable(_pieces(chunk, inner=chunk is not chunks[-1]) for chunk in chunks))
    first, last = chunks[0], chunks[-1]
    text = "".join(piece.text for piece in pieces)
    parents = {chunk.parent for chunk in chunks}
    made = replace(
        first,
        spans=tuple(piece.span for piece in pieces),
        text=text,
        token_count=tokenizer.count(first.context + text),
        parent=first.parent if len(parents) == 1 else "",
        pages=tuple(sorted({page for chunk in chunks for page in chunk.pages})),
        meta=_meta(chunks, pieces),
    )
    return Noted(gap=last.gap).on(made)  # the rest is noted of its parts, not of the whole


def touch(one: Chunk, other: Chunk) -> bool:
    """Tell whether nothing but a gap that was noted lies between two chunks of a document."""
    return one.body.end + len(one.gap) >= other.own.start


def cuts(one: Chunk, other: Chunk) -> bool:
    """Tell whether the seam between two chunks, of which the second follows, parts a sentence, a list or a heading.

    Only texts are known here, no blocks: a heading is a line that Markdown marks, or the last of the second chunk's
    path; items are lines that begin with a bullet or a number; a line that ends without a full stop goes on where the
    next one begins with a small letter.
    """
    if not touch(one, other):
        return False
    before = one.text[-_AROUND:] + one.gap
    after = other.text[-other.body.length :][other.own.start - other.body.start :][:_AROUND]
    last, first = _last_line(before), after.lstrip().partition("\n")[0]
    if is_heading(last, other.headings):
        return True
    if _ITEM.match(first) and (_ITEM.match(last) or last.rstrip().endswith(":")):
        return True
    if _BLANK_LINE.search(before[len(before.rstrip()) :] + after[: len(after) - len(after.lstrip())]):
        return False
    at_line = "\n" in before[len(before.rstrip()) :]
    return (not at_line or first[:1].islower()) and not _ends_sentence(before, after)


def _pieces(chunk: Chunk, *, inner: bool) -> Iterator[_Piece]:
    """Yield the spans of a chunk with their texts, and the gap after it, if it is an inner one."""
    sources = chunk.meta.get("source_spans")
    for i, (span, text) in enumerate(chunk.parts):
        yield _Piece(span, text, Span(*sources[i]) if isinstance(sources, list) else None)
    if inner and chunk.gap:
        yield _Piece(Span(chunk.body.end, chunk.body.end + len(chunk.gap)), chunk.gap, None)


def _united(pieces: Iterator[_Piece]) -> list[_Piece]:
    """Return the pieces in order of the document; those that touch or overlap as one."""
    found: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.span):
        last = found[-1] if found else None
        if last is None or piece.span.start > last.span.end:
            found.append(piece)
        else:
            fresh = max(0, piece.span.end - last.span.end)
            text = last.text + piece.text[len(piece.text) - fresh :]
            sources = [one.source for one in (last, piece) if one.source is not None]
            source = Span(sources[0].start, max(one.end for one in sources)) if sources else None
            found[-1] = _Piece(Span(last.span.start, last.span.end + fresh), text, source)
    return found


def _meta(chunks: Sequence[Chunk], pieces: Sequence[_Piece]) -> dict[str, object]:
    """Return the metadata of the first chunk, what tells a place changed to that of all."""
    first = chunks[0]
    meta = dict(first.meta)
    if pieces[-1].span.start != first.body.start:
        meta.pop("overlap", None)
    cells = dict.fromkeys(str(chunk.meta["cells"]) for chunk in chunks if "cells" in chunk.meta)
    if cells:
        meta["cells"] = ", ".join(cells)
    if "source_spans" in meta:
        meta["source_spans"] = [list(piece.source or piece.span) for piece in pieces]
    return meta


@lru_cache(maxsize=1 << 12)  # a budget is spent hit by hit, and each time the same seams are looked at
def _ends_sentence(before: str, after: str) -> bool:
    return len(before) in SentenceEnds(before + after, "auto").all()


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2]


def is_heading(line: str, path: Sequence[str]) -> bool:
    """Tell whether a line is a heading: one that Markdown marks, or the last of a path of headings."""
    return bool(_HEADING.match(line)) or (bool(path) and line.strip() == path[-1].strip() != "")
