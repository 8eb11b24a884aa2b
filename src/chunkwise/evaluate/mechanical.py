"""Draft queries without a language model: of headings, of facts that are masked, of key terms.

They show whether a set-up works, and compare ways of cutting the same texts. They repeat words of the documents, as
people do less, so that they flatter search by words; and of texts without spaces between words only headings serve.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import regex

from chunkwise.chunkers.levels import inside, solid_blocks
from chunkwise.core.outline import body, outline
from chunkwise.core.types import Document, Evidence, Query, Span
from chunkwise.evaluate.drafts import Draft, Sieve, spread, synthetic
from chunkwise.evaluate.passages import Passages
from chunkwise.text.graphemes import inked
from chunkwise.text.sentences import guess_language
from chunkwise.text.terms import STOP_WORDS, terms
from chunkwise.text.words import UNSPACED
from chunkwise.transforms.leads import title

# In characters: a section that is shorter says nothing, one that is longer is found in parts.
# Source: 1,200 are about 300 tokens of English, the size of a chunk or two.
_SECTION = (80, 1_200)

# In words that are no stop words: a sentence with fewer has too little beside the fact, with more is a list.
_FULL = (8, 40)

# How many words a question has at least, and at most.
_FEWEST, _MOST = 3, 6

# Headings that papers, manuals and pages have in common: they ask for nothing by themselves.
_COMMON = regex.compile(
    r"(?i)(?:abstract|acknowledge?ments?|appendix|background|bibliography|conclusions?|(?:table of )?contents"
    r"|discussion|examples?|external links|faq|further reading|index|introduction|licen[cs]e|methods?|notes?"
    r"|overview|preface|references|results|see also|summary|usage)\W*"
)
_COUNTED = regex.compile(r"^(?:(?:\d+|[IVXLC]+|[A-Z])[.:)](?:\d+[.)]?)*|\d+(?:\.\d+)+)\s+")

_WORD = regex.compile(rf"(?V1)[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]+(?:['\u2019-][\p{{L}}\p{{N}}]+)*")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
# A number with what is written to it; but a single digit only with a unit, none that refers or counts ([12], Figure 3,
# note 17), none of a day.
_NUMBER = regex.compile(
    rf"""(?x)(?<![\w.,/:\[(\#-]) (?<!\b(?:\p{{Lu}}[\w.]*|note|notes|file|page|pages|section|table|figure|version)[ ])
    (?P<money>[$\u20ac\u00a3\u00a5][ ]?)? (?:\d+(?:[.,]\d+)+|\d{{2,}}|(?<=[$\u20ac\u00a3\u00a5])\d)
    (?P<share>[ ]?(?:%|percent\b|per[ ]cent\b))? (?![\w\])/-]|[.,:]\d|[ ]{_MONTH}|[ ]\d)"""
)
_YEAR = regex.compile(r"1[0-9]\d\d|20\d\d")
# Two words or more with capitals, not at the start of a sentence, nor before what somebody says.
_NAME = regex.compile(
    r"(?<=[\p{L},;] )\p{Lu}\p{Ll}{2,}(?: (?:of |the |de |van |von )?\p{Lu}\p{Ll}{2,})+(?![\w'\u2019-]|\s?:)"
)
_UNSPACED = regex.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a sentence that is no stop word, where it stands, and its form for search."""

    text: str
    span: Span
    term: str


def draft_mechanically(documents: Sequence[Document], *, n: int, seed: int = 0) -> Draft:
    """Draft `n` queries, or as many as the documents give: as many of each document as of another, if they can.

    The same documents and seed give the same queries. A query of facts or terms names words that no other sentence has
    together. Raises: MissingExtraError without the `search` extra.
    """
    passages = Passages(documents, words=terms)
    sieve = Sieve(passages, documents)
    headed = Counter(label.casefold() for one in documents for _, label in _sections(one))
    order = list(enumerate(documents))
    random.Random(f"{seed}").shuffle(order)  # noqa: S311  # no secret
    streams = [_drafts(number, document, passages, headed, seed) for number, document in order]
    spread(streams, sieve, n)
    return sieve.draft()


def _drafts(
    number: int, document: Document, passages: Passages, headed: Mapping[str, int], seed: int
) -> Iterator[Query]:
    """Yield drafts of a document, of each kind in turn."""
    rng = random.Random(f"{seed}/{document.id}")  # noqa: S311  # no secret
    solid = inside([block.span for block in solid_blocks(document)])
    rows = [row for row in passages.rows_of(number) if not solid(passages.each[row][1].start)]
    english = guess_language(document.text) == "en"
    kinds = [
        _of_headings(document, headed, rng, english=english),
        _of_facts(document, passages, rng.sample(rows, len(rows)), english=english),
        _of_terms(document, passages, rng.sample(rows, len(rows))),
    ]
    rng.shuffle(kinds)
    return (query for query in chain.from_iterable(zip_longest(*kinds)) if query is not None)


def _of_headings(
    document: Document, headed: Mapping[str, int], rng: random.Random, *, english: bool
) -> Iterator[Query]:
    """Ask what stands under a heading. The evidence is all of that."""
    sections = [(span, label) for span, label in _sections(document) if not _COMMON.fullmatch(label)]
    named = title(document)
    for span, label in rng.sample(sections, len(sections)):
        alone = headed[label.casefold()] == 1 or not named or named == label
        subject = label if alone else f"{label} ({named})"
        asks = label.endswith(("?", "\uff1f")) or not english
        text = subject if asks else f"What is said about {subject}?"
        yield synthetic(text, Evidence(document.id, span), how="heading")


def _of_facts(document: Document, passages: Passages, rows: Sequence[int], *, english: bool) -> Iterator[Query]:
    """Ask for a number or a name that is left out of the words around it."""
    for row in rows:
        span = passages.each[row][1]
        sentence = span.slice(document.text)
        found = next(chain(_NUMBER.finditer(sentence), _NAME.finditer(sentence)), None)
        words = _words(sentence)
        if found is None or not _is_full(words):
            continue
        gap = Span(*found.span())
        beside = [word for word in words if word.span.end <= gap.start or gap.end <= word.span.start]
        near = sorted(beside, key=lambda word: max(gap.start - word.span.end, word.span.start - gap.end))
        if chosen := _telling(near, passages, row):
            start, end = min(gap.start, chosen[0].span.start), max(gap.end, chosen[-1].span.end)
            masked = " ".join(f"{sentence[start : gap.start]}...{sentence[gap.end : end]}".split())
            text = f"{_asks(found)} {masked}?" if english else masked
            yield synthetic(text, Evidence(document.id, span), how="fact", answer=found[0].strip())


def _of_terms(document: Document, passages: Passages, rows: Sequence[int]) -> Iterator[Query]:
    """Ask by the words that few sentences have, as one does of a search engine."""
    for row in rows:
        span = passages.each[row][1]
        words = [word for word in _words(span.slice(document.text)) if not word.text.isdigit()]
        if _is_full(words):
            rare = sorted(words, key=lambda word: -passages.rarity(word.term))
            if chosen := _telling(rare, passages, row):
                text = " ".join(word.text for word in chosen)
                yield synthetic(text, Evidence(document.id, span), how="terms")


def _is_full(words: Sequence[_Word]) -> bool:
    return _FULL[0] <= len({word.term for word in words}) <= _FULL[1]


def _telling(words: Sequence[_Word], passages: Passages, row: int) -> list[_Word]:
    """Return the first words that together only one sentence has, in its order; none if they don't tell it apart."""
    chosen: dict[str, _Word] = {}
    for word in words:
        chosen.setdefault(word.term, word)
        if len(chosen) >= _FEWEST and passages.holding(chosen) == {row}:
            return sorted(chosen.values(), key=lambda word: word.span)
        if len(chosen) == _MOST:
            break
    return []


def _asks(found: regex.Match[str]) -> str:
    """Return the words that ask for what was found."""
    if found.re is _NAME:
        return "Who or what:"
    if found["money"]:
        return "How much:"
    if found["share"]:
        return "What share:"
    return "When:" if _YEAR.fullmatch(found[0]) else "How many:"


def _words(sentence: str) -> list[_Word]:
    """Return the words that say something; none of a sentence that puts no space between them."""
    if _UNSPACED.search(sentence):
        return []
    matches = (match for match in _WORD.finditer(sentence) if match[0].casefold() not in STOP_WORDS)
    return [_Word(match[0], Span(*match.span()), form[0]) for match in matches if (form := terms(match[0]))]


def _sections(document: Document) -> list[tuple[Span, str]]:
    """Return the text under each heading up to the next one, where it has a fit length, and the heading's words."""
    headings = outline(document).headings
    ends = [*(heading.span.start for heading in headings[1:]), body(document).end]
    found = []
    for heading, end in zip(headings, ends, strict=False):
        span = inked(document.text, Span(heading.span.end, max(end, heading.span.end)))
        label = " ".join(_COUNTED.sub("", heading.label).split())
        if label and _SECTION[0] <= span.length <= _SECTION[1]:
            found.append((span, label))
    return found
