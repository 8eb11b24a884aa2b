"""Write a document's text and its blocks together, so that every span is exact by construction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.core.types import Block, BlockKind, Document, Meta, Source, Span

# Blocks that end with the break of their last line, as rows and code do in Markdown.
_WHOLE_LINES: tuple[BlockKind, ...] = ("row", "header", "code")


@dataclass(slots=True)
class _Begun:
    """A block that is being written. It starts where its first text does; until then `start` is -1."""

    kind: BlockKind
    level: int | None
    label: str
    parent: int
    start: int = -1
    end: int = -1


class Writer:
    r"""A text that grows at its end, and the blocks in it.

    Between blocks stand as many line breaks as were asked for, none at the beginning of the text.
    A block without text is no block. `indent` begins every line that is written by `write`.

    >>> writer = Writer()
    >>> writer.block("heading", "Pumps", level=1, label="Pumps")
    >>> writer.block("paragraph", "Check weekly.")
    >>> writer.text
    'Pumps\n\nCheck weekly.'
    """

    def __init__(self) -> None:
        self.indent = ""
        self._pieces: list[str] = []
        self._length = 0
        self._trailing = 0  # line breaks at the end of the text
        self._wanted = 0  # line breaks before the next text
        self._blocks: list[_Begun] = []
        self._open: list[int] = []
        self._page: _Begun | None = None

    @property
    def text(self) -> str:
        """What was written so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    @property
    def length(self) -> int:
        """How many characters were written so far."""
        return self._length

    def open(self, kind: BlockKind, *, level: int | None = None, label: str = "") -> None:
        """Begin a block inside the one that is open. Its `level` is its depth where none is given."""
        self._open.append(len(self._blocks))
        parent = self._open[-2] if len(self._open) > 1 else -1
        self._blocks.append(_Begun(kind, level, label, parent))

    def close(self) -> None:
        """End the innermost block."""
        block = self._blocks[self._open.pop()]
        if block.start >= 0:
            if block.kind in _WHOLE_LINES and not self._trailing:
                self._append("\n")
            block.end = self._length

    def part(self, n_breaks: int = 2) -> None:
        """Ask for at least so many line breaks between what is written and what comes next."""
        self._wanted = max(self._wanted, n_breaks)

    def write(self, text: str) -> int:
        """Write text, and return where its first character stands.

        Each of its lines begins with the indent, which belongs to the blocks that start with it.
        """
        if not text:
            return self._length
        self._begin()
        if self._trailing or not self._length:
            self._append(self.indent)
        start = self._length
        self._append(text.replace("\n", "\n" + self.indent) if self.indent else text)
        return start

    def write_raw(self, text: str) -> None:
        """Write text as it is, as code has to be."""
        if text:
            self._begin()
            self._append(text)

    def block(self, kind: BlockKind, text: str, *, level: int | None = None, label: str = "") -> None:
        """Write a block that is parted from what is around it by blank lines."""
        self.part()
        self.open(kind, level=level, label=label)
        if kind == "code":
            self.write_raw(text)
        else:
            self.write(text)
        self.close()
        self.part()

    def table(self, rows: Sequence[Sequence[str]], *, n_header: int = 0, labels: Sequence[str] = ()) -> list[int]:
        """Write a table, a row a line, its cells parted by ` | `, and return where each row starts.

        The first `n_header` rows are its header.

        `labels` are those of all rows, if they have any. White space in a cell becomes a blank.
        """
        starts = []
        self.part()
        self.open("table")
        for index, cells in enumerate(rows):
            if index < n_header:
                if index == 0:
                    self.open("header", label=labels[0] if labels else "")
            else:
                self.open("row", label=labels[index] if labels else "")
            self.part(1)
            row = " | ".join(" ".join(cell.split()) for cell in cells).strip() or "|"
            self.write_raw(row)
            starts.append(self._length - len(row))
            if index >= n_header - 1:
                self.close()
        if len(rows) < n_header:
            self.close()
        self.close()
        self.part()
        return starts

    def begin_page(self, number: int, *, label: str = "") -> None:
        """Begin a page where the next text is written, and end the one before there."""
        self._end_page()
        self._page = _Begun("page", number, label, -1)

    def document(self, source: Source, meta: Meta) -> Document:
        """Return what was written as a document."""
        self._end_page()
        return Document(source.id, self.text, self.blocks(), source.media_type, source.location, dict(meta))

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks that hold text, in document order; a page comes before what begins with it."""
        written = [index for index, block in enumerate(self._blocks) if block.end > block.start >= 0]
        written.sort(key=lambda index: (self._blocks[index].start, self._blocks[index].kind != "page", index))
        place = {index: i for i, index in enumerate(written)} | {-1: -1}
        return tuple(_finished(self._blocks, index, place) for index in written)

    def _end_page(self) -> None:
        page, self._page = self._page, None
        if page is not None and page.start >= 0:
            page.end = self._length
            self._blocks.append(page)

    def _begin(self) -> None:
        """Write the breaks that were asked for, and let what waits for text start here."""
        if self._length and self._wanted > self._trailing:
            self._append("\n" * (self._wanted - self._trailing))
        self._wanted = 0
        waiting = [self._blocks[index] for index in self._open]
        for block in [*waiting, *([self._page] if self._page else [])]:
            if block.start < 0:
                block.start = self._length

    def _append(self, text: str) -> None:
        if not text:
            return
        self._pieces.append(text)
        self._length += len(text)
        bare = len(text.rstrip("\n"))
        self._trailing = len(text) - bare + (self._trailing if bare == 0 else 0)


def _finished(begun: Sequence[_Begun], index: int, place: dict[int, int]) -> Block:
    block = begun[index]
    depth, above = 0, block.parent
    while above >= 0:
        depth, above = depth + 1, begun[above].parent
    level = depth if block.level is None else block.level
    return Block(block.kind, Span(block.start, block.end), level, block.label, place[block.parent])
