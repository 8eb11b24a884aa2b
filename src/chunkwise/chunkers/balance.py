"""Choose among many cuts the few that cost least: even chunks that end where a text does not mind.

A shortest path over the places where a cut is allowed. A step from one to another costs what its size
differs from the target, and what the place where it ends is worth. Both parts of |size - target| are
minima over windows that only move forward, which a monotone queue keeps: linear in the places.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf


def plan(tokens: Sequence[int], costs: Sequence[float], *, most: int, target: int) -> list[int]:
    """Return the indices of the places to cut at, on the cheapest path from the first to the last that can be reached.

    `tokens` are how far each place is from the start, never falling, the first 0; `costs` what a cut there costs.
    No step is longer than `most`. The start itself is not returned; where no place can be reached, none is.
    Cost: O(len(tokens)).

    >>> plan([0, 4, 8, 12, 16, 20], [0, 0, 0, 0, 0, 0], most=12, target=10)
    [2, 5]
    """
    best, before = [0.0, *[inf] * (len(tokens) - 1)], [0] * len(tokens)
    short, long = _Least(), _Least()
    near = far = 0  # the first place within `target` of this one, and within `most`
    for i in range(1, len(tokens)):
        if best[i - 1] < inf:
            short.add(i - 1, best[i - 1] + tokens[i - 1])
        while tokens[i] - tokens[near] > target and near < i:
            if best[near] < inf:
                long.add(near, best[near] - tokens[near])
            near += 1
        while tokens[i] - tokens[far] > most and far < i:
            far += 1
        (low, j), (high, k) = short.least(near), long.least(far)
        ways = (low + target - tokens[i], j), (high + tokens[i] - target, k)
        cost, before[i] = min(ways)
        best[i] = cost + costs[i]
    last = max(i for i, cost in enumerate(best) if cost < inf)
    path = []
    while last:
        path.append(last)
        last = before[last]
    return path[::-1]


class _Least:
    """The least of the keys that were added, without those before an index that only grows."""

    def __init__(self) -> None:
        self._queue: deque[tuple[int, float]] = deque()

    def add(self, index: int, key: float) -> None:
        """Add a key; those before it that are no less can never be the least again."""
        while self._queue and self._queue[-1][1] >= key:
            self._queue.pop()
        self._queue.append((index, key))

    def least(self, first: int) -> tuple[float, int]:
        """Return the least key from the index `first` on, and its index."""
        while self._queue and self._queue[0][0] < first:
            self._queue.popleft()
        return (self._queue[0][1], self._queue[0][0]) if self._queue else (inf, 0)
