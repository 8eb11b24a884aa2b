"""Put the path of headings before the text that is embedded, apart from the text itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Reserve, Ruler, no_reserve
from chunkwise.core.recipes import transform
from chunkwise.core.types import Chunk, Document, Span

# Headings may take at most this share of a chunk; a longer path loses its outer headings first.
_MOST = 0.25

# In characters: a bound on the work of shortening a heading word by word.
_LONGEST_TITLE = 500

_SEPARATOR = " > "


@transform
@dataclass(frozen=True, slots=True)
class Context:
    """Put the headings over a chunk that are not in its own text before its context, which mostly is empty.

    The context counts against the size. Where a path was shortened to fit, `meta["context_truncated"]` is True.
    """

    headings: bool = True

    streamable: ClassVar[bool] = True

    def check(self, budget: Budget) -> None:
        """Any budget will do: a context that does not fit is shortened."""

    def reserve(self, document: Document, budget: Budget, within: Sequence[Span]) -> Reserve:
        """Ask for the tokens of the headings above."""
        if not self.headings:
            return no_reserve
        places = outline(document)
        cost = lru_cache(maxsize=64)(lambda titles: _cost(_shortened(titles, budget), budget))
        return lambda start: cost(tuple(heading.label for heading in places.above(start) if heading.label))

    def __call__(
        self, chunks: Iterable[Chunk], document: Document, budget: Budget, within: Sequence[Span]
    ) -> Iterator[Chunk]:
        places, ruler = outline(document), budget.tokenizer.measure(document.text)
        for chunk in chunks:
            path = places.path_of(chunk.body) if self.headings else ()
            titles = tuple(heading.label for heading in path if heading.span.start < chunk.body.start and heading.label)
            yield _with_context(chunk, titles, ruler, budget)


def _with_context(chunk: Chunk, titles: tuple[str, ...], ruler: Ruler, budget: Budget) -> Chunk:
    """Return the chunk with as much of the path as fits beside its text."""
    if not titles:
        return chunk
    given = chunk.context + chunk.text[: len(chunk.text) - chunk.body.length]
    path = _shortened(titles, budget)
    count = ruler.count(*chunk.body, before=_joined(path) + given)
    while path and count > budget.room:
        path = _shorter(path)
        count = ruler.count(*chunk.body, before=_joined(path) + given)
    cut_short = {"context_truncated": True} if path != titles else {}
    n_tokens = count + budget.tokenizer.n_special
    return replace(chunk, context=_joined(path) + chunk.context, token_count=n_tokens, meta={**chunk.meta, **cut_short})


def _shortened(titles: tuple[str, ...], budget: Budget) -> tuple[str, ...]:
    """Return the path, without its outer headings where it is too long, and without the end of the last."""
    path = tuple(title[:_LONGEST_TITLE] for title in titles)
    most = max(1, int(budget.room * _MOST))
    while path and _cost(path, budget) > most:
        path = _shorter(path)
    return path


def _shorter(path: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the outermost heading; of the last one its last word."""
    if len(path) > 1:
        return path[1:]
    title = path[0].rpartition(" ")[0].rstrip()
    return (title,) if title else ()


def _joined(path: tuple[str, ...]) -> str:
    return _SEPARATOR.join(path) + "\n" if path else ""


def _cost(path: tuple[str, ...], budget: Budget) -> int:
    """Return the tokens of a path, and one for the seam."""
    return budget.tokenizer.count(_joined(path)) - budget.tokenizer.n_special + 1 if path else 0
