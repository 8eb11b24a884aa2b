"""Where code may be cut: between the parts of its syntax tree that fit, the outer ones first.

A part that fits is left whole; one that does not is opened, and its own parts are looked at. So the
tree is walked only as deep as the budget asks.
Source: Zhang et al. 2025, cAST (arXiv:2506.15655): split what is over the limit, merge what is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from chunkwise.chunkers.fences import fence_of
from chunkwise.chunkers.levels import Level, among, in_code, inside, not_inside, where
from chunkwise.chunkers.riding import Rider
from chunkwise.core.spans import Nested
from chunkwise.core.types import Block, Document, Span
from chunkwise.text.graphemes import first_ink, last_ink
from chunkwise.text.syntax import Part, syntax
from chunkwise.text.words import LINE_BREAK, last_line, line_spans, line_start

# Deeper nesting is cut as this deep.
_DEEPEST = 12

_OPENERS = ("{", "(", "[")
# Lines that go on with what is before them.
_GOES_ON = re.compile(
    r"[\t ]*(?:[)\]}>]|(?:end|else|elif|elsif|except|finally|catch|rescue|ensure|then|done|fi|esac)\b)"
)


class Label(NamedTuple):
    """The names of the definitions around the start of a chunk, outermost first, and of the one that starts there.

    `by_indents` tells that no grammar made sense of the code.
    """

    names: tuple[str, ...]
    by_indents: bool


@dataclass(slots=True)
class CodeLevels:
    """The places in a document's code, by depth; what rides along; the names of what is defined where."""

    document: Document
    fits: Callable[[Span], bool]
    places: dict[int, list[int]] = field(default_factory=dict)
    partings: list[int] = field(default_factory=list)
    """Places that part what belongs together, such as a signature and what is under it."""
    kept: list[Span] = field(default_factory=list)
    """Parts that fit and are left whole."""
    riders: list[Rider] = field(default_factory=list)
    fallen_back: list[Span] = field(default_factory=list)
    """Code that no grammar made sense of: it is cut by its indents and blank lines."""
    scopes: list[tuple[Span, str]] = field(default_factory=list)
    """Definitions that were opened, with their names."""
    defined: dict[int, Part] = field(default_factory=dict)
    """Definitions, by the start of their first line."""

    def add(self, block: Block, language: str) -> None:
        """Find the places in a block of code.

        Raises: MissingExtraError.
        """
        fence = fence_of(self.document.text, block)
        if fence and self.fits(block.span):
            self.kept.append(block.span)
            return
        inside = fence.code if fence else block.span
        tree = syntax(self.document.text, inside, language) if inside.length else None
        if tree is None:
            self.add_indented(inside, 0)
        else:
            _Walk(self).through(tree)

    def levels(self) -> list[Level]:
        """Return the levels, coarse to fine; the finest are the lines that no part which fits is made of."""
        depths = [level for depth in sorted(self.places) for level in among(self.places[depth])]
        opened, partings = not_inside(sorted(self.kept)), set(self.partings)
        is_code = in_code(self.document)

        def allowed(place: int) -> bool:
            return opened(place) and is_code(place) and (place not in partings or not self._fit_together(place))

        return [*depths, where(partial(last_line, self.document.text), allowed)]

    def _fit_together(self, place: int) -> bool:
        """Tell whether the lines before and after a place fit a chunk; those that do not can't but be parted."""
        text = self.document.text
        found = LINE_BREAK.search(text, first_ink(text, place, len(text)))
        return self.fits(Span(line_start(text, max(0, place - 1)), found.end() if found else len(text)))

    def labels(self) -> Callable[[Span], Label]:
        """Return a function to what is told of a chunk."""
        text = self.document.text
        scopes = sorted(self.scopes, key=lambda scope: (scope[0].start, -scope[0].end))
        nested, fallen_back = Nested([span for span, _ in scopes]), inside(sorted(self.fallen_back))

        def label(span: Span) -> Label:
            position, line = first_ink(text, *span), line_start(text, span.start)
            around = [scopes[i] for i in nested.at(position)][::-1]
            there = self.defined.get(line) if first_ink(text, line, position) == position else None
            if there is None or (around and around[-1][0].start == position):  # it was opened, and is one of those
                names = [name for _, name in around]
            else:
                names = [*(name for _, name in around), there.name]
            return Label(tuple(filter(None, names)), fallen_back(span.start))

        return label

    def add_indented(self, span: Span, depth: int) -> None:
        """Cut by indents and blank lines: at the outermost lines, after blank ones, where no line goes deeper."""
        self.fallen_back.append(span)
        text = self.document.text
        lines = [line for line in line_spans(text, *span) if first_ink(text, *line) < line.end]
        indents = [first_ink(text, *line) - line.start for line in lines]
        outermost = min(indents, default=0)
        for i in range(1, len(lines)):
            start, blank, outer = lines[i].start, lines[i].start > lines[i - 1].end, indents[i] == outermost
            if not _GOES_ON.match(text, start) and (blank or indents[i] <= indents[i - 1]):
                level = (0 if blank else 1) if outer else (2 if blank else 3)
                self.add_place(start, depth + level)

    def add_place(self, place: int, depth: int) -> None:
        """Allow a cut."""
        self.places.setdefault(min(depth, _DEEPEST), []).append(place)


class _Walk:
    """One walk through a syntax tree, top down, without recursion: code may nest without end."""

    def __init__(self, levels: CodeLevels) -> None:
        self._levels, self._last_line = levels, Span(0, 0)
        self._text = levels.document.text

    def through(self, root: Part) -> None:
        """Walk from the root; whatever does not fit is opened."""
        waiting = [(root, 0)]
        while waiting:
            part, depth = waiting.pop()
            if part.is_broken:
                self._levels.add_indented(part.span, depth)
            else:
                waiting += self._open(part, depth, is_root=part is root)

    def _open(self, part: Part, depth: int, *, is_root: bool) -> list[tuple[Part, int]]:
        """Add the places between a part's own parts, and return those that do not fit."""
        levels, outer = self._levels, part.span
        opened: list[tuple[Part, int]] = []
        first, inner = not is_root, part.body
        body = None if inner is None else inner.span  # is opened even if it fits: it goes with the head
        if part.is_definition:
            self._add_scope(part, body)
        for group in self._groups(part.parts):
            place = self._place(group[0], outer)
            if place is not None:
                self._note(group[-1], self._line(place).start)
                if not first:
                    levels.add_place(place, depth)
                elif place > outer.start:  # it parts the head from what is under it
                    levels.partings.append(place)
                first = False
            span = Span(self._begin(group[0]), group[-1].span.end)
            if not levels.fits(span) or any(part.span == body for part in group):
                opened += self._ungroup(group, outer, depth + 1, body)
            else:
                self._keep(span)
        return opened

    def _groups(self, parts: Iterator[Part]) -> Iterator[list[Part]]:
        """Yield the parts that belong together: comments with what follows or is beside them, imports with imports."""
        group: list[Part] = []
        for part in parts:
            if group and not self._belongs(group[-1], part):
                yield group
                group = []
            group.append(part)
        if group:
            yield group

    def _belongs(self, before: Part, part: Part) -> bool:
        if not (part.is_comment or before.is_attached or (before.is_import and part.is_import)):
            return False
        end = last_ink(self._text, *before.span)
        n_breaks = len(LINE_BREAK.findall(self._text, end, part.span.start))
        if part.is_comment and not n_breaks:
            return True
        return (before.is_attached and n_breaks < 2) or (before.is_import and part.is_import)

    def _ungroup(self, group: Sequence[Part], outer: Span, depth: int, body: Span | None) -> Iterator[tuple[Part, int]]:
        """Part what stands together but does not fit, and yield what does not fit even alone."""
        for i, part in enumerate(group):
            place = self._place(part, outer) if i else None
            self._note(part)
            if place is not None and (part.is_import or part.is_comment):
                self._levels.add_place(place, depth)
            elif place is not None:
                self._levels.partings.append(place)
            span = part.span
            if span == body or not self._levels.fits(Span(self._begin(part), span.end)):
                yield part, depth
            else:
                self._keep(span)

    def _note(self, part: Part, start: int | None = None) -> None:
        """Keep a definition by the start of a line."""
        if (definition := part.definition) is not None:
            self._levels.defined[self._line(part.span.start).start if start is None else start] = definition

    def _keep(self, span: Span) -> None:
        """Leave a part whole, if it has its lines to itself: what shares one can't be parted from what is beside it."""
        end = last_ink(self._text, *span)
        line = self._line(end)
        start = self._line(span.start).start
        if first_ink(self._text, start, span.start) == span.start and first_ink(self._text, end, line.end) == line.end:
            self._levels.kept.append(span)

    def _place(self, part: Part, outer: Span) -> int | None:
        """Return the start of a part's line if nothing stands before it there; in one long line, the part's own."""
        start = part.span.start
        line = self._line(start)
        if first_ink(self._text, line.start, start) == start:
            return max(line.start, min(outer.start, start))
        if line.start <= outer.start < start and outer.end <= line.end and not self._levels.fits(line):
            return start
        return None

    def _begin(self, part: Part) -> int:
        """Return where a chunk of a part would begin: at the indent before it, where nothing else is."""
        start = part.span.start
        line = self._line(start).start
        return line if first_ink(self._text, line, start) == start else start

    def _line(self, position: int) -> Span:
        """Return the line of a position; the last one is kept, for a line may be long and asked for often."""
        if not self._last_line.start <= position < self._last_line.end:
            found = LINE_BREAK.search(self._text, position)
            self._last_line = Span(line_start(self._text, position), found.end() if found else len(self._text))
        return self._last_line

    def _add_scope(self, part: Part, body: Span | None) -> None:
        """Note a definition that is opened: its name, and its head, which rides along with what is under it."""
        span = part.span
        self._levels.scopes.append((span, part.name))
        if body is None:
            return
        start = body.start
        start += self._text[start : start + 1] in _OPENERS
        line = self._line(start)
        # A line is the body's own, unless the head ends on it.
        end = line.start if first_ink(self._text, line.start, start) == start else line.end
        head = Span(self._line(span.start).start, end)
        if head.start < head.end < span.end:
            self._levels.riders.append(Rider(Span(head.start, span.end), head))
