"""Whether the chain reproduces what was published: the cuts of Chroma's report, our vectors, ranking and metric.

python bench/published.py [--only chatlogs.md,state_of_the_union.md,wikitexts.md]

The report's splitter is written here again, for it is no strategy of ours: it starts a new chunk after every piece
that it had to split further. Sizes are tokens of the encoder, special tokens included, as its table must have counted;
those of the pieces that are clustered are of cl100k, as its code has it.
Source: Smith & Troynikov 2024, Evaluating Chunking Strategies for Retrieval, the table of all-MiniLM-L6-v2.
Needs the questions in `../shared/data` (or $CHUNKWISE_SHARED). Cost: about 20 minutes of one core for all corpora.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

import chunkwise as cw
from chunkwise.chunkers.cluster import Cluster
from chunkwise.core.protocols import Encoder
from chunkwise.core.scoring import Passage
from chunkwise.embed import encoder
from chunkwise.evaluate.measures import IoU, Precision, Recall, scores
from questions import load

_SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")
# Published recall, precision and IoU at five hits.
_PUBLISHED = {
    "recursive 200/0": (75.7, 6.5, 6.5),
    "recursive 250/0": (78.5, 5.4, 5.4),
    "recursive 250/125": (78.7, 4.9, 4.9),
    "cluster 200/0": (75.2, 7.2, 7.2),
}
# The report's pieces; a cluster has so many of them as make up its size.
_PIECE = 50


def main(only: Sequence[str], encode: Encoder) -> Iterator[str]:
    """Yield one row for each published one: recall, precision, IoU and, in brackets, those published; chunks; corpora.

    Of each corpus its recall. With overlap, precision and IoU count repeated text as often as it is returned.
    """
    given = load("chroma")
    texts = {document.id: document.text for document in given.documents if not only or document.id in only}
    questions = [question for question in given.questions if _document(question) in texts]
    asked = encode([question.text for question in questions], role="query")
    for row, published in _PUBLISHED.items():
        cut = _cutter(row, encode)
        chunks = [cw.Chunk(name, (span,), span.slice(text)) for name, text in texts.items() for span in cut(text)]
        vectors = encode([chunk.text for chunk in chunks], role="passage")
        found = np.argsort(-(asked @ vectors.T), axis=1, kind="stable")[:, :5]
        hits = {
            question.id: [cw.Hit(chunks[i], 0.0, rank, ()) for rank, i in enumerate(best, 1)]
            for question, best in zip(questions, found, strict=True)
        }
        measured = [*scores([Recall @ 5, Precision @ 5, IoU @ 5], questions, hits).values()]
        told = " | ".join(
            f"{100 * statistics.mean(some):.1f} ({theirs})" for some, theirs in zip(measured, published, strict=True)
        )
        each = " ".join(f"{name} {100 * _mean_of(name, questions, measured[0]):.1f}" for name in texts)
        yield f"| {row} | {told} | {len(chunks)} | {each} |"


def _cutter(row: str, encode: Encoder) -> Callable[[str], list[cw.Span]]:
    method, sizes = row.split()
    size, overlap = map(int, sizes.split("/"))
    count = encode.tokenizer.count

    def recursive(text: str) -> list[cw.Span]:
        return _split(text, cw.Span(0, len(text)), _Sizes(size, overlap, count), _SEPARATORS)

    def cluster(text: str) -> list[cw.Span]:
        small = _Sizes(_PIECE, 0, cw.tokenizer("cl100k_base").count)
        pieces = _split(text, cw.Span(0, len(text)), small, _SEPARATORS)
        passage = Passage(text, pieces, [1] * len(pieces), size // _PIECE, lambda texts: encode(texts, role="passage"))
        starts = Cluster(piece=1)(passage)
        ends = [*(start - 1 for start in starts[1:]), len(pieces) - 1]
        return [cw.Span(pieces[a].start, pieces[b].end) for a, b in zip(starts, ends, strict=True)]

    return cluster if method == "cluster" else recursive


class _Sizes(NamedTuple):
    """The most tokens of a chunk, and of what it repeats of the one before."""

    size: int
    overlap: int
    count: Callable[[str], int]


def _split(text: str, span: cw.Span, sizes: _Sizes, separators: Sequence[str]) -> list[cw.Span]:
    """Part at the coarsest separator that occurs, join parts while they fit, and split what alone does not fit."""
    here = next(i for i, separator in enumerate(separators) if separator in span.slice(text))
    starts = _starts(text, span, separators[here])
    chunks: list[cw.Span] = []
    waiting: list[tuple[cw.Span, int]] = []

    def close() -> None:
        if waiting:
            chunks.append(_trimmed(text, cw.Span(waiting[0][0].start, waiting[-1][0].end)))

    def total(more: int = 0) -> int:
        """Return the tokens of what waits; between parts the report counts an empty separator, which has 2."""
        return sum(n for _, n in waiting) + sizes.count("") * max(0, len(waiting) - 1 + bool(more)) + more

    for part in map(cw.Span, starts, [*starts[1:], span.end]):
        n_tokens = sizes.count(part.slice(text))
        if n_tokens >= sizes.size:
            close()
            waiting.clear()
            chunks += _split(text, part, sizes, separators[here + 1 :]) if separators[here] else [_trimmed(text, part)]
            continue
        if waiting and total(n_tokens) > sizes.size:
            close()
            while waiting and (total() > sizes.overlap or total(n_tokens) > sizes.size):
                del waiting[0]
        waiting.append((part, n_tokens))
    close()
    return [chunk for chunk in chunks if chunk.start < chunk.end]


def _starts(text: str, span: cw.Span, separator: str) -> list[int]:
    """Return where parts start: each but the first with a separator."""
    if not separator:
        return list(range(*span))
    starts, place = [span.start], text.find(separator, *span)
    while place >= 0:
        starts += [place] if place > span.start else []
        place = text.find(separator, place + len(separator), span.end)
    return starts


def _trimmed(text: str, span: cw.Span) -> cw.Span:
    inside = span.slice(text)
    start = span.start + len(inside) - len(inside.lstrip())
    return cw.Span(start, max(start, span.start + len(inside.rstrip())))


def _mean_of(name: str, questions: Sequence[cw.Query], scores: Sequence[float]) -> float:
    return statistics.mean(
        score for question, score in zip(questions, scores, strict=True) if _document(question) == name
    )


def _document(question: cw.Query) -> str:
    """Return the id of the one document that a question of this set is about."""
    return question.evidence[0][0].document_id


if __name__ == "__main__":
    chosen = sys.argv[2].split(",") if sys.argv[1:2] == ["--only"] else []
    for line in main(chosen, encoder()):
        print(line, flush=True)
