"""Find where a document says what somebody has copied from it.

Copies differ from the text in what word processors, terminals and web pages change: white space, quotation marks,
dashes, hyphens at the ends of lines, marks of Markdown, letters of one piece (ligatures), capitals. In numbers they
must not differ: 1.5 is no 15, 10 no 10⁶, -5 no 5, and a copy of 8 is not found in 18.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import regex

from chunkwise.core.origins import Origin
from chunkwise.core.types import Span
from chunkwise.text.forms import forms
from chunkwise.text.graphemes import inked
from chunkwise.text.words import WORD

# In words: an excerpt that is shorter may stand somewhere else by chance, in another meaning.
# Source: of the gold excerpts of covidqa with fewer, 31 % come again in their document, of longer ones 1.3 %; of those
# of xquad-en 21 % and 0.5 %. Where the longer ones of chroma come again (11 %), the texts repeat themselves.
DISTINCT = 5

_QUOTES = "'\"`\u00b4\u2018-\u201f\u2039\u203a\u00ab\u00bb\u2032-\u2036\u300c-\u300f\uff02\uff07"
_DASHES = r"\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_MARKUP = r"*_|\\"
_UNSEEN = r"\u00ad\u200b-\u200f\u2060\ufeff"
_MARK = regex.compile(f"[{_QUOTES}{_DASHES}{_MARKUP}]")
_EDGES = regex.compile(rf"[\s{_QUOTES}{_DASHES}{_MARKUP}]*+")
_LOOSE = regex.compile(rf"[\s{_QUOTES}{_DASHES}{_MARKUP}{_UNSEEN}]++|\u2026")
_DASH = regex.compile(f"[{_DASHES}]")

# In characters: how far from an excerpt its quotation marks may stand, at most.
_REACH = 8

# Scripts whose words are written apart and take no endings that a copy would leave out.
_LETTER = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}\p{Nd}]")


class Edit(NamedTuple):
    """A part of a text, and what comes in its place."""

    start: int
    end: int
    new: str


class Places:
    """One text, and where in it excerpts stand. Cost: it is read once, half a million characters a second or more."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, excerpt: str) -> list[Span]:
        """Return where an excerpt stands, in order; nowhere inside a number, and a short one nowhere inside a word.

        Where some places have it character for character, a short one stands only there.
        """
        excerpt = excerpt.strip()
        sought = _sought(excerpt)
        if not sought:
            return []
        found = [self._source(sought, start, excerpt) for start in _starts(sought, self._own.text)]
        found = [span for span in found if span.length and not self._parts_number(span)]
        if not is_short(excerpt):
            return found
        whole = [span for span in found if not self._parts_word(span)]
        same = [span for span in found if span.slice(self.text) == excerpt]
        if not whole:
            return []
        # Where it is written so only inside a word, what is meant can't be told.
        return [span for span in same if span in whole] or sorted({*whole, *same})

    @cached_property
    def _own(self) -> Folded:
        return _folded(self.text)

    def _source(self, sought: str, start: int, excerpt: str) -> Span:
        """Return the span of the text that a match was made of, with marks at its edges where the excerpt has some."""
        span = inked(self.text, Span(*self._own.origin.source(start, start + len(sought))))
        before, after = _EDGES.match(excerpt), _EDGES.match(excerpt[::-1])
        begin = span.start - _reach(self.text[max(0, span.start - _REACH) : span.start][::-1], before)
        return Span(begin, span.end + _reach(self.text[span.end : span.end + _REACH], after))

    def _parts_number(self, span: Span) -> bool:
        """Tell whether a number goes on beyond an edge of a span."""
        before, after = self.text[max(0, span.start - 2) : span.start][::-1], self.text[span.end : span.end + 2]
        first, last = self.text[span.start], self.text[span.end - 1]
        return (first.isdigit() and _goes_on(before)) or (last.isdigit() and _goes_on(after))

    def _parts_word(self, span: Span) -> bool:
        """Tell whether a word goes on beyond an edge of a span."""
        edges = [edge for edge in span if 0 < edge < len(self.text)]
        return any(_LETTER.match(self.text[edge - 1]) and _LETTER.match(self.text[edge]) for edge in edges)


def is_short(excerpt: str) -> bool:
    """Tell whether an excerpt may stand somewhere else by chance."""
    return len(WORD.findall(excerpt)) < DISTINCT


def nearest(spans: Sequence[Span], start: int) -> Span:
    """Return the one of several spans, in order, that starts nearest to a place."""
    index = bisect_left(spans, (start, start))
    return min(spans[max(0, index - 1) : index + 1], key=lambda span: abs(span.start - start))


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in the form in which copies are compared, and where its parts come from."""

    text: str
    origin: Origin


@lru_cache(maxsize=4)
def _sought(excerpt: str) -> str:
    """Return an excerpt as it is looked for, in one document after the other."""
    return _folded(excerpt).text


def _folded(text: str) -> Folded:
    composed = _edited(text, (Edit(span.start, span.end, new) for span, new in forms(text)))
    lower = composed.text.lower()
    if len(lower) != len(composed.text):  # one letter of Turkish becomes two
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in composed.text)
    loose = _edited(lower, _loose(lower))
    return Folded(loose.text, composed.origin.then(loose.origin))


def _loose(text: str) -> Iterator[Edit]:
    """Yield what is left out of a text; between digits something stays, and a dash beside one does."""
    for match in _LOOSE.finditer(text):
        before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
        if match[0] == "\u2026":
            new = "..."
        elif _DASH.search(match[0]) and (before.isdigit() or after.isdigit()):
            new = "-"
        else:
            new = " " if before.isdigit() and after.isdigit() else ""
        if new != match[0]:
            yield Edit(match.start(), match.end(), new)


def _edited(text: str, edits: Iterable[Edit]) -> Folded:
    parts, position, lengths = [], 0, []
    for start, end, new in edits:
        parts += [text[position:start], new]
        lengths.append((start, end, len(new)))
        position = end
    return Folded("".join([*parts, text[position:]]), Origin.of(lengths))


def _starts(sought: str, text: str) -> Iterator[int]:
    start = text.find(sought)
    while start >= 0:
        yield start
        start = text.find(sought, start + 1)


def _reach(beside: str, marks: regex.Match[str] | None) -> int:
    """Return how far the marks at an excerpt's edge reach in the text beside it, the nearest character first."""
    left = len(_MARK.findall(marks[0])) if marks else 0
    reached = 0
    for place, char in enumerate(beside, 1):
        if not left or not (char.isspace() or _MARK.match(char)):
            break
        if not char.isspace():
            reached, left = place, left - 1
    return reached


def _goes_on(beside: str) -> bool:
    """Tell whether a number at the edge of an excerpt goes on in what is beside it, the nearest character first."""
    return beside[:1].isdigit() or (beside[:1] in (".", ",") and beside[1:2].isdigit())
