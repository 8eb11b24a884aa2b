"""The laws of a chunker and of a reader, for the tests of whoever writes one.

Each law is a sentence that holds for every document. `examine` names every place where one does not;
`check_chunker` and `check_reader` raise AssertionError for the first.
"""

from __future__ import annotations

import json
import pickle
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, pairwise

from chunkwise.core.protocols import Chunker, Reader
from chunkwise.core.spans import contains, gaps, overlaps
from chunkwise.core.types import Chunk, Document, Source, Span
from chunkwise.pipeline import parse
from chunkwise.text import graphemes
from chunkwise.text.words import line_spans

__all__ = [
    "Violation",
    "check_chunker",
    "check_locality",
    "check_reader",
    "check_within",
    "examine",
    "examine_value",
]

# A hierarchy has no more levels; a chunker that yields more chunks a character does not go forward.
_MOST_LEVELS = 8


@dataclass(frozen=True, slots=True)
class Violation:
    """A law that does not hold, and where. What concerns no place has the span of the whole document."""

    law: str
    document_id: str
    span: Span
    message: str

    def __str__(self) -> str:
        return f"{self.law}: {self.message}"


def check_chunker(chunker: Chunker, document: Document) -> list[Chunk]:
    """Check every law that one run can show, and return the chunks.

    Cost: two runs of the chunker. Raises: AssertionError.
    """
    chunks, violations = examine(chunker, document)
    _raise_first(chain(violations, examine_value(chunker)))
    return chunks


def examine(chunker: Chunker, document: Document) -> tuple[list[Chunk], Iterator[Violation]]:
    """Return the chunks of a document, and every violation of a law by them, found as they are asked for.

    Cost: two runs of the chunker, and every chunk is counted once more.
    """
    before = replace(document, meta=deepcopy(dict(document.meta)))
    chunks = list(islice(chunker(document), _MOST_LEVELS * len(document.text) + 1))
    return chunks, _violations(chunker, document, before, chunks)


def examine_value(chunker: Chunker) -> Iterator[Violation]:
    """Yield what is wrong with the chunker itself, whatever it cuts."""

    def broken(message: str) -> Violation:
        return Violation("L8", "", Span(0, 0), message)

    copy = pickle.loads(pickle.dumps(chunker))
    if parse(repr(chunker)) != chunker:
        yield broken(f"{chunker!r} does not parse back")
    if copy != chunker:
        yield broken("the chunker does not survive a pickle")
    if hash(copy) != hash(chunker):
        yield broken("equal chunkers hash apart")


def check_within(chunker: Chunker, document: Document, within: Sequence[Span]) -> list[Chunk]:
    """Check that spans which are cut by themselves share no chunk and lose nothing, and return the chunks.

    `within` are disjoint, in order, and meet no text that the chunker drops. Raises: AssertionError.
    """
    chunks = list(chunker(document, within=within))
    _raise_first(_check_fidelity(chunks, document))
    _raise_first(_check_budget(chunker, chunks, document))
    for level in _levels(chunks):
        _raise_first(_check_order(level))
        for span in within:
            inside = [chunk for chunk in level if contains(span, chunk.body)]
            for gap in gaps([chunk.body for chunk in inside], span):
                dropped = [drop.span for drop in chunker.dropped(document)]
                for rest in gaps(dropped, gap):
                    assert not rest.slice(document.text).strip(), f"L3: {rest} of {span} is in no chunk of it"
    for chunk in chunks:
        assert any(contains(span, chunk.body) for span in within), f"{chunk.body} reaches out of the spans {within}"
    return chunks


def check_locality(chunker: Chunker, document: Document, addition: str) -> None:
    """Check L11: text added at the end leaves the ids of the first chunks as they were.

    Only chunks that end well before the document did are compared: the last ones may rightly grow.
    """
    longer = Document(document.id, document.text + addition, document.blocks, document.media_type)
    size = chunker.budget.size
    settled = len(document.text) - 8 * size - 2000
    old = [chunk.id for chunk in chunker(document) if chunk.end < settled]
    new = [chunk.id for chunk in chunker(longer) if chunk.end < settled]
    assert old == new, "L11: an edit at the end changed the first chunks"


def check_reader(reader: Reader, source: Source) -> Document:
    """Check what every reader promises of its documents, and return that of `source`.

    Blocks name slices of the text, are in order, and nest, pages apart; rows and headers are in tables, headings have
    titles; metadata is what JSON can hold; a second reading gives the same.
    Raises: AssertionError; ReadError if the source can't be read.
    """
    document = reader(source)
    assert document.id == source.id, f"the document is called {document.id}, not {source.id}"
    assert reader(source) == document, "a second reading differs"
    assert json.loads(json.dumps(document.meta)) == document.meta, "metadata that JSON would change"
    starts = [block.span.start for block in document.blocks]
    assert starts == sorted(starts), "the blocks are not in order"
    for index, block in enumerate(document.blocks):
        place = f"{block.kind} at {block.span}"
        assert 0 <= block.span.start < block.span.end <= len(document.text), f"{place} is outside the text, or empty"
        assert -1 <= block.parent < index, f"{place} comes before the block around it"
        around = document.blocks[block.parent] if block.parent >= 0 else None
        assert around is None or contains(around.span, block.span), f"{place} reaches out of the {around}"
        if block.kind in ("row", "header"):
            assert around is not None, f"{place} is in no table"
            assert around.kind == "table", f"{place} is in a {around.kind}, not in a table"
        assert block.kind != "heading" or block.level >= 1, f"{place} has no level"
        assert block.kind != "page" or block.parent < 0, f"{place} is in another block"
    return document


def _violations(chunker: Chunker, document: Document, before: Document, chunks: Sequence[Chunk]) -> Iterator[Violation]:
    def broken(law: str, message: str) -> Violation:
        return Violation(law, document.id, Span(0, len(document.text)), message)

    if len(chunks) > _MOST_LEVELS * len(document.text):
        yield broken("L2", "more chunks than characters; the cutting does not go forward")
    if document != before:
        yield broken("L6", "the document was changed")
    again = islice(chunker(document), len(chunks) + 1)
    if [chunk.id for chunk in again] != [chunk.id for chunk in chunks]:
        yield broken("L5", "a second run differs")
    yield from _check_fidelity(chunks, document)
    sound = [chunk for chunk in chunks if _is_inside(chunk, document)]  # the others have no place to speak of
    yield from _check_budget(chunker, sound, document)
    for level in _levels(sound):
        yield from _check_order(level)
        yield from _check_coverage(chunker, level, document)
        yield from _check_edges(chunker, level, document)
    if len({chunk.id for chunk in chunks}) < len(chunks):
        yield broken("L5", "two chunks have one id")
    if chunks and not document.text.strip():
        yield broken("L7", "a blank document gave chunks")


def _raise_first(violations: Iterable[Violation]) -> None:
    for violation in violations:
        raise AssertionError(str(violation))


def _levels(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return the chunks of each level of a hierarchy by themselves; all as one where there is none."""
    level = {chunk.id: chunk.meta.get("level", 0) for chunk in chunks}
    ordered = sorted(chunks, key=lambda chunk: str(level[chunk.id]))
    return [list(group) for _, group in groupby(ordered, key=lambda chunk: str(level[chunk.id]))] or [[]]


def _is_inside(chunk: Chunk, document: Document) -> bool:
    return bool(chunk.spans) and 0 <= chunk.start < chunk.end <= len(document.text)


def _check_fidelity(chunks: Sequence[Chunk], document: Document) -> Iterator[Violation]:
    for chunk in chunks:
        place = Span(chunk.start, chunk.end) if chunk.spans else Span(0, 0)
        for wrong, message in (
            (chunk.text != "".join(document.text[a:b] for a, b in chunk.spans), f"{chunk.spans} is not the text"),
            (not chunk.text.strip(), f"the chunk at {chunk.spans} is blank"),
            (chunk.document_id != document.id, "the chunk names another document"),
            (not _is_inside(chunk, document), f"{chunk.spans} is outside the document"),
        ):
            if wrong:
                yield Violation("L1", document.id, place, message)


def _check_order(chunks: Sequence[Chunk]) -> Iterator[Violation]:
    for one, other in pairwise(chunks):
        for wrong, law, message in (
            (one.body.start >= other.body.start, "L2", f"{other.body} does not start after {one.body}"),
            (one.body.end >= other.body.end, "L2", f"{other.body} lies inside {one.body}"),
            (other.own == other.body and overlaps(one.body, other.body), "L10", f"{one.body} and {other.body} overlap"),
        ):
            if wrong:
                yield Violation(law, other.document_id, other.body, message)


def _check_coverage(chunker: Chunker, chunks: Sequence[Chunk], document: Document) -> Iterator[Violation]:
    covered = [chunk.body for chunk in chunks] + [drop.span for drop in chunker.dropped(document)]
    for gap in gaps(covered, Span(0, len(document.text))):
        if gap.slice(document.text).strip():
            yield Violation("L3", document.id, gap, f"{gap.slice(document.text)[:80]!r} at {gap} is in no chunk")


def _check_budget(chunker: Chunker, chunks: Sequence[Chunk], document: Document) -> Iterator[Violation]:
    budget = chunker.budget
    for chunk in chunks:
        count = budget.tokenizer.count(chunk.embed_text)
        if chunk.token_count != count:
            message = f"{chunk.body} says {chunk.token_count} tokens and has {count}"
            yield Violation("L4", document.id, chunk.body, message)
        alone = graphemes.ceiling(document.text, chunk.body.start) >= chunk.body.end and not chunk.context
        if count > budget.size and not alone:
            yield Violation("L4", document.id, chunk.body, f"{chunk.body} has {count} tokens, over {budget.size}")


def _check_edges(chunker: Chunker, chunks: Sequence[Chunk], document: Document) -> Iterator[Violation]:
    text = document.text
    for place in _inside_graphemes(text, {place for chunk in chunks for place in chunk.body}):
        yield Violation("L9", document.id, Span(place, place), f"a grapheme is cut at {place}")
    if chunker.cuts_units:
        return
    budget = chunker.leaf_budget
    cuts = sorted({place for chunk in chunks for place in chunk.own})
    for unit in _units(document):
        between = cuts[bisect_right(cuts, unit.start) : bisect_left(cuts, unit.end)]
        inside = [place for place in between if text[unit.start : place].strip()]
        if not inside or not text[inside[0] : unit.end].strip():
            continue
        if budget.tokenizer.count(unit.slice(text).rstrip()) <= budget.size:
            message = f"{unit.slice(text)[:80]!r} is cut at {inside[0]} and would have fitted"
            yield Violation("L9", document.id, Span(inside[0], inside[0]), message)


def _inside_graphemes(text: str, places: Iterable[int]) -> Iterator[int]:
    """Yield the places that part a grapheme, in order. A grapheme ends with a line: one line at a time is looked at."""
    edges, stop = set[int](), 0
    for place in sorted(place for place in places if 0 < place < len(text)):
        around = text[place - 1 : place + 1]
        if around.isascii() and around != "\r\n":
            continue
        if place >= stop:
            start = text.rfind("\n", 0, place) + 1
            stop = text.find("\n", place) + 1 or len(text)
            edges = {start + span.start for span in graphemes.grapheme_spans(text[start:stop])}
        if place not in edges:
            yield place


def _units(document: Document) -> list[Span]:
    """Return the rows of tables and the lines of code."""
    units = [block.span for block in document.blocks if block.kind == "row"]
    for block in document.blocks:
        if block.kind == "code":
            units += line_spans(document.text, *block.span)
    return units
