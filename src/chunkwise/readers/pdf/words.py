"""The words of a PDF's page with their boxes, upright, in the order in which the page draws them."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

# What takes two units of UTF-16.
_BEYOND = re.compile(r"[\U00010000-\U0010ffff]")
# U+FFFE and U+0002 stand for a hyphen at a line's end; PDFium leaves out the break after it.
_TOKEN = re.compile(r"[^\s\u0002\ufffe]+[\u0002\ufffe]?|[\u0002\ufffe]")
_END_HYPHENS = ("\u0002", "\ufffe")
# A soft hyphen that is drawn is a hyphen.
_DRAWN_HYPHENS = str.maketrans("\u0002\ufffe\u00ad", "---")
# Latin ligatures and Arabic letters by their shape: nobody searches for them.
_SHAPES = re.compile(r"[\ufb00-\ufb06\ufb50-\ufdfb\ufe70-\ufefc]+")
# TeX draws an accent before its letter; the dotless i is one with an accent over it.
_LOOSE_ACCENT = re.compile(r"([\u00a8\u00b4\u02c6\u02c7\u02d8\u02da\u02dc\u00b8])([A-Za-z\u0131\u0237])")
_ACCENTS = dict(
    zip(
        "\u00a8\u00b4\u02c6\u02c7\u02d8\u02da\u02dc\u00b8",
        "\u0308\u0301\u0302\u030c\u0306\u030a\u0303\u0327",
        strict=True,
    )
)
_DOTLESS = str.maketrans("\u0131\u0237", "ij")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufeff\ufff0-\uffff]+")
# PDFium turns a glyph of several letters around with its word: lam and alef come as alef and lam.
_TURNED_LAM_ALEF = re.compile(r"[\u0622\u0623\u0625\u0627]\u0644")
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff]")
# In heights of a letter: how far one is above the other where a word runs upwards.
_SHIFT = 0.8
# So many words of a page tell how it is turned.
_SAMPLE = 50

Box = tuple[float, float, float, float]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Flags = NDArray[np.bool_]

# In bytes: four floats, which are the left, top, right and bottom edge.
_RECTANGLE = ctypes.sizeof(pdfium.FS_RECTF)


def unchecked(function: Any, result: type = ctypes.c_int, *kinds: type) -> Callable[..., Any]:
    """Return a function of PDFium that takes plain addresses, for those that are called for every word or line.

    A call takes little more than half as long as one that has its types checked. `kinds` are those of its arguments
    after the page of text and the place of a character.
    """
    address = ctypes.cast(function, ctypes.c_void_p).value
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p, ctypes.c_int, *kinds)(address or 0)


def address_of(textpage: Any) -> int:
    """Return the address of a page of text, for functions that are called unchecked."""
    return ctypes.cast(textpage.raw, ctypes.c_void_p).value or 0


_loose_box = unchecked(pdfium.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_void_p)


class Word(NamedTuple):
    """A word, its box in points with `top > bottom`, what parts it from the word before, and its first character."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    breaks: bool  # whether PDFium sees a line break before it
    parted: bool  # whether it sees a blank or a line break there
    turned: bool  # whether it runs across the direction of most words
    char: int

    @property
    def height(self) -> float:
        """How high the box is."""
        return self.top - self.bottom


# What stands among the words for a table with rules.
TABLE = "\ufffc"


class Words(NamedTuple):
    """The words of a page within its bounds, upright as these are, and how many lie outside.

    `turned` tells whether the page was turned for that.
    """

    words: list[Word]
    bounds: Box
    n_outside: int
    turned: bool


def page_words(textpage: Any, bounds: Box) -> Words:
    """Return the words of a page, turned upright.

    Boxes are those of the font, so that words of one font on one line are equally high. Cost: two calls a word, which
    takes about as long as PDFium's own text.
    """
    text = textpage.get_text_range()
    at = _character_index(textpage, text)
    tokens = list(_TOKEN.finditer(text))
    turn = _turn(textpage, tokens, at)
    starts, ends = [match.start() for match in tokens], [match.end() for match in tokens]
    firsts, lasts = starts, [end - 1 for end in ends]
    if at:
        firsts, lasts = [at(place) for place in firsts], [at(place) for place in lasts]
    boxes, turned = _boxes(textpage, firsts, lasts, turn)
    left, bottom, right, top = bounds
    outside = (boxes[2] <= left) | (boxes[0] >= right) | (boxes[3] <= bottom) | (boxes[1] >= top)
    clean = text.isascii() and not _CONTROLS.search(text)
    new = partial(tuple.__new__, Word)  # half as slow as Word(...), for hundreds of words
    words: list[Word] = []
    place, hyphened = 0, False
    found = zip(starts, ends, firsts, *boxes.tolist(), turned.tolist(), outside.tolist(), strict=True)
    for start, end, first, x0, y0, x1, y1, is_turned, is_outside in found:
        token, gap, place = text[start:end], text[place:start], end
        breaks = hyphened or "\n" in gap
        hyphened = not clean and token[-1] in _END_HYPHENS
        if is_outside:
            continue
        plain = clean or (token.isascii() and token.isprintable())
        if written := token if plain else _written(textpage, token, first):
            words.append(new((written, x0, y0, x1, y1, breaks, breaks or gap != "", is_turned, first)))
    if turn:
        words = [Word(word.text, *_turned(word[1:5], turn), *word[5:]) for word in words]
    return Words(words, _turned(bounds, turn), int(outside.sum()), turn != 0)


def _boxes(textpage: Any, firsts: Sequence[int], lasts: Sequence[int], turn: int) -> tuple[Floats, Flags]:
    """Return the boxes of words, `[4, n_words]`, by their first and last characters; and which of them are turned."""
    edges: Floats32 = np.zeros((2, len(firsts), 4), np.float32)
    page = address_of(textpage)
    address, n_bytes = edges.ctypes.data, edges[0].nbytes
    for place, first, last in zip(range(address, address + n_bytes, _RECTANGLE), firsts, lasts, strict=True):
        _loose_box(page, first, place)
        if last > first:
            _loose_box(page, last, place + n_bytes)
    several = np.array(lasts, np.int64) > np.array(firsts, np.int64)
    edges[1, ~several] = edges[0, ~several]
    (x0, y1, x1, y0), (end_x0, end_y1, end_x1, end_y0) = edges.astype(np.float64).transpose(0, 2, 1)
    level = (end_y0 == y0) & (end_y1 == y1) & (end_x0 >= x0) & (turn in (0, 2))  # most words
    shift = abs(end_y0 - y0)
    # A mark over a letter is shifted, too, but not by the letter's height.
    upwards = (shift > abs(end_x0 - x0)) & (shift >= _SHIFT * (y1 - y0))
    right = np.where(level, end_x1, np.maximum(x1, end_x1))
    boxes = np.array([np.minimum(x0, end_x0), np.minimum(y0, end_y0), right, np.maximum(y1, end_y1)])
    return boxes, several & ~level & (upwards != (turn % 2 == 1))


def _character_index(textpage: Any, text: str) -> Callable[[int], int] | None:
    """Return a function from places in the text to PDFium's characters, which are units of UTF-16 on the page.

    None is returned where both are the same.
    """
    units: list[int] = []
    if not text.isascii() and _BEYOND.search(text):
        units = [0, *accumulate(1 + (char > "\uffff") for char in text)]
    if (units[-1] if units else len(text)) != textpage.count_chars():  # some are left out of the text
        return lambda place: int(pdfium.FPDFText_GetCharIndexFromTextIndex(textpage, units[place] if units else place))
    return units.__getitem__ if units else None


def _turn(textpage: Any, tokens: Sequence[re.Match[str]], at: Callable[[int], int] | None) -> int:
    """Return by how many quarters of a circle, counted against the clock, most of the long words are turned."""
    turns = [0] * 4
    long = [match for match in tokens if match.end() - match.start() > 2]
    for match in long[:: len(long) // _SAMPLE + 1]:
        places = (match.start(), match.end() - 1)
        (x0, y0), (x1, y1) = (_origin(textpage, at(place) if at else place) for place in places)
        if abs(y1 - y0) > abs(x1 - x0):
            turns[1 if y1 > y0 else 3] += 1
        else:
            turns[2 if x1 < x0 and not _RIGHT_TO_LEFT.search(match[0]) else 0] += 1
    return max(range(4), key=turns.__getitem__)


def _turned(box: Box, turn: int) -> Box:
    left, bottom, right, top = box
    for _ in range(turn):
        left, bottom, right, top = bottom, -right, top, -left
    return left, bottom, right, top


def _written(textpage: Any, token: str, index: int) -> str:
    """Return a word as people write it."""
    text = _SHAPES.sub(lambda match: unicodedata.normalize("NFKC", match[0]), token)
    if len(text) == len(token):
        text = _with_lam_before_alef(textpage, text, index)
    text = _LOOSE_ACCENT.sub(_accented, text)
    return _CONTROLS.sub("", text.translate(_DRAWN_HYPHENS))


def _accented(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", match[2].translate(_DOTLESS) + _ACCENTS[match[1]])


def _with_lam_before_alef(textpage: Any, text: str, index: int) -> str:
    """Put lam before alef where both are one glyph: there they stand at the same place."""
    pieces, end = [], 0
    for match in _TURNED_LAM_ALEF.finditer(text):
        alef, lam = (_origin(textpage, index + place) for place in (match.start(), match.start() + 1))
        pieces += [text[end : match.start()], match[0][::-1] if alef == lam else match[0]]
        end = match.end()
    return "".join([*pieces, text[end:]])


def _origin(textpage: Any, index: int) -> tuple[float, float]:
    """Return where the baseline of a character begins."""
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(textpage, index, x, y)
    return x.value, y.value
