"""Read CSV and TSV: the text as it is, with one block for the table and one for its header."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice, pairwise

from chunkwise.core.origins import Origin
from chunkwise.core.types import Block, Document, Source, Span
from chunkwise.readers.decode import decode
from chunkwise.text.records import cells, record_starts

_DELIMITERS = ",;\t|"
# How much of a table is looked at to find its delimiter: characters, and records.
_SAMPLE, _RECORDS = 1 << 16, 100
# How many records may stand before the first that has as many cells as most: a title, a date, a note.
_PREAMBLE = 20
# What share of the records must have as many cells: else commas are in the words of a table of one column.
_SHARE = 0.5
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?\d[\d.,'\s]*(?:[eE][-+]?\d+)?\s?[%)]?")


def read_table(source: Source) -> Document:
    """Read CSV or TSV. The table's label is its delimiter; rows have no blocks, for there may be millions.

    The first record is a header where its cells are no numbers, not empty but for the first, and all different.
    """
    text, meta = decode(source)
    blocks = _blocks(text, "\t" if source.media_type == "text/tab-separated-values" else ",")
    return Document(source.id, text, blocks, source.media_type, source.location, meta, Origin())


def _blocks(text: str, usual: str) -> tuple[Block, ...]:
    if not text.strip():
        return ()
    sample = _whole_records(text)
    delimiter, width = _delimiter(sample, usual)
    records = _sampled(sample, delimiter)
    start = next((r.start for r in records[:_PREAMBLE] if len(cells(text, r, delimiter)) >= width), records[0].start)
    table = Block("table", Span(start, len(text)), label=delimiter)
    first = next(record for record in records if record.start == start)
    if len(records) > 1 and _is_header([cell.slice(text) for cell in cells(text, first, delimiter)]):
        return table, Block("header", first, level=1, parent=0)
    return (table,)


def _whole_records(text: str) -> str:
    """Return the beginning of a text, up to a line break where there is one."""
    if len(text) <= _SAMPLE:
        return text
    end = max(text.rfind("\n", 0, _SAMPLE), text.rfind("\r", 0, _SAMPLE)) + 1
    return text[: end or _SAMPLE]


def _delimiter(sample: str, usual: str) -> tuple[str, int]:
    """Return the delimiter that most records have equally often, and how many cells they have with it."""
    best = (_SHARE, 1, usual)
    for delimiter in sorted(_DELIMITERS, key=lambda one: one != usual):
        widths = Counter(len(cells(sample, record, delimiter)) for record in _sampled(sample, delimiter))
        width, n_records = max(widths.items(), key=lambda item: (item[0] > 1, item[1], item[0]))
        if width > 1 and (n_records / widths.total(), width) > best[:2]:
            best = (n_records / widths.total(), width, delimiter)
    return best[2], best[1]


def _sampled(sample: str, delimiter: str) -> list[Span]:
    """Return the first records that are not blank."""
    starts = record_starts(sample, 0, len(sample), delimiter)
    edges = [*islice(starts, 4 * _RECORDS), len(sample)]
    spans = (Span(start, end) for start, end in pairwise(edges))
    return [span for span in spans if span.slice(sample).strip()][:_RECORDS]


def _is_header(titles: list[str]) -> bool:
    bare = [title.strip('\ufeff \t\r\n"') for title in titles]
    named = bare[1:] if len(bare) > 2 and not bare[0] else bare  # a column of row numbers often has no title
    return all(named) and not any(map(_NUMBER.fullmatch, named)) and len(set(bare)) == len(bare)
