"""Small indexes in which it is known beforehand why evidence is missed: every rank is ruled, every size is chosen."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from chunkwise.core.parsing import parse_retrieval
from chunkwise.core.protocols import Entry, Floats2d, Role, Tokenizer
from chunkwise.core.retrievals import Scope
from chunkwise.core.types import Chunk, Document, Evidence, Query, Span
from chunkwise.evaluate.blame import Search, blame
from chunkwise.evaluate.misses import Blame, Cause
from chunkwise.stores.memory import MemoryStore
from chunkwise.text.tokens import tokenizer

WORDS = tokenizer("words")


class Ruled:
    """Give every text the cosine with a question that it is ruled to have, others 0; counts words."""

    name = "ruled"
    fingerprint = "1"
    dim = 2
    max_tokens = 10_000
    tokenizer: Tokenizer = WORDS

    def __init__(self) -> None:
        self.cosines: dict[str, float] = {}

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        cosines = np.array([1.0 if role == "query" else self.cosines.get(text, 0.0) for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Case:
    """A world, the question whose evidence is missed in it, and how is searched."""

    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    encoder: Ruled
    query: Query
    search: Search

    def scope(self, extra: Sequence[Chunk] = ()) -> Scope:
        """Return the world as an index, with some chunks more."""
        store = MemoryStore()
        store.describe({"recipe": "ruled", "dim": Ruled.dim, "tokenizer": "words"})
        for document in self.documents:
            own = tuple(chunk for chunk in (*self.chunks, *extra) if chunk.document_id == document.id)
            vectors = self.encoder([chunk.text for chunk in own], role="passage")
            store.replace([Entry(document.id, "", "", own, vectors, {})])
        return Scope(store, self.encoder, WORDS)

    def blamed(self) -> Blame:
        """Return what is said of it."""
        by_id = {document.id: document for document in self.documents}

        def embed(documents: Sequence[tuple[Document, Sequence[Chunk]]]) -> Floats2d:
            return self.encoder([chunk.text for _, chunks in documents for chunk in chunks], role="passage")

        return blame([self.query], by_id, search=self.search, scope=self.scope(), embed=embed)


class Builder:
    """Write a document chunk by chunk, each of so many words and with a ruled cosine."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.encoder = Ruled()
        self.sizes: list[tuple[int, float]] = []
        self.texts: list[str] = []
        self._seen: set[str] = set()

    def add(self, n_words: int, cosine: float) -> int:
        """Add a chunk, and return its number."""
        self.texts.append(" ".join(self._word() for _ in range(n_words)))
        self.encoder.cosines[self.texts[-1]] = cosine
        return len(self.texts) - 1

    def span(self, number: int, first: int, stop: int) -> Span:
        """Return the words from `first` up to `stop`, counted from the beginning of a chunk, also beyond its end."""
        offset = sum(len(text) + 1 for text in self.texts[:number])
        words = " ".join(self.texts).split(" ")
        before = sum(len(text.split(" ")) for text in self.texts[:number])
        start = offset + sum(len(word) + 1 for word in words[before : before + first])
        return Span(start, start + len(" ".join(words[before + first : before + stop])))

    def case(self, evidence: Span, cosine: float, *, tokens: int | None = None, k: int | None = None) -> Case:
        """Return the world, with evidence that has a ruled cosine by itself."""
        text = " ".join(self.texts)
        self.encoder.cosines[evidence.slice(text)] = cosine
        starts = [sum(len(one) + 1 for one in self.texts[:i]) for i in range(len(self.texts))]
        chunks = tuple(
            Chunk("a", (Span(start, start + len(one)),), one, token_count=WORDS.count(one))
            for start, one in zip(starts, self.texts, strict=True)
        )
        retrieval = self.rng.choice(
            ["vector()", "hybrid()", "hybrid() | fold()", "vector() | two_stage(by='document')"]
        )
        query = Query("q", "Why?", ((Evidence("a", evidence),),))
        search = Search(parse_retrieval(retrieval), tokens=tokens, k=k)
        return Case((Document.from_text(text, id="a"),), chunks, self.encoder, query, search)

    def _word(self) -> str:
        while (word := "".join(self.rng.choices("bcdfgklmnprst", k=6))) in self._seen:
            pass
        self._seen.add(word)
        return word


def fragmented(rng: random.Random) -> Case:
    """A cut goes through the evidence, which is found by itself; one half of it may be returned."""
    world, size, n = Builder(rng), rng.randint(10, 20), rng.randint(2, 6)
    left = rng.randint(2, 5)
    halves = [rng.uniform(0.01, 0.3), rng.choice([0.99, rng.uniform(0.01, 0.3)])]
    rng.shuffle(halves)
    first = _crowd(world, size, n + rng.randint(2, 9))
    number = world.add(size, halves[0])
    world.add(size, halves[1])
    _crowd(world, size, first % 3)
    return world.case(world.span(number, size - left, size + rng.randint(2, 5)), 0.95, **_budget(rng, size, n))


def diluted(rng: random.Random) -> Case:
    """A chunk holds the evidence and ranks too low; by itself it would not."""
    world, size, n = Builder(rng), rng.randint(10, 20), rng.randint(2, 6)
    _crowd(world, size, n + rng.randint(2, 9))
    number = world.add(size, rng.uniform(0.01, 0.3))
    _crowd(world, size, rng.randint(0, 5))
    first = rng.randint(0, size - 3)
    return world.case(
        world.span(number, first, rng.randint(first + 1, size - 1)), rng.uniform(0.91, 0.99), **_budget(rng, size, n)
    )


def outranked(rng: random.Random) -> Case:
    """Even by itself the evidence ranks below what fills the budget, whether a chunk holds it or not."""
    world, size, n = Builder(rng), rng.randint(10, 20), rng.randint(2, 6)
    _crowd(world, size, n + rng.randint(2, 9))
    number = world.add(size, rng.uniform(0.01, 0.2))
    world.add(size, rng.uniform(0.01, 0.2))
    cut = rng.random() < 0.5
    first = size - 2 if cut else 1
    return world.case(
        world.span(number, first, first + rng.randint(3, 5)), rng.uniform(0.01, 0.3), **_budget(rng, size, n)
    )


def over_budget(rng: random.Random) -> Case:
    """The evidence costs more than the budget; or its chunk ranks second, or it does by itself, and does not fit."""
    world, size, n = Builder(rng), rng.randint(10, 20), rng.randint(3, 6)
    tokens = n * size + rng.randrange(size)
    kind = rng.choice(["evidence", "chunk", "alone"])
    _crowd(world, size, n + rng.randint(4, 9))
    if kind == "evidence":
        number = world.add(tokens + rng.randint(2, 40), rng.uniform(0.01, 0.99))
        return world.case(world.span(number, 0, tokens + 1), rng.uniform(0.01, 0.99), tokens=tokens)
    world.add(size, 0.99)
    large = tokens - size + rng.randint(1, size)  # as many words are left, less one to `size`
    if kind == "chunk":
        number = world.add(large, rng.uniform(0.91, 0.98))
        return world.case(world.span(number, 3, 6), rng.uniform(0.01, 0.98), tokens=tokens)
    number = world.add(large + 5, rng.uniform(0.01, 0.2))
    return world.case(world.span(number, 0, large), rng.uniform(0.91, 0.98), tokens=tokens)


CASES: dict[Cause, Callable[[random.Random], Case]] = {
    "fragmented": fragmented,
    "diluted": diluted,
    "outranked": outranked,
    "over budget": over_budget,
}


def cases(cause: Cause, n: int) -> Iterator[Case]:
    """Yield so many worlds of a cause, no two alike."""
    for seed in range(n):
        yield CASES[cause](random.Random(seed))


def _crowd(world: Builder, size: int, n: int) -> int:
    """Add chunks that rank between what is ruled high and what is ruled low."""
    for _ in range(n):
        world.add(size, world.rng.uniform(0.4, 0.9))
    return n


def _budget(rng: random.Random, size: int, n: int) -> dict[str, int]:
    """Return a bound of `n` chunks, or of the tokens of `n` and some more."""
    return {"k": n} if rng.random() < 0.3 else {"tokens": n * size + rng.randrange(size)}
