"""Blanks that say nothing: runs inside a line, blanks at its end, and many line breaks in a row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from chunkwise.core.types import Span

Place = Literal["indent", "inner", "end"]

_BLANK = " \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"  # the space separators of Unicode; a tab means more
_BREAK = r"(?>\r\n|\n|\r)"
_ANY = rf"[{_BLANK}\t]"
# Blanks before a break or the end, a break before a line of blanks, or three breaks; with all such lines that follow.
_BLANKS = re.compile(
    rf"(?P<end>(?:(?<!{_ANY}){_ANY}++{_BREAK}|{_BREAK}(?:{_ANY}++{_BREAK}|{_BREAK}{_ANY}*+{_BREAK}))(?:{_ANY}*+{_BREAK})*+"
    rf"|(?<!{_ANY}){_ANY}++\Z)|[{_BLANK}]{{2,}}+"
)
_LINE = re.compile(rf"(?P<blanks>{_ANY}*+)(?P<ended>{_BREAK}|\Z)")
# A paragraph ends with one blank line.
_MOST_BREAKS = 2


def blanks(text: str) -> Iterator[tuple[Span, Place]]:
    r"""Yield the blanks and line breaks that can go, and where in a line they are: at its start, inside, at its end.

    What remains of a run is its last blank, for a mark may stand on it. Tabs go only at the end of a line.

    >>> list(blanks("a   b \n\n\n\nc"))
    [(Span(start=1, end=3), 'inner'), (Span(start=5, end=6), 'end'), (Span(start=8, end=10), 'end')]
    """
    for match in _BLANKS.finditer(text):
        if match["end"] is None:
            starts_line = match.start() == 0 or text[match.start() - 1] in "\r\n\t"
            yield Span(match.start(), match.end() - 1), "indent" if starts_line else "inner"
        else:
            yield from ((span, "end") for span in _at_end(text, *match.span()))


def _at_end(text: str, start: int, stop: int) -> Iterator[Span]:
    position, n_breaks = start, 0
    while position < stop and n_breaks < _MOST_BREAKS:
        line = _LINE.match(text, position, stop)
        if line is None:
            return
        # Between a return and a line feed blanks part two breaks, which would be one without them.
        one_break = position > 0 and text[position - 1] == "\r" and line["ended"] == "\n"
        if line["blanks"] and not one_break:
            yield Span(*line.span("blanks"))
        position, n_breaks = line.end(), n_breaks + 1
    if position < stop:
        yield Span(position, stop)
