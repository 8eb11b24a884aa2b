"""Retrievals: how chunks are found and what is made of the hits, as strings that parse back to what printed them.

`hybrid(alpha=0.4) | mmr() | auto_merge()` is a `Retrieval` of a finder and two steps. Over an index it is a Retriever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeGuard, TypeVar

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Encoder, Filter, Retriever, Store, Tokenizer
from chunkwise.core.recipes import register
from chunkwise.core.types import Chunk, Hit

T = TypeVar("T")

FINDERS: dict[str, type] = {}
STEPS: dict[str, type] = {}


class Siblings(NamedTuple):
    """Chunks of one level of a document, and the place of each by its id."""

    chunks: Sequence[Chunk]
    place: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scope:
    """What is searched: a store, what encodes questions for it, what counts its tokens, and what a hit must carry.

    It serves one question: the documents that it has read are kept.
    """

    store: Store
    encoder: Encoder
    tokenizer: Tokenizer
    where: Filter = field(default_factory=dict)
    _read: dict[str, Mapping[str, Chunk]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _children: dict[str, Counter[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _levels: dict[tuple[str, object], Siblings] = field(default_factory=dict, init=False, repr=False, compare=False)

    def chunks(self, document_id: str) -> Mapping[str, Chunk]:
        """Return the chunks of a document by their ids, in order, those of all levels.

        Cost: the whole document is read, once.
        """
        if document_id not in self._read:
            self._read[document_id] = {chunk.id: chunk for chunk in self.store.chunks(document_id)}
        return self._read[document_id]

    def n_children(self, document_id: str) -> Counter[str]:
        """Return how many chunks of a document have each parent, by its id, without derived ones. They are kept."""
        if document_id not in self._children:
            parents = (chunk.parent for chunk in self.chunks(document_id).values() if not chunk.is_derived)
            self._children[document_id] = Counter(parents)
        return self._children[document_id]

    def siblings(self, document_id: str, level: object) -> Siblings:
        """Return the chunks of a document of a level, in order, without derived ones. They are kept."""
        key = document_id, level
        if key not in self._levels:
            found = [
                (id, chunk)
                for id, chunk in self.chunks(document_id).items()
                if chunk.meta.get("level") == level and not chunk.is_derived
            ]
            place = {id: i for i, (id, _) in enumerate(found)}
            self._levels[key] = Siblings([chunk for _, chunk in found], place)
        return self._levels[key]


class Finder(Protocol):
    """Find chunks in a scope. A frozen dataclass whose fields are its parameters."""

    def __call__(self, query: str, k: int, *, scope: Scope) -> list[Hit]: ...


class Step(Protocol):
    """Change what an inner retriever finds: order it, choose from it, widen it.

    A frozen dataclass whose fields are its parameters.
    """

    @property
    def widens(self) -> bool:
        """Whether it gives hits more text, from `k` of the inner retriever; joined ones are then fewer."""
        ...

    def __call__(self, query: str, k: int, *, inner: Retriever, scope: Scope) -> list[Hit]: ...


@dataclass(frozen=True, slots=True, repr=False)
class Retrieval:
    """A finder followed by steps. Those that widen come last: what they make is no chunk of the index any more."""

    finder: Finder
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        for step, following in pairwise(self.steps):
            if step.widens and not following.widens:
                raise RecipeError(f"{following!r} comes after {step!r}, which widens hits; put it before")

    def over(self, scope: Scope) -> Retriever:
        """Return the retriever that this is in a scope."""
        return followed(partial(self.finder, scope=scope), self.steps, scope=scope)

    def __or__(self, step: Step) -> Retrieval:
        return Retrieval(self.finder, (*self.steps, step))

    def __repr__(self) -> str:
        return " | ".join(repr(stage) for stage in (self.finder, *self.steps))


def followed(retriever: Retriever, steps: Sequence[Step], *, scope: Scope) -> Retriever:
    """Return a retriever followed by steps, itself a retriever."""
    for step in steps:
        retriever = partial(step, inner=retriever, scope=scope)
    return retriever


def finder(cls: type[T]) -> type[T]:
    """Register a frozen dataclass as a finder, named like its class in snake_case.

    It gains checked parameters, a `repr` that is its recipe, and `|`.
    """
    cls.__or__ = _followed_by  # type: ignore[method-assign, assignment]
    return register(cls, FINDERS)


def step(cls: type[T]) -> type[T]:
    """Register a frozen dataclass as a step, named like its class in snake_case.

    It gains checked parameters, a `repr` that is its recipe, and where it does not define `widens` that it does not.
    """
    if "widens" not in vars(cls):
        cls.widens = False  # type: ignore[attr-defined]
    return register(cls, STEPS)


def is_finder(value: object) -> TypeGuard[Finder]:
    """Tell whether a value can begin a retrieval."""
    return type(value) in FINDERS.values()


def _followed_by(self: Any, step: Step) -> Retrieval:
    return Retrieval(self, (step,))
