"""Tables with ruled lines: the words of a page in the cells of its grids."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from chunkwise.readers.pdf.aligned import Table, n_header
from chunkwise.readers.pdf.grids import Grid, grids
from chunkwise.readers.pdf.rules import page_rules
from chunkwise.readers.pdf.words import TABLE, Box, Word

# So many rows of a table have text in two columns or more.
_FEWEST_ROWS = 2
# The share of its cells that holds text in a table that is one, and not a drawing or a form.
_FILLED = 0.4
# A larger share of words that run over lines is a drawing's; so far, in points, a word reaches over one by chance.
_RUNNING, _REACH = 0.1, 2.0
# A larger share of words in what is no rectangle is a drawing's, or a form's.
_ODD = 0.1
# In words: where the cells hold more, on average, the lines are frames around columns of prose.
_LONGEST_CELL = 80
# In characters: what is longer is not said again in each row that its cell spans.
_LONGEST_REPEATED = 80
# In heights of a word: how much words on one line of text differ in height.
_LEVEL = 0.3
# In heights of a word: how wide a blank and the space between a cell's text and its edge are.
_BLANK, _PADDING = 0.25, 0.7
# So many lines at one height in all cells of a row are rows without a line between them, however full they are.
_MANY_LINES = 4

Texts = list[str]


class Ruled(NamedTuple):
    """A table, and the box that it fills on the page, in points."""

    box: Box
    table: Table


class _Placed(NamedTuple):
    """A word, the row and the column of its middle, and whether it runs over a line."""

    word: Word
    row: int
    column: int
    runs_over: bool


class _Cell(NamedTuple):
    """The rows, the columns and the words of a cell; `whole` tells whether it is a rectangle."""

    rows: range
    columns: range
    words: list[Word]
    whole: bool


def ruled_tables(page: Any, words: Sequence[Word]) -> list[Ruled]:
    """Return the tables of a page that lines across and down make, with the words inside them.

    Page frames, boxes around paragraphs and drawings are none. The words of a table inside a cell are that cell's.
    """
    across, down = page_rules(page)
    tables = [table for grid in grids(across, down) if (table := _ruled(grid, words)) is not None]
    kept: list[Ruled] = []
    for table in sorted(tables, key=lambda table: _area(table.box), reverse=True):
        if not any(_overlap(table.box, other.box) for other in kept):
            kept.append(table)
    return kept


def replaced(words: Sequence[Word], tables: Sequence[Ruled]) -> list[Word]:
    """Return the words with one word of its size for each table, where its first one was drawn."""
    kept: list[Word] = []
    placed: set[int] = set()
    for word in words:
        place = next((index for index, table in enumerate(tables) if _holds(table.box, word)), None)
        if place is None:
            kept.append(word)
        elif place not in placed:
            placed.add(place)
            kept.append(Word(TABLE, *tables[place].box, True, True, False, word.char))
    return kept


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _holds(box: Box, word: Word) -> bool:
    """Tell whether the middle of a word lies in a box."""
    return box[0] <= (word.left + word.right) / 2 <= box[2] and box[1] <= (word.bottom + word.top) / 2 <= box[3]


def _ruled(grid: Grid, words: Sequence[Word]) -> Ruled | None:
    """Return the table that a grid and the words in it are, if they are one."""
    box = (grid.lefts[0], grid.tops[-1], grid.lefts[-1], grid.tops[0])
    placed = _placed(grid, [word for word in words if _holds(box, word)])
    n_running = sum(one.runs_over for one in placed)
    if not placed or n_running > _RUNNING * len(placed):
        return None
    cells = _filled_cells(grid, placed)
    n_odd = sum(len(cell.words) for cell in cells if not cell.whole)
    if n_odd > _ODD * len(placed) or len(placed) > _LONGEST_CELL * len(cells):
        return None
    rows = _rows(grid, cells)
    n_full = sum(sum(map(bool, row)) > 1 for row in rows)
    n_filled = sum(len(cell.rows) * len(cell.columns) for cell in cells)
    n_rows = len({row for cell in cells for row in cell.rows})
    n_columns = len({column for cell in cells for column in cell.columns})
    if n_full < _FEWEST_ROWS or n_filled < _FILLED * n_rows * n_columns:
        return None
    used = [column for column in range(len(grid.lefts) - 1) if any(row[column] for row in rows)]
    kept = tuple(tuple(row[column] for column in used) for row in rows)
    return Ruled(box, Table(kept, _n_header(kept)))


def _placed(grid: Grid, words: Iterable[Word]) -> list[_Placed]:
    """Return the words of a grid with the row and the column of their middles."""
    lefts, depths = grid.lefts, [-top for top in grid.tops]
    last_row, last_column = len(depths) - 2, len(lefts) - 2
    placed: list[_Placed] = []
    for word in words:
        row = min(max(bisect_left(depths, -(word.bottom + word.top) / 2) - 1, 0), last_row)
        column = min(max(bisect_right(lefts, (word.left + word.right) / 2) - 1, 0), last_column)
        inner = word.left + _REACH >= lefts[column] and word.right - _REACH <= lefts[column + 1]
        if inner:  # most words
            placed.append(_Placed(word, row, column, False))
            continue
        first = max(bisect_right(lefts, word.left + _REACH) - 1, 0)
        last = bisect_right(lefts, word.right - _REACH)
        placed.append(_Placed(word, row, column, len(set(grid.cells[row][first:last])) > 1))
    return placed


def _filled_cells(grid: Grid, words: Iterable[_Placed]) -> list[_Cell]:
    """Return the cells that hold words; one that is no rectangle is cut into its rows."""
    slots: dict[int, list[tuple[int, int]]] = {}
    for row, line in enumerate(grid.cells):
        for column, number in enumerate(line):
            slots.setdefault(number, []).append((row, column))
    filled: dict[int, list[_Placed]] = {}
    for word in words:
        filled.setdefault(grid.cells[word.row][word.column], []).append(word)
    cells: list[_Cell] = []
    for number, placed in filled.items():
        rows, columns = zip(*slots[number], strict=True)
        span, across = range(min(rows), max(rows) + 1), range(min(columns), max(columns) + 1)
        if len(rows) == len(span) * len(across):
            cells.append(_Cell(span, across, [one.word for one in placed], True))
            continue
        for row in sorted({one.row for one in placed}):
            here = [column for other, column in slots[number] if other == row]
            words_here = [one.word for one in placed if one.row == row]
            cells.append(_Cell(range(row, row + 1), range(min(here), max(here) + 1), words_here, False))
    return cells


def _rows(grid: Grid, cells: Iterable[_Cell]) -> list[Texts]:
    """Return the texts of rows that have some; what spans rows stands in each of them, but once across columns."""
    width = len(grid.lefts) - 1
    single: dict[int, dict[int, list[Word]]] = {}
    spanning: dict[int, Texts] = {}
    for cell in cells:
        column = cell.columns[0]
        if len(cell.rows) == 1:
            single.setdefault(cell.rows[0], {}).setdefault(column, []).extend(cell.words)
            continue
        text = _text(cell.words)
        for row in cell.rows if len(text) <= _LONGEST_REPEATED else cell.rows[:1]:
            spanning.setdefault(row, [""] * width)[column] = text
    rows: list[Texts] = []
    for row in range(len(grid.tops) - 1):
        spanned = spanning.get(row, [""] * width)
        for line in _lines(single.get(row, {}), grid.lefts):
            texts = [line.get(column) or spanned[column] for column in range(width)]
            if any(texts):
                rows.append(texts)
    return rows


def _lines(cells: dict[int, list[Word]], lefts: Sequence[float]) -> list[dict[int, str]]:
    """Return the texts of a row by column; of one that holds rows without a line between them, those of each."""
    split = {column: _split(words) for column, words in cells.items()}
    whole = {column: _text(words) for column, words in cells.items()}
    if len(cells) < 2 or len({len(lines) for lines in split.values()}) > 1:
        return [whole]
    by_row = list(zip(*split.values(), strict=True))
    if not all(_is_level(line[0], other) for line in by_row for other in line):
        return [whole]
    wrapped = all(_is_wrapped(lines, lefts[column + 1]) for column, lines in split.items())
    if wrapped and len(by_row) < _MANY_LINES and any(map(_goes_on, split.values())):
        return [whole]
    return [{column: _text(line) for column, line in zip(split, row, strict=True)} for row in by_row]


def _split(words: Iterable[Word]) -> list[list[Word]]:
    """Return the lines of text of a cell."""
    lines: list[list[Word]] = []
    for word in words:
        if lines and _overlaps(lines[-1], [word]):
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _overlaps(line: Sequence[Word], other: Sequence[Word]) -> bool:
    """Tell whether words stand on one line: a superscript overlaps with what it stands beside."""
    height = min(line[0].height, other[0].height)
    return min(line[0].top, other[0].top) - max(line[0].bottom, other[0].bottom) > height / 2


def _is_level(line: Sequence[Word], other: Sequence[Word]) -> bool:
    return abs(line[0].bottom - other[0].bottom) <= _LEVEL * line[0].height


def _is_wrapped(lines: Sequence[Sequence[Word]], edge: float) -> bool:
    """Tell whether no line of a cell has space left for the first word of the next."""
    return all(
        line[-1].right + following[0].right - following[0].left > edge - (_PADDING - _BLANK) * following[0].height
        for line, following in pairwise(lines)
    )


def _goes_on(lines: Sequence[Sequence[Word]]) -> bool:
    """Tell whether a cell that does not begin so has a line that begins in lower case, as half a sentence does."""
    starts = [line[0].text[0].islower() for line in lines]
    return not starts[0] and any(starts)


def _n_header(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows are the header: one of words, or a title or groups of columns and one of words."""
    first = Counter(map(bool, rows[0]))
    groups = len(rows) > 2 and first[True] >= 1 and first[False] >= 1 and n_header(rows[1:]) == 1
    return n_header(rows) or 2 * int(groups)


def _text(words: Iterable[Word]) -> str:
    return " ".join(word.text for word in words)
