"""Tables of pipes in a text that no parser of Markdown takes for one, as where the header has two rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chunkwise.core.types import Span

# |---|:---:| : at least one cell, and nothing else in the line.
_DELIMITER = re.compile(r"(?:(?<=[\r\n])|\A)[ \t]{0,8}+(?:\|[ \t]*+:?+-++:?+[ \t]*+)++\|?+[ \t]*+(?=[\r\n]|\Z)")
_ROW = re.compile(r"[ \t]{0,8}+\|[^\r\n]*+(?:\r\n|\n|\r|\Z)")
_ABOVE = re.compile(r"(?:(?<=[\r\n])|\A)[ \t]{0,8}+\|[^\r\n]*+(?:\r\n|\n|\r)\Z")

# How many rows a header may have, the |---| not counted.
_MOST = 4
# In characters: a line above the |---| that is longer is no row of a header.
_LONGEST = 2000


class PipeTable(NamedTuple):
    """A table; its header ends with the |---| row."""

    span: Span
    header: Span
    rows: tuple[Span, ...]


def pipe_tables(text: str, start: int, end: int) -> Iterator[PipeTable]:
    """Yield the tables of `text[start:end]`: rows under a |---| row that has one to four rows above it."""
    floor = start
    for match in _DELIMITER.finditer(text, start, end):
        if match.start() < floor:
            continue
        first = header_start(text, floor, match.start())
        if first == match.start():
            continue
        place = _after_break(text, match.end(), end)
        header, rows = Span(first, place), []
        while row := _ROW.match(text, place, end):
            rows.append(Span(*row.span()))
            place = row.end()
        floor = place
        yield PipeTable(Span(first, place), header, tuple(rows))


def header_start(text: str, floor: int, below: int) -> int:
    """Return where the rows of pipes right above the line `below` start; `below` where there are none, or too many."""
    first = below
    for _ in range(_MOST + 1):
        bottom = max(floor, first - _LONGEST)
        line = _line_before(text, bottom, first)
        if text[line:first] == "\n" and line > bottom:  # the second half of a CRLF
            line = _line_before(text, bottom, line)
        if not _ABOVE.match(text, line, first):
            return first
        first = line
    return below


def _line_before(text: str, bottom: int, start: int) -> int:
    """Return where the line before the one at `start` begins, or `bottom`."""
    last = max(text.rfind("\n", bottom, start - 1), text.rfind("\r", bottom, start - 1))
    return max(last + 1, bottom)


def _after_break(text: str, place: int, end: int) -> int:
    if text.startswith("\r\n", place) and place + 1 < end:
        return place + 2
    return min(place + 1, end)
