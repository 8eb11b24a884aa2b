"""Shorten a context until it fits beside a chunk's text: lines lose words, a path its outer headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chunkwise.core.protocols import Budget, Ruler
from chunkwise.core.types import Chunk, Span
from chunkwise.text.words import word_spans

# A path, or a line, may take at most this share of a chunk.
_MOST = 0.25

# In characters: a bound on the work of shortening a heading word by word.
_LONGEST_TITLE = 500

_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a context. `keeps_end` tells that it loses its first words where it is too long, not its last."""

    text: str
    keeps_end: bool = False


def most_of(budget: Budget) -> int:
    """Return the most tokens that a path or a line takes."""
    return max(1, int(budget.room * _MOST))


def with_context(
    chunk: Chunk, path: Sequence[str], lines: Sequence[Line], ruler: Ruler, budget: Budget, *, share: float = _MOST
) -> Chunk:
    """Return the chunk with as much of the path and the lines before its context as fits beside its text.

    What does not fit is shortened from the last line on; the path is the last to go. No line takes more than a
    `share` of the chunk.
    """
    wanted = _context(path, lines)
    if not wanted:
        return chunk
    given = chunk.context + chunk.text[: len(chunk.text) - chunk.body.length]

    def fits(context: str) -> bool:
        return ruler.count(*chunk.body, before=context + given) <= budget.room

    path, kept = shortened(path, budget), [capped(line, budget, share) for line in lines]
    while kept and not fits(_context(path, kept)):
        shorter = _longest(kept[-1], lambda line: fits(_context(path, [*kept[:-1], line])))
        kept[-1:] = [shorter] if shorter.text else []
    while path and not fits(_context(path, kept)):
        path = _shorter(path)
    context = _context(path, kept)
    n_tokens = ruler.count(*chunk.body, before=context + given) + budget.tokenizer.n_special
    cut_short = {"context_truncated": True} if context != wanted else {}
    return replace(chunk, context=context + chunk.context, token_count=n_tokens, meta={**chunk.meta, **cut_short})


def shortened(path: Sequence[str], budget: Budget) -> tuple[str, ...]:
    """Return the path, without its outer headings where it is too long, and without the end of the last."""
    path = tuple(title[:_LONGEST_TITLE] for title in path)
    while path and cost_of(_context(path, ()), budget) > most_of(budget):
        path = _shorter(path)
    return path


def capped(line: Line, budget: Budget, share: float = _MOST) -> Line:
    """Return the line without the words that are over its share."""
    most = max(1, int(budget.room * share))
    return _longest(line, lambda shorter: cost_of(_context((), [shorter]), budget) <= most)


def cost_of(context: str, budget: Budget) -> int:
    """Return the tokens of a context, and one for the seam."""
    return budget.tokenizer.count(context) - budget.tokenizer.n_special + 1 if context else 0


def path_cost(path: Sequence[str], budget: Budget) -> int:
    """Return the tokens that a path takes."""
    return cost_of(_context(shortened(path, budget), ()), budget)


def line_cost(line: Line, budget: Budget) -> int:
    """Return the tokens that a line takes."""
    return cost_of(_context((), [capped(line, budget)]), budget)


def _context(path: Sequence[str], lines: Sequence[Line]) -> str:
    return "".join(line + "\n" for line in (_SEPARATOR.join(path), *(line.text for line in lines)) if line)


def _longest(line: Line, fits: Callable[[Line], bool]) -> Line:
    """Return as many words of the line as fit. Cost: O(log n) tries, and a few for counts that do not grow evenly."""
    if fits(line):
        return line
    words = word_spans(line.text)
    low, high = 0, len(words) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(_first(words, middle, line)) else (low, middle - 1)
    while low and not fits(_first(words, low, line)):
        low -= 1
    return _first(words, low, line)


def _first(words: Sequence[Span], count: int, line: Line) -> Line:
    if not count:
        return replace(line, text="")
    return replace(line, text=line.text[words[-count].start :] if line.keeps_end else line.text[: words[count - 1].end])


def _shorter(path: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the outermost heading; of the last one its last word."""
    if len(path) > 1:
        return path[1:]
    title = path[0].rpartition(" ")[0].rstrip()
    return (title,) if title else ()
