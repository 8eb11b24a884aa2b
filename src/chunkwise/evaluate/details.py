"""The details of a statement in which it may be wrong: its numbers and its names, in a form in which they compare."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import regex

from chunkwise.text.sentences import guess_language
from chunkwise.text.terms import STOP_WORDS

# Digits behind a letter are part of a name, as in OC43 and COVID-19; but for letters of scripts that know no capitals,
# which write words and particles right before a number.
_NUMBER = regex.compile(
    r"(?<![\p{Lu}\p{Ll}\p{Nd}])(?<![\p{Lu}\p{Ll}][-\u2010\u2011])(?:\p{Nd}{1,3}(?:[\u00a0\u202f]\p{Nd}{3})+(?!\p{Nd})|\p{Nd}+)"
    r"(?:[.,\u066b\u066c]\p{Nd}+)*"
)
_THOUSANDS = regex.compile(r"\d{1,3}(?:[,\u066c\u00a0\u202f]\d{3})+(?:[.\u066b]\d+)?")
_PARTS_THOUSANDS = regex.compile(r"[,\u066c\u00a0\u202f]")
_PARTS_DECIMALS = regex.compile(r"[,\u066b]")

# English, from two on: "one" is a pronoun more often than a number.
_TEENS = "thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_SMALL = f"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|{_TEENS}"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORTH = {word: n for n, word in enumerate(f"one|{_SMALL}".split("|"), 1)}
_WORTH |= {word: 10 * n for n, word in enumerate(_TENS.split("|"), 2)}
_WRITTEN = regex.compile(rf"(?i)\b(?:({_TENS})(?:[-\s](one|two|three|four|five|six|seven|eight|nine))?|({_SMALL}))\b")

_WORD = regex.compile(r"\p{L}[\p{L}\p{M}\p{Nd}]*(?:[-\u2010\u2011][\p{L}\p{M}\p{Nd}]+)*")
_HYPHEN = regex.compile(r"[-\u2010\u2011]")
# A capital or a digit behind the first letter marks a name wherever it stands: mRNA, OC43.
_MARKED = regex.compile(r"\p{L}.*[\p{Lu}\p{Nd}]")
# Where a sentence begins, a capital says nothing.
_BEGINS = regex.compile(r"(?:^|[.!?:;\u2026]['\"\u2019\u201d)\]]*\s+|\n\s*)['\"\u2018\u201c(\[\u00bf\u00a1]*$")
_UNCASED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Arabic}\p{Hebrew}\p{Devanagari}\p{Thai}"
_IS_UNCASED = regex.compile(rf"[{_UNCASED}]")
_LATIN = regex.compile(r"\p{Latin}[\p{Latin}\p{M}\p{Nd}]*(?:[-\u2010\u2011][\p{Latin}\p{M}\p{Nd}]+)*")
_IS_CAPITAL = regex.compile(r"[\p{Lu}\p{Nd}]")
# Foreign names are written in it; of two signs and fewer it writes particles and units, too.
_KATAKANA = regex.compile(r"[\p{Katakana}\u30fc]{3,}")
_INITIALS = regex.compile(
    r"(?<![\p{L}\p{M}])\p{Lu}[\p{L}\p{M}]++(?:\s++(?:(?:of|the|and|for|in)\s++)?\p{Lu}[\p{L}\p{M}]++)++"
)

# Languages that write every noun with a capital.
_CAPITAL_NOUNS = ("de",)


def numbers(text: str) -> dict[str, str]:
    """Return the numbers of a text, each as it compares, with how it is written there.

    Digits of any script are the same, 1,000 is 1000, 2.50 is 2.5. English words from two to ninety-nine are numbers.

    >>> numbers("1,000 of 2.50 \u0663 and twenty-one in OC43")
    {'1000': '1,000', '2.5': '2.50', '3': '\u0663', '21': 'twenty-one'}
    """
    found = {_plain(match[0]): match[0] for match in _NUMBER.finditer(text)}
    for match in _WRITTEN.finditer(text):
        worth = sum(_WORTH[part.lower()] for part in match.groups() if part)
        found.setdefault(str(worth), match[0])
    return found


def names(text: str) -> list[str]:
    """Return the words of a text that are written as names are, each once.

    In scripts with capitals these are words that have one, but for the first of a sentence, and for plain nouns of
    German; in others words in Latin letters, and in Katakana.

    >>> names("Yesterday Jared Allen met the WHO. He said so.")
    ['Jared', 'Allen', 'WHO']
    """
    if len(_IS_UNCASED.findall(text)) * 3 > len(text):
        latin = (match[0] for match in _LATIN.finditer(text) if _IS_CAPITAL.search(match[0]))
        return list(dict.fromkeys(chain(latin, (match[0] for match in _KATAKANA.finditer(text)))))
    plain = guess_language(text) not in _CAPITAL_NOUNS
    return list(dict.fromkeys(_capitals(text, plain=plain)))


class Known:
    """The numbers and words of some texts, to look up in. Cost: one pass over the texts."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()
        self._words = {part for match in _WORD.finditer(text) for part in _forms(match[0])}
        self._words |= {_initials(match[0]) for match in _INITIALS.finditer(text)}
        self._numbers = {*numbers(text), *(["1"] if "one" in self._words else [])}

    def lacks_number(self, number: str) -> bool:
        """Tell whether a number, in the form of `numbers`, is nowhere."""
        return number not in self._numbers

    def lacks_name(self, name: str) -> bool:
        """Tell whether a name is nowhere: neither the word, nor all of its parts, nor what its letters stand for."""
        if _KATAKANA.fullmatch(name):
            return name not in self._text
        whole, *parts = _forms(name)
        return whole not in self._words and not (parts and self._words.issuperset(parts))


def _plain(number: str) -> str:
    digits = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in number)
    digits = _PARTS_THOUSANDS.sub("", digits) if _THOUSANDS.fullmatch(digits) else digits
    whole, point, rest = _PARTS_DECIMALS.sub(".", digits).partition(".")
    rest = rest.rstrip("0") if "." not in rest else rest
    return (whole.lstrip("0") or "0") + (point + rest if rest else "")


def _initials(phrase: str) -> str:
    """Return the letters that a name of several words is shortened to."""
    return "".join(word[0] for word in phrase.split() if word.lower() not in STOP_WORDS).casefold()


def _capitals(text: str, *, plain: bool) -> Iterator[str]:
    """Yield words with capitals; with `plain` those, too, that have one in front only."""
    for match in _WORD.finditer(text):
        word = match[0]
        if _MARKED.match(word) or (
            plain
            and word[0].isupper()
            and word.lower() not in STOP_WORDS
            and not _BEGINS.search(text, max(0, match.start() - 8), match.start())
        ):
            yield word


@lru_cache(maxsize=1 << 14)
def _forms(word: str) -> tuple[str, ...]:
    """Return a word as it compares, then its parts where it has several."""
    plain = _HYPHEN.sub("-", word).casefold()
    parts = plain.split("-")
    return (plain, *parts) if len(parts) > 1 else (plain,)
