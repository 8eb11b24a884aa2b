"""Count the lists of a Word file the way Word does, and write the number or the bullet of each item."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from chunkwise.readers.office.numerals import numeral
from chunkwise.readers.office.package import Element, clark, find, integer, is_on, value

BULLET = "-"
# A list has nine levels. Source: ECMA-376, 17.9.6
N_LEVELS = 9
# How many links between a list and a style of lists are followed: Word writes one.
_MOST_LINKS = 5
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of a list. `text` has %1 for the number of the first level.

    It starts anew after an item of level `restart` (from 1) or of one above it, never if that is 0.
    """

    start: int = 0
    form: str = "decimal"
    text: str = ""
    restart: int = N_LEVELS
    is_legal: bool = False
    style: str = ""


class Numbering:
    """The lists of a file, and how far each has counted. Lists of one definition count together."""

    def __init__(self, root: Element | None, list_of: Callable[[str], str]) -> None:
        self._list_of = list_of
        self._lists = _by_id(root, "w:num", "w:numId")
        self._definitions = _by_id(root, "w:abstractNum", "w:abstractNumId")
        self._levels: dict[str, tuple[str, list[_Level]]] = {}
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[str] = set()

    def level_of(self, list_id: str, style: str) -> int | None:
        """Return the level of a list that is linked to a style, if any."""
        levels = self._of(list_id)[1]
        return next((index for index, level in enumerate(levels) if style and level.style == style), None)

    def next(self, list_id: str, level: int) -> str | None:
        """Count one item, and return its number as it is written, `BULLET`, or "" where it has none.

        None if there is no such list.
        """
        definition, levels = self._of(list_id)
        if not levels:
            return None
        counts = self._counts.setdefault(definition, [None] * N_LEVELS)
        level = max(0, min(level, N_LEVELS - 1))
        if list_id not in self._begun:
            self._begun.add(list_id)
            for override in self._overrides(list_id):
                if find(override, "w:startOverride") is not None:
                    counts[_index(override)] = None
        before = counts[level]
        counts[level] = levels[level].start if before is None else before + 1
        for deeper in range(level + 1, N_LEVELS):
            if level < levels[deeper].restart:
                counts[deeper] = None
        return _written(levels, counts, level)

    def _of(self, list_id: str) -> tuple[str, list[_Level]]:
        """Return the definition of a list, and its levels; none if there is no such list."""
        if list_id not in self._levels:
            self._levels[list_id] = self._found(list_id)
        return self._levels[list_id]

    def _found(self, list_id: str) -> tuple[str, list[_Level]]:
        definition = value(self._lists.get(list_id), "w:abstractNumId")
        for _ in range(_MOST_LINKS):
            if not (style := value(self._definitions.get(definition), "w:numStyleLink")):
                break
            definition = value(self._lists.get(self._list_of(style)), "w:abstractNumId")
        if definition not in self._definitions:
            return "", []
        levels = [_Level()] * N_LEVELS
        for element in self._definitions[definition].findall(clark("w:lvl")):
            levels[_index(element)] = _level(element)
        for override in self._overrides(list_id):
            index = _index(override)
            if (own := find(override, "w:lvl")) is not None:
                levels[index] = _level(own)
            if start := value(override, "w:startOverride"):
                levels[index] = replace(levels[index], start=integer(start))
        return definition, levels

    def _overrides(self, list_id: str) -> list[Element]:
        element = self._lists.get(list_id)
        return [] if element is None else element.findall(clark("w:lvlOverride"))


def _written(levels: list[_Level], counts: list[int | None], level: int) -> str:
    own = levels[level]
    if own.form == "bullet":
        return BULLET

    def number(found: re.Match[str]) -> str:
        index = int(found[1]) - 1
        if index > level or levels[index].form in ("none", "bullet"):
            return ""
        count = counts[index]
        # A level that no item was of yet counts as begun.
        form = "decimal" if own.is_legal else levels[index].form
        return numeral(levels[index].start if count is None else count, form)

    return _PLACE.sub(number, own.text).strip()


def _level(element: Element) -> _Level:
    return _Level(
        start=integer(value(element, "w:start")),
        form=value(element, "w:numFmt") or "decimal",
        text=value(element, "w:lvlText"),
        restart=integer(value(element, "w:lvlRestart"), N_LEVELS),
        is_legal=is_on(element, "w:isLgl") is True,
        style=value(element, "w:pStyle"),
    )


def _index(element: Element) -> int:
    return max(0, min(integer(element.get(clark("w:ilvl"))), N_LEVELS - 1))


def _by_id(root: Element | None, name: str, key: str) -> dict[str, Element]:
    elements = [] if root is None else root.findall(clark(name))
    return {element.get(clark(key)) or "": element for element in elements}
