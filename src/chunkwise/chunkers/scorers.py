"""Scorers that walk along the sentences: a drop of similarity, its gradient, max-min, two passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Floats2d
from chunkwise.core.recipes import Range, scorer
from chunkwise.core.scoring import Passage

# Windows of three sentences that share two of them are mostly more alike than this with the default encoder.
_THRESHOLD = 0.75


@scorer
@dataclass(frozen=True, slots=True)
class Drop:
    """Part the sentences where a window of them is unlike the next.

    How unlike is said in one way: a similarity below `threshold` (0.75 where nothing is said), or a distance above a
    `percentile` of the distances, or above their mean by so many standard `deviations`. These are taken over the whole
    text, so that an edit at its end moves cuts at its beginning; or over the last `horizon` places only.
    Source: Kamradt 2023, 5 Levels of Text Splitting, for windows of three sentences and the 95th percentile.
    """

    threshold: Annotated[float | None, Range(0.5, 0.9, least=-1, most=1)] = None
    percentile: Annotated[float | None, Range(75, 99, least=0, most=100)] = None
    deviations: Annotated[float | None, Range(0.5, 3, least=0)] = None
    window: Annotated[int, Range(1, 5, least=1)] = 3
    horizon: Annotated[int | None, Range(50, 400, log=True, least=2)] = None

    def __post_init__(self) -> None:
        given = [rule for rule in (self.threshold, self.percentile, self.deviations) if rule is not None]
        if len(given) > 1:
            raise RecipeError(f"{self!r} has {len(given)} rules; give one of threshold, percentile and deviations")
        if self.horizon is not None and self.percentile is None and self.deviations is None:
            raise RecipeError(f"{self!r}: horizon is about percentile and deviations; a threshold needs none")

    @property
    def local(self) -> bool:
        """Whether no more of a text is looked at than a horizon."""
        return self.horizon is not None or (self.percentile is None and self.deviations is None)

    def __call__(self, passage: Passage) -> Sequence[int]:
        distances = _distances(passage, self.window)
        if self.percentile is not None:
            limits = _limits(distances, _percentile(self.percentile), self.horizon)
        elif (deviations := self.deviations) is not None:
            limits = _limits(distances, lambda part: float(part.mean() + deviations * part.std()), self.horizon)
        else:
            limits = np.full(len(distances), 1 - (_THRESHOLD if self.threshold is None else self.threshold))
        return _above(distances, limits)


@scorer
@dataclass(frozen=True, slots=True)
class Gradient:
    """Part the sentences where the distance between neighbours rises fastest.

    For texts that are alike throughout, such as contracts: it is the change that is looked at.
    `percentile` is that of the gradients of the whole text, or of those at the last `horizon` places.
    Source: LangChain's SemanticChunker, `breakpoint_threshold_type="gradient"`, 95.
    """

    percentile: Annotated[float, Range(75, 99, least=0, most=100)] = 95
    window: Annotated[int, Range(1, 5, least=1)] = 3
    horizon: Annotated[int | None, Range(50, 400, log=True, least=2)] = None

    @property
    def local(self) -> bool:
        """Whether no more of a text is looked at than a horizon."""
        return self.horizon is not None

    def __call__(self, passage: Passage) -> Sequence[int]:
        distances = _distances(passage, self.window)
        if len(distances) < 2:
            return []
        gradients = np.gradient(distances)
        return _above(gradients, _limits(gradients, _percentile(self.percentile), self.horizon))


@scorer
@dataclass(frozen=True, slots=True)
class MaxMin:
    """Let a sentence join a group if it is like one of its sentences, measured by how alike the least alike two are.

    It joins if its highest similarity is above `strictness` times the lowest one in the group, which counts the more
    the larger the group is, and above `threshold`. A second sentence joins the first if `first` times their
    similarity is above the threshold.
    Source: Kiss, Nagy & Szilagyi 2025, doi:10.1007/s10791-025-09638-7, with its constants .6, .9 and 1.5.
    """

    threshold: Annotated[float, Range(0.2, 0.8, least=-1, most=1)] = 0.6
    strictness: Annotated[float, Range(0.5, 1, least=0)] = 0.9
    first: Annotated[float, Range(1, 2, least=0)] = 1.5

    @property
    def local(self) -> bool:
        """A group knows nothing of what comes after it."""
        return True

    def __call__(self, passage: Passage) -> Sequence[int]:
        vectors, starts = passage.encode(passage.windows(1)), [0]
        least, n_tokens = 1.0, passage.lengths[0]
        for i in range(1, len(vectors)):
            own = vectors[starts[-1] : i] @ vectors[i]
            n_tokens += passage.lengths[i]
            if n_tokens <= passage.room and self._joins(float(own.max()), least, len(own)):
                least = min(least, float(own.min()))
            else:
                starts.append(i)
                least, n_tokens = 1.0, passage.lengths[i]
        return starts

    def _joins(self, similarity: float, least: float, n_sentences: int) -> bool:
        if n_sentences == 1:
            return self.first * similarity > self.threshold
        grown = 1 / (1 + np.exp(1 - n_sentences))
        return similarity > max(self.strictness * least * float(grown), self.threshold)


@scorer
@dataclass(frozen=True, slots=True)
class DoublePass:
    """Group sentences while each is like the two before it, then join groups that are alike, over a digression, too.

    The second sentence of a group is like the first by `initial` or more, each further one like the last two by
    `appending`. In the second pass a group joins the one before it if they are alike by `merging`; with `reach` 2 also
    the group after next, with what stands between. A group never has more tokens than a chunk.
    Source: LlamaIndex's SemanticDoubleMergingSplitterNodeParser; the thresholds are those of its documentation.
    """

    initial: Annotated[float, Range(0.2, 0.7, least=-1, most=1)] = 0.4
    appending: Annotated[float, Range(0.2, 0.8, least=-1, most=1)] = 0.5
    merging: Annotated[float, Range(0.2, 0.8, least=-1, most=1)] = 0.5
    reach: Literal[1, 2] = 2

    @property
    def local(self) -> bool:
        """A group knows of two further ones at most."""
        return True

    def __call__(self, passage: Passage) -> Sequence[int]:
        vectors = passage.encode(passage.windows(1))
        sizes, sums = np.cumsum([0, *passage.lengths]), _prefix_sums(vectors)

        def alike(one: tuple[int, int], other: tuple[int, int]) -> float:
            return _cosine(sums[one[1]] - sums[one[0]], sums[other[1]] - sums[other[0]])

        def fits(start: int, stop: int) -> bool:
            return bool(sizes[stop] - sizes[start] <= passage.room)

        starts = [0]
        for i in range(1, len(vectors)):
            n_sentences = i - starts[-1]
            least = self.initial if n_sentences == 1 else self.appending
            if not fits(starts[-1], i + 1) or alike((max(starts[-1], i - 2), i), (i, i + 1)) < least:
                starts.append(i)
        return self._merged([*starts, len(vectors)], alike, fits)

    def _merged(
        self,
        edges: Sequence[int],
        alike: Callable[[tuple[int, int], tuple[int, int]], float],
        fits: Callable[[int, int], bool],
    ) -> list[int]:
        """Return where the groups between `edges` start that are not joined to the one before."""
        starts, i = [edges[0]], 1
        while i < len(edges) - 1:
            for n in range(1, min(self.reach, len(edges) - 1 - i) + 1):
                after = edges[i + n - 1], edges[i + n]
                if fits(starts[-1], after[1]) and alike((starts[-1], edges[i]), after) >= self.merging:
                    i += n
                    break
            else:
                starts.append(edges[i])
                i += 1
        return starts


def _distances(passage: Passage, window: int) -> NDArray[np.float64]:
    """Return how far each window of sentences is from the next, 0 to 2."""
    vectors = passage.encode(passage.windows(window))
    similarities: NDArray[np.float64] = np.einsum("nd,nd->n", vectors[:-1], vectors[1:], dtype=np.float64)
    return 1 - similarities


def _limits(
    values: NDArray[np.float64], statistic: Callable[[NDArray[np.float64]], float], horizon: int | None
) -> NDArray[np.float64]:
    """Return a statistic of all values for each place, or of the last `horizon` ones up to it."""
    if horizon is None:
        return np.full(len(values), statistic(values) if len(values) else 0.0)
    return np.array([statistic(values[max(0, i + 1 - horizon) : i + 1]) for i in range(len(values))])


def _percentile(percentile: float) -> Callable[[NDArray[np.float64]], float]:
    return lambda part: float(np.percentile(part, percentile))


def _above(values: NDArray[np.float64], limits: NDArray[np.float64]) -> list[int]:
    """Return the numbers of the sentences after the places where a value is above its limit."""
    return [int(i) + 1 for i in np.flatnonzero(values > limits)]


def _prefix_sums(vectors: Floats2d) -> NDArray[np.float64]:
    """Return the sums of the first 0, 1, 2, ... vectors."""
    sums: NDArray[np.float64] = np.cumsum(np.vstack([0 * vectors[:1], vectors]), axis=0, dtype=np.float64)
    return sums


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    norms = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / norms if norms else 0.0
