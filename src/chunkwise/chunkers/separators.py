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
        self._keep = keep
        self._strings = [] if patterns else [separator for separator in separators if separator]
        self._matches = [
            [Span(*match.span()) for match in compiled(separator).finditer(text)]
            for separator in (separators if patterns else ())
        ]
        self._ends = {span.start: span.end for found in self._matches for span in found}
        self._starts = {span.end: span.start for found in self._matches for span in found}

    @property
    def levels(self) -> list[Level]:
        """The levels that allow a cut at each separator."""
        left = self._keep == "left"
        lazy: list[Level] = [partial(self._last, string, len(string) if left else 0) for string in self._strings]
        eager = [among(span.end if left else span.start for span in found) for found in self._matches]
        return [*lazy, *(level for levels in eager for level in levels)]

    def after(self, position: int) -> int:
        """Return the end of the separator at a chunk's start, if it belongs to neither chunk."""
        if self._keep != "none":
            return position
        for separator in self._strings:
            if self._text.startswith(separator, position):
                return position + len(separator)
        return self._ends.get(position, position)

    def before(self, position: int) -> int:
        """Return the start of the separator at a chunk's end, if it belongs to neither chunk."""
        if self._keep != "none":
            return position
        for separator in self._strings:
            if self._text.endswith(separator, 0, position):
                return position - len(separator)
        return self._starts.get(position, position)

    def spans(self) -> list[Span]:
        """Return where all the separators stand, in order for each."""
        literal = [regex.compile(regex.escape(separator)) for separator in self._strings]
        found = [Span(*match.span()) for pattern in literal for match in pattern.finditer(self._text)]
        return found + [span for spans in self._matches for span in spans]

    def _last(self, separator: str, width: int, lo: int, hi: int) -> int | None:
        """Return the last place in `(lo, hi]` that is so many characters after a separator's start."""
        found = self._text.rfind(separator, max(0, lo + 1 - width), hi - width + len(separator))
        return found + width if found >= 0 else None


def compiled(separator: str) -> regex.Pattern[str]:
    """Compile a separator.

    Raises: RecipeError if it is no regular expression.
    """
    try:
        return regex.compile(separator)
    except regex.error as err:
        raise RecipeError(f"the separator {separator!r} is no regular expression: {err}") from err
