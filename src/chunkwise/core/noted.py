"""What an index notes of a chunk while the document is at hand: where it is found later, only the chunk is."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from chunkwise.core.origins import Origin
from chunkwise.core.types import NOTED, Chunk, Meta, Span


class Header(NamedTuple):
    """The header of a table in a chunk; it is that of what starts after it and before `stop`."""

    span: Span
    stop: int


@dataclass(frozen=True, slots=True)
class Noted:
    """Notes of one chunk, with offsets in the document; only the gap is noted of chunks that others are cut from.

    `gap` is the blank text up to the next chunk of its level. `ends` are where its sentences, rows and groups of lines
    of code end, None where that is unknown. `headers` are those of tables that begin in it. `pages` are where the pages
    begin that it touches, and their numbers; empty where it is on one. `origin` has the edits in and right before it.
    """

    gap: str = ""
    ends: tuple[int, ...] | None = None
    headers: tuple[Header, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    origin: Origin | None = None

    @classmethod
    def of(cls, chunk: Chunk) -> Noted:
        """Return what is noted of a chunk."""
        noted = chunk.meta.get(NOTED)
        if not isinstance(noted, Mapping):
            return cls()
        return cls(
            gap=noted.get("gap", ""),
            ends=tuple(noted["ends"]) if "ends" in noted else None,
            headers=tuple(Header(Span(start, end), stop) for start, end, stop in noted.get("headers", ())),
            pages=tuple((start, number) for start, number in noted.get("pages", ())),
            origin=Origin(*(array("q", edges) for edges in noted["edits"])) if "edits" in noted else None,
        )

    def on(self, chunk: Chunk) -> Chunk:
        """Return the chunk with these notes instead of its own."""
        plain: Meta = {
            **({"gap": self.gap} if self.gap else {}),
            **({"ends": list(self.ends)} if self.ends is not None else {}),
            **({"headers": [[*span, stop] for span, stop in self.headers]} if self.headers else {}),
            **({"pages": [list(page) for page in self.pages]} if self.pages else {}),
            **({"edits": [list(self.origin.raw), list(self.origin.text)]} if self.origin is not None else {}),
        }
        rest = {key: value for key, value in chunk.meta.items() if key != NOTED}
        return replace(chunk, meta={**rest, **({NOTED: plain} if plain else {})})

    def header(self, start: int) -> Span | None:
        """Return the header of the innermost table that a row which starts here is of."""
        return next((one.span for one in reversed(self.headers) if one.span.end <= start < one.stop), None)

    def pages_of(self, span: Span) -> tuple[int, ...]:
        """Return the numbers of the pages that a part of the chunk touches."""
        starts = [start for start, _ in self.pages]
        first = max(bisect_right(starts, span.start) - 1, 0)
        return tuple(number for _, number in self.pages[first : bisect_left(starts, span.end)])
