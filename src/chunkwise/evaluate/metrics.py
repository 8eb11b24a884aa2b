"""Measure how well the spans that were found cover those that answer a question, in characters.

Gold text counts once, however often it was found; what was found counts as often as it was returned, for a reader pays
for text that is repeated. Source: Smith & Troynikov 2024, Evaluating Chunking Strategies for Retrieval, which asks that
of tokens; characters need no tokenizer, and its own code counts them, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeAlias

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.spans import union
from chunkwise.core.types import Span

Located: TypeAlias = tuple[str, Span]
"""The id of a document, and a span of it."""


def recall(found: Sequence[Located], gold: Sequence[Located]) -> float:
    """Return the share of the gold text that was found.

    Raises: ChunkwiseError if there is no gold text.

    >>> recall([("a", Span(0, 10)), ("b", Span(0, 10))], [("a", Span(5, 25))])
    0.25
    """
    return _shared(found, gold) / _gold_length(gold)


def precision(found: Sequence[Located], gold: Sequence[Located]) -> float:
    """Return the gold text that was found, by all that was returned; 0 where nothing was.

    Raises: ChunkwiseError if there is no gold text.

    >>> precision([("a", Span(0, 10)), ("a", Span(0, 10))], [("a", Span(5, 25))])
    0.25
    """
    _gold_length(gold)
    n_found = _returned(found)
    return _shared(found, gold) / n_found if n_found else 0.0


def iou(found: Sequence[Located], gold: Sequence[Located]) -> float:
    """Return the gold text that was found, by what was returned and the gold that was not: intersection over union.

    Raises: ChunkwiseError if there is no gold text.

    >>> iou([("a", Span(0, 10)), ("b", Span(0, 10))], [("a", Span(5, 20))])
    0.16666666666666666
    """
    shared = _shared(found, gold)
    return shared / (_returned(found) + _gold_length(gold) - shared)


def _shared(found: Sequence[Located], gold: Sequence[Located]) -> int:
    """Return how many characters are in both. What two sets share is what their sum counts twice."""
    return _length(found) + _length(gold) - _length([*found, *gold])


def _gold_length(gold: Sequence[Located]) -> int:
    if not (length := _length(gold)):
        raise ChunkwiseError("a question without gold text can't be scored; leave it out of the set")
    return length


def _returned(found: Iterable[Located]) -> int:
    return sum(span.length for _, span in found)


def _length(located: Iterable[Located]) -> int:
    """Return how many characters the spans cover."""
    spans: dict[str, list[Span]] = {}
    for document_id, span in located:
        spans.setdefault(document_id, []).append(span)
    return sum(span.length for span in chain.from_iterable(map(union, spans.values())))
