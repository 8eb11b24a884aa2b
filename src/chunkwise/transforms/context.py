"""Put what a chunk needs to be understood before the text that is embedded, apart from the text itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from chunkwise.core.outline import outline
from chunkwise.core.protocols import LLM, Answer, Budget, Reserve
from chunkwise.core.recipes import Range, transform
from chunkwise.core.types import Block, Chunk, Document, Span
from chunkwise.transforms.fitting import Line, line_cost, most_of, path_cost, with_context
from chunkwise.transforms.leads import after, before, leads, title
from chunkwise.transforms.situate import situated

_SAYS_NOTHING = Answer()

# All parts together are left free at most this share of a chunk. A quarter each, five parts would leave a chunk no text
# of its own, and small ones lose under a fair budget: of Chroma's questions, BM25 answers 75.2 with pieces of 50 tokens
# where chunks of 200 have 84.9, 800 tokens retrieved.
_MOST_FREE = 0.5


@transform
@dataclass(frozen=True, slots=True)
class Context:
    """Put a context before what is embedded, line by line, and count it against the size.

    `headings` is the path of the headings over a chunk that are not in its own text; `title` puts that of the
    document before the path. `summary` is the first sentence of the section, or of the document, that the chunk does
    not hold; `neighbours` so many sentences before the chunk and after it; `llm` a language model, by name, that says
    where the chunk belongs. Where that says nothing, `meta["context_failed"]` tells why, and the summary is taken.
    Where something was shortened to fit, `meta["context_truncated"]` is True: what comes last goes first. No part takes
    more than a quarter, and for all of them no more than half of a chunk is left free.
    """

    headings: bool = True
    title: bool = False
    summary: bool = False
    neighbours: Annotated[int, Range(0, 2, least=0)] = 0
    llm: LLM | None = None

    @property
    def streamable(self) -> bool:
        """Whether it needs nothing but the headings over a chunk."""
        return not (self.title or self.summary or self.neighbours or self.llm)

    def check(self, budget: Budget) -> None:
        """Any budget will do: a context that does not fit is shortened."""

    def reserve(self, document: Document, budget: Budget, within: Sequence[Span]) -> Reserve:
        """Ask for the tokens of what comes before a chunk.

        What comes after it is not known yet: as much is asked for as for the sentences before, and for a language model
        the most that it may say.
        """
        places, sources = outline(document), _Sources(self, document, budget, within)
        path_costs = lru_cache(maxsize=64)(partial(path_cost, budget=budget))
        line_costs = lru_cache(maxsize=64)(partial(line_cost, budget=budget))
        answer = most_of(budget) if self.llm is not None else 0

        def of_path(start: int) -> int:
            return path_costs(sources.path(places.above(start)))

        def of_all(start: int) -> int:
            lines = line_costs(Line(sources.lead(start))) + 2 * line_costs(
                Line(sources.previous(start), keeps_end=True)
            )
            return min(of_path(start) + lines + answer, int(budget.room * _MOST_FREE))

        return of_all if self.summary or self.neighbours or answer else of_path

    def __call__(
        self, chunks: Iterable[Chunk], document: Document, budget: Budget, within: Sequence[Span]
    ) -> Iterator[Chunk]:
        ruler = budget.tokenizer.measure(document.text)
        places, sources = outline(document), _Sources(self, document, budget, within)
        for chunk, said in self._told(chunks, document, budget):
            start, end = chunk.body
            above = [heading for heading in places.path_of(chunk.body) if heading.span.start < start]
            path = sources.path(above, own=chunk.text)
            lead = leads(document)(start) if said.failure else sources.lead(start)
            previous, following = sources.previous(start), sources.following(end)
            lead = "" if lead in previous else lead
            lines = [Line(lead), Line(said.text), Line(previous, keeps_end=True), Line(following)]
            made = with_context(chunk, path, [line for line in lines if line.text], ruler, budget)
            yield replace(made, meta={**made.meta, "context_failed": said.failure}) if said.failure else made

    def _told(self, chunks: Iterable[Chunk], document: Document, budget: Budget) -> Iterable[tuple[Chunk, Answer]]:
        """Pair the chunks with what the model says of them; where there is one, all are asked about at once."""
        if self.llm is None:
            return ((chunk, _SAYS_NOTHING) for chunk in chunks)
        known = list(chunks)
        return zip(known, situated(known, document, budget, self.llm), strict=True)


class _Sources:
    """What the parts of a context are taken from, in one document; each empty where it is not asked for."""

    def __init__(self, context: Context, document: Document, budget: Budget, within: Sequence[Span]) -> None:
        self._headings = context.headings
        self._title = title(document) if context.title else ""
        count = context.neighbours
        self.lead = leads(document) if context.summary else _nothing
        self.previous = before(document, budget, within, count) if count else _nothing
        self.following = after(document, within, count) if count else _nothing

    def path(self, headings: Sequence[Block], *, own: str = "") -> tuple[str, ...]:
        """Return the titles of the headings after that of the document, if neither they nor the text begin with it."""
        titles = tuple(heading.label for heading in headings if heading.label) if self._headings else ()
        repeated = titles[:1] == (self._title,) or self._title in own
        return (self._title, *titles) if self._title and not repeated else titles


def _nothing(_position: int) -> str:
    return ""
