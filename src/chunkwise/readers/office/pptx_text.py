"""Read the text of a shape: its paragraphs with their bullets and numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.readers.office.formulas import formula
from chunkwise.readers.office.numerals import numeral
from chunkwise.readers.office.package import Element, Relation, branch, clark, find, integer, tag, value
from chunkwise.text.numerals import raised

BULLET = "-"
# A text has nine levels. Source: ECMA-376, 21.1.2.2.7
_DEEPEST = 8
# How PowerPoint names its ways to count, by what the name begins with. Source: ECMA-376, 20.1.10.61
_FORMS = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle",
    "ea1": "chineseCounting",
}
_EDGES = {"ParenBoth": ("(", ")"), "ParenR": ("", ")"), "Period": ("", "."), "Minus": ("-", "-")}
# A character that XML can't hold, written as _x000B_ by its number in hexadecimal. Source: ECMA-376, 22.4.2.4
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_BREAKS = (0x0A, 0x0B, 0x0D)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, its level from 0, and its number or bullet, or an empty string.

    `size` is that of its letters in hundredths of a point, where it is set on them, else 0.
    """

    text: str
    level: int = 0
    marker: str = ""
    size: int = 0


@dataclass(slots=True)
class _Counter:
    """How far a level has counted, and how."""

    form: str
    count: int


def paragraphs(body: Element, styles: Sequence[Element]) -> list[Paragraph]:
    """Return the paragraphs of a text that are not empty.

    `styles` say what a level looks like where a paragraph does not; the first one that says anything is right.
    """
    own = find(body, "a:lstStyle")
    known = [*([] if own is None else [own]), *styles]
    counters: dict[int, _Counter] = {}
    found: list[Paragraph] = []
    for element in body.findall(clark("a:p")):
        text = text_of(element).strip()
        if text:
            properties = find(element, "a:pPr")
            level = max(0, min(integer(None if properties is None else properties.get("lvl")), _DEEPEST))
            bullet = _bullet(properties, level, known)
            for deeper in [
                one for one in counters if one > level or (one == level and tag_of(bullet) != "a:buAutoNum")
            ]:
                del counters[deeper]
            found.append(Paragraph(text, level, _marker(bullet, level, counters), _size(element)))
    return found


def text_of(paragraph: Element) -> str:
    """Return the text of a paragraph, formulas as a line of text; without the number of the slide."""
    pieces: list[str] = []
    is_raised = False  # whether the run that was met last stands above the line
    waiting = list(reversed(list(paragraph)))
    while waiting:
        element = waiting.pop()
        name = tag(element)
        if name in ("a:r", "a:fld"):
            properties = find(element, "a:rPr")
            is_raised = properties is not None and integer(properties.get("baseline")) > 0
        if name == "a:t":
            text = _ESCAPED.sub(_unescaped, element.text or "")
            pieces.append(raised(text) if is_raised else text)
        elif name == "a:br":
            pieces.append("\n")
        elif name in ("m:oMath", "m:oMathPara"):
            pieces.append(formula(element))
        elif name == "mc:AlternateContent":
            waiting += reversed(branch(element))
        elif name not in ("a:pPr", "a:rPr", "a:endParaRPr") and (name, element.get("type")) != ("a:fld", "slidenum"):
            waiting += reversed(list(element))
    return "".join(pieces)


def links(body: Element, relations: dict[str, Relation]) -> list[dict[str, str]]:
    """Return the links in a text to what is outside the file."""
    found = []
    for run in body.iter(clark("a:r")):
        relation = relations.get(value(run, "a:rPr/a:hlinkClick", "r:id"))
        text = find(run, "a:t")
        if relation and relation.external and text is not None and text.text and text.text.strip():
            found.append({"text": " ".join(text.text.split()), "url": relation.target})
    return found


def tag_of(element: Element | None) -> str:
    """Return an element's name, if there is one."""
    return "" if element is None else tag(element)


def _bullet(properties: Element | None, level: int, styles: Sequence[Element]) -> Element | None:
    """Return the element that says what stands before a paragraph: the paragraph's own, else that of its level."""
    places = [properties, *(find(style, f"a:lvl{level + 1}pPr") for style in styles)]
    for place in places:
        for part in [] if place is None else place:
            if tag(part) in ("a:buNone", "a:buChar", "a:buAutoNum", "a:buBlip"):
                return part
    return None


def _marker(bullet: Element | None, level: int, counters: dict[int, _Counter]) -> str:
    if bullet is None or tag(bullet) == "a:buNone":
        return ""
    if tag(bullet) != "a:buAutoNum":
        return BULLET
    form = bullet.get("type") or "arabicPeriod"
    counter = counters.get(level)
    if counter is None or counter.form != form:
        counter = counters[level] = _Counter(form, integer(bullet.get("startAt"), 1) - 1)
    counter.count += 1
    before, after = next((edges for ending, edges in _EDGES.items() if form.endswith(ending)), ("", ""))
    name = next((name for start, name in _FORMS.items() if form.startswith(start)), "decimal")
    return f"{before}{numeral(counter.count, name)}{after}"


def _size(paragraph: Element) -> int:
    return max((integer(run.get("sz")) for run in paragraph.iter(clark("a:rPr"))), default=0)


def _unescaped(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    if code in _BREAKS:
        return "\n"
    return chr(code) if code == 0x09 or 0x20 <= code < 0xD800 else ""
