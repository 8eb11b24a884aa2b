"""Find out what a style makes of a paragraph: a heading, an item, code, a quote, an entry of a table of contents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from chunkwise.readers.office.package import Element, clark, find, integer, is_on, value

Role = Literal["", "heading", "code", "quote", "contents", "continued"]

# Names of built-in styles are English in files of every language; only their ids are translated. All in lower case.
_HEADING = re.compile(r"heading ([1-9])")
_TITLES = {"title": 1, "subtitle": 2}
_CONTENTS = re.compile(r"toc [1-9]|toc heading|contents (?:heading|[1-9])|table of (?:figures|authorities)")
_QUOTES = {"quote", "intense quote", "block text", "block quote", "blockquote", "block quotation", "quotations"}
_CODE = re.compile(
    r"(?:.* )?(?:source ?code|code ?(?:block|text|listing|example|snippet)?|html preformatted|"
    r"preformatted(?: text)?|monospaced?|verbatim|macro(?: text)?|program ?listing)"
)
_CONTINUED = re.compile(r"list (?:paragraph|continue)(?: [2-5])?")
# The lists of these styles are each of level 0 in a numbering of their own; their depth is in their name.
_LIST = re.compile(r"list (?:bullet|number) ([2-5])")
# How many styles are based on one another: Word allows eleven.
_LONGEST_CHAIN = 20
_BODY_TEXT = 9  # the outline level of what is no heading. Source: ECMA-376, 17.3.1.20


@dataclass(frozen=True, slots=True)
class Look:
    """What a style says of its paragraphs: `level` is a heading's, `number` a list and the level in it.

    `linked` is the style that names the list: a level may be linked to it. `depth` is added to the list's level.
    """

    role: Role = ""
    level: int = 0
    number: tuple[str, int] | None = None
    linked: str = ""
    depth: int = 0
    is_hidden: bool = False
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class _Own:
    """What one style says, without those that it is based on; None where it says nothing."""

    id: str
    role: tuple[Role, int] | None
    number: tuple[str, int] | None
    depth: int
    is_hidden: bool | None
    is_bold: bool | None


class Styles:
    """The styles of a file by their ids."""

    def __init__(self, root: Element | None) -> None:
        styles = [] if root is None else root.findall(clark("w:style"))
        self._styles = {style.get(clark("w:styleId")) or "": style for style in styles}
        self._default = next(
            (
                id
                for id, style in self._styles.items()
                if style.get(clark("w:type")) == "paragraph" and style.get(clark("w:default")) in ("1", "true", "on")
            ),
            "",
        )
        self._looks: dict[str, Look] = {}
        self._known: dict[str, _Own] = {}
        self.language = value(root, "w:docDefaults/w:rPrDefault/w:rPr/w:lang")

    def paragraph(self, id: str) -> Look:
        """Return what a paragraph style says, with all that it is based on; that of the default for an empty id."""
        id = id or self._default
        if id not in self._looks:
            self._looks[id] = self._look(id)
        return self._looks[id]

    def hides(self, id: str) -> bool:
        """Tell whether a character style hides its text."""
        return bool(id) and self.paragraph(id).is_hidden

    def list_of(self, id: str) -> str:
        """Return the id of the list that a style of lists stands for, if any."""
        return value(self._styles.get(id), "w:pPr/w:numPr/w:numId")

    def has_header(self, id: str) -> bool:
        """Tell whether a table style gives the first row a look of its own."""
        parts = (part for style in self._chain(id) for part in style.findall(clark("w:tblStylePr")))
        return any(part.get(clark("w:type")) == "firstRow" and len(list(part)) > 0 for part in parts)

    def _chain(self, id: str) -> Iterator[Element]:
        """Yield a style and those that it is based on, each once."""
        seen: set[str] = set()
        while id in self._styles and id not in seen and len(seen) < _LONGEST_CHAIN:
            seen.add(id)
            yield self._styles[id]
            id = value(self._styles[id], "w:basedOn")

    def _look(self, id: str) -> Look:
        found = [self._own(style) for style in self._chain(id)]
        role, level = next((one.role for one in found if one.role is not None), ("", 0))
        listed = next((one for one in found if one.number is not None), None)
        return Look(
            role,
            level,
            listed.number if listed else None,
            listed.id if listed else "",
            next((one.depth for one in found if one.depth), 0),
            next((one.is_hidden for one in found if one.is_hidden is not None), False),
            next((one.is_bold for one in found if one.is_bold is not None), False),
        )

    def _own(self, style: Element) -> _Own:
        """Return what one style alone says; each is asked once, for many may be based on it."""
        id = style.get(clark("w:styleId")) or ""
        if id not in self._known:
            listed = _LIST.fullmatch(_name(style))
            self._known[id] = _Own(
                id,
                _role(style),
                _numbered(style),
                int(listed[1]) - 1 if listed else 0,
                is_on(style, "w:rPr/w:vanish"),
                is_on(style, "w:rPr/w:b"),
            )
        return self._known[id]


def _numbered(style: Element) -> tuple[str, int] | None:
    """Return the list that one style names, and the level in it; list "0" takes it out of any."""
    list_id = value(style, "w:pPr/w:numPr/w:numId")
    return (list_id, integer(value(style, "w:pPr/w:numPr/w:ilvl"))) if list_id else None


def outline_level(element: Element | None) -> int | None:
    """Return the level of the heading that a `w:outlineLvl` makes: 0 if none, None if it says nothing."""
    if not (text := value(element)):
        return None
    level = integer(text, _BODY_TEXT)
    return level + 1 if 0 <= level < _BODY_TEXT else 0


def _role(style: Element) -> tuple[Role, int] | None:
    """Return what one style alone makes of its paragraphs, with a heading's level; None if it leaves that to others."""
    name = _name(style)
    level = outline_level(find(style, "w:pPr/w:outlineLvl"))
    if _CONTENTS.fullmatch(name):
        return "contents", 0
    if level is not None:
        return ("heading", level) if level else ("", 0)
    if found := _HEADING.fullmatch(name):
        return "heading", int(found[1])
    if name in _TITLES:
        return "heading", _TITLES[name]
    if name in _QUOTES:
        return "quote", 0
    if _CODE.fullmatch(name):
        return "code", 0
    return ("continued", 0) if _CONTINUED.fullmatch(name) else None


def _name(style: Element) -> str:
    return " ".join(value(style, "w:name").lower().split())
