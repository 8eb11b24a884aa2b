"""Make chunks of spans: the one place where text is sliced."""

from __future__ import annotations

from collections.abc import Callable

from chunkwise.core.outline import outline
from chunkwise.core.protocols import Budget
from chunkwise.core.spans import join
from chunkwise.core.types import Chunk, Document, Meta, Span


def cutter(document: Document, budget: Budget) -> Callable[..., Chunk]:
    """Return `cut(*spans, meta={})`, which makes a chunk of spans of `document`.

    The last span is the chunk's own; it decides headings, pages and cells.
    """
    places = outline(document)
    ruler = budget.tokenizer.measure(document.text)

    def cut(*spans: Span, meta: Meta | None = None) -> Chunk:
        cells = places.cells(spans[-1])
        riding = join(document.text, spans[:-1]) if len(spans) > 1 else ""
        return Chunk(
            document_id=document.id,
            spans=spans,
            text=riding + spans[-1].slice(document.text),
            token_count=ruler.count(*spans[-1], before=riding) + budget.tokenizer.n_special,
            headings=places.titles_of(spans[-1]),
            pages=places.pages(spans[-1]),
            meta={**(meta or {}), **({"cells": cells} if cells else {})},
        )

    return cut
