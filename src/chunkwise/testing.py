"""The laws of a chunker, for the tests of whoever writes one.

Each law is a sentence that holds for every document; `check_chunker` raises AssertionError, with the
place, for the first one that does not.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import groupby, islice, pairwise

from chunkwise.core.protocols import Chunker
from chunkwise.core.spans import contains, gaps, overlaps
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.pipeline import parse
from chunkwise.text import graphemes
from chunkwise.text.words import line_spans

__all__ = ["check_chunker", "check_locality", "check_within"]

# A hierarchy has no more levels; a chunker that yields more chunks a character does not go forward.
_MOST_LEVELS = 8


def check_chunker(chunker: Chunker, document: Document) -> list[Chunk]:
    """Check every law that one run can show, and return the chunks.

    Cost: two runs of the chunker. Raises: AssertionError.
    """
    before = repr(document)
    most = _MOST_LEVELS * len(document.text)
    chunks = list(islice(chunker(document), most + 1))
    assert len(chunks) <= most, "L2: more chunks than characters; the cutting does not go forward"
    assert repr(document) == before, "L6: the document was changed"
    assert [chunk.id for chunk in chunker(document)] == [chunk.id for chunk in chunks], "L5: a second run differs"
    _check_fidelity(chunks, document)
    _check_budget(chunker, chunks, document)
    _check_value(chunker)
    for level in _levels(chunks):
        _check_order(level)
        _check_coverage(chunker, level, document)
        _check_edges(chunker, level, document)
    assert len({chunk.id for chunk in chunks}) == len(chunks), "L5: two chunks have one id"
    if not document.text.strip():
        assert not chunks, "L7: a blank document gave chunks"
    return chunks


def check_within(chunker: Chunker, document: Document, within: Sequence[Span]) -> list[Chunk]:
    """Check that spans which are cut by themselves share no chunk and lose nothing, and return the chunks.

    `within` are disjoint, in order, and meet no text that the chunker drops. Raises: AssertionError.
    """
    chunks = list(chunker(document, within=within))
    _check_fidelity(chunks, document)
    _check_budget(chunker, chunks, document)
    for level in _levels(chunks):
        _check_order(level)
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


def _levels(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return the chunks of each level of a hierarchy by themselves; all as one where there is none."""
    level = {chunk.id: chunk.meta.get("level", 0) for chunk in chunks}
    ordered = sorted(chunks, key=lambda chunk: str(level[chunk.id]))
    return [list(group) for _, group in groupby(ordered, key=lambda chunk: str(level[chunk.id]))] or [[]]


def _check_fidelity(chunks: Sequence[Chunk], document: Document) -> None:
    for chunk in chunks:
        assert chunk.text == "".join(document.text[a:b] for a, b in chunk.spans), f"L1: {chunk.spans} is not the text"
        assert chunk.text.strip(), f"L1: the chunk at {chunk.spans} is blank"
        assert chunk.document_id == document.id, "L1: the chunk names another document"
        assert 0 <= chunk.start < chunk.end <= len(document.text), f"L1: {chunk.spans} is outside the document"


def _check_order(chunks: Sequence[Chunk]) -> None:
    for one, other in pairwise(chunks):
        assert one.body.start < other.body.start, f"L2: {other.body} does not start after {one.body}"
        assert one.body.end < other.body.end, f"L2: {other.body} lies inside {one.body}"
        assert _overlap(other) or not overlaps(one.body, other.body), f"L10: {one.body} and {other.body} overlap"


def _check_coverage(chunker: Chunker, chunks: Sequence[Chunk], document: Document) -> None:
    covered = [chunk.body for chunk in chunks] + [drop.span for drop in chunker.dropped(document)]
    for gap in gaps(covered, Span(0, len(document.text))):
        assert not gap.slice(document.text).strip(), f"L3: {gap.slice(document.text)[:80]!r} at {gap} is in no chunk"


def _check_budget(chunker: Chunker, chunks: Sequence[Chunk], document: Document) -> None:
    budget = chunker.budget
    for chunk in chunks:
        count = budget.tokenizer.count(chunk.embed_text)
        assert chunk.token_count == count, f"L4: {chunk.body} says {chunk.token_count} tokens and has {count}"
        alone = graphemes.ceiling(document.text, chunk.body.start) >= chunk.body.end and not chunk.context
        assert count <= budget.size or alone, f"L4: {chunk.body} has {count} tokens, over {budget.size}"


def _check_value(chunker: Chunker) -> None:
    assert parse(repr(chunker)) == chunker, f"L8: {chunker!r} does not parse back"
    assert pickle.loads(pickle.dumps(chunker)) == chunker, "L8: the chunker does not survive a pickle"
    assert hash(parse(repr(chunker))) == hash(chunker), "L8: equal chunkers hash apart"


def _check_edges(chunker: Chunker, chunks: Sequence[Chunk], document: Document) -> None:
    text = document.text
    places = {place for chunk in chunks for place in chunk.body if 0 < place < len(text)}
    edges = {span.start for span in graphemes.grapheme_spans(text)}
    assert places <= edges, f"L9: a grapheme is cut at {sorted(places - edges)}"
    if chunker.cuts_units:
        return
    budget = chunker.leaf_budget
    cuts = {place for chunk in chunks for place in (chunk.body.start + _overlap(chunk), chunk.body.end)}
    for unit in _units(document):
        inside = [place for place in cuts if unit.start < place < unit.end and text[unit.start : place].strip()]
        fits = budget.tokenizer.count(unit.slice(text).rstrip()) <= budget.size
        if inside and text[inside[0] : unit.end].strip() and fits:
            raise AssertionError(f"L9: {unit.slice(text)[:80]!r} is cut at {inside[0]} and would have fitted")


def _units(document: Document) -> list[Span]:
    """Return the rows of tables and the lines of code."""
    units = [block.span for block in document.blocks if block.kind == "row"]
    for block in document.blocks:
        if block.kind == "code":
            units += line_spans(document.text, *block.span)
    return units


def _overlap(chunk: Chunk) -> int:
    """Return how many characters of the chunk repeat the one before."""
    repeated = chunk.meta.get("overlap", 0)
    return repeated if isinstance(repeated, int) else 0
