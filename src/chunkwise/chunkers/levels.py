"""Where a text may be cut, level by level: each a function that finds the last place in a range."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import TypeAlias

import regex

from chunkwise.chunkers.fences import partings
from chunkwise.core.outline import outline
from chunkwise.core.types import Block, BlockKind, Document, Span
from chunkwise.text.graphemes import first_ink
from chunkwise.text.records import Records
from chunkwise.text.sentences import SentenceEnds
from chunkwise.text.words import BLANK_LINES, last_clause, last_line, last_paragraph, last_word, line_spans

Level: TypeAlias = Callable[[int, int], int | None]
"""`level(lo, hi)` returns the last place in `(lo, hi]` where this level allows a cut, or None."""

# Blocks in which a full stop ends no sentence: their rows and lines are the units.
_SOLID: tuple[BlockKind, ...] = ("code", "table", "html", "math", "front_matter", "heading")

# In characters: a block that is indented further starts no line that anyone would cut before.
_DEEPEST = 200

_LANGUAGE_CODE = regex.compile(r"(?P<code>[A-Za-z]{2})(?:[-_]\w+)*")
_PAGE = regex.compile("\f")


def among(places: Iterable[int]) -> list[Level]:
    """Return the level that allows a cut at these places only; no level where there are none."""
    ordered = sorted(set(places))

    def last(lo: int, hi: int) -> int | None:
        index = bisect_right(ordered, hi) - 1
        return ordered[index] if index >= 0 and ordered[index] > lo else None

    return [last] if ordered else []


def page_ends(document: Document) -> list[int]:
    """Return the places after form feeds, but for those in the middle of a row or a line of code."""
    if "\f" not in document.text:
        return []
    ends = [match.end() for match in _PAGE.finditer(document.text)]
    return outside(ends, [block.span for block in solid_blocks(document)])


def paragraph_ends(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return the places after blank lines."""
    return [match.end() for match in BLANK_LINES.finditer(text, start, len(text) if end is None else end)]


def paragraphs(document: Document) -> Level:
    """Allow a cut after blank lines, but not between a heading and what is under it."""
    level = partial(last_paragraph, document.text)
    return where(level, followed(document)) if _leading(document) else level


def units(document: Document, language: str) -> Level:
    """Allow a cut after a sentence; in tables before a row, in code and HTML after a line.

    None after a heading or a table's header, which belong to what follows them.
    Cost: sentences and lines are looked for only around the places that are asked for.
    """
    prose = sentence_ends(document, language)
    bodies = {heading.start: body for heading, body in _leading(document)}
    zones = [  # where no sentence ends; that of a heading reaches into the text under it
        (block.kind, block.span.start, bodies[block.span.start] + 1 if block.kind == "heading" else block.span.end)
        for block in solid_blocks(document)
    ]
    if not zones:
        return prose.last
    starts = [start for _, start, _ in zones]
    rows = among(without_orphans(document, _row_starts(document)))
    lines: list[Level] = [where(partial(last_line, document.text), followed(document))]
    inner: dict[str, list[Level]] = {"code": lines, "html": lines, "table": rows}
    edges = among(_solid_edges(document))

    def last(lo: int, hi: int) -> int | None:
        edge = next((place for level in edges if (place := level(lo, hi)) is not None), None)
        return within(lo if edge is None else edge, hi) or edge

    def within(lo: int, hi: int) -> int | None:
        while hi > lo:
            index = bisect_left(starts, hi) - 1
            kind, start, end = zones[index] if index >= 0 else ("", 0, 0)
            if hi >= end:  # in prose after that block
                place = prose.last(max(lo, end - 1), hi)
                hi = end - 1
            else:
                place = next((found for level in inner.get(kind, ()) if (found := level(max(lo, start), hi))), None)
                hi = start
            if place is not None:
                return place
        return None

    return last


@lru_cache(maxsize=4)
def sentence_ends(document: Document, language: str) -> SentenceEnds:
    """Return the sentences of a document, which all stages of a recipe share."""
    return SentenceEnds(document.text, language_of(document, language))


def unit_ends(document: Document, language: str) -> list[int]:
    """Return all the places that `units` allows."""
    solid = [block.span for block in solid_blocks(document)]
    prose = sentence_ends(document, language).all()
    ends = {*outside(prose, solid), *_inner_ends(document), *_solid_edges(document)}
    return without_orphans(document, sorted(ends - {0}))


def _solid_edges(document: Document) -> list[int]:
    """Return where code, tables and HTML start and end, if that is at a line's start and end."""
    text, spans = document.text, [block.span for block in solid_blocks(document) if block.kind != "heading"]
    starts = [
        span.start
        for span in spans
        if text[max(0, span.start - _DEEPEST) : span.start].rstrip(" \t")[-1:] in ("\n", "\r")
    ]
    ends = [span.end for span in spans if not {"\n", "\r"}.isdisjoint(text[span.end - 1 : span.end + 1])]
    return without_orphans(document, sorted({*starts, *ends} - {0}))


def _row_starts(document: Document) -> list[int]:
    """Return where rows of tables start; those of delimited text, whose label is the delimiter, have no blocks."""
    tables = [block for block in outline(document).blocks("table") if len(block.label) == 1]
    records = [start for table in tables for start in Records(document.text, *table.span, table.label).starts()]
    return [*records, *(row.span.start for row in outline(document).blocks("row"))]


def _inner_ends(document: Document) -> list[int]:
    """Return where rows and lines of code and HTML start."""
    rows = _row_starts(document)
    coded = [block.span for block in solid_blocks(document) if block.kind in ("code", "html")]
    lines = [line.start for span in coded for line in line_spans(document.text, *span)]
    return without_orphans(document, sorted({*rows, *lines} - {0}))


def parts(
    document: Document, within: Sequence[Span], ends: Callable[[], Sequence[int]], count: int | None
) -> Iterator[Span]:
    """Yield the parts of the spans `within` that have `count` units each; each span whole where that is None.

    `ends` returns where units end, in order; white space alone is none.
    """
    places = ends() if count is not None else ()
    for begin, stop in within:
        seen, start = 0, begin
        for end in places[bisect_right(places, begin) : bisect_left(places, stop)]:
            seen += bool(document.text[start:end].strip())
            start = end
            if seen == count:
                yield Span(begin, end)
                begin, seen = end, 0
        yield Span(begin, stop)


def between(text: str, ends: Sequence[int], part: Span) -> list[Span]:
    """Return what lies between the ends in a part of a text, none of it blank. `ends` are in order.

    >>> between("One. Two. Three.", [5, 10], Span(0, 16))
    [Span(start=0, end=5), Span(start=5, end=10), Span(start=10, end=16)]
    """
    inner = ends[bisect_right(ends, part.start) : bisect_left(ends, part.end)]
    return [Span(a, b) for a, b in pairwise([part.start, *inner, part.end]) if first_ink(text, a, b) < b]


def heading_ends(document: Document) -> tuple[list[int], list[int]]:
    """Return the places where a cut would part a heading, a table's header or a fence's edge from its text.

    First those before another heading, so that the innermost stays with the text; then all.
    """
    leading = _leading(document)
    starts = {heading.start for heading, _ in leading}
    return [heading.end for heading, body in leading if body in starts], [heading.end for heading, _ in leading]


@lru_cache(maxsize=4)
def solid_blocks(document: Document) -> tuple[Block, ...]:
    """Return the outermost blocks that hold no sentences, in order."""
    solid: list[Block] = []
    for block in outline(document).blocks(*_SOLID):
        if not solid or block.span.start >= solid[-1].span.end:
            solid.append(block)
    return tuple(solid)


def where(level: Level, allowed: Callable[[int], bool]) -> Level:
    """Return the level without the places that are not allowed."""

    def last(lo: int, hi: int) -> int | None:
        while (place := level(lo, hi)) is not None and not allowed(place):
            hi = place - 1
        return place

    return last


def outside(places: Iterable[int], spans: Sequence[Span]) -> list[int]:
    """Leave out the places inside these spans, which are disjoint and in order."""
    return list(filter(not_inside(spans), places))


def without_orphans(document: Document, ends: Iterable[int]) -> list[int]:
    """Leave out the places between a heading, or a table's header, and what is under it."""
    return list(filter(followed(document), ends))


@lru_cache(maxsize=4)
def followed(document: Document) -> Callable[[int], bool]:
    """Return a function that tells whether a place does not part a heading or a header from what is under it."""
    leading = _leading(document)
    starts = [heading.start for heading, _ in leading]

    def allowed(place: int) -> bool:
        index = bisect_left(starts, place) - 1
        return index < 0 or not leading[index][0].end <= place <= leading[index][1]

    return allowed


def not_inside(spans: Sequence[Span]) -> Callable[[int], bool]:
    """Return a function that tells whether a place is not in the middle of a span."""
    starts = [span.start for span in spans]

    def allowed(place: int) -> bool:
        index = bisect_left(starts, place) - 1
        return index < 0 or place >= spans[index].end

    return allowed


@lru_cache(maxsize=4)
def _leading(document: Document) -> tuple[tuple[Span, int], ...]:
    """Return the headings of sections and of tables, and the edges of fences, each with where its text starts."""
    text, headings = document.text, outline(document).blocks("heading", "header")
    found = [(heading.span, first_ink(text, heading.span.end, len(text))) for heading in headings]
    return tuple(sorted([*found, *partings(document)]))


def in_code(document: Document) -> Callable[[int], bool]:
    """Return a function that tells whether a position lies in code, where an indent has a meaning."""
    return inside([block.span for block in outline(document).blocks("code")])


def inside(spans: Sequence[Span]) -> Callable[[int], bool]:
    """Return a function that tells whether a span, of disjoint ones in order, holds a position."""
    starts = [span.start for span in spans]

    def holds(position: int) -> bool:
        index = bisect_right(starts, position) - 1
        return index >= 0 and position < spans[index].end

    return holds


def language_of(document: Document, language: str) -> str:
    """Return the language to cut in: the recipe's, else what the document says of itself, else "auto"."""
    declared = document.meta.get("language")
    if language == "auto" and isinstance(declared, str) and (code := _LANGUAGE_CODE.fullmatch(declared.strip())):
        return str(code["code"]).lower()
    return language


def last_resorts(text: str) -> list[Level]:
    """Return the levels for a unit that alone is over the limit: lines, clauses, words."""
    return [partial(find, text) for find in (last_line, last_clause, last_word)]
