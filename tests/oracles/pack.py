"""The engine's greedy packing, slow and readable: every place is found first, every slice counted anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import regex

from chunkwise.core.types import Span
from chunkwise.text import graphemes, words
from chunkwise.text.sentences import SentenceEnds


def pack(text: str, count: Callable[[str], int], size: int, *, fill: float = 0.5) -> list[Span]:
    """Cut a plain text like `recursive` does."""
    characters = {0} | {span.end for span in graphemes.grapheme_spans(text)}
    levels = [_ends(regex.compile("\f"), text), _ends(words.BLANK_LINES, text), set(SentenceEnds(text).all())]
    whole = [places & characters for places in levels]
    resorts = [_ends(pattern, text) & characters for pattern in (words.LINE_BREAK, words._CLAUSE, words._EDGE)]
    end = len(text.rstrip())
    spans: list[Span] = []
    while (start := graphemes.first_ink(text, spans[-1].end if spans else 0, end)) < end:
        limit = max((p for p in range(start, end + 1) if count(text[start:p]) <= size), default=start)
        reach = graphemes.first_ink(text, limit, end)
        if limit == end:
            cut = end
        else:
            cut = (
                _best_whole(whole, start, start + int((reach - start) * fill), reach)
                or _best_resort(resorts, start, reach)
                or max(place for place in characters if place <= limit)
            )
        stop = start + len(text[start:cut].rstrip())
        spans.append(Span(start, stop if stop > start else min(place for place in characters if place > start)))
    return spans


def _best_whole(levels: Sequence[set[int]], start: int, filled: int, reach: int) -> int | None:
    for places in levels:
        if cuts := [place for place in places if filled < place <= reach]:
            return max(cuts)
    return max((place for places in levels for place in places if start < place <= filled), default=None)


def _best_resort(levels: Sequence[set[int]], start: int, reach: int) -> int | None:
    for lowest in (start + (reach - start) // 2, start):
        for places in levels:
            if cuts := [place for place in places if lowest < place <= reach]:
                return max(cuts)
    return None


def _ends(pattern: regex.Pattern[str], text: str) -> set[int]:
    return {match.end() for match in pattern.finditer(text)}


def plan_cost(tokens: Sequence[int], costs: Sequence[float], path: Sequence[int], target: int) -> float:
    """Return what a path costs."""
    steps = pairwise([0, *path])
    return sum(abs(tokens[b] - tokens[a] - target) + costs[b] for a, b in steps)


def least_cost(tokens: Sequence[int], costs: Sequence[float], *, most: int, target: int) -> tuple[int, float]:
    """Return the last place that can be reached, and the cost of the cheapest path to it, by trying every step."""
    best: dict[int, float] = {0: 0.0}
    for i in range(1, len(tokens)):
        ways = [best[j] + abs(tokens[i] - tokens[j] - target) + costs[i] for j in best if tokens[i] - tokens[j] <= most]
        if ways:
            best[i] = min(ways)
    return max(best), best[max(best)]
