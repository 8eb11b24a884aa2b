"""Bytes that are written as letters: data URIs, and long runs of base64 or hexadecimal digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from chunkwise.core.types import Span

# In characters. A shorter data URI costs hardly more than its placeholder, and is what a manual shows as an example.
_SHORTEST_URI = 64
# In characters. Keys, hashes and signatures that are a part of the text are shorter: SHA-512 has 128 digits.
_SHORTEST_RUN = 200
# The widths of lines of base64: 64 in RFC 7468 (PEM), 76 in RFC 2045 (MIME), 60 in some programs.
_NARROWEST, _WIDEST, _FEWEST_LINES = 60, 76, 4
# One character in so many is looked at to find out where a run may be: a tenth of the time of looking at all.
_STRIDE = 10
# In base64 of random bytes two neighbours that differ are of different classes (lower case, capital, digit, sign) in
# two cases of three, and four of a hundred characters stand in words: five lower-case letters or more in a row. In
# prose without blanks, paths and names in camel case it is the other way round. So many characters are judged at the
# beginning and in the middle, for a program begins with zeros.
_FEWEST_TURNS, _MOST_WORDS, _JUDGED = 0.45, 0.25, 2048
# So many turns at least: a run of one letter and a few others is drawn, not encoded.
_FEWEST = 32
# Of 16 digits, so many different ones at least are in a run of bytes; hardly so in a number or a pattern.
_FEWEST_DIGITS = 8

_URI = re.compile(
    r"data:(?<![A-Za-z0-9]data:)(?P<type>[A-Za-z0-9.+-]{1,100}/[A-Za-z0-9.+-]{1,100})?"
    r"(?:;[A-Za-z0-9-]{1,50}=[^;,\s]{0,100}+){0,8}+"
    rf"(?:;base64,(?P<payload>[A-Za-z0-9+/_%-]{{{_SHORTEST_URI},}}+={{0,2}})"
    rf"|,(?P<escaped>[A-Za-z0-9%._~!$&*+;=:@/?-]{{{_SHORTEST_RUN},}}+))"
)
# Six samples of a line's sixty characters, and one or two of the break and the indentation that follow it.
_SAMPLED = re.compile(r"[A-Za-z0-9+/_-]{6,}+(?:[ \t\r\n]{1,2}+[A-Za-z0-9+/_-]{6,}+)*+")
_START = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_NARROWEST},}}")
_RUN = re.compile(r"[A-Za-z0-9+/_-]++={0,2}")
_NEXT_LINE = re.compile(r"\r?\n[ \t]{0,16}(?P<line>[A-Za-z0-9+/]{1,76}+={0,2})(?![^\s\"'`<,;|)\]}])")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_WORD = re.compile(r"[a-z]{5,}")
# Lower case, capital, digit, sign.
_CLASSES = bytes(
    chr(code).isdigit() + 2 * chr(code).isupper() + 3 * chr(code).islower() if code < 0x80 else 0 for code in range(256)
)


class Blob(NamedTuple):
    """Bytes in a text: the whole of it, the part that holds the bytes, and what they are."""

    span: Span
    payload: Span
    name: str


def blobs(text: str) -> list[Blob]:
    """Return the blobs of a text in order.

    A run outside a data URI has at least 200 characters, as base64 both cases and digits, and is no part of a URL.
    Cost: O(n), 3 to 20 ms a million characters that hold none.
    """
    uris = list(_uris(text))
    runs = list(_runs(text))
    if not uris or not runs:
        return uris or runs
    found: list[Blob] = []
    for blob in sorted([*uris, *runs], key=lambda blob: (blob.span.start, -blob.span.end)):
        if not found or blob.span.start >= found[-1].span.end:
            found.append(blob)
    return found


def _uris(text: str) -> Iterator[Blob]:
    for match in _URI.finditer(text):
        part = "payload" if match["payload"] else "escaped"
        yield Blob(Span(*match.span()), Span(*match.span(part)), match["type"] or "data")


def _runs(text: str) -> Iterator[Blob]:
    done = 0
    for sampled in _SAMPLED.finditer(text[::_STRIDE]):
        if sampled.end() - sampled.start() < _SHORTEST_RUN // _STRIDE:
            continue
        done, stop = max(done, (sampled.start() - 1) * _STRIDE + 1), sampled.end() * _STRIDE
        while (start := _START.search(text, done, stop)) is not None:
            span, name = _judged(text, start.start())
            done = span.end
            if name and not _is_address(text, span.start):
                yield Blob(span, span, name)


def _judged(text: str, start: int) -> tuple[Span, str]:
    """Return the run that starts here, and what it is; nothing for what is no blob."""
    match = _RUN.match(text, start)
    end = match.end() if match else start + 1
    run = text[start:end]
    if len(run) >= _SHORTEST_RUN:
        bare = run.strip("-_") or run
        begin = start + run.index(bare)
        return Span(begin, begin + len(bare)), _name(bare)
    wrapped = _wrapped(text, Span(start, end))
    is_blob = wrapped.end > end and _is_base64("".join(wrapped.slice(text).split()))
    return wrapped, "base64" if is_blob else ""


def _name(run: str) -> str:
    return "hexadecimal" if _is_hexadecimal(run) else "base64" if _is_base64(run.rstrip("=")) else ""


def _wrapped(text: str, first: Span) -> Span:
    """Return the lines of base64 of one width of which this is the first, if they are enough; else the line."""
    width, end, n_lines = first.length, first.end, 1
    if width > _WIDEST or "_" in first.slice(text) or "-" in first.slice(text):
        return first
    while (following := _NEXT_LINE.match(text, end)) is not None:
        line = following["line"]
        if len(line) > width or (len(line) < width and not _is_rest(line)):
            break
        end, n_lines = following.end("line"), n_lines + (len(line) == width)
        if len(line) < width:
            break
    return Span(first.start, end) if n_lines >= _FEWEST_LINES else first


def _is_rest(line: str) -> bool:
    """Tell whether a shorter line ends the base64 before it, and is not a word of the text."""
    return len(line) % 4 == 0 and (line.endswith("=") or not (line.isalpha() and line[1:].islower()))


def _is_base64(run: str) -> bool:
    middle = max(_JUDGED, len(run) // 2)
    judged = run[:_JUDGED] + run[middle : middle + _JUDGED]
    if not (any(map(str.isdigit, judged)) and any(map(str.isupper, judged)) and any(map(str.islower, judged))):
        return False
    classes = judged.encode("ascii", "replace").translate(_CLASSES)
    changes = sum(one != other for one, other in pairwise(judged))
    turns = sum(one != other for one, other in pairwise(classes))
    in_words = sum(map(len, _WORD.findall(judged)))
    return turns >= max(_FEWEST_TURNS * changes, _FEWEST) and in_words <= _MOST_WORDS * len(judged)


def _is_hexadecimal(run: str) -> bool:
    used = set(run[:_JUDGED])
    return _HEX.fullmatch(run) is not None and len(used) >= _FEWEST_DIGITS and any(map(str.isalpha, used))


def _is_address(text: str, start: int) -> bool:
    """Tell whether what stands before a run, without a blank, is the beginning of a URL."""
    return "://" in (text[max(0, start - 2048) : start].split() or [""])[-1] and not text[start - 1].isspace()
