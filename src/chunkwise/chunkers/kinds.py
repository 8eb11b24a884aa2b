"""What kind of text a document is, and which parts of it are of another: by format, blocks and first lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from chunkwise.chunkers.fences import fence_of
from chunkwise.chunkers.levels import paragraph_ends
from chunkwise.chunkers.pack import fits
from chunkwise.chunkers.tables import lead
from chunkwise.core.outline import body, outline
from chunkwise.core.protocols import Chunker, Reserve
from chunkwise.core.spans import contains
from chunkwise.core.types import Block, Chunk, Document, Span
from chunkwise.text.clauses import Clause, clauses, designation
from chunkwise.text.json_spans import looks_like_json
from chunkwise.text.logs import is_log
from chunkwise.text.syntax import is_known, language_named
from chunkwise.text.turns import turns
from chunkwise.text.words import BLANK_LINES, line_spans

Kind: TypeAlias = Literal["prose", "code", "table", "json", "log", "transcript", "legal"]

# In characters: how much of a document tells its kind. So little that what is added at the end of a document seldom
# changes how its beginning is cut.
_SAMPLE = 8000
# The fewest turns, and clauses, that make a text one of them; and the share of its paragraphs or lines that begin one.
_FEWEST, _SHARE = 4, 0.5
# How many must speak more than once, and what share of the turns must be theirs: names of fields are many, or
# hyphenated, and what they hold is hardly ever a sentence.
_FEWEST_SPEAKERS, _MOSTLY = 2, 0.7
_LINE = re.compile(r"[^\r\n]*")
_FIELD = re.compile(r"\w-[A-Z]|_")
_SENTENCE = re.compile(r"[.!?\u2026][\"\u201d')]?(?:\s|\Z)|[\u3002\uff01\uff1f]")
_SHARE_OF_CLAUSES = 0.25


class Part(NamedTuple):
    """A part of a document that is cut by itself, of what kind it is, and what tells so."""

    span: Span
    kind: Kind
    reason: str


@lru_cache(maxsize=4)
def kind_of(document: Document) -> tuple[Kind, str]:
    """Return what kind of text a document is, and what tells so."""
    code = next(iter(outline(document).blocks("code")), None)
    if code is not None and contains(code.span, body(document)) and not fence_of(document.text, code):
        if language_named(code.label) == "json":
            return "json", "the file is JSON"
        return "code", f"the file is source code in {code.label or 'an unknown language'}"
    if document.media_type in ("text/csv", "text/tab-separated-values"):
        return "table", "the file is a table"
    text = document.text[: _SAMPLE + 1]
    if len(text) > _SAMPLE:  # whole lines
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text
    if document.media_type == "text/plain" and (found := _plain(text)):
        return found
    return _transcript(text) or _legal(text) or ("prose", "it reads as running text")


def plan(document: Document, chunkers: Mapping[Kind, Chunker], within: Sequence[Span]) -> list[Part]:
    """Return the parts of the spans `within`, in order, each to be cut by the chunker of its kind.

    In running text, a table or a block of code is a part of its own where it does not fit the chunker of the text,
    with the heading, caption or introduction right before it.
    """
    kind, reason = kind_of(document)
    inner = list(_blocks(document, chunkers)) if kind in ("prose", "legal", "transcript") else []
    ends = [part.span.end for part in inner]
    parts: list[Part] = []
    for span in within:
        place = span.start
        for part in inner[bisect_right(ends, span.start) :]:
            if part.span.start >= span.end:
                break
            start, end = max(place, part.span.start), min(part.span.end, span.end)
            parts += [Part(Span(place, start), kind, reason), part._replace(span=Span(start, end))]
            place = end
        parts.append(Part(Span(place, span.end), kind, reason))
    return [part for part in parts if document.text[part.span.start : part.span.end].strip()]


def routed(
    document: Document, parts: Sequence[Part], *, chunkers: Mapping[Kind, Chunker], reserve: Reserve
) -> Iterator[Chunk]:
    """Cut each part of a document by the chunker of its kind, and say in each chunk's meta which and why."""
    found: list[Chunk] = []
    for kind in dict.fromkeys(part.kind for part in parts):
        own, strategy = [part for part in parts if part.kind == kind], repr(chunkers[kind])
        reasons = iter(own)
        part = next(reasons)
        for chunk in chunkers[kind](document, reserve, [part.span for part in own]):
            while chunk.own.start >= part.span.end:
                part = next(reasons)
            told = {"kind": kind, "strategy": strategy, "reason": part.reason}
            found.append(replace(chunk, meta={**chunk.meta, **told}))
    yield from sorted(found, key=lambda chunk: chunk.own.start)


def _plain(text: str) -> tuple[Kind, str] | None:
    """Return the kind of a plain text that is made for machines."""
    if looks_like_json(text):
        return "json", "it begins as JSON does"
    if is_log(text):
        return "log", "at least half of its first lines begin with a time or a level"
    return None


def _transcript(text: str) -> tuple[Kind, str] | None:
    """Tell a transcript by turns that begin most lines or paragraphs, by few who speak often, and in sentences."""
    found = list(turns(text))
    if len(found) < _FEWEST:
        return None
    starts = [turn.start for turn in found]
    paragraphs = [0, *paragraph_ends(text)]
    n_lines = sum(bool(line.slice(text).strip()) for line in line_spans(text))
    begun = max(len(found) / max(n_lines, 1), len(set(starts).intersection(paragraphs)) / len(paragraphs))
    counts = Counter(turn.speaker for turn in found)
    often = {speaker: n for speaker, n in counts.items() if n > 1 and not _FIELD.search(speaker)}
    said = (text[turn.label.end : after] for turn, after in zip(found, [*starts[1:], len(text)], strict=True))
    n_said = sum(bool(_SENTENCE.search(words)) for words in said)
    if (
        begun < _SHARE
        or len(often) < _FEWEST_SPEAKERS
        or sum(often.values()) < _MOSTLY * len(found)
        or n_said < _SHARE * len(found)
    ):
        return None
    return "transcript", f"turns of {', '.join(islice(often, 3))} begin at least half of its first lines or paragraphs"


def _legal(text: str) -> tuple[Kind, str] | None:
    found = list(clauses(text, [Span(0, len(text))]))
    numbers = [number for clause in found if (number := designation(clause.title))]
    alone = sum(_is_alone(text, clause) for clause in found)
    units = len(BLANK_LINES.findall(text)) + 1
    deep = any("." in number.strip(".") or not number[0].isdigit() for number in numbers)
    if len(numbers) < max(_FEWEST, _SHARE_OF_CLAUSES * units) or not deep or 2 * alone > len(found):
        return None  # numbers alone in their lines are versions, or pages
    return "legal", f"it has numbered clauses: {', '.join(islice(numbers, 3))} and more"


def _is_alone(text: str, clause: Clause) -> bool:
    """Tell whether nothing but its number stands in the line of a clause."""
    line = _LINE.match(text, clause.heading.start)
    return line is not None and line[0].strip(" .\t") == designation(clause.title)


def _blocks(document: Document, chunkers: Mapping[Kind, Chunker]) -> Iterator[Part]:
    """Yield the tables and the code that do not fit, outermost ones in order."""
    budget = chunkers["prose"].budget
    fit = fits(document.text, budget.tokenizer.measure(document.text), budget.room)
    floor = 0
    for block in outline(document).blocks("table", "code"):
        if block.span.start < floor or fit(block.span):
            continue
        kind, reason = _kind_of_block(block)
        if kind is not None:
            yield Part(Span(lead(document, floor, block.span.start), block.span.end), kind, reason)
            floor = block.span.end


def _kind_of_block(block: Block) -> tuple[Kind | None, str]:
    if block.kind == "table":
        return "table", "a table that does not fit a chunk"
    if not is_known(block.label):
        return None, ""
    return "code", f"a block of code in {block.label} that does not fit a chunk"
