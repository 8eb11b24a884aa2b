"""Characters that no reader sees: controls, zero-width characters, soft hyphens, marks of direction, terminal codes."""

from __future__ import annotations

import re

import regex

from chunkwise.core.types import Span

# Colours and titles of a terminal (ECMA-48: CSI and OSC). What else begins with an escape loses only that.
_ESCAPE = r"\x1b\[[0-9;:?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\r\n]{0,1024}(?:\x07|\x1b\\)"
# All controls but those that part words or lines: tab, line breaks, form feed, separators, next line.
_CONTROL = r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]"
_ASCII = re.compile(f"{_ESCAPE}|{_CONTROL}")
# A soft hyphen at a line's end parts a word: the line break goes with it.
_SOFT_HYPHEN = r"\u00ad[^\S\r\n]*+(?:\r\n|\n|\r)[^\S\r\n]*+(?=\p{L})|\u00ad"
# Marks of direction change how a text is shown, not its order; no one searches for them, and they hide code
# (CVE-2021-42574). Object replacement and annotation characters stand for what is not in the text.
_DIRECTION = r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]"
_PLACEHOLDER = r"[\u2060\ufeff\ufff9-\ufffc\ufffe\uffff]"
# Thai, Lao, Khmer and Burmese write no blanks: there a zero-width space is where a word ends.
_UNSPACED = r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_SPACE = rf"\u200b(?!(?<={_UNSPACED}\u200b)\u200b*+{_UNSPACED})"
# A joiner changes what is before it in emoji and in scripts whose letters join; else it does nothing. Nor does it after
# marks of the other scripts, which may compose with their letters.
_JOINED = (
    r"[[\p{M}--[\u0300-\u036f\u3099\u309a]]\p{Emoji_Modifier}\p{Extended_Pictographic}[\p{L}--\p{Latin}--\p{Greek}--\p{Cyrillic}--\p{Han}"
    r"--\p{Hiragana}--\p{Katakana}--\p{Hangul}]]"
)
_JOINER = rf"(?<!{_JOINED})[\u200c\u200d]++"
# Tags spell a region's flag after a black flag; elsewhere they spell words that only a model sees.
_TAG = r"(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0001\U000e0020-\U000e007f]++"
_ANY = regex.compile(
    "|".join([_ESCAPE, _CONTROL, _SOFT_HYPHEN, _DIRECTION, _PLACEHOLDER, _SPACE, _JOINER, _TAG]), regex.VERSION1
)


def invisible(text: str) -> list[Span]:
    r"""Return what can be taken out of a text unseen, in order.

    >>> invisible("re\u200bad\x00 \U0001f469\u200d\U0001f467")
    [Span(start=2, end=3), Span(start=5, end=6)]
    """
    pattern = _ASCII if text.isascii() else _ANY
    return [Span(*match.span()) for match in pattern.finditer(text)]
