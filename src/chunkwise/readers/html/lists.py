"""What the items of a list begin with, as browsers number them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chunkwise.readers.html.dom import Node, attribute, children

_NUMBER = re.compile(r"\s*([-+]?\d{1,9})")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
# Roman numerals end at 3999: a number beyond is written in digits, as browsers do.
_MOST_ROMAN = 3999


@dataclass(slots=True)
class Listing:
    """A list that is being written. `style` is `1`, `a`, `A`, `i` or `I`; empty where it has no numbers."""

    style: str = ""
    number: int = 1
    step: int = 1
    terms: bool = False  # a list of terms and what they mean
    told: bool = True  # whether the last term's meaning was begun, so that a term begins an item
    in_item: bool = False  # whether an item of terms is open

    def marker(self, item: Node) -> str:
        """Return what an item begins with, and count on."""
        if not self.style:
            return "- "
        if (value := _integer(attribute(item, "value"))) is not None:
            self.number = value
        number, self.number = self.number, self.number + self.step
        return f"{_counted(number, self.style)}. "


def listing(node: Node) -> Listing:
    """Return how the items of a list are numbered."""
    if node.tag != "ol":
        return Listing(terms=node.tag == "dl")
    attributes = node.attributes
    backwards = "reversed" in attributes
    start = _integer(attributes.get("start") or "")
    if start is None:
        start = sum(1 for _ in children(node, "li")) if backwards else 1
    style = attributes.get("type") or "1"
    return Listing(style if style in ("a", "A", "i", "I") else "1", start, -1 if backwards else 1)


def _integer(text: str) -> int | None:
    match = _NUMBER.match(text)
    return int(match[1]) if match else None


def _counted(number: int, style: str) -> str:
    if style in ("a", "A") and number > 0:
        written = _letters(number)
    elif style in ("i", "I") and 0 < number <= _MOST_ROMAN:
        written = _roman(number)
    else:
        return str(number)
    return written.upper() if style.isupper() else written


def _letters(number: int) -> str:
    """Return a, b, ... z, aa, ab, ..."""
    written = ""
    while number:
        number, rest = divmod(number - 1, 26)
        written = chr(ord("a") + rest) + written
    return written


def _roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        written += letters * count
    return written
