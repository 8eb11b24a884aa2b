"""Read CSV and TSV: the text as it is, with one block for the table and one for its header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise

from chunkwise.core.origins import Origin
from chunkwise.core.types import Block, Document, Source, Span
from chunkwise.readers.decode import decode
from chunkwise.text.records import cells, record_starts

_DELIMITERS = ",;\t|"
# How much of a table is looked at to find its delimiter: characters, and records.
SAMPLE, _RECORDS = 1 << 16, 100
# How many records may stand before the first that has as many cells as most: a title, a date, a note.
_PREAMBLE = 20
# What share of the records must have as many cells: else commas are in the words of a table of one column.
_SHARE = 0.5
# The first line that Excel takes the delimiter from.
_TOLD = re.compile(r"\ufeff?\"?sep=(?P<delimiter>[,;\t|])\"?[ \t]*(?:\r\n|\n|\r|\Z)", re.IGNORECASE)
_YEAR = re.compile(r"(?:18|19|20|21)\d\d")
NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?\d[\d.,'\s]*(?:[eE][-+]?\d+)?\s?[%)]?")


def read_table(source: Source) -> Document:
    """Read CSV or TSV. The table's label is its delimiter; rows have no blocks, for there may be millions.

    The first record is a header where its cells name the columns: see `names_columns`. The line `sep=;` that Excel
    writes is front matter.
    """
    text, meta = decode(source)
    blocks = table_blocks(text, source.media_type)
    return Document(source.id, text, blocks, source.media_type, source.location, meta, Origin())


def table_blocks(text: str, media_type: str) -> tuple[Block, ...]:
    """Return the blocks of delimited text: the table, and its header if it has one; none of a text that is blank.

    Only the first `SAMPLE` characters decide where they start, and whether there is more.
    """
    sample = _whole_records(text)
    told = _TOLD.match(sample)
    body = told.end() if told else 0
    if not sample[body:].strip():
        return ()
    usual = "\t" if media_type == "text/tab-separated-values" else ","
    delimiter, width = _delimiter(sample, body, told["delimiter"] if told else _DELIMITERS, usual)
    records = _sampled(sample, body, delimiter)
    start = _first(text, records[:_PREAMBLE], delimiter, width)
    first, *others = (record for record in records if record.start >= start)
    front = (Block("front_matter", Span(0, body)),) if told else ()
    table = Block("table", Span(start, len(text)), label=delimiter)
    if others and names_columns(_bare(text, first, delimiter), [_bare(text, other, delimiter) for other in others]):
        return *front, table, Block("header", first, level=1, parent=len(front))
    return *front, table


def _first(text: str, records: Sequence[Span], delimiter: str, width: int) -> int:
    """Return where the table starts, after a title or a date before it.

    Spreadsheets write those as wide as the table, with all but one cell empty.
    """
    wide = [record for record in records if len(cells(text, record, delimiter)) >= width]
    filled = (record for record in wide if sum(map(bool, _bare(text, record, delimiter))) > 1)
    first = next(filled, None) if width > 2 else None  # of two cells one may well be empty
    return (first or next(iter(wide), records[0])).start


def names_columns(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether titles name the columns of the rows under them.

    They do if they are no numbers, but for years that rise or fall, and all different, and only the first is empty.
    Where some are alike or empty, most must be there, and one of them stand above numbers, two at least, and no text.
    """
    named, later = [title for title in titles if title], [title for title in titles[1:] if title]
    texts = titles[:1] if len(later) > 1 and are_years(later) else named
    if not named or any(map(NUMBER.fullmatch, texts)):
        return False
    missing = titles[1:] if len(titles) > 2 else titles  # a column of row numbers often has no title
    if all(missing) and len(set(titles)) == len(titles):
        return True
    return 2 * len(named) > len(titles) and any(
        title and _are_numbers([row[column] for row in rows if column < len(row) and row[column]])
        for column, title in enumerate(titles)
    )


def are_years(titles: Sequence[str]) -> bool:
    """Tell whether titles are years that rise, or fall, from one to the next."""
    if not all(map(_YEAR.fullmatch, titles)):
        return False
    return all(a < b for a, b in pairwise(titles)) or all(a > b for a, b in pairwise(titles))


def _are_numbers(values: Sequence[str]) -> bool:
    return len(values) > 1 and all(map(NUMBER.fullmatch, values))


def _bare(text: str, record: Span, delimiter: str) -> list[str]:
    """Return the cells of a record without what stands around their text."""
    return [cell.slice(text).strip('\ufeff \t\r\n"') for cell in cells(text, record, delimiter)]


def _whole_records(text: str) -> str:
    """Return the beginning of a text, up to a line break where there is one."""
    if len(text) <= SAMPLE:
        return text
    end = max(text.rfind("\n", 0, SAMPLE), text.rfind("\r", 0, SAMPLE)) + 1
    return text[: end or SAMPLE]


def _delimiter(sample: str, start: int, delimiters: str, usual: str) -> tuple[str, int]:
    """Return the delimiter that most records have equally often, and how many cells they have with it."""
    best = (_SHARE, 1, usual if usual in delimiters else delimiters)
    for delimiter in sorted(delimiters, key=lambda one: one != usual):
        records = _sampled(sample, start, delimiter)
        widths = Counter(len(cells(sample, record, delimiter)) for record in records)
        width, n_records = max(widths.items(), key=lambda item: (item[0] > 1, item[1], item[0]))
        if width > 1 and (n_records / widths.total(), width) > best[:2]:
            best = (n_records / widths.total(), width, delimiter)
    return best[2], best[1]


def _sampled(sample: str, start: int, delimiter: str) -> list[Span]:
    """Return the first records that are not blank."""
    starts = record_starts(sample, start, len(sample), delimiter)
    edges = [*islice(starts, 4 * _RECORDS), len(sample)]
    spans = (Span(start, end) for start, end in pairwise(edges))
    return [span for span in spans if span.slice(sample).strip()][:_RECORDS]
