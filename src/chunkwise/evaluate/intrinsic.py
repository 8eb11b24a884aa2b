"""What can be told of chunks without any question: their sizes, and what their cuts part.

Every judgement is a pure function of a document's chunks, the document and the budget. Of a hierarchy, the
functions on cuts look at the deepest level, whose `meta["level"]` is the largest: that is what is embedded smallest.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

from chunkwise.chunkers.levels import language_of, not_inside, solid_blocks
from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Encoder
from chunkwise.core.spans import contains, gaps, intersect
from chunkwise.core.types import BlockKind, Chunk, Document, Drop, Span
from chunkwise.embed import takes
from chunkwise.text.graphemes import first_ink, inked, last_ink
from chunkwise.text.sentences import guess_language, sentence_spans

# A chunk below this share of the size is tiny: it crowds a list of hits and says little.
TINY = 0.1

# Words that point back at text which a chunk that opens with them does not hold. A heuristic: "It is raining" does not.
_BACKWARD = {
    "en": "it its this that these those they their them he she his her such however therefore thus hence consequently "
    "moreover furthermore nevertheless nonetheless otherwise instead additionally similarly likewise accordingly",
    "de": "dies diese dieser dieses jene jener jenes er sie es daher deshalb deswegen dadurch dabei jedoch dennoch "
    "allerdings außerdem folglich",
    "fr": "il elle ils elles ceci cela celui celle ceux ces cette cependant toutefois néanmoins donc ainsi pourtant",
    "es": "esto este esta estos estas eso esos esas ellos ellas además así aquello",
}
_BACKWARD_WORDS = {language: frozenset(words.split()) for language, words in _BACKWARD.items()}
# What may stand before a chunk's first word: marks of lists, quotes and emphasis.
_FIRST_WORD = re.compile(r"(?:[-*+>\s\"'\u201c\u2018\u00ab(_]|\d{1,3}[.)]\s){0,20}+(\w{2,20})\b")


class Faults(NamedTuple):
    """The places of one document where something is wrong, of how many that were looked at."""

    spans: tuple[Span, ...]
    of: int


Judge: TypeAlias = Callable[[Sequence[Chunk], Document, Budget], Faults]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of chunks. `quartiles` are least, first, median, third and most; `bins` count tenths of the size."""

    n_chunks: int
    mean: float
    quartiles: tuple[int, int, int, int, int]
    bins: tuple[int, ...]


def sizes(counts: Sequence[int], size: int) -> Sizes:
    """Summarise the token counts of chunks. What is over the size is in the last bin.

    >>> sizes([10, 95, 100], 100).bins
    (0, 1, 0, 0, 0, 0, 0, 0, 0, 2)
    """
    if not counts:
        return Sizes(0, 0.0, (0, 0, 0, 0, 0), (0,) * 10)
    tokens = np.asarray(counts)
    least, first, middle, third, most = np.quantile(tokens, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf").tolist()
    bins = np.bincount(np.minimum(tokens * 10 // size, 9), minlength=10).tolist()
    return Sizes(len(tokens), float(tokens.mean()), (least, first, middle, third, most), tuple(bins))


def tiny(chunks: Sequence[Chunk], _document: Document, budget: Budget) -> Faults:
    """Find chunks below a tenth of the size."""
    return _chunks_where(chunks, lambda chunk: chunk.token_count < budget.size * TINY)


def over_budget(chunks: Sequence[Chunk], _document: Document, budget: Budget) -> Faults:
    """Find chunks over the size: only a single character that alone is over it may be."""
    return _chunks_where(chunks, lambda chunk: chunk.token_count > budget.size)


def over_limit(chunks: Sequence[Chunk], encoder: Encoder) -> Faults:
    """Find chunks that an encoder would cut off or refuse."""
    return _chunks_where(chunks, lambda chunk: not takes(encoder, chunk.embed_text))


def sentences_cut(chunks: Sequence[Chunk], document: Document, _budget: Budget) -> Faults:
    """Find cuts inside a sentence. In code and tables no sentence ends, so cuts there are not looked at."""
    text, in_prose = document.text, _in_prose(document)
    cuts = [cut for cut in _cuts(chunks) if all(map(in_prose, cut))]
    edges = {place for block in document.blocks for place in inked(text, block.span)}
    sentences = [inked(text, span) for span in sentence_spans(text, language_of(document, "auto"))]
    whole = not_inside([sentence for sentence in sentences if sentence.length])
    torn = [[place for place in cut if place not in edges and not whole(place)][:1] for cut in cuts]
    return Faults(tuple(Span(place, place) for places in torn for place in places), len(cuts))


def tables_cut(chunks: Sequence[Chunk], document: Document, _budget: Budget) -> Faults:
    """Find tables that are in more than one chunk."""
    return _places(chunks, document, "table")


def rows_cut(chunks: Sequence[Chunk], document: Document, budget: Budget) -> Faults:
    """Find rows of tables that are cut though they would have fitted in a chunk."""
    return _places(chunks, document, "row", budget)


def headless(chunks: Sequence[Chunk], document: Document, _budget: Budget) -> Faults:
    """Find pieces of tables that begin below the header and do not repeat it."""
    blocks = document.blocks
    headers = [(blocks[header.parent].span, header.span) for header in outline(document).blocks("header")]
    starts = [table.start for table, _ in headers]
    found, n_pieces = list[Span](), 0
    for chunk in deepest(chunks):
        index = bisect_right(starts, chunk.body.start) - 1
        table, header = headers[index] if index >= 0 else (Span(0, 0), Span(0, 0))
        if not table.start < chunk.body.start < inked(document.text, table).end:
            continue
        n_pieces += 1
        header = inked(document.text, header)
        if not any(contains(span, header) for span in chunk.spans):
            found.append(chunk.body)
    return Faults(tuple(found), n_pieces)


def code_cut(chunks: Sequence[Chunk], document: Document, _budget: Budget) -> Faults:
    """Find code blocks that are in more than one chunk."""
    return _places(chunks, document, "code")


def code_cut_needlessly(chunks: Sequence[Chunk], document: Document, budget: Budget) -> Faults:
    """Find code blocks that are cut though they would have fitted in a chunk."""
    return _places(chunks, document, "code", budget)


def orphan_headings(chunks: Sequence[Chunk], document: Document, _budget: Budget) -> Faults:
    """Find chunks that end with a heading whose text begins the next chunk."""
    text = document.text
    ends = {inked(text, heading.span).end: heading.span for heading in outline(document).headings}
    found, looked_at = [], deepest(chunks)
    for chunk in looked_at:
        heading = ends.get(chunk.body.end)
        followed = first_ink(text, chunk.body.end, len(text)) < len(text)
        if heading is not None and followed and not _only_headings(chunk, document):
            found.append(heading)
    return Faults(tuple(found), len(looked_at))


def bare_headings(chunks: Sequence[Chunk], document: Document, _budget: Budget) -> Faults:
    """Find chunks that hold nothing but headings."""
    return _chunks_where(deepest(chunks), lambda chunk: _only_headings(chunk, document))


def pointing_back(chunks: Sequence[Chunk], document: Document, _budget: Budget) -> Faults:
    """Find chunks that open with a word such as "It", "These" or "However", which points at text before them.

    A heuristic, in English, German, French and Spanish. Text right under a heading points at the heading.
    """
    text, language = document.text, language_of(document, "auto")
    words = _BACKWARD_WORDS.get(guess_language(text) if language == "auto" else language, _BACKWARD_WORDS["en"])
    in_prose = _in_prose(document)
    headings = {inked(text, heading.span).end for heading in outline(document).blocks("heading")}

    def points(chunk: Chunk) -> bool:
        before = last_ink(text, 0, chunk.body.start)
        if not before or before in headings or not in_prose(chunk.body.start + 1):
            return False
        first = _FIRST_WORD.match(text, chunk.body.start, chunk.body.end)
        return first is not None and first[1].lower() in words

    return _chunks_where(deepest(chunks), points)


FINDINGS: Mapping[str, Judge] = MappingProxyType(
    {
        "over_budget": over_budget,
        "tiny": tiny,
        "sentences_cut": sentences_cut,
        "tables_cut": tables_cut,
        "rows_cut": rows_cut,
        "headless": headless,
        "code_cut": code_cut,
        "code_cut_needlessly": code_cut_needlessly,
        "orphan_headings": orphan_headings,
        "bare_headings": bare_headings,
        "pointing_back": pointing_back,
    }
)
"""Every judgement by name, in the order in which they are told."""


def left_out(chunks: Sequence[Chunk], document: Document, drops: Sequence[Drop]) -> Counter[str]:
    """Count the characters that are in no chunk on purpose, by reason; white space aside."""
    free = list(gaps([chunk.body for chunk in chunks], Span(0, len(document.text))))
    starts = [gap.start for gap in free]
    counts: Counter[str] = Counter()
    for drop in drops:
        first = max(0, bisect_right(starts, drop.span.start) - 1)
        for gap in free[first : bisect_left(starts, drop.span.end)]:
            if (shared := intersect(gap, drop.span)) is not None:
                counts[drop.reason] += sum(map(len, shared.slice(document.text).split()))
    return Counter({reason: count for reason, count in counts.items() if count})


def deepest(chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """Return the chunks of the deepest level; all where there are no levels."""
    levels = [level if isinstance(level := chunk.meta.get("level", 0), int) else 0 for chunk in chunks]
    last = max(levels, default=0)
    return [chunk for chunk, level in zip(chunks, levels, strict=True) if level == last] if any(levels) else chunks


def _cuts(chunks: Sequence[Chunk]) -> Iterator[Span]:
    """Yield for each cut where the text before it ends and the text after it starts."""
    for one, other in pairwise(deepest(chunks)):
        start = max(other.own.start, one.body.end)  # chunks may overlap without saying so
        yield Span(one.body.end, start)


def _chunks_where(chunks: Sequence[Chunk], holds: Callable[[Chunk], bool]) -> Faults:
    return Faults(tuple(chunk.body for chunk in chunks if holds(chunk)), len(chunks))


def _places(chunks: Sequence[Chunk], document: Document, kind: BlockKind, budget: Budget | None = None) -> Faults:
    """Find the first cut in each block of a kind; with a budget, only in the blocks that would have fitted."""
    text, blocks = document.text, outline(document).blocks(kind)
    cuts = sorted(place for cut in _cuts(chunks) for place in cut)
    found = []
    for block in blocks:
        start, end = inked(text, block.span)
        index = bisect_right(cuts, start)
        if index == len(cuts) or cuts[index] >= end:
            continue
        if budget is None or budget.tokenizer.count(text[start:end]) <= budget.size:
            found.append(Span(cuts[index], cuts[index]))
    return Faults(tuple(found), len(blocks))


def _only_headings(chunk: Chunk, document: Document) -> bool:
    headings = outline(document).blocks("heading")
    first = bisect_left(headings, chunk.body.start, key=lambda heading: heading.span.end)
    last = bisect_left(headings, chunk.body.end, key=lambda heading: heading.span.start)
    spans = [heading.span for heading in headings[first:last]]
    return bool(spans) and all(first_ink(document.text, *gap) == gap.end for gap in gaps(spans, chunk.body))


def _in_prose(document: Document) -> Callable[[int], bool]:
    """Return a function that tells whether a place is not in the middle of a block without sentences."""
    solid = [inked(document.text, block.span) for block in solid_blocks(document)]
    return not_inside([span for span in solid if span.length])
