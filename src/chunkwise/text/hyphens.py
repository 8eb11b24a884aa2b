"""Words that are hyphenated at the end of a line: which to join, and which hyphens are a word's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from chunkwise.core.types import Span

# PDFium writes U+0002 or U+FFFE for the hyphen of a line's end, with the break or without.
_HYPHENATED = re.compile(
    r"(?<=[^\W_])(?:[-\u2010\u00ad\u0002\ufffe][^\S\r\n]*+(?:\r\n|\n|\r)|[\u0002\ufffe])[^\S\r\n]*+(?=[^\W_])"
)
_WORD = re.compile(r"[^\W_]++(?:[-\u2010'\u2019][^\W_]++)*+")
_PARTS = re.compile(r"[-\u2010]")
# In characters: no word that is hyphenated has a longer part, whatever stands on the line.
_LONGEST_PART = 64
_CHAIN = re.compile(r"(?:[^\W_]|[-\u2010'\u2019])*+")
_AFTER = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"www\.|[@/\\]")

# After them a hyphen hangs: "short- and long-term".
_SUSPENDING = frozenset(
    ["and", "or", "to", "but", "nor", "und", "oder", "bis", "et", "ou", "y", "o", "en", "of", "och"]
)
# First parts that English nearly always writes with a hyphen.
_FIRST_PARTS = frozenset(["well", "self", "non", "quasi"])
# First parts that it often does, before a word of its own.
_FIRST_WORDS = re.compile(
    "cross|double|first|five|four|free|full|half|hard|high|large|long|low|mid|multi|near|open|real|second|semi|short|"
    "single|six|small|ten|three|two"
)
# Endings that are words, too: they begin the second line of many a word that has no hyphen.
_ENDINGS = frozenset(["able", "ably", "body", "ever", "fully", "hood", "less", "like", "ness", "ship", "ward", "wise"])
# In characters: a second part that is shorter is more likely an ending ("self-ish") than a word.
_SHORTEST_SECOND = 4
# One compound in so many words tells that the text's language writes compounds with a hyphen, as English does.
_WORDS_A_COMPOUND = 2000


class _Seen(NamedTuple):
    """What stands within the lines of a text, in lower case: words, and pairs of words with a hyphen."""

    words: dict[str, int]
    compounds: dict[str, int]

    @property
    def hyphenates(self) -> bool:
        """Whether compounds with a hyphen are frequent."""
        return len(self.compounds) * _WORDS_A_COMPOUND >= sum(self.words.values()) > 0 < len(self.compounds)


def joins(text: str) -> list[tuple[Span, str]]:
    r"""Return the hyphens at line ends, each with its line break and the blanks around it, and what replaces them.

    That is "" where the hyphen only parts a word, and "-" where it is the word's own. The text is the evidence: how the
    word is written elsewhere decides. A hyphen that neither joins ("short-\nand long-term") is left out.
    Cost: linear.

    >>> joins("powerful capabili-\nties of a well-\nknown model")
    [(Span(start=17, end=19), ''), (Span(start=33, end=35), '-')]
    """
    places = [Span(*match.span()) for match in _HYPHENATED.finditer(text)]
    if not places:
        return []
    seen = _seen(text, places)
    found = ((place, _replacement(text, place, seen)) for place in places)
    return [(place, hyphen) for place, hyphen in found if hyphen is not None]


def _seen(text: str, places: Sequence[Span]) -> _Seen:
    """Count the words of a text, without those that a line's end parts."""
    tokens = Counter(map(str.lower, _WORD.findall(text)))
    halves = {(place.start - len(before), before) for place in places if (before := _before(text, place))}
    halves |= {(place.end, after[0]) for place in places if (after := _WORD.match(text, place.end))}
    tokens.subtract(Counter(half.lower() for _, half in halves))
    seen = _Seen({}, {})
    for token, n_times in tokens.items():
        parts = _PARTS.split(token)
        if n_times > 0 and len(parts) == 1:
            seen.words[token] = n_times
        elif n_times > 0:
            for first, second in pairwise(parts):
                pair = f"{first}-{second}"
                seen.compounds[pair] = seen.compounds.get(pair, 0) + n_times
    return seen


def _before(text: str, place: Span) -> str:
    """Return the word before a place, with the words that hyphens join to it."""
    turned = text[max(0, place.start - _LONGEST_PART) : place.start][::-1]  # a pattern can't look backwards
    match = _CHAIN.match(turned)
    return match[0][::-1] if match else ""


def _replacement(text: str, place: Span, seen: _Seen) -> str | None:
    chain = _before(text, place)
    after = _AFTER.match(text, place.end, place.end + _LONGEST_PART)
    if not chain or after is None:
        return None
    second = after[0]
    first = _PARTS.split(chain)[-1]
    if _ADDRESS.search(_run(text, place.start)):
        return "-"
    joined, compound = (first + second).lower(), f"{first}-{second}".lower()
    n_joined, n_compound = seen.words.get(joined, 0), seen.compounds.get(compound, 0)
    if n_joined or n_compound:
        return "" if n_joined > n_compound else "-"
    if not _same_case(first, second):
        return "-"
    if second in _SUSPENDING:
        return None
    if "\u00ad" in place.slice(text):
        return ""
    return "-" if _is_compound(chain, first.lower(), second.lower(), seen) else ""


def _same_case(first: str, second: str) -> bool:
    """Tell whether two parts may be one word: letters, and lower case or capitals throughout."""
    if not (first.isalpha() and second.isalpha()):
        return False
    return not second[0].isupper() or (first.isupper() and second.isupper() and len(first) > 1)


def _run(text: str, end: int) -> str:
    """Return what stands before a place without a blank."""
    start = max(text.rfind(blank, max(0, end - 4 * _LONGEST_PART), end) for blank in " \n\r\t")
    return text[max(start + 1, end - 4 * _LONGEST_PART) : end]


def _is_compound(chain: str, first: str, second: str, seen: _Seen) -> bool:
    if len(second) < _SHORTEST_SECOND and second not in seen.words:
        return False
    if first in _FIRST_PARTS or (second in seen.words and _FIRST_WORDS.fullmatch(first)):
        return second not in _ENDINGS
    if _PARTS.search(chain):  # "state-of-the-" goes on, "non-governmen-" does not
        return first in seen.words
    words = first in seen.words and second in seen.words and min(len(first), len(second)) >= _SHORTEST_SECOND
    # A capital is a noun's in German, which writes compounds in one.
    return words and chain[0].islower() and second not in _ENDINGS and seen.hyphenates
