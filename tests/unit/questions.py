"""Questions and hits for tests, written as short as spans allow."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core.types import Chunk, Evidence, Hit, Query, Span

At = tuple[str, int, int]
"""A document, and from where to where."""


def evidence(place: At) -> Evidence:
    document_id, start, end = place
    return Evidence(document_id, Span(start, end))


def question(*slots: At | Sequence[At], id: str = "q") -> Query:
    """A slot is one place, or a list of alternatives."""
    alternatives = [[slot] if isinstance(slot, tuple) else slot for slot in slots]
    return Query(id, "Why?", tuple(tuple(evidence(one) for one in slot) for slot in alternatives))


def hits(*places: At, text: str = "") -> list[Hit]:
    """Hits by rank, with falling scores; each has `text`, or a letter for each character."""
    return [
        Hit(Chunk(id, (Span(start, end),), text or "x" * (end - start)), 1 / rank, rank, ("test",))
        for rank, (id, start, end) in enumerate(places, 1)
    ]
