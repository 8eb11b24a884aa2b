"""The pieces of a document: its lines put together to headings, paragraphs, items of lists, tables and code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from chunkwise.readers.pdf.aligned import Table, aligned_tables
from chunkwise.readers.pdf.lines import Line
from chunkwise.readers.pdf.lists import Mark, marks
from chunkwise.readers.pdf.paragraphs import (
    CAPTION,
    Body,
    Joint,
    carries_on,
    column_numbers,
    is_near,
    joint,
    right_edges,
    usual_steps,
)

PieceKind = Literal["heading", "paragraph", "item", "table", "code"]

# In points: an item's further lines start that far to the right of its mark, or more.
_HANGING = 2.0
# In points: marks that are farther to the right belong to a list inside the list.
_DEEPER = 6.0
_DEEPEST = 5
# How many figures, tables and footnotes may stand between the two halves of a sentence.
_MOST_BETWEEN = 6
# In points: the letters of footnotes are smaller by that.
_SMALLER = 0.7


@dataclass(slots=True)
class Piece:
    """Lines that are one block; it grows while they are read.

    `kept` tells which lines begin after a line break that is kept, `edge` where the column of the last one ends.
    `level` is a heading's, or how deep an item lies, from 0.
    """

    kind: PieceKind
    lines: list[Line]
    kept: list[bool] = field(default_factory=list)
    edge: float = 0.0
    level: int = 0
    mark: Mark | None = None
    table: Table | None = None
    entry: int = -1  # of the document's outline, for a heading that was found there

    @property
    def text(self) -> str:
        """Its lines, parted by blanks."""
        return " ".join(line.text for line in self.lines)

    def add(self, line: Line, *, kept: bool, edge: float) -> None:
        """Append a line."""
        self.lines.append(line)
        self.kept.append(kept)
        self.edge = edge


def pieces(
    pages: Sequence[Sequence[Line]],
    body: Body,
    headings: Mapping[tuple[int, int], int],
    ruled: Mapping[tuple[int, float, float], Table],
) -> list[Piece]:
    """Put the lines of pages, in reading order, together.

    `headings` are the lines, by page and row, that are entries of the outline, with the number of the entry.
    `ruled` are the tables that single lines stand for, by their page, top and bottom.
    """
    builder = _Builder(body, headings, marks(line for lines in pages for line in lines), ruled)
    for lines in pages:
        builder.add_page(lines)
    return builder.pieces


class _Builder:
    """The pieces so far, and the one that the next line may go on with."""

    def __init__(
        self,
        body: Body,
        headings: Mapping[tuple[int, int], int],
        marks: Mapping[tuple[int, int], Mark],
        ruled: Mapping[tuple[int, float, float], Table],
    ) -> None:
        self.pieces: list[Piece] = []
        self._body, self._headings, self._marks, self._ruled = body, headings, marks, ruled
        self._current: Piece | None = None
        self._indents: list[float] = []  # of the marks of the lists that are open

    def add_page(self, lines: Sequence[Line]) -> None:
        """Add the lines of a page."""
        edges, columns, steps = right_edges(lines), column_numbers(lines), usual_steps(lines, self._body)
        code = _code(lines) if not self._body.monospaced else set()
        tables = {table.start: table for table in aligned_tables(lines, code)}
        index = 0
        while index < len(lines):
            line = lines[index]
            moved = index == 0 or columns[index] != columns[index - 1]
            key = (line.page, line.row)
            if table := tables.get(index):
                self._begin(Piece("table", list(lines[index : table.end]), table=table.table), edges[index])
                self._current, index = None, table.end
                continue
            if ruled := self._ruled.get((line.page, line.top, line.bottom)):
                self._begin(Piece("table", [line], table=ruled), edges[index])
                self._current = None
            elif key in self._headings:
                self._add_heading(line, self._headings[key], edges[index])
            elif index in code:
                self._add_code(line, edges[index])
            elif key in self._marks and (not self._stands_out(line) or self._is_listed(lines, index)):
                self._add_item(line, self._marks[key], edges[index], moved=moved)
            else:
                self._add_line(line, edges[index], steps[index], moved=moved)
            index += 1

    def _stands_out(self, line: Line) -> bool:
        return self._body.is_bold(line) or self._body.is_large(line)

    def _is_listed(self, lines: Sequence[Line], index: int) -> bool:
        """Tell whether the line right above or below has such a mark, too, as those under a heading with one don't."""
        forms = [self._form(line) for line in lines[max(0, index - 1) : index + 2] if line.size == lines[index].size]
        return forms.count(self._form(lines[index])) > 1

    def _form(self, line: Line) -> str:
        mark = self._marks.get((line.page, line.row))
        return mark.form if mark else ""

    def _begin(self, piece: Piece, edge: float) -> None:
        if piece.kind != "item":
            self._indents = []
        piece.kept = piece.kept or [False] * len(piece.lines)
        piece.edge = edge
        self.pieces.append(piece)
        self._current = piece

    def _add_heading(self, line: Line, entry: int, edge: float) -> None:
        if self._current is not None and self._current.entry == entry:
            self._current.add(line, kept=False, edge=edge)
        else:
            self._begin(Piece("heading", [line], entry=entry), edge)

    def _add_code(self, line: Line, edge: float) -> None:
        if self._current is not None and self._current.kind == "code":
            self._current.add(line, kept=True, edge=edge)
        else:
            self._begin(Piece("code", [line]), edge)

    def _add_item(self, line: Line, mark: Mark, edge: float, *, moved: bool) -> None:
        if moved and self._indents:  # another column: the list goes on at its level there
            shift = line.left - self._indents[-1]
            self._indents = [indent + shift for indent in self._indents]
        while self._indents and line.left < self._indents[-1] - _DEEPER:
            self._indents.pop()
        if not self._indents or (line.left > self._indents[-1] + _DEEPER and len(self._indents) < _DEEPEST):
            self._indents.append(line.left)
        self._begin(Piece("item", [line], level=len(self._indents) - 1, mark=mark), edge)

    def _add_line(self, line: Line, edge: float, step: float, *, moved: bool) -> None:
        current = self._current
        if moved:
            current = self._unfinished(line)
            if current is not None:
                current.add(line, kept=False, edge=edge)
                self._current = current
                return
        elif current is not None and current.kind in ("paragraph", "item"):
            how = self._joint(current, line, edge, step)
            if how != "apart":
                current.add(line, kept=how == "broken", edge=edge)
                return
        self._begin(Piece("paragraph", [line]), edge)

    def _joint(self, piece: Piece, line: Line, edge: float, step: float) -> Joint:
        before, body = piece.lines[-1], self._body
        if piece.kind != "item":
            return joint(before, line, edge=edge, usual=step, body=body, first=len(piece.lines) == 1)
        # An item's further lines hang, or else start under its mark.
        how = joint(before.moved_to(line.left), line, edge=edge, usual=step, body=body, first=False)
        hanging = line.left >= piece.lines[0].left + _HANGING
        return "broken" if how == "apart" and hanging and is_near(before, line, usual=step, body=body) else how

    def _unfinished(self, line: Line) -> Piece | None:
        """Return the piece before a column's or a page's end that a line goes on with.

        Figures, tables and footnotes between its halves are put before it, or after it if they are on the line's page.
        """
        if self._body.is_large(line):  # a title begins, whatever the page before ended with
            return None
        between: list[Piece] = []
        for index in range(len(self.pieces) - 1, max(-1, len(self.pieces) - _MOST_BETWEEN - 2), -1):
            piece = self.pieces[index]
            if piece.kind in ("paragraph", "item") and carries_on(piece.lines[-1], line, edge=piece.edge):
                break
            if piece.kind == "heading" or not self._interrupts(piece, line):
                return None
            between.insert(0, piece)
        else:
            return None
        above = [other for other in between if other.lines[0].page < line.page or line.page == piece.lines[0].page]
        if above and piece.lines[0].page != above[-1].lines[-1].page:
            return None
        self.pieces[index:] = [*above, piece, *between[len(above) :]]
        return piece

    def _interrupts(self, piece: Piece, line: Line) -> bool:
        """Tell whether a piece may stand in the middle of a sentence: a table, code, a caption, small print."""
        small = piece.lines[-1].size < line.size - _SMALLER
        return piece.table is not None or piece.kind == "code" or small or CAPTION.match(piece.text) is not None


def _code(lines: Sequence[Line]) -> set[int]:
    """Return the places of lines in a font of equally wide letters that another such line is next to."""
    monospaced = [line.monospaced for line in lines]
    return {
        index
        for index, one in enumerate(monospaced)
        if one and (any(monospaced[index + 1 : index + 2]) or (index > 0 and monospaced[index - 1]))
    }
