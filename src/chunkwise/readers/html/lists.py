"""What the items of a list begin with, as browsers number them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chunkwise.readers.html.dom import Node, attribute, children
from chunkwise.text.numerals import letters, roman

_NUMBER = re.compile(r"\s*([-+]?\d{1,9})")


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
    """Return a number in a style; in digits where the style can't write it, as browsers do."""
    written = letters(number) if style in ("a", "A") else roman(number) if style in ("i", "I") else ""
    return (written.upper() if style.isupper() else written) or str(number)
