"""How lines follow each other: in one paragraph, over the end of a column or a page, or apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from chunkwise.readers.pdf.lines import Line

# How a line follows another: in another block, in the same line of text, or after a line break that is kept.
Joint = Literal["apart", "flowing", "broken"]

# Sizes that differ by a smaller share are one size.
_SAME_SIZE = 0.08
# In sizes of most letters: those of headings are larger. LaTeX's smallest larger heading is 1.2 times as large.
_LARGE = 1.15
# A line that is so many times as far below the one before as lines of a paragraph are begins another one.
_APART = 1.25
# In points: how much the distance of lines varies.
_LEEWAY = 0.5
# In sizes of the font: how far the lines of one title are apart at most.
_LOOSE = 1.6
# In sizes of the font: an indent is larger; lines of a column start within the second from each other.
_INDENT, _COLUMN = 0.7, 3.0
# In points: centres of lines that are that near lie over each other.
_LEVEL = 3.0
# In sizes of the font: how wide a blank is, and how much lines differ that are as long as their column is wide.
_BLANK, _SLACK = 0.25, 0.3
# How many lines above and below show how far apart lines are.
_NEAR = 4
# In points: left edges are told apart by that; and how many such steps are one column's at most.
_GRAIN, _FARTHEST = 2.0, 50
# So many lines show where a column ends even if one of them runs over it.
_ENOUGH = 5
# In sizes of the font: lines of one paragraph are not farther apart.
_WIDEST = 2.2
# In characters: how much of a line tells what it ends with.
_TAIL = 24
_CLOSING = r"[)\]\"'\u201d\u2019\u00bb]*"
# A sentence may end in the number of a footnote: "as shown.12", but not "as in 2.1".
_END = re.compile(
    rf"(?:[.!?:;\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964]{_CLOSING}|(?<=[^\W\d_])[.!?]{_CLOSING}\s?\d{{1,3}})\Z"
)
_HYPHENATED = re.compile(r"[^\W\d_][-\u2010]\Z")
_LOWER = re.compile(r"[\"'(\[\u201c\u2018\u00ab]*[^\W\d_]")
CAPTION = re.compile(r"(?:figure|fig\.|table|tab\.|listing|abbildung|tabelle)\s*\d", re.IGNORECASE)
# Dots that lead from a title to the number of its page.
LEADERS = re.compile(r"[.\u00b7\u2026](?:\s?[.\u00b7\u2026]){4,}")
_ENTRY = re.compile(LEADERS.pattern + r"\s*\w{1,6}\Z")
_SECTION = re.compile(r"\d{1,3}(?:\.\d{1,3})*\.?\s")
_REFERENCE = re.compile(r"\[[\w+-]{1,12}\]\s")


class Body(NamedTuple):
    """What most of a document looks like: the size of its letters, and how far its lines are apart, by their size."""

    size: float
    leading: dict[float, float]
    bold: bool
    monospaced: bool

    def is_large(self, line: Line) -> bool:
        """Tell whether a line's letters are larger than the text's, as those of headings are."""
        return line.size >= _LARGE * self.size

    def is_bold(self, line: Line) -> bool:
        """Tell whether a line is bold, unlike the text."""
        return line.bold and not self.bold


def body_of(pages: Iterable[Sequence[Line]]) -> Body:
    """Return what most letters of a document look like."""
    sizes: Counter[float] = Counter()
    bold: Counter[bool] = Counter()
    monospaced: Counter[bool] = Counter()
    steps: dict[float, Counter[float]] = {}
    for lines in pages:
        for line in lines:
            n_chars = len(line.text)
            sizes[line.size] += n_chars
            bold[line.bold] += n_chars
            monospaced[line.monospaced] += n_chars
        for one, other in pairwise(lines):
            step = one.bottom - other.bottom
            if one.size == other.size and 0 < step < 3 * one.size:
                steps.setdefault(one.size, Counter())[round(step * 2) / 2] += 1
    size = max(sizes, key=lambda size: (sizes[size], -size), default=0.0)
    leading = {size: min(counts, key=lambda step: (-counts[step], step)) for size, counts in steps.items()}
    return Body(size, leading, bold[True] > bold[False], monospaced[True] > monospaced[False])


def right_edges(lines: Sequence[Line]) -> list[float]:
    """Return for each line of a page where its column ends, as the lines around it show."""
    places = [(column, round(line.left / _GRAIN)) for column, line in zip(column_numbers(lines), lines, strict=True)]
    ends: dict[tuple[int, int], list[float]] = {}  # by column and left edge, those of the longest lines first
    for place, line in sorted(zip(places, lines, strict=True), key=lambda pair: -pair[1].right):
        ends.setdefault(place, []).append(line.right)
    found: dict[tuple[int, int, int], float] = {}
    edges: list[float] = []
    for (column, left), line in zip(places, lines, strict=True):
        reach = min(round(_COLUMN * line.size / _GRAIN), _FARTHEST)
        key = (column, left, reach)
        if key not in found:
            near = [
                ends[column, edge][:_ENOUGH] for edge in range(left - reach, left + reach + 1) if (column, edge) in ends
            ]
            rights = sorted((right for some in near for right in some), reverse=True)
            found[key] = rights[1] if len(rights) >= _ENOUGH else rights[0]  # one may run over the edge
        edges.append(found[key])
    return edges


def column_numbers(lines: Sequence[Line]) -> list[int]:
    """Number the columns of a page: a line that is not below the one before begins one."""
    numbers = [0] * len(lines)
    for index in range(1, len(lines)):
        numbers[index] = numbers[index - 1] + (lines[index].bottom > lines[index - 1].top)
    return numbers


def usual_steps(lines: Sequence[Line], body: Body) -> list[float]:
    """Return for each line of a page how far lines of its size are apart: as usual, or as around it if that is more."""
    steps = [_step(one, other) for one, other in pairwise(lines)]
    sizes = [line.size for line in lines]
    found: list[float] = []
    for index, line in enumerate(lines):
        usual = body.leading.get(line.size, _APART * line.size)
        first = max(0, index - _NEAR)
        near = slice(first, index + _NEAR)
        here = [step for step, size in zip(steps[near], sizes[near], strict=False) if step and size == line.size]
        found.append(max(usual, min(here)) if len(here) > 1 else usual)
    return found


def _step(one: Line, other: Line) -> float:
    """Return how far a line of the same size is below another, if it may be the next one of a paragraph, else 0."""
    step = one.bottom - other.bottom
    return step if one.size == other.size and 0 < step < _WIDEST * one.size else 0.0


def joint(before: Line, line: Line, *, edge: float, usual: float, body: Body, first: bool) -> Joint:
    """Tell how a line follows the one above it in its column.

    `edge` is where the column ends on the right, `usual` how far lines are apart there; `first` tells whether the line
    above begins its paragraph.
    """
    if not is_near(before, line, usual=usual, body=body):
        return "apart"
    if before.bold != line.bold:  # a sentence that begins or ends in bold
        return "flowing" if _starts_lower(line) and not _END.search(before.text[-_TAIL:]) else "apart"
    if body.is_large(line):
        return "apart" if _SECTION.match(line.text) else "flowing"
    if _HYPHENATED.search(before.text[-2:]):
        return "flowing"
    if _ENTRY.search(before.text[-_TAIL:]):  # of a table of contents
        return "broken"
    full = is_full(before, line, edge)
    if before.monospaced != line.monospaced and not full:
        return "apart"
    ended = _END.search(before.text[-_TAIL:]) is not None
    if _REFERENCE.match(line.text):
        return "apart"
    shift = line.left - before.left
    if abs(shift) > _INDENT * line.size and abs(shift + line.right - before.right) > 2 * _LEVEL:  # and not centred
        continued = (full and not ended) if shift > 0 else first
        return "flowing" if continued and full else "broken" if continued else "apart"
    if full or (not ended and _starts_lower(line)):
        return "flowing"
    return "apart" if ended else "broken"


def is_near(before: Line, line: Line, *, usual: float, body: Body) -> bool:
    """Tell whether a line is as large as the one above it, and as far below it as those of one block are."""
    most = _LOOSE * line.size if body.is_large(line) else _APART * usual + _LEEWAY
    return _is_one_size(before, line) and before.bottom - line.bottom <= most


def carries_on(before: Line, line: Line, *, edge: float) -> bool:
    """Tell whether a line at the top of a column or page goes on with the sentence at the end of the one before."""
    if not _is_one_size(before, line) or before.bold != line.bold:
        return False
    if _END.search(before.text[-_TAIL:]) or CAPTION.match(line.text):
        return False
    if _HYPHENATED.search(before.text[-2:]):
        return True
    return _starts_lower(line) or (is_full(before, line, edge) and before.text[-1].islower())


def is_full(line: Line, following: Line, edge: float) -> bool:
    """Tell whether the first word of the following line would not have fitted on a line."""
    return line.right + _BLANK * line.size + following.lead > edge - _SLACK * line.size


def _starts_lower(line: Line) -> bool:
    start = _LOWER.match(line.text)
    return start is not None and start[0][-1].islower()


def _is_one_size(before: Line, line: Line) -> bool:
    return abs(before.size - line.size) <= _SAME_SIZE * line.size
