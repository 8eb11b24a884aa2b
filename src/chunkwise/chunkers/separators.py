"""Separators of one's own: where they stand in a text, and what becomes of them where a chunk ends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal, TypeAlias

import regex

from chunkwise.chunkers.levels import Level, among
from chunkwise.core.errors import RecipeError
from chunkwise.core.types import Span

Keep: TypeAlias = Literal["left", "right", "none"]
"""A separator at which the text is cut belongs to the chunk before it, to the one after it, or to neither."""


class Separators:
    """The separators of one text, coarse to fine."""

    def __init__(self, text: str, separators: Sequence[str], *, patterns: bool, keep: Keep) -> None:
        self._text = text
        self._strings: list[str] = []
        self._matches: list[list[Span]] = []
        self.levels: list[Level] = []
        """The levels that allow a cut at each separator, coarse to fine."""
        left = keep == "left"
        for separator in filter(None, separators):
            if patterns or _meets_itself(separator):
                found = [Span(*match.span()) for match in compiled(separator, literal=not patterns).finditer(text)]
                self._matches.append(found)
                self.levels += among(span.end if left else span.start for span in found)
            else:
                self._strings.append(separator)
                self.levels.append(partial(self._last, separator, len(separator) if left else 0))
        self._ends = {span.start: span.end for found in self._matches for span in found}
        self._starts = {span.end: span.start for found in self._matches for span in found}

    def after(self, position: int) -> int:
        """Return the end of the separator that starts here, or the position itself."""
        for separator in self._strings:
            if self._text.startswith(separator, position):
                return position + len(separator)
        return self._ends.get(position, position)

    def before(self, position: int) -> int:
        """Return the start of the separator that ends here, or the position itself."""
        for separator in self._strings:
            if self._text.endswith(separator, 0, position):
                return position - len(separator)
        return self._starts.get(position, position)

    def spans(self) -> list[Span]:
        """Return where all the separators stand, in order for each."""
        literal = [compiled(separator, literal=True) for separator in self._strings]
        found = [Span(*match.span()) for pattern in literal for match in pattern.finditer(self._text)]
        return found + [span for spans in self._matches for span in spans]

    def _last(self, separator: str, width: int, lo: int, hi: int) -> int | None:
        """Return the last place in `(lo, hi]` that is so many characters after a separator's start."""
        found = self._text.rfind(separator, max(0, lo + 1 - width), hi - width + len(separator))
        return found + width if found >= 0 else None


def compiled(separator: str, *, literal: bool = False) -> regex.Pattern[str]:
    """Compile a separator.

    Raises: RecipeError if it is no regular expression.
    """
    try:
        return regex.compile(regex.escape(separator) if literal else separator)
    except regex.error as err:
        raise RecipeError(f"the separator {separator!r} is no regular expression: {err}") from err


def _meets_itself(separator: str) -> bool:
    """Tell whether two of it may share a character, so that only a search from the start tells which one is meant.

    White space may be taken either way: none of it ends up in a chunk's ends.
    """
    return not separator.isspace() and any(separator.startswith(separator[i:]) for i in range(1, len(separator)))
