"""Strings that Python allows and UTF-8, a terminal or a page does not."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")

# What a document's text must not do to a terminal or a page: control characters, and marks that turn the
# direction of what follows (Trojan Source, CVE-2021-42574).
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def encodable(text: str) -> str:
    """Replace lone surrogates, which no tokenizer or parser takes, by one character each."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def printable(text: str) -> str:
    """Replace control characters by visible signs, and leave out marks that turn the direction."""
    return _UNSAFE.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\u2426" if code < 0xA0 else ""
