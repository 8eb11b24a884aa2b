"""One form for characters that Unicode can write in several ways."""

from __future__ import annotations

import unicodedata
from functools import partial

import regex

from chunkwise.core.types import Span

# What NFKC is applied to, because readers of PDF and Asian keyboards write it and nobody searches for it: Latin
# ligatures, full-width letters and digits, half-width katakana, Arabic letters in the form of a place in the word.
# Not the rest: superscripts, fractions, and full-width punctuation, which is that of Chinese and Japanese, mean more.
_VARIANT = r"\ufb00-\ufb06\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9d\ufb50-\ufbb1\ufbd3-\ufbff\ufe80-\ufefc"
_HAS_VARIANT = regex.compile(f"[{_VARIANT}]")
_COMPATIBLE = regex.compile(f"[{_VARIANT}]|[\uff9e\uff9f]")
# What composes with what is before it: marks, the vowels and finals of Hangul, the voicing of half-width katakana.
_UNIT = (
    r"[\uff66-\uff9d][\uff9e\uff9f]?\p{M}*+|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?\p{M}*+"
    r"|[\uac00-\ud7a3][\u11a8-\u11c2]\p{M}*+|\P{M}?\p{M}++"
)

_nfc = partial(unicodedata.normalize, "NFC")
_nfkc = partial(unicodedata.normalize, "NFKC")


def forms(text: str) -> list[tuple[Span, str]]:
    r"""Return what is not in composed form (NFC), in whole units, and what replaces it; likewise variants of letters.

    Variants are Latin ligatures, letters and digits of full width, katakana of half width, Arabic presentation forms.

    >>> forms("cafe\u0301 \ufb01nd")
    [(Span(start=3, end=5), 'é'), (Span(start=6, end=7), 'fi')]
    """
    if text.isascii() or (unicodedata.is_normalized("NFC", text) and not _HAS_VARIANT.search(text)):
        return []
    odd = "".join(sorted(char for char in set(text) if _nfc(char) != char))
    singles = f"|[{regex.escape(odd)}]" if odd else ""
    units = regex.compile(f"{_UNIT}|[{_VARIANT}]{singles}")
    found = ((Span(*match.span()), match[0], _composed(match[0])) for match in units.finditer(text))
    return [(span, composed) for span, written, composed in found if composed != written]


def _composed(unit: str) -> str:
    return _nfc(_COMPATIBLE.sub(lambda match: _nfkc(match[0]), unit) if _HAS_VARIANT.search(unit) else unit)
