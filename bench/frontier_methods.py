"""The methods of the frontier: what is indexed, and how a budget is spent on it. To add one, add a line to METHODS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

import chunkwise as cw
from chunkwise.core.protocols import Encoder, Floats2d, Role, Tokenizer
from chunkwise.core.types import Hit
from chunkwise.embed import cached, custom_encoder, minilm, takes
from chunkwise.embed.batches import unit
from chunkwise.evaluate.metrics import Located
from chunkwise.pipeline import DEFAULT_RECIPE, Mode
from chunkwise.retrieve.assemble import Ladder

Find: TypeAlias = Callable[[cw.Index, str, int], Sequence[Located]]
"""`find(index, question, budget)` returns spans of at most `budget` tokens, the best first."""

Rank: TypeAlias = Callable[[cw.Index, str], Sequence[Hit]]
"""`rank(index, question)` returns hits, the best first."""

# As many hits are ranked as a search by tokens ranks.
_RANKED = 200
# Where less than this share of a budget is left, nothing that would fit is looked for any more.
_LEAST_LEFT = 0.03

_TOKENIZER = cw.tokenizer("cl100k_base")

MINILM, LATE, POOLED = "all-MiniLM-L6-v2", "late", "pooled"


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the tables. `vectors` says how chunks are embedded; `drawn` how it stands in the picture."""

    name: str
    recipe: str
    find: Find
    vectors: str = MINILM
    drawn: Literal["no", "thin", "thick"] = "no"

    @property
    def indexed(self) -> tuple[str, str]:
        """What is indexed, and how. Methods that have it in common share an index."""
        return self.recipe, self.vectors


@dataclass(frozen=True, slots=True)
class Ranked:
    """Return whole chunks as they are ranked; one that no longer fits is passed over for smaller ones."""

    rank: Rank

    def __call__(self, index: cw.Index, question: str, budget: int) -> list[Located]:
        return within(_hits(self.rank, index, question), budget)


@dataclass(frozen=True, slots=True)
class Merged:
    """Return what a search for as many tokens gives of a ladder, its sentences merged to the chunks around them."""

    retrieval: str

    def __call__(self, index: cw.Index, question: str, budget: int) -> list[Located]:
        found = index.search(question, tokens=budget, retrieval=self.retrieval, where={"level": 1})
        return within(found, budget)


def within(hits: Sequence[Hit], budget: int) -> list[Located]:
    """Return the spans of the best hits that fit."""
    kept: list[Located] = []
    left = budget
    for hit in hits:
        if left < _LEAST_LEFT * budget:
            break
        cost = sum(n_tokens(text) for _, text in hit.chunk.parts)
        if cost <= left:
            left -= cost
            kept += [(hit.chunk.document_id, span) for span in hit.chunk.spans]
    return kept


@dataclass(frozen=True, slots=True)
class Search:
    """Rank the chunks as a search of the index does."""

    mode: Mode

    def __call__(self, index: cw.Index, question: str) -> list[Hit]:
        return index.search(question, k=_RANKED, mode=self.mode)


@dataclass(frozen=True, slots=True)
class Assembled:
    """Return passages of sentences that are scored at several scales."""

    ladder: str | Ladder = "default"

    def __call__(self, index: cw.Index, question: str, budget: int) -> list[Located]:
        hits = index.assemble(question, tokens=budget, ladder=self.ladder, tokenizer=_TOKENIZER)
        by_rank = sorted(hits, key=lambda hit: hit.rank)
        return [(hit.chunk.document_id, span) for hit in by_rank for span in hit.chunk.spans]


DENSE, LEXICAL, HYBRID = Ranked(Search("vector")), Ranked(Search("lexical")), Ranked(Search("hybrid"))

_PLAIN = "recursive(size={})"
LADDER = "nest(200, base=structural(), sentences=True)"

# Those that others are compared with come first, then by what they cost. Of an index that several use, all at once.
METHODS = (
    Method("hybrid, 200", _PLAIN.format(200), HYBRID, drawn="thin"),
    Method("dense, 200", _PLAIN.format(200), DENSE, drawn="thin"),
    Method("lexical, 200", _PLAIN.format(200), LEXICAL, drawn="thin"),
    Method("assembled", DEFAULT_RECIPE, Assembled(), drawn="thick"),
    Method("assembled, ladder", LADDER, Assembled()),
    Method("assembled, ladder, fine", LADDER, Assembled("fine")),
    Method("assembled, ladder, coarse", LADDER, Assembled("coarse")),
    Method("auto-merged", LADDER, Merged("hybrid() | auto_merge()"), drawn="thin"),
    Method("hybrid, default recipe", DEFAULT_RECIPE, HYBRID),
    Method("dense, default recipe", DEFAULT_RECIPE, DENSE),
    Method("lexical, default recipe", DEFAULT_RECIPE, LEXICAL),
    Method("hybrid, 100", _PLAIN.format(100), HYBRID, drawn="thin"),
    Method("hybrid, 400", _PLAIN.format(400), HYBRID, POOLED, drawn="thin"),
    Method("hybrid, 150", _PLAIN.format(150), HYBRID),
    Method("late, hybrid", _PLAIN.format(200), HYBRID, LATE, drawn="thin"),
    Method("late, dense", _PLAIN.format(200), DENSE, LATE),
    Method("semantic, default", "scored(size=200)", HYBRID, drawn="thin"),
    Method("semantic, percentile", "scored(size=200, scorer=drop(percentile=95))", HYBRID),
    Method("semantic, cluster", "scored(size=200, scorer=cluster())", HYBRID),
    Method("semantic, max-min", "scored(size=200, scorer=max_min())", HYBRID),
    Method("contextual", "structural(size=200) | context(title=True, neighbours=1)", HYBRID, drawn="thin"),
    Method("contextual, summary", "structural(size=200) | context(title=True, summary=True)", HYBRID),
)
BASELINE = METHODS[0]


def keep_vectors(cache: Path) -> None:
    """Let the default encoder, wherever a recipe or an index names it, embed no text twice."""
    custom_encoder(MINILM, Remembering(cached(minilm(), cache)))
    custom_encoder(POOLED, Remembering(Pooled(cached(minilm(), cache))))


def opened(vectors: str) -> cw.Index:
    """Return an empty index in memory."""
    if vectors == LATE:
        return cw.Index("memory:", encoder=minilm(), cache=None, late=True)
    return cw.Index("memory:", encoder=vectors, cache=None)


@lru_cache(maxsize=100_000)
def n_tokens(text: str) -> int:
    """Return the tokens that a budget is counted in: those of cl100k_base."""
    return _TOKENIZER.count(text)


@lru_cache(maxsize=1)
def _hits(rank: Rank, index: cw.Index, question: str) -> Sequence[Hit]:
    """Rank the chunks once for all budgets."""
    return rank(index, question)


class Remembering:
    """Encode a question once for all budgets."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._asked: dict[str, Floats2d] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        if role == "passage":
            return self._encoder(texts, role=role)
        for text in texts:
            if text not in self._asked:
                self._asked[text] = self._encoder([text], role=role)
        return np.concatenate([self._asked[text] for text in texts])


@dataclass(frozen=True, slots=True)
class Pooled:
    """Take texts of twice the encoder's limit: of one that is over it, the mean of its halves."""

    encoder: Encoder

    @property
    def name(self) -> str:
        """The name of the encoder, and that its vectors are pooled."""
        return f"{self.encoder.name}, halves pooled"

    @property
    def fingerprint(self) -> str:
        """That of the encoder, and that its vectors are pooled."""
        return f"{self.encoder.fingerprint}-halves"

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self.encoder.dim

    @property
    def max_tokens(self) -> int:
        """Twice the encoder's, less what a half may be longer than the other."""
        return 2 * self.encoder.max_tokens - self.encoder.max_tokens // 4

    @property
    def tokenizer(self) -> Tokenizer:
        """The encoder's own."""
        return self.encoder.tokenizer

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        parts = [self._parts(text) for text in texts]
        vectors = self.encoder([part for some in parts for part in some], role=role)
        starts = np.cumsum([0, *(len(some) for some in parts)])[:-1]
        return unit(np.add.reduceat(vectors, starts, axis=0), range(len(texts)), self.name)

    def _parts(self, text: str) -> list[str]:
        """Part a text that is too long at the white space nearest to its middle, or there."""
        if takes(self.encoder, text):
            return [text]
        middle = len(text) // 2
        before, after = text.rfind(" ", 0, middle), text.find(" ", middle)
        near = min((place for place in (before, after) if place > 0), key=lambda at: abs(at - middle), default=middle)
        return [*self._parts(text[:near]), *self._parts(text[near:])]
