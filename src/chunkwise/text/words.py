"""Words, clauses and lines: the last resorts of a cut, found lazily in a small window."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import lru_cache

import regex

from chunkwise.core.types import Span
from chunkwise.text.graphemes import last_ink

# Scripts that put no space between words: there, every character counts as a word.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

WORD = regex.compile(rf"[{UNSPACED}]\p{{M}}*|[^\s{UNSPACED}]+")

# A word boundary: white space before and none after, or either side of a Chinese or Japanese character.
_MARKS = r"\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}"
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}"
_EDGE = regex.compile(rf"(?<=\s)(?=[^\s{_MARKS}])|(?=[{_CJK}])|(?<=[{_CJK}])(?=[\p{{L}}\p{{N}}])")

# The end of a clause: punctuation and the white space after it, or full-width punctuation.
_CLAUSE = regex.compile(r"[,;:)\]\u2013\u2014]\s+(?=\S)|[，；：、）】」』]")

# A line break, blank lines, and the line break of the last of them. It begins with a set of characters, which
# `re` looks for fast, and what repeats is possessive, so that it keeps no way back.
_BREAK = r"[\r\n](?:(?<=\r)\n)?+"
BLANK_LINES = re.compile(rf"{_BREAK}(?:[^\S\r\n]*+{_BREAK})++")

# The end of a paragraph or an item: blank lines, or a line break before the mark of a list's item.
PARAGRAPH_END = re.compile(
    rf"{_BREAK}(?:(?:[^\S\r\n]*+{_BREAK})++|(?=[ \t]*+(?:[-*+\u2022\u2013]|\d{{1,3}}[.)])[ \t]))"
)
_BLANK_LINE = re.compile(rf"[^\S\r\n]*+{_BREAK}")
# Blank lines in a text without carriage returns: it begins with one character, which is looked for faster yet.
_FED_LINES = re.compile(r"\n(?:[^\S\n]*+\n)++")

# How far below a range what ends in it may start, and how far above it what follows is looked at.
_MARGIN = 32

# How long a stretch of text is at least that is counted by itself; and a place where it may end.
_STRETCH = 16
_BLANK = re.compile(r"\s")

# What editors call a line break; str.splitlines knows seven more.
LINE_BREAK = re.compile(r"\r\n|\n|\r")


def word_spans(text: str) -> list[Span]:
    """Return the words of a text; white space belongs to none."""
    return [Span(*match.span()) for match in WORD.finditer(text)]


def stretches(text: str) -> Iterator[Span]:
    """Partition a text into stretches of about `_STRETCH` characters that end before a blank, where there is one."""
    start = 0
    while start < len(text):
        found = _BLANK.search(text, start + _STRETCH, start + 2 * _STRETCH)
        end = found.start() if found else min(start + 2 * _STRETCH, len(text))
        yield Span(start, end)
        start = end


def line_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Partition `text[start:end]` into lines, each with its line break."""
    stop = len(text) if end is None else end
    cuts = [start, *(match.end() for match in LINE_BREAK.finditer(text, start, stop)), stop]
    return [Span(a, b) for a, b in itertools.pairwise(cuts) if a < b]


def line_start(text: str, position: int) -> int:
    """Return where the line of a position starts."""
    start = text.rfind("\n", 0, position) + 1
    return max(start, text.rfind("\r", start, position) + 1)


def last_paragraph(text: str, lo: int, hi: int) -> int | None:
    """Return the last place after blank lines in `(lo, hi]`."""
    bottom = max(lo - _MARGIN, 0)
    gap = text.rfind("\n\n", bottom, hi)
    last = gap + 2 if gap >= 0 else 0
    # Blank lines of another kind may come later.
    pattern = BLANK_LINES if _has_returns(text) else _FED_LINES
    for match in pattern.finditer(text, max(last - 1, bottom), hi):
        last = match.end()
    return last if last > lo else None


@lru_cache(maxsize=4)
def _has_returns(text: str) -> bool:
    return "\r" in text


def last_line(text: str, lo: int, hi: int) -> int | None:
    """Return the last line start in `(lo, hi]`."""
    last = max(text.rfind("\n", lo, hi), text.rfind("\r", lo, hi)) + 1
    return last if last > lo else None


def last_item(text: str, lo: int, hi: int) -> int | None:
    """Return the last place in `(lo, hi]` where a paragraph or a list's item ends."""
    if text.find("\n", max(lo - _MARGIN, 0), hi) < 0 and not _has_returns(text):
        return None
    while (place := _last(PARAGRAPH_END, text, lo, hi)) is not None and _BLANK_LINE.match(text, place):
        hi = last_ink(text, lo, place)  # the blank lines go on after what was looked at
    return place


def last_clause(text: str, lo: int, hi: int) -> int | None:
    """Return the last clause start in `(lo, hi]`."""
    return _last(_CLAUSE, text, lo, hi)


def last_word(text: str, lo: int, hi: int) -> int | None:
    """Return the last word start in `(lo, hi]`."""
    return _last(_EDGE, text, lo, hi)


def next_word(text: str, position: int, end: int) -> int | None:
    """Return the first word start in `[position, end)`."""
    match = _EDGE.search(text, position, min(len(text), end))
    return match.start() if match and match.start() < end else None


def _last(pattern: regex.Pattern[str] | re.Pattern[str], text: str, lo: int, hi: int) -> int | None:
    """Search `(lo, hi]` from its end in windows that double, so that a hit nearby costs little."""
    width = 64
    top = hi
    while top > lo:
        bottom = max(lo, top - width)
        # The window reaches a little below, for punctuation whose white space lies above.
        window = max(0, bottom - _MARGIN), min(len(text), top + _MARGIN)
        if _BLANK.search(text, *window) or not text[slice(*window)].isascii():  # else there is nothing to find
            ends = (match.end() for match in pattern.finditer(text, *window))
            if inside := [end for end in ends if bottom < end <= top]:
                return inside[-1]
        top, width = bottom, width * 2
    return None
