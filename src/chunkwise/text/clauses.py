"""Numbered clauses of contracts, statutes and standards: which lines head one, and which only begin with a number.

A line heads a clause if its number comes next after the clauses so far, or if it looks like a heading; never where it
goes on with a sentence from the line before, or in lower case, as cross references do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

import regex

from chunkwise.core.types import Span
from chunkwise.text.words import LINE_BREAK, last_line

# A part of a number: 10AA is (10, "AA").
_Part: TypeAlias = tuple[int, str]
_Number: TypeAlias = tuple[_Part, ...]

# The words before a number, outermost first; the last of these ranks is a number without a word.
_WORDS = (
    "schedule|annex|appendix|exhibit|attachment|addendum|anhang|anlage|annexe|anexo|ap\u00e9ndice",
    "part|book|title|teil|buch|titel|partie|livre|titre|parte|libro|t\u00edtulo",
    "chapter|kapitel|chapitre|cap\u00edtulo",
    "section|sec\\.|abschnitt|secci\u00f3n",
    "article|art\\.|artikel|art\u00edculo|clause|klausel|cl\u00e1usula|regulation|rule",
)
_SECTION, _ARTICLE, _PLAIN = 3, 4, 5
_GIVEN = -1  # a heading that a reader found

_WORD = rf"(?i:{'|'.join(_WORDS)})"
_PART = r"\d{1,3}[A-Za-z]{0,2}"
_ID = (
    rf"(?:\d{{1,4}}(?:er|re|bis|ter|quater|[A-Za-z]{{1,2}})?(?:[.-]{_PART}){{0,6}}(?:\.?[\u00ba\u00b0])?"
    r"|[IVXLCDM]{1,8}|[A-Z])"
)
_DESIGNATION = regex.compile(
    rf"(?:(?:(?P<word>{_WORD})[ \u00a0]{{1,3}}|(?P<word>\u00a7)[ \u00a0]{{0,3}})(?P<id>{_ID})"
    rf"|(?P<plain>(?:{_PART}|[A-Z](?=\.\d))(?:\.{_PART}){{0,9}}))(?![\w(])"
)
_CANDIDATE = regex.compile(
    rf"(?:(?<=[\r\n\f])|\A)\ufeff?[ \t]{{0,12}}+(?P<head>(?:\*\*|__)?(?P<name>{_DESIGNATION.pattern})"
    r"(?P<stop>[.:]?(?:[ ]?[\u2013\u2014-](?=[ ]))?))"
    r"(?:(?P<gap>[ \t\u00a0]++)(?P<title>[^\s][^\r\n]{0,400}+)?|(?=[\r\n]|\Z))"
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_LONGEST_TITLE, _SHORT_TITLE = 120, 60
# The dots or the gap before a page's number, in a table of contents.
_CONTENTS = regex.compile(r"(?:\.[ .]{2,}|\u2026|[ ]{3,}|\t)[ ]*+\d{1,4}\s*+\Z")
_FIRST_ITEM = regex.compile(r"\([A-Za-z\d]{1,4}\)[ \t]*+")
_SMALL_WORD = regex.compile(
    r"\w{1,3}|with|from|this|that|into|onto|upon|under|over|between|without|through|against|than|your"
)
# What titles do not have, and how a line goes on that is none.
_SENTENCE = regex.compile(r"\b(?:is|are|shall|must|means|agrees?|ist|sind|muss|hat|est|sont|doit|es|son|debe)\b")
_GOES_ON = regex.compile(r"[ \t]*+(?:\r\n|\n|\r)[ \t]*+\p{Ll}")
_TITLE_LINE = regex.compile(r"[ \t]*+(?:\r\n|\n|\r)?[ \t]*+(?P<title>\p{Lu}[^\r\n]{1,119}+)(?=[\r\n]|\Z)")
_PARAGRAPH_END = regex.compile(r"[ \t]*+(?:(?:\r\n|\n|\r)[ \t]*+(?:[\r\n\f]|\Z)|\f|\Z)")
_LINE_END = regex.compile(r"[ \t]*+(?:\r\n|\n|\r)?")
_OPENS = regex.compile(r"[\"'\u201c\u2018\u201e\u00ab(\[*_]*+[^\W\d_]")
# A title before the text in the same line: "Payment. The Buyer shall".
_CAPTION = regex.compile(r"(?P<title>\p{Lu}[^.:;,\r\n]{1,60})\.(?=\s|\Z)")
_ENDS = (".", ";", ":", "!", "?", ")", "]", '"', "\u201d", "\u00bb", "\u3002", "\uff1b", "\uff1a", "; and", "; or")
# How many numbers may be left out, as of clauses that were repealed.
_MOST_LEFT_OUT = 2
# In characters: a longer line that another follows at once is no title, but the beginning of a text that is wrapped.
_FULL_LINE = 45
# In characters: how far the line before and the line after are looked at.
_NEAR = 400

_ITEM = regex.compile(r"[ \t]*+(?:\((?:[a-z]{1,2}|[ivxlc]{1,6}|[A-Z]|\d{1,3})\)|(?:[a-z]|[ivx]{1,5}|\d{1,2})\))[ \t]")
_BEFORE_ITEM = (*_ENDS, ",", " and", " or", " und", " oder", " et", " ou", " y", " o", "\u2014", "-")


class Clause(NamedTuple):
    """The heading of a clause; of one whose text begins in the same line, the number alone."""

    heading: Span
    title: str
    level: int


class Given(NamedTuple):
    """A heading that a reader found."""

    start: int
    title: str
    level: int


class _Open(NamedTuple):
    """A clause around the present place."""

    rank: float
    number: _Number
    level: int


_Shape: TypeAlias = Literal["title", "run-in", "bare"]


def clauses(text: str, spans: Sequence[Span], given: Sequence[Given] = ()) -> Iterator[Clause]:
    """Yield the clauses in these spans of a text, in order, with levels below the headings that are `given`."""
    state, waiting = _State(), list(reversed(given))
    for span in spans:
        for match in _CANDIDATE.finditer(text, *span):
            while waiting and waiting[-1].start < match.start():
                state.give(waiting.pop())
            if match.start("head") < state.end:  # it is the title of the one before
                continue
            clause = state.take(text, match, span.end)
            if clause is not None:
                yield clause


def designation(title: str) -> str:
    """Return the number that a heading's title begins with, with its word; empty where there is none."""
    match = _DESIGNATION.match(title)
    return " ".join(match[0].split()) if match and title[match.end() : match.end() + 1] in ("", ".", " ", ":") else ""


def last_item(text: str, lo: int, hi: int) -> int | None:
    """Return the last place in `(lo, hi]` where an item such as "(a)" or "(iv)" starts, after what ends one."""
    while (place := last_line(text, lo, hi)) is not None:
        if _ITEM.match(text, place) and _follows(text, place, _BEFORE_ITEM):
            return place
        hi = place - 1
    return None


class _State:
    """The clauses around the present place, and the last numbers."""

    def __init__(self) -> None:
        self.end = 0  # of the last heading
        self._open: list[_Open] = []
        self._last: dict[int, _Number] = {}  # rank -> the last number of it
        self._anew = True  # numbers without a word may begin again
        self._section: float = _SECTION  # sections stand over articles, or in other texts under them

    def give(self, heading: Given) -> None:
        """Go on below a heading that a reader found."""
        self._open = [one for one in self._open if one.level < heading.level]
        match = _DESIGNATION.match(heading.title)
        number = _number(match) if match and designation(heading.title) else ()
        self._open.append(_Open(_GIVEN, number, heading.level))
        self._anew = True
        if number:
            self._last[_PLAIN] = number

    def take(self, text: str, match: regex.Match[str], end: int) -> Clause | None:
        """Return the clause that a line heads, if it does."""
        rank, number = self._rank(match), _number(match)
        title = (match["title"] or "").strip("*_ \t")
        tab = "\t" in (match["gap"] or "")
        if not number or _CONTENTS.search(match[0]) or (title and "\t" in title):
            return None
        words = _FIRST_ITEM.sub("", title, count=1) if title.startswith("(") else title
        if words and not (_OPENS.match(words) and (tab or not _lower(words))):
            return None
        if match["word"] and match["word"][0].islower():
            return None
        if not title and rank == _PLAIN and len(number) == 1 and not match["stop"]:
            return None  # a page's number
        after_end = match.start() <= self.end + 1 or _follows(text, match.start(), _ENDS)
        shape = _shape(text, match, title, end)
        clear = (tab or after_end) and _is_clear(text, match, rank, shape, end)
        if not clear and not (after_end and self._is_next(rank, number)):
            return None
        return self._enter(text, match, rank, number, title, shape, end)

    def _rank(self, match: regex.Match[str]) -> int:
        if match["plain"]:
            return _PLAIN
        word = match["word"].lower()
        if word == "\u00a7":
            return _ARTICLE
        return next(rank for rank, words in enumerate(_WORDS) if word in words.replace("\\", "").split("|"))

    def _is_next(self, rank: int, number: _Number) -> bool:
        """Tell whether a number comes next after the last of its rank, or begins anew under a word."""
        last = self._last.get(rank)
        if last is None or rank != _PLAIN or self._anew:
            around = next((one.number for one in reversed(self._open) if one.number), ())
            below = number[: len(around)] == around and len(number) == len(around) + 1
            if (_begins(number[-1:]) and (below or len(number) == 1)) or (len(number) == 2 and _begins(number)):
                return True
        return last is not None and _succeeds(last, number)

    def _enter(
        self, text: str, match: regex.Match[str], rank: int, number: _Number, title: str, shape: _Shape, end: int
    ) -> Clause:
        level = self._nest(rank, number)
        name, stop = " ".join(match["name"].split()), match.end("head")
        if shape == "title":
            stop = _after_break(text, match.end(), end)
        elif shape == "bare":
            title, stop = _title_below(text, _after_break(text, match.end(), end), end)
        elif (caption := _CAPTION.match(text, match.start("title"), end)) and _is_caption(caption["title"]):
            title, stop = caption["title"], caption.end()
        else:
            title = ""
        self.end = stop
        return Clause(Span(match.start("head"), stop), f"{name} {title.rstrip('.')}".rstrip(), level)

    def _nest(self, rank: int, number: _Number) -> int:
        """Close what the clause is not part of, open it, and return its level."""
        if rank == _SECTION and self._open and self._open[-1].rank == _ARTICLE and _begins(number[-1:]):
            self._section = _ARTICLE + 0.5
        depth = self._section if rank == _SECTION else rank
        inside = [i for i, one in enumerate(self._open) if _is_part(number, one.number)]
        part_of = [one for i, one in enumerate(self._open) if one.rank < depth or i in inside]
        level = part_of[-1].level + 1 if part_of else 1
        self._open = [*part_of, _Open(depth, number, level)]
        self._last[rank], self._anew = number, rank != _PLAIN
        return level


def _number(match: regex.Match[str]) -> _Number:
    """Return the parts of a number; none for what can be no clause's, such as 3.07."""
    written = match["plain"] or match["id"]
    if written.isalpha() and not match["plain"]:
        value = _roman(written)
        return ((value, ""),) if value else ((0, written),)
    parts: list[_Part] = []
    for part in regex.split(r"[.-]", written.rstrip("\u00ba\u00b0").rstrip(".")):
        digits = part.rstrip("".join(set(filter(str.isalpha, part))))
        if digits != "0" and digits.startswith("0"):
            return ()
        parts.append((int(digits) if digits else 0, part[len(digits) :]))
    return tuple(parts)


def _roman(letters: str) -> int:
    values = [_ROMAN.get(letter, 0) for letter in letters]
    if 0 in values:
        return 0
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def _begins(number: _Number) -> bool:
    """Tell whether every part is a first one."""
    return bool(number) and all(part in ((0, ""), (1, ""), (0, "A"), (1, "A"), (1, "er"), (1, "re")) for part in number)


def _is_part(number: _Number, of: _Number) -> bool:
    return 0 < len(of) < len(number) and number[: len(of)] == of


def _succeeds(last: _Number, number: _Number) -> bool:
    """Tell whether a number is the first child of the last, or comes after it or after one around it."""
    if _is_part(number, last):
        return len(number) == len(last) + 1 and number[-1][0] <= 1 + _MOST_LEFT_OUT
    depth = next((i for i, (a, b) in enumerate(zip(last, number, strict=False)) if a != b), len(number))
    if depth >= len(number) or depth >= len(last) or not _begins(number[depth + 1 :] or ((1, ""),)):
        return False
    (before, old), (after, new) = last[depth], number[depth]
    if before == after:
        return (len(old), old.lower()) < (len(new), new.lower())
    return 0 < after - before <= 1 + _MOST_LEFT_OUT


def _shape(text: str, match: regex.Match[str], title: str, end: int) -> _Shape:
    """Tell whether a line is a number and a title, or a number and text, or a number alone."""
    if not title:
        return "bare"
    if len(title) > _LONGEST_TITLE or (match.end() < end and text[match.end()] not in "\r\n"):
        return "run-in"
    if _SENTENCE.search(title) or _GOES_ON.match(text, match.end(), end):
        return "run-in"
    if len(title) > _FULL_LINE and not _ends_paragraph(text, match.end(), end):
        return "run-in"  # a line as long as that goes on in the next
    short, ends = len(title) <= _SHORT_TITLE, _ends_paragraph(text, match.end(), end)
    if title.endswith((".", ";", ":", ",", "\u3002")):
        return "title" if short and ends and title[-1] == "." and _is_caption(title[:-1]) else "run-in"
    return "title" if short or ends else "run-in"


def _is_clear(text: str, match: regex.Match[str], rank: int, shape: _Shape, end: int) -> bool:
    """Tell whether a line is a heading whatever its number: by a title that begins no sentence, or a word alone."""
    if shape != "title":
        return shape == "bare" and rank != _PLAIN
    if rank != _PLAIN:
        apart = _is_blank_before(text, match.start()) and _is_caption(match["title"])
        return apart or _ends_paragraph(text, match.end(), end)
    return bool(match["stop"]) or "." in match["plain"] or _is_blank_before(text, match.start())


def _title_below(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the title in the line below a number, or after a blank one, and where it ends; else none."""
    line = _TITLE_LINE.match(text, start, end)
    if (
        line is None
        or line["title"].rstrip().endswith((".", ";", ":", ","))
        or _CANDIDATE.match(text, line.start("title"))
    ):
        return "", start
    after = _after_break(text, line.end(), end)
    if not (_ends_paragraph(text, line.end(), end) or _CANDIDATE.match(text, after) or _ITEM.match(text, after)):
        return "", start
    return line["title"].strip("*_ \t"), after


def _is_caption(title: str) -> bool:
    """Tell whether all but the small words have capitals, and no sentence is inside."""
    if ". " in title or _SENTENCE.search(title):
        return False
    return all(not word[0].islower() or _SMALL_WORD.fullmatch(word) for word in title.split())


def _lower(title: str) -> bool:
    return next((char for char in title if char.isalpha()), "A").islower()


def _follows(text: str, place: int, ends: tuple[str, ...]) -> bool:
    """Tell whether a line comes after a blank one, or after one that ends so."""
    before = text[max(0, place - _NEAR) : place]
    return _is_blank_before(text, place) or before.rstrip().endswith(ends)


def _is_blank_before(text: str, place: int) -> bool:
    gap = text[max(0, place - _NEAR) : place]
    blank = gap[len(gap.rstrip()) :]
    return not gap.rstrip() or "\f" in blank or len(LINE_BREAK.findall(blank)) > 1


def _ends_paragraph(text: str, place: int, end: int) -> bool:
    """Tell whether the line that ends here is the last of its paragraph."""
    return bool(_PARAGRAPH_END.match(text, place, end))


def _after_break(text: str, place: int, end: int) -> int:
    found = _LINE_END.match(text, place, end)
    return found.end() if found else place
