"""How much hits cover of a question's evidence: slots, each filled by any one of its alternatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.spans import intersect, union
from chunkwise.core.types import Evidence, Hit, Query, Span
from chunkwise.evaluate.metrics import Located

Slot: TypeAlias = tuple[Evidence, ...]
"""Alternatives that are not empty: places of which any one answers this part of the question."""

# A hit is relevant if it shares half of its own text or half of an alternative, whichever is less: it holds most of the
# evidence, or most of it is evidence. Any overlap would make a hit of one that ends in the first word of an answer.
# Source: the overlap coefficient (Szymkiewicz 1934, Simpson 1943); what half changes is in docs/decisions/0029.
RELEVANT = 0.5


def slots(query: Query) -> list[Slot]:
    """Return the slots of a question's evidence, without alternatives that hold no text.

    Raises: ChunkwiseError if a slot has none left, or there is no slot.
    """
    found = [tuple(one for one in slot if one.span.length) for slot in query.evidence]
    if not found or not all(found):
        raise ChunkwiseError(f"question {query.id!r} has no gold text and can't be scored; leave it out of the set")
    return found


def located(hits: Sequence[Hit]) -> list[Located]:
    """Return the places of the text of hits, what rides along included: it is returned, and paid for."""
    return [(hit.chunk.document_id, span) for hit in hits for span in hit.chunk.spans]


def counted(slot: Slot, found: Sequence[Located]) -> tuple[Evidence, int]:
    """Return the alternative that counts for a slot, and how many characters of it were found.

    It is the one of which the largest share was found; of equals the shortest, then the first.
    """
    covered = [(one, _shared(one, found)) for one in slot]
    return min(covered, key=lambda pair: (-pair[1] / pair[0].span.length, pair[0].span.length))


def gains(gold: Sequence[Slot], hits: Sequence[Hit]) -> Iterator[tuple[int, int, float]]:
    """Yield `(rank, slot, gain)` where a hit adds to a slot: the share of it that the hits before had not covered.

    Ranks count from 1, slots from 0. Of one hit, what adds most comes first.
    """
    before = [0.0] * len(gold)
    found: list[Located] = []
    for rank, hit in enumerate(hits, 1):
        own = located([hit])
        touched = [i for i, slot in enumerate(gold) if any(_shared(one, own) for one in slot)]
        if not touched:
            continue  # as most are: what was found need not be looked through again
        found += own
        added = []
        for i in touched:
            evidence, n_found = counted(gold[i], found)
            share = n_found / evidence.span.length
            added.append((share - before[i], i))
            before[i] = share
        yield from ((rank, i, gain) for gain, i in sorted(added, key=lambda pair: (-pair[0], pair[1])) if gain > 0)


def filled(gold: Sequence[Slot], hits: Sequence[Hit]) -> list[int]:
    """Return at which ranks slots got their first relevant hit, one for each slot that did, in order."""
    ranks: dict[int, int] = {}
    for rank, hit in enumerate(hits, 1):
        for i, slot in enumerate(gold):
            if i not in ranks and any(is_relevant(hit, one) for one in slot):
                ranks[i] = rank
    return sorted(ranks.values())


def is_relevant(hit: Hit, evidence: Evidence) -> bool:
    """Tell whether a hit holds half of a piece of evidence, or is half made of it."""
    shared = _shared(evidence, located([hit]))
    if not shared:
        return False
    return shared >= RELEVANT * min(evidence.span.length, sum(span.length for span in union(hit.chunk.spans)))


def _shared(evidence: Evidence, found: Sequence[Located]) -> int:
    """Return how many characters of a piece of evidence were found."""
    pieces: list[Span] = []
    for document_id, span in found:
        if document_id == evidence.document_id and (piece := intersect(span, evidence.span)) is not None:
            pieces.append(piece)
    return sum(piece.length for piece in union(pieces))
