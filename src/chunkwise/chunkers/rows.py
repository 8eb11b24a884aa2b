"""Group whole rows of tables, records of logs or lines up to `size` tokens, under their header.

A table is CSV, TSV, or one of pipes; prose around it is cut at sentences. In a text without markup every line is a row,
in a log every line that begins with a time or a level, with the lines after it that do not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Annotated, NamedTuple

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import Level, among, heading_ends, not_inside, parts, units, where
from chunkwise.chunkers.pack import packer
from chunkwise.chunkers.riding import Riders, header_riders, row_at
from chunkwise.chunkers.tables import Table, is_plain, tables, with_tables
from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.spans import pieces
from chunkwise.core.types import Block, Chunk, Document, Span
from chunkwise.text.logs import is_log, last_log_record
from chunkwise.text.records import Records, cells
from chunkwise.text.tokens import DEFAULT_TOKENIZER
from chunkwise.text.words import last_line


@strategy
@dataclass(frozen=True, slots=True)
class Rows:
    """Group whole rows. Only one that alone is over `size` is cut: between cells, else at clauses and words.

    `max_rows` bounds the rows of a chunk, headers not counted; None sets no bound.
    A table's header rows ride along with every later chunk of it; what is before and after a table is in other chunks,
    except a heading or a caption right before it.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    max_rows: Annotated[int | None, Range(1, 50, log=True, least=1)] = None
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    @property
    def streams_tables(self) -> bool:
        """Whether no rows are counted from the table's start."""
        return self.max_rows is None

    def outlined(self, document: Document) -> Document:
        """Return the document with the tables of pipes that its reader did not find."""
        return with_tables(document)

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(document.text)
        rows, found = _rows(document), tables(document)
        single = rows.last or units(document, self.language)
        riders = Riders(header_riders(document), ruler, budget, reserve, rows.at)
        openings = [Span(table.lead, table.first + 1) for table in found]
        engine = packer(
            document,
            budget,
            ruler=ruler,
            whole=[where(single, not_inside(openings)) if openings else single],
            reluctant=_parting(document, found),
            reserve=riders.reserve,
        )
        finer = [_cell_level(document.text, rows), *engine.last_resorts]
        engine = replace(engine, last_resorts=finer)
        cut = cutter(document, budget)
        for part in within:
            for piece, counted in _regions(part, found, all_rows=rows.last is not None):
                ends = partial(_ends, engine.whole[0], piece)
                for span in engine.each(parts(document, [piece], ends, self.max_rows if counted else None)):
                    yield riders.chunk(cut, span)


class _Rows(NamedTuple):
    """`last` is the level of the rows where they are all there is, `at` the row that holds an offset."""

    last: Level | None
    at: Callable[[int], Span | None]
    delimiter: str


def _rows(document: Document) -> _Rows:
    text = document.text
    delimited = next((table for table in outline(document).blocks("table") if len(table.label) == 1), None)
    if delimited is not None:  # its label is the delimiter, and its rows have no blocks
        return _delimited(text, delimited)
    at = row_at(document)
    if not is_plain(document):
        return _Rows(None, at, "|")
    return _Rows(partial(last_log_record if is_log(text) else last_line, text), at, "|")


def _delimited(text: str, table: Block) -> _Rows:
    start, records = table.span.start, Records(text, *table.span, table.label)

    def last(lo: int, hi: int) -> int | None:
        return records.last(lo, hi) or last_line(text, lo, min(hi, start))

    return _Rows(last, lambda offset: records.at(offset) if offset >= start else None, table.label)


def _parting(document: Document, tables: Sequence[Table]) -> list[Level]:
    """Return the levels that part a caption from its table, and headings and headers from what is under them."""
    captions = [table.start for table in tables if table.lead < table.start]
    return [level for places in (captions, *heading_ends(document)) for level in among(places)]


def _regions(within: Span, tables: Sequence[Table], *, all_rows: bool) -> Iterator[tuple[Span, bool]]:
    """Yield each table, with what leads it, and what is between them; with each whether its rows are counted."""
    found = pieces([Span(table.lead, table.end) for table in tables], within)
    edges = sorted({*within, *(place for piece in found for place in piece)})
    starts = {piece.start for piece in found}
    for start, end in pairwise(edges):
        yield Span(start, end), all_rows or start in starts


def _ends(level: Level, region: Span) -> list[int]:
    """Return all the places of a level inside a region, in order."""
    places, hi = list[int](), region.end - 1
    while (place := level(region.start, hi)) is not None:
        places.append(place)
        hi = place - 1
    return places[::-1]


def _cell_level(text: str, rows: _Rows) -> Level:
    """Allow a cut after the delimiter of a cell, in the row that the range starts in."""

    @lru_cache(maxsize=2)
    def starts(row: Span) -> list[int]:
        return [cell.start for cell in cells(text, row, rows.delimiter)][1:]

    def last(lo: int, hi: int) -> int | None:
        row = rows.at(lo)
        if row is None:
            return None
        places = starts(row)
        index = bisect_right(places, hi) - 1
        return places[index] if index >= 0 and places[index] > lo else None

    return last
