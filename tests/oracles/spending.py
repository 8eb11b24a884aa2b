"""Spend a budget on hits that steps widen, one hit at a time: the slow twin of `spend`."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core.retrievals import Retrieval, Scope, followed
from chunkwise.core.types import Hit
from chunkwise.retrieve.search import _MISSES, _cost, _given, _together, candidates, ranked


def slow_spend(retrieval: Retrieval, query: str, *, scope: Scope, tokens: int) -> list[Hit]:
    widening = tuple(step for step in retrieval.steps if step.widens)
    taken: list[Hit] = []
    wide: Sequence[Hit] = []
    plain: list[Hit] = []
    misses = 0
    for hit in candidates(retrieval, query, scope=scope, tokens=tokens):
        trial = followed(_given([*taken, hit]), widening, scope=scope)(query, len(taken) + 1)
        if _cost(_together(trial, plain)) <= tokens:
            taken, wide, misses = [*taken, hit], trial, 0
        elif _cost(_together(wide, [*plain, hit])) <= tokens:
            plain, misses = [*plain, hit], 0
        else:
            misses += 1
        if misses == _MISSES:
            break
    return ranked(_together(wide, plain))
