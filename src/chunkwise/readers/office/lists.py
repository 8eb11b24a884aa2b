"""Write the items of lists, each inside the one that it is under."""

from __future__ import annotations

from typing import NamedTuple

from chunkwise.readers.writer import Writer

# What each level of lists is indented by, in the text.
INDENT = "  "


class _List(NamedTuple):
    depth: int
    key: str


class Lists:
    """The lists that are open in a writer. While one is, only its own text may be written."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._open: list[_List] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    def item(self, text: str, *, depth: int, key: str = "") -> None:
        """Write an item in the list of this depth; a new list where its `key` is another.

        Depths are compared only: the first one is outermost, whatever it is.
        """
        while self._open and self._open[-1].depth > depth:
            self._close()
        if self._open and self._open[-1].depth == depth:
            if self._open[-1].key != key:
                self._close()
            else:
                self._writer.close()
        if not self._open or self._open[-1].depth != depth:
            self._begin(_List(depth, key))
        self._writer.part(1)
        self._writer.open("item")
        self._writer.write(text.replace("\n", "\n" + INDENT))

    def also(self, text: str, *, figure: bool = False) -> None:
        """Write another paragraph, or a figure, in the last item."""
        self._writer.part(1)
        if figure:
            self._writer.open("figure")
        self._writer.write(INDENT + text.replace("\n", "\n" + INDENT))
        if figure:
            self._writer.close()

    def end(self) -> None:
        """End all lists."""
        while self._open:
            self._close()

    def _begin(self, one: _List) -> None:
        if not self._open:
            self._writer.part()
        self._open.append(one)
        self._writer.indent = INDENT * (len(self._open) - 1)
        self._writer.open("list")

    def _close(self) -> None:
        """End the innermost list and its last item."""
        self._writer.close()
        self._writer.close()
        self._open.pop()
        self._writer.indent = INDENT * max(0, len(self._open) - 1)
        self._writer.part(1 if self._open else 2)
