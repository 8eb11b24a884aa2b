"""Words as a lexical search compares them, the same for documents and queries in every store."""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from itertools import pairwise
from threading import Lock
from typing import Any

import regex

from chunkwise.core.errors import require
from chunkwise.text.words import UNSPACED

# Source: the stop words of Lucene's EnglishAnalyzer, and the words that questions are made of.
_COMMON = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
to was will with
am been can could did do does from had has have he her his how i its me my our she should we were what when where
which who whom whose why would you your
"""
STOP_WORDS = frozenset(_COMMON.split())

# A longer word is no word (base64, a minified script); its head is enough to find it by.
LONGEST = 100

# Invisible, and typed in one copy of a word but not in the next: soft hyphen, joiners, byte order mark.
_INVISIBLE = regex.compile(r"[\u00ad\u200c\u200d\u2060\ufeff]")

# What an apostrophe ties to a word: don't, it's, we'll; l'eau, qu'il.
_CLITIC = regex.compile(
    r"(?i)(?<=\w)(?:n['\u2019]t|['\u2019](?:s|t|d|m|ll|re|ve))\b|\b(?:[cdjlmnst]|qu)['\u2019](?=\p{L})"
)

_DENSE = rf"[[{UNSPACED}\u30fc]&&[\p{{L}}\p{{M}}\p{{N}}]]"
# ASCII is named first because it is tested first: twice as fast.
_LETTER = rf"[A-Za-z0-9[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}\u30fc\p{{Hangul}}]]]"
_WORD = regex.compile(
    rf"""(?xV1)
      \p{{L}}(?:\+\+|\#)                                            # C++, C#
    | \d{{1,3}}(?:,\d{{3}}){{1,4}}+(?:\.\d+)?(?!\w|,\d)             # 1,000,000
    | {_LETTER}+(?:_+{_LETTER}+)*(?:(?<=\d)(?:\.\d+)+{_LETTER}*)?   # word, max_tokens, 3.14, v1.2.3, 1.0.0rc1
    | {_DENSE}+
    | \p{{Hangul}}+
    """
)
_RUN = regex.compile(rf"(?V1){_DENSE}")
_CHARACTER = regex.compile(rf"(?V1){_DENSE}\p{{M}}*")
_HANGUL = regex.compile(r"\p{Hangul}")
_THOUSANDS = regex.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")

# Where the parts of an identifier meet: max_tokens, maxTokens, HTTPServer; not PDFs.
_SEAM = regex.compile(r"(?V1)_+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})|(?<=\d)(?=\p{Lu}\p{Ll})")

_stemming = Lock()  # a stemmer must not be called by two threads at once


def terms(text: str) -> list[str]:
    """Return the words of `text`, folded, stemmed and without stop words, in order and with repeats.

    An identifier gives itself and its parts; a run of an unspaced script its character bigrams; Hangul
    both. Stop words are kept where there are no others.
    Raises: MissingExtraError without the `search` extra.

    >>> terms("Why does max_tokens matter?")
    ['max_tokens', 'max', 'token', 'matter']
    >>> terms("東京都 in 3.14 seconds")
    ['東京', '京都', '3.14', 'second']
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    if "'" in plain or "\u2019" in plain:
        plain = _CLITIC.sub(" ", plain)
    words = _WORD.findall(plain)
    # ASCII is asked first because it is quick to tell: a run of an unspaced script is none.
    forms = [form for word in words for form in (_telling(word[:LONGEST]) if word.isascii() else _forms(word))]
    return forms or [form for word in words for form in _spaced(word)]


def _forms(word: str) -> tuple[str, ...]:
    if _RUN.match(word):
        return _bigrams(_CHARACTER.findall(word))
    return _telling(word[:LONGEST])


def _bigrams(characters: list[str]) -> tuple[str, ...]:
    """Return every two neighbours; a character alone stays."""
    return tuple(map("".join, pairwise(characters))) or tuple(characters)


@lru_cache(maxsize=1 << 16)
def _telling(word: str) -> tuple[str, ...]:
    """Return the forms of a word; none of a stop word."""
    return () if word.casefold() in STOP_WORDS else _spaced(word)


def _spaced(word: str) -> tuple[str, ...]:
    if _HANGUL.match(word):
        return tuple(dict.fromkeys((word, *_bigrams(list(word)))))
    if _THOUSANDS.fullmatch(word):
        return (word.replace(",", ""),)
    parts = [part.casefold() for part in _SEAM.split(word)]
    if len(parts) == 1:
        return (_stem(parts[0]),)
    # One letter of an identifier says nothing, and its stop words say no more than in a sentence.
    return (_stem(word.casefold()), *(_stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS))


def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    with _stemming:
        stem: str = _stemmer().stemWord(word)
    return stem


@cache
def _stemmer() -> Any:
    """Return Snowball's English stemmer. Source: Porter 2001, https://snowballstem.org."""
    return require("Stemmer", extra="search").Stemmer("english", 0)
