"""Cut JSON between members: objects and arrays whole where they fit, else what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, ClassVar, NamedTuple

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import Level, among, last_resorts, units
from chunkwise.chunkers.pack import Packer, fits, packer
from chunkwise.core.protocols import Budget, Reserve, Ruler, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.spans import pieces
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.json_spans import Members, looks_like_json
from chunkwise.text.tokens import DEFAULT_TOKENIZER

# A path may take at most this share of a chunk, and so many characters; a longer one loses its outer steps first.
_MOST, _LONGEST = 0.25, 300


@strategy
@dataclass(frozen=True, slots=True)
class Json:
    """Group whole members of one object or array. Text that is not JSON is cut at lines of code and sentences.

    With `path`, a chunk's context is the path of what its first member is in, as in `$.users[3]` (RFC 9535), and so is
    `meta["path"]`; a context of `$` is left out. A path that is too long begins with `$..`, which means anywhere.
    Each text of JSON Lines is a `$` of its own.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    path: bool = True
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    # Its units are members: of a line of many that fits, some may be in one chunk and some in the next.
    cuts_units: ClassVar[bool] = True

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        budget = Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(document.text)
        if (members := _members(document.text)) is None:
            yield from _plain(document, budget, ruler, reserve, within)
            return
        paths = _Paths(members, budget, ruler) if self.path else None
        starts, whole, reluctant = _places(members, fits(document.text, ruler, budget.room))
        # An indent means nothing in JSON: white space before a member is in no chunk.
        engine = Packer(
            document.text,
            ruler,
            budget.room,
            whole=whole,
            reluctant=reluctant,
            last_resorts=last_resorts(document.text),
            reserve=lambda start: reserve(start) + (paths.cost(start) if paths else 0),
        )
        cut = cutter(document, budget)
        groups = [Span(start, end) for start, end in zip(starts, [*starts[1:], len(document.text)], strict=True)]
        for part in within:
            for span in engine.each(pieces(groups, part)):
                chunk = cut(span)
                yield paths.put(chunk, reserve(span.start)) if paths else chunk


def _plain(
    document: Document, budget: Budget, ruler: Ruler, reserve: Reserve, within: Sequence[Span]
) -> Iterator[Chunk]:
    cut = cutter(document, budget)
    engine = packer(document, budget, ruler=ruler, whole=[units(document, "auto")], reserve=reserve)
    for span in engine.each(within):
        yield cut(span)


@lru_cache(maxsize=2)
def _members(text: str) -> Members | None:
    """Return the members of a text, if it begins as JSON does."""
    return Members(text) if looks_like_json(text) else None


def _places(members: Members, fits: Callable[[Span], bool]) -> tuple[list[int], list[Level], list[Level]]:
    """Return where groups start, the level of members that fit, and the reluctant levels.

    A group is a row of members of one object or array that each fit, or one that has nothing inside and does not.
    What opens an object or array that does not fit goes with its first member, what closes it with the last.
    """
    groups, places, parting = [0], list[int](), list[int]()
    index, opened = 0, -1  # `opened` was entered just now
    row = -2  # the parent of the member before, if that one fits
    while index < len(members.starts):
        start, parent = members.starts[index], members.parents[index]
        whole = fits(Span(start, members.ends[index]))
        first = index == 0 or opened == parent >= 0
        if not first and not (whole and row == parent):
            groups.append(start)
        if first:
            parting.append(start)
        places.append(start)
        row, opened = (parent if whole else -2), -1
        if whole or members.after[index] == index + 1:
            parting += [] if whole else [members.values[index]]
            index = members.after[index]
        else:
            parting.append(members.closings[index])
            opened = index
            index += 1
    return groups, among(places), among(parting)


class _Path(NamedTuple):
    """The steps from the outermost to the innermost; a shortened one begins anywhere in the text."""

    steps: tuple[str, ...]
    shortened: bool

    @property
    def written(self) -> str:
        """The path as RFC 9535 writes it; empty where no step is left."""
        if self.shortened:
            return "$.." + "".join(self.steps).removeprefix(".") if self.steps else ""
        return "$" + "".join(self.steps)

    def without(self, count: int) -> _Path:
        """Return the path without so many of its outer steps."""
        return _Path(self.steps[count:], shortened=True) if count > 0 else self


class _Paths:
    """The paths of the chunks of one text, as context."""

    def __init__(self, members: Members, budget: Budget, ruler: Ruler) -> None:
        self._members, self._budget, self._ruler = members, budget, ruler
        self.cost = lru_cache(maxsize=16)(self._cost)  # a packer asks more than once for the same start
        self._path = lru_cache(maxsize=16)(self._found)
        self._shortened = lru_cache(maxsize=16)(self._shorten)

    def put(self, chunk: Chunk, reserved: int) -> Chunk:
        """Return the chunk with its path as context, or as much of the path as fits."""
        path = self._path(chunk.body.start)
        meta = {**chunk.meta, "path": path.written or "$"}
        path = self._shortened(path)
        while path.steps:
            context = path.written + "\n"
            n_tokens = self._ruler.count(*chunk.body, before=context) + self._budget.tokenizer.n_special
            if n_tokens <= self._budget.size - reserved:
                return replace(chunk, context=context, token_count=n_tokens, meta=meta)
            path = path.without(1)
        return replace(chunk, meta=meta)

    def _cost(self, start: int) -> int:
        """Return the tokens of the path of a chunk that starts here, and one for the seam."""
        path = self._shortened(self._path(start))
        return self._count(path.written + "\n") + 1 if path.steps else 0

    def _shorten(self, path: _Path) -> _Path:
        """Return as much of the path as takes no more than its share; a step takes a token at least."""
        most = int(self._budget.room * _MOST)
        path = path.without(len(path.steps) - most)
        while path.steps and self._count(path.written + "\n") > most:
            path = path.without(1)
        return path

    def _count(self, context: str) -> int:
        return self._budget.tokenizer.count(context) - self._budget.tokenizer.n_special

    def _found(self, start: int) -> _Path:
        """Return the path of what holds the first member of a chunk; of that member, if it starts before the chunk."""
        members, steps, length = self._members, list[str](), 0
        index = members.at(start)
        if index >= 0 and members.starts[index] == start:
            index = members.parents[index]
        while index >= 0:
            steps.insert(0, members.step(index))
            length += len(steps[0])
            if length > _LONGEST:
                return _Path(tuple(steps[1:]), shortened=True)
            index = members.parents[index]
        return _Path(tuple(filter(None, steps)), shortened=False)
