"""Put the path of headings before the text that is embedded, apart from the text itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget, Reserve, Ruler, no_reserve
from chunkwise.core.recipes import transform
from chunkwise.core.types import Chunk, Document

# Headings may take at most this share of a chunk; a longer path loses its outer headings first.
_MOST = 0.25

# In characters: a bound on the work of shortening a heading word by word.
_LONGEST_TITLE = 500

_SEPARATOR = " > "


@transform
@dataclass(frozen=True, slots=True)
class Context:
    """Set a chunk's context to the headings over it that are not in its own text.

    The context counts against the size. Where a path was shortened to fit, `meta["context_truncated"]` is True.
    """

    headings: bool = True

    def check(self, budget: Budget) -> None:
        """Any budget will do: a context that does not fit is shortened."""

    def reserve(self, document: Document, budget: Budget) -> Reserve:
        """Ask for the tokens of the headings above."""
        if not self.headings:
            return no_reserve
        places = outline(document)
        cost = lru_cache(maxsize=64)(lambda titles: _cost(_shortened(titles, budget), budget))
        return lambda start: cost(tuple(heading.label for heading in places.above(start)))

    def __call__(self, chunks: Iterable[Chunk], document: Document, budget: Budget) -> Iterator[Chunk]:
        places, ruler = outline(document), budget.tokenizer.measure(document.text)
        for chunk in chunks:
            path = places.path_of(chunk.body) if self.headings else ()
            titles = tuple(heading.label for heading in path if heading.span.start < chunk.body.start and heading.label)
            yield _with_context(chunk, titles, ruler, budget)


def _with_context(chunk: Chunk, titles: tuple[str, ...], ruler: Ruler, budget: Budget) -> Chunk:
    """Return the chunk with as much of the path as fits beside its text."""
    riding = chunk.text[: len(chunk.text) - len(chunk.body)]
    context = _shortened(titles, budget)
    count = ruler.count(*chunk.body, before=context + riding)
    while context and count > budget.room:
        context = _shorter(context)
        count = ruler.count(*chunk.body, before=context + riding)
    cut_short = {"context_truncated": True} if context != _joined(titles) else {}
    if not context and not cut_short:
        return chunk
    n_tokens = count + budget.tokenizer.n_special
    return replace(chunk, context=context, token_count=n_tokens, meta={**chunk.meta, **cut_short})


def _shortened(titles: Sequence[str], budget: Budget) -> str:
    """Return the path, without its outer headings where it is too long, and without the end of the last."""
    context = _joined([title[:_LONGEST_TITLE] for title in titles])
    most = max(1, int(budget.room * _MOST))
    while context and _cost(context, budget) > most:
        context = _shorter(context)
    return context


def _shorter(context: str) -> str:
    """Drop the outermost heading; of the last one its last word."""
    if _SEPARATOR in context:
        return context.partition(_SEPARATOR)[2]
    shorter = context.rstrip("\n").rpartition(" ")[0].rstrip()
    return shorter + "\n" if shorter else ""


def _joined(titles: Sequence[str]) -> str:
    return _SEPARATOR.join(titles) + "\n" if any(titles) else ""


def _cost(context: str, budget: Budget) -> int:
    """Return the tokens of a context, and one for the seam."""
    return budget.tokenizer.count(context) - budget.tokenizer.n_special + 1 if context else 0
