"""What tells where the sentences of a passage part in meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from chunkwise.core.protocols import Floats2d
from chunkwise.core.types import Span


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences that follow one another, for a scorer to part: `spans` of `text`, none of them blank.

    `lengths` are their tokens, and `room` is the most that a chunk has, both without special tokens.
    `encode(texts)` returns unit vectors [n_texts, dim]; of a text that is longer than the encoder takes, it is given
    the beginning.
    """

    text: str
    spans: Sequence[Span]
    lengths: Sequence[int]
    room: int
    encode: Callable[[Sequence[str]], Floats2d]

    def slice(self, first: int, stop: int) -> str:
        """Return the text of the sentences from number `first` up to, not including, `stop`."""
        return self.text[self.spans[first].start : self.spans[stop - 1].end].strip()

    def windows(self, n: int) -> list[str]:
        """Return each sentence together with its neighbours, `n` in all: as many before as after, or one more after."""
        last = len(self.spans)
        return [self.slice(max(0, i - (n - 1) // 2), min(last, i + n // 2 + 1)) for i in range(last)]


class Scorer(Protocol):
    """Tell where the sentences of a passage part. A frozen dataclass whose fields are its parameters."""

    @property
    def local(self) -> bool:
        """Whether what stands further on than a few chunks changes nothing."""
        ...

    def __call__(self, passage: Passage) -> Sequence[int]:
        """Return the numbers of the sentences that begin a group, in order; the first one begins one anyway."""
        ...
