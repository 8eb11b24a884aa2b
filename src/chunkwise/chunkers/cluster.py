"""The scorer that groups sentences so that those of a group are alike: a dynamic programme over the whole text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from chunkwise.core.protocols import Floats2d
from chunkwise.core.recipes import Range, scorer
from chunkwise.core.scoring import Passage


@scorer
@dataclass(frozen=True, slots=True)
class Cluster:
    """Choose the groups whose pieces are, in sum over all pairs, most alike; no group is over the size.

    A piece is as many sentences as have `piece` tokens. From each similarity the mean of all pairs of the text is
    taken, so that pieces less alike than that stay apart, and an edit anywhere may move any cut.
    Source: Smith & Troynikov 2024, Evaluating Chunking Strategies for Retrieval, ClusterSemanticChunker; 50 tokens.
    Cost: O(n m) vectors of the n pieces, m of which fill a chunk.
    """

    piece: Annotated[int, Range(25, 100, log=True, least=1)] = 50

    @property
    def local(self) -> bool:
        """The mean is one of the whole text, and so is the best choice of groups."""
        return False

    def __call__(self, passage: Passage) -> Sequence[int]:
        starts = _pieces(passage.lengths, self.piece)
        edges = [*starts, len(passage.lengths)]
        vectors = passage.encode([passage.slice(a, b) for a, b in zip(starts, edges[1:], strict=True)])
        sizes = np.cumsum([0, *passage.lengths])[edges].tolist()
        return [starts[i] for i in _groups(vectors, sizes, passage.room)]


def _pieces(lengths: Sequence[int], most: int) -> list[int]:
    """Return where pieces of at most so many tokens start; a longer sentence is one by itself."""
    starts, n_tokens = [0], 0
    for i, length in enumerate(lengths):
        if i and n_tokens + length > most:
            starts.append(i)
            n_tokens = 0
        n_tokens += length
    return starts


def _groups(vectors: Floats2d, sizes: Sequence[int], room: int) -> list[int]:
    """Return where the groups start whose similarities above the mean have the largest sum.

    `sizes` are how many tokens each piece's start, and the end, are from the beginning.
    """
    mean, best, before = _mean_similarity(vectors), [0.0], [0]
    first = 0
    for last in range(len(vectors)):
        while sizes[last + 1] - sizes[first] > room and first < last:
            first += 1
        block = vectors[first : last + 1].astype(np.float64)
        pairs = np.triu(block @ block.T - mean, 1)
        rewards = pairs.sum(axis=1)[::-1].cumsum()[::-1]  # of the group from each piece of the block to the last
        totals = rewards + best[first : last + 1]
        start = last - int(np.argmax(totals[::-1]))  # of equal ones the shortest
        best.append(float(totals[start - first]))
        before.append(start)
    starts, place = [], len(vectors)
    while place:
        place = before[place]
        starts.append(place)
    return starts[::-1]


def _mean_similarity(vectors: Floats2d) -> float:
    """Return the mean over all pairs of two vectors. It needs no pair: they sum up to the square of the sum."""
    n = len(vectors)
    total = vectors.sum(axis=0, dtype=np.float64)
    own = float(np.square(vectors, dtype=np.float64).sum())
    return (float(total @ total) - own) / (n * (n - 1)) if n > 1 else 0.0
