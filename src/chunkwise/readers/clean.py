"""Take out of a document what is no text: a step a kind, each with the place of what it took."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from chunkwise.core.errors import ReadError
from chunkwise.core.origins import Origin
from chunkwise.core.spans import union
from chunkwise.core.types import Block, BlockKind, Document, Meta, Span
from chunkwise.readers.markdown import title_of
from chunkwise.text.blanks import blanks
from chunkwise.text.blobs import blobs
from chunkwise.text.boilerplate import navigation, repeated, standing
from chunkwise.text.forms import forms
from chunkwise.text.graphemes import first_ink
from chunkwise.text.hyphens import joins
from chunkwise.text.invisible import invisible

__all__ = ["DEFAULT", "REPEATED", "STEPS", "cleaned", "repeated_lines", "steps"]

Edit: TypeAlias = tuple[Span, str]
"""A span of a text, and what comes in its place."""

DEFAULT = "blobs"
REPEATED = "repeated"

# What is written as it is meant: only blobs and control characters are taken out of it.
_VERBATIM: tuple[BlockKind, ...] = ("code", "math", "html", "front_matter")
_TABLE: tuple[BlockKind, ...] = ("table", "header", "row")
# No comma, pipe, quote or tab: it may come to stand in a cell of a table, or in a string.
_LEFT_OUT = "[{} left out]"
# What may end a cell or a row.
_CELL_ENDS = frozenset(",;|\t\r\n")
# How often hyphens are joined again, because a word that was joined may tell how to join another.
_MOST_ROUNDS = 8
# How many removed spans are listed in a document's metadata. There may be one for each character.
_MOST_LISTED = 1000


class _Step(NamedTuple):
    """A way to clean, and what it took out, for a person; without a reason it takes out nothing that is seen."""

    edits: Callable[[Document], Sequence[Edit]]
    reason: str = ""
    rounds: int = 1


def cleaned(document: Document, clean: str = DEFAULT, *, lines: Collection[str] = ()) -> Document:
    """Return the document without what the steps take out: names as in `STEPS`, parted by commas, or "all" or "none".

    Blocks move along, and those with nothing left go. Code, math, HTML and front matter lose only blobs and invisible
    characters; tables keep every row and cell. `origin` maps the new text to the old. `meta["removed"]` lists what was
    taken out, with offsets of the raw text, or of the reader's where there is none: the first 1,000 of "n_removed".
    The step "repeated" takes out `lines`, which are those of a batch: see `repeated_lines`.
    A document with nothing to clean is returned itself. Cost: linear; "blobs" 3 to 20 ms a million characters.
    Raises: ReadError for a step that does not exist.
    """
    return _applied(document, [_repeated(lines) if name == REPEATED else _STEPS[name] for name in steps(clean)])


@lru_cache(maxsize=64)
def steps(clean: str) -> tuple[str, ...]:
    """Return the names of the steps in the order in which they are taken.

    Raises: ReadError.

    >>> steps("spaces, blobs")
    ('blobs', 'spaces')
    """
    if clean in ("all", "none"):
        return STEPS if clean == "all" else ()
    names = {name.strip() for name in clean.split(",")} - {""}
    if unknown := sorted(names.difference(STEPS)):
        raise ReadError(f"clean={clean!r}: no step {unknown[0]!r}; known: {', '.join(STEPS)}; or all, or none")
    return tuple(name for name in STEPS if name in names)


def repeated_lines(documents: Iterable[Document]) -> frozenset[str]:
    """Return the short lines that stand in most documents of a batch, and in no heading, table or code there."""
    return repeated((document.text, _apart(document)) for document in documents)


def _blobs(document: Document) -> list[Edit]:
    found = blobs(document.text)
    tables = _Area(document, *_TABLE) if found else None
    edits = list[Edit]()
    for blob in found:
        if tables is None or not tables.touches(blob.span):
            edits.append((blob.span, _LEFT_OUT.format(blob.name)))
        elif _CELL_ENDS.isdisjoint(blob.payload.slice(document.text)):
            edits.append((blob.payload, _LEFT_OUT.format("base64")))  # "data:image/png;base64," may hold the delimiter
    return edits


def _controls(document: Document) -> list[Edit]:
    found = invisible(document.text)
    if not found:
        return []
    rigid, edges = _Area(document, *_VERBATIM, *_TABLE), _edges(document)
    return [
        # A soft hyphen takes the break of its line along, but not where lines mean something.
        (Span(span.start, span.start + 1) if rigid.touches(span) or _between(edges, span) else span, "")
        if document.text[span.start] == "\u00ad"
        else (span, "")
        for span in found
    ]


def _forms(document: Document) -> list[Edit]:
    return _outside(document, forms(document.text), *_VERBATIM)


def _hyphens(document: Document) -> list[Edit]:
    found = _outside(document, joins(document.text), *_VERBATIM, *_TABLE)
    edges = _edges(document) if found else []
    return [(span, new) for span, new in found if not _between(edges, span)]


def _navigation(document: Document) -> list[Edit]:
    return _outside(document, _deleted(navigation(document.text)), *_VERBATIM, *_TABLE, "heading")


def _repeated(lines: Collection[str]) -> _Step:
    def edits(document: Document) -> list[Edit]:
        found = _deleted(standing(document.text, lines)) if lines else []
        return _outside(document, found, *_VERBATIM, *_TABLE, "heading")

    return _Step(edits, "repeated in most documents")


def _spaces(document: Document) -> list[Edit]:
    found = list(blanks(document.text))
    if not found:
        return []
    verbatim, tables, lists = (_Area(document, *kinds) for kinds in (_VERBATIM, _TABLE, ("list", "item")))
    return [
        (span, "")
        for span, place in found
        if not verbatim.touches(span)
        and (place == "inner" or not tables.touches(span))
        and (place != "indent" or not lists.touches(span))
    ]


_STEPS = {
    "controls": _Step(_controls, "invisible characters"),
    "unicode": _Step(_forms),
    "blobs": _Step(_blobs, "a blob"),
    "hyphens": _Step(_hyphens, "a hyphen at a line's end", _MOST_ROUNDS),
    "navigation": _Step(_navigation, "navigation"),
    REPEATED: _repeated(()),
    "spaces": _Step(_spaces),
}
STEPS = tuple(_STEPS)


class _Area:
    """Where blocks of some kinds are, looked up in O(log n)."""

    def __init__(self, document: Document, *kinds: BlockKind) -> None:
        self._spans = union(block.span for block in document.blocks if block.kind in kinds)

    def touches(self, span: Span) -> bool:
        """Tell whether a span shares a character with one of the blocks."""
        index = bisect_left(self._spans, (span.end, 0)) - 1
        return index >= 0 and self._spans[index].end > span.start


def _deleted(spans: Iterable[Span]) -> list[Edit]:
    return [(span, "") for span in spans]


def _outside(document: Document, edits: Sequence[Edit], *kinds: BlockKind) -> list[Edit]:
    """Return the edits that touch no block of these kinds."""
    area = _Area(document, *kinds) if edits else None
    return [(span, new) for span, new in edits if area and not area.touches(span)]


def _edges(document: Document) -> list[int]:
    return sorted({edge for block in document.blocks for edge in block.span})


def _between(edges: list[int], span: Span) -> list[int]:
    """Return the edges of blocks inside a span."""
    return edges[bisect_right(edges, span.start) : bisect_left(edges, span.end)]


def _apart(document: Document) -> set[str]:
    """Return the lines of a document that are no plain text."""
    apart = union(block.span for block in document.blocks if block.kind in (*_VERBATIM, *_TABLE, "heading"))
    return {" ".join(line.split()) for span in apart for line in span.slice(document.text).splitlines()}


def _applied(document: Document, taken: Iterable[_Step]) -> Document:
    result, origin, removed = document, Origin(), _Removed(document)
    for step in taken:
        for _ in range(step.rounds):
            edits = list(_divided(result, step.edits(result)))
            if not edits:
                break
            if step.reason:
                removed.add((origin.source(*span) for span, _ in edits), len(edits), step.reason)
            made = Origin.of((*span, len(new)) for span, new in edits)
            origin = origin.then(made)
            result = _edited(result, edits, made)
    if result is document:
        return document
    raw = None if document.origin is None else document.origin.then(origin)
    return replace(result, origin=raw, meta=removed.meta())


class _Removed:
    """What was taken out of a document; the first of it is listed."""

    def __init__(self, document: Document) -> None:
        self._document = document
        before, n_before = document.meta.get("removed"), document.meta.get("n_removed")
        self._entries: list[dict[str, int | str]] = list(before) if isinstance(before, list) else []
        self._n_removed = n_before if isinstance(n_before, int) else 0

    def add(self, places: Iterable[tuple[int, int]], n_places: int, reason: str) -> None:
        """Note what one step took out, in order."""
        self._n_removed += n_places
        for place in islice(places, _MOST_LISTED):
            start, end = self._document.source_span(Span(*place)) or place
            self._entries.append({"start": start, "end": end, "reason": reason})

    def meta(self) -> Meta:
        """Return the document's metadata with the list."""
        if not self._n_removed:
            return self._document.meta
        listed = sorted(self._entries, key=itemgetter("start", "end"))[:_MOST_LISTED]
        return {**self._document.meta, "removed": listed, "n_removed": self._n_removed}


def _divided(document: Document, edits: Sequence[Edit]) -> Iterator[Edit]:
    """Yield the edits, divided where a block begins or ends inside one, so that what comes there is in one block."""
    edges = _edges(document) if edits else []
    for span, new in edits:
        start = span.start
        for edge in [*(_between(edges, span) if new else ()), span.end]:
            yield Span(start, edge), new
            start, new = edge, ""


def _edited(document: Document, edits: Sequence[Edit], made: Origin) -> Document:
    pieces, done = list[str](), 0
    for span, new in edits:
        pieces += (document.text[done : span.start], new)
        done = span.end
    text = "".join(pieces) + document.text[done:]
    title = title_of if document.media_type == "text/markdown" else _words
    blocks: list[Block] = []
    place, untouched = {-1: -1}, edits[0][0].start
    for number, block in enumerate(document.blocks):
        if block.span.end <= untouched and number == len(blocks):  # nor has a block before it gone
            place[number] = number
            blocks.append(block)
            continue
        span, label = Span(*made.place(*block.span)), block.label
        if made.touches(*block.span):
            if first_ink(text, *span) == span.end and first_ink(document.text, *block.span) < block.span.end:
                place[number] = place[block.parent]
                continue
            if block.kind == "heading" and label == title(block.span.slice(document.text)):
                label = title(span.slice(text))
        place[number] = len(blocks)
        blocks.append(Block(block.kind, span, block.level, label, place[block.parent]))
    return replace(document, text=text, blocks=tuple(blocks))


def _words(heading: str) -> str:
    return " ".join(heading.split())
