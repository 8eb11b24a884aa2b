"""Cut where a splitter of another library cuts, and tell the faults of what it returns."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, cast

from chunkwise.chunkers.aligning import Fault, align
from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.splitters import Splitter, named_splitter
from chunkwise.core.errors import ChunkwiseError, RecipeError
from chunkwise.core.protocols import Budget, Chunker, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import FAULTS, Chunk, Document, Span
from chunkwise.text.tokens import DEFAULT_TOKENIZER


@strategy
@dataclass(frozen=True, slots=True)
class External:
    """Let `splitter` cut, and find its strings in the text; see chunkwise.chunkers.splitters for what it may be.

    It knows nothing of `size` and of what transforms want to add: `size` is what its chunks are judged by. A chunk's
    `meta["faults"]` tells what is wrong with it, as a number for each kind of fault: see chunkwise.chunkers.aligning.
    Chunks hold the document's text, also where the splitter has altered it.
    """

    splitter: Splitter | None = None
    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 512
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    cuts_units: ClassVar[bool] = True

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        cut = cutter(document, Budget(self.size, self.tokenizer))
        for part in within:
            end = part.start
            for span, faults in self._placed(document, part):
                overlap = {"overlap": end - span.start} if span.start < end < span.end else {}
                chunk = cut(span, meta={FAULTS: faults, **overlap})
                if chunk.token_count > self.size:
                    faults["over_size"] = chunk.token_count
                end = max(end, span.end)
                yield chunk

    def _placed(self, document: Document, part: Span) -> Iterator[tuple[Span, dict[Fault, int]]]:
        """Yield the spans of a part of a document that the splitter makes of it, and their faults."""
        text = part.slice(document.text)
        if not text.strip():
            return
        if self.splitter is None:
            raise RecipeError("external: no splitter is named; try external('MODULE:NAME')")
        try:
            pieces = self.splitter(text)
        except Exception as err:  # another library's, which may raise anything
            raise ChunkwiseError(
                f"{document.id}: the splitter {self.splitter.name} raised {type(err).__name__}: {err}"
            ) from err
        placed = align(text, pieces)
        if not placed:
            warnings.warn(
                f"{document.id}: no text of {len(pieces)} pieces by {self.splitter.name} is in the document; "
                "all of it is lost",
                stacklevel=2,
            )
        for one in placed:
            yield Span(one.span.start + part.start, one.span.end + part.start), {**one.faults}


def external(splitter: object, *, size: int = 512, tokenizer: Tokenizer = DEFAULT_TOKENIZER) -> Chunker:
    """Return a recipe of a splitter of another library, or of a function of a text that returns strings.

    Raises: RecipeError for what is no splitter.
    """
    return cast("Chunker", External(named_splitter(splitter), size, tokenizer))  # `strategy` makes it one


def faults(chunks: Iterable[Chunk]) -> Counter[str]:
    """Count the chunks that have a fault of a splitter of others, by kind."""
    return Counter(kind for chunk in chunks for kind in chunk.meta.get(FAULTS, ()))  # type: ignore[attr-defined]
