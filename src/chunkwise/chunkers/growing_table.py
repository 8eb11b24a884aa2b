"""Delimited text that comes in pieces: its beginning, which every view of it keeps, and where its records surely start.

The reasons are in docs/decisions/0014-tables-stream.md.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace

from chunkwise.core.types import Block, Span
from chunkwise.readers.tabular import SAMPLE, table_blocks
from chunkwise.text.growing import Growing
from chunkwise.text.records import sure_records


class GrowingTable:
    """The table in a growing text. Places are those in the text that is kept."""

    def __init__(self, growing: Growing, *, media_type: str, margin: int) -> None:
        """Follow a text. So many characters as `margin` after the header are kept with it."""
        self._growing, self._media_type, self._margin = growing, media_type, margin
        self._blocks: tuple[Block, ...] | None = None
        self._sure: list[int] = []  # where records start, from the table's start on
        self._stray = False  # whether near the beginning a quote was seen that nothing closes

    def is_known(self) -> bool:
        """Tell whether so much has come that delimiter and header are known."""
        return self._blocks is not None or len(self._growing.text) > SAMPLE

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks of the text that is kept: a table to its end, under the header of the whole."""
        text = self._growing.text
        if self._blocks is None:
            self._blocks = table_blocks(text, self._media_type)
        return tuple(
            replace(block, span=Span(block.span.start, len(text))) if block.kind == "table" else block
            for block in self._blocks
        )

    def sure(self) -> int:
        """Return up to where records are known whatever follows; 0 where there is no table."""
        if not self._blocks:
            return 0
        header = self._blocks[-1]  # or the table, which then is the last
        table = self._blocks[header.parent] if header.kind == "header" else header
        start = self._sure[-1] if self._sure else table.span.start
        found = sure_records(self._growing.text, start, table.label)
        self._sure += found.starts
        self._pin(table.span.start if header is table else header.span.end, stray=found.stray)
        return self._sure[-1] if self._sure else 0

    def drop(self, needed: int) -> None:
        """Let go of what is before the record that holds the place `needed`, but for the beginning."""
        index, pinned = bisect_right(self._sure, needed) - 1, self._growing.n_pinned
        if pinned and index >= 0 and (length := self._sure[index] - pinned) > 0:
            self._growing.drop(length)
            self._sure = [place - length for place in self._sure[index:]]

    def _pin(self, header_end: int, *, stray: bool) -> None:
        """Keep the beginning, up to a record after the header, so that all near the header stays as it is.

        Not if a quote may be in it that nothing closes: what comes to stand behind it could. Then all is kept.
        """
        if self._growing.n_pinned:
            return
        self._stray |= stray
        index = bisect_left(self._sure, header_end + self._margin)
        if index < len(self._sure) and not self._stray:
            self._growing.n_pinned = self._sure[index]
