"""Whether cuts fall where the subject changes: how alike are sentences inside a chunk, and across a cut.

The difference of the two means is positive where a chunk keeps together what is about one thing. It compares ways of
cutting the same texts with the same encoder; the number by itself says little.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chunkwise.chunkers.levels import language_of, not_inside, solid_blocks
from chunkwise.core.protocols import Encoder, Floats2d
from chunkwise.core.spans import contains
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.embed import takes
from chunkwise.evaluate.intrinsic import deepest
from chunkwise.text.graphemes import inked
from chunkwise.text.sentences import sentence_spans

# How many sentences of one document, and of all, are embedded: a few minutes of one core at most.
MOST_OF_ONE, MOST_SENTENCES = 200, 5_000

# In characters: what is shorter is a label or a number.
_SHORTEST = 20


@dataclass(frozen=True, slots=True)
class Cohesion:
    """Sums of cosines of neighbouring sentences, inside chunks and across cuts, and of how many pairs each."""

    inside: float = 0.0
    n_inside: int = 0
    across: float = 0.0
    n_across: int = 0

    def __add__(self, other: Cohesion) -> Cohesion:
        return Cohesion(
            self.inside + other.inside,
            self.n_inside + other.n_inside,
            self.across + other.across,
            self.n_across + other.n_across,
        )

    @property
    def difference(self) -> float | None:
        """The mean inside chunks less the mean across cuts; None where there are no pairs of one kind."""
        if not self.n_inside or not self.n_across:
            return None
        return self.inside / self.n_inside - self.across / self.n_across


def embedded_sentences(document: Document, encoder: Encoder, *, most: int) -> tuple[list[Span], Floats2d]:
    """Return the first `most` sentences of a document's prose that the encoder takes, with vectors float32 [n, dim]."""
    text = document.text
    in_prose = not_inside([block.span for block in solid_blocks(document)])
    spans: list[Span] = []
    for sentence in sentence_spans(text, language_of(document, "auto")):
        if len(spans) == min(most, MOST_OF_ONE):
            break
        span = inked(text, sentence)
        if span.length >= _SHORTEST and in_prose(span.start + 1) and takes(encoder, span.slice(text)):
            spans.append(span)
    if not spans:
        return [], np.zeros((0, encoder.dim), np.float32)
    return spans, encoder([span.slice(text) for span in spans], role="passage")


def cohesion(chunks: Sequence[Chunk], sentences: Sequence[Span], vectors: Floats2d) -> Cohesion:
    """Compare each sentence with the next. Those that a cut goes through, or that are in no chunk, are left out."""
    spans = [chunk.own for chunk in deepest(chunks)]
    starts = [span.start for span in spans]
    cosines = (vectors[:-1] * vectors[1:]).sum(axis=1).tolist()
    sums = {True: [0.0, 0], False: [0.0, 0]}
    for cosine, pair in zip(cosines, pairwise(sentences), strict=True):
        one, other = (bisect_right(starts, sentence.start) - 1 for sentence in pair)
        if min(one, other) < 0 or not (contains(spans[one], pair[0]) and contains(spans[other], pair[1])):
            continue
        sums[one == other][0] += cosine
        sums[one == other][1] += 1
    return Cohesion(sums[True][0], int(sums[True][1]), sums[False][0], int(sums[False][1]))
