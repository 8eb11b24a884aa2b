"""The callables that a user may replace. Anything with the right shape works; nothing inherits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import RecipeError
from chunkwise.core.types import Chunk, Document, Drop, Hit, Query, Source, Span

Floats2d: TypeAlias = NDArray[np.float32]
Role: TypeAlias = Literal["query", "passage"]

_FENCE = re.compile(r"\A\s*```\w*\s*(.*?)\s*```\s*\Z", re.DOTALL)

Reserve: TypeAlias = Callable[[int], int]
"""Tokens to leave free in the chunk whose own text starts at an offset."""

Filter: TypeAlias = Mapping[str, str | int | bool | Sequence[str | int | bool]]
"""Metadata that a hit must carry: a value, or any one of several. Values are compared as text."""


class Reader(Protocol):
    """Turn bytes into a document. One for each family of formats."""

    def __call__(self, source: Source) -> Document: ...


class Segmenter(Protocol):
    """Partition a text: the spans touch, in order, and cover it."""

    def __call__(self, text: str) -> Sequence[Span]: ...


class Ruler(Protocol):
    """Measure slices of one text in tokens, special tokens not counted.

    `fit` and `fit_back` propose, `count` decides.
    """

    def count(self, start: int, end: int, *, before: str = "") -> int:
        """Return the tokens of `before + text[start:end]`, exactly as if it were encoded alone."""
        ...

    def fit(self, start: int, budget: int) -> int:
        """Return where `budget` tokens from `start` end: a look-up that may err by a few tokens."""
        ...

    def fit_back(self, end: int, budget: int) -> int:
        """Return where `budget` tokens up to `end` start, as near as `fit` does."""
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """Count tokens. Two tokenizers of the same name are equal."""

    @property
    def name(self) -> str:
        """The name or path that finds this tokenizer again in a recipe."""
        ...

    @property
    def n_special(self) -> int:
        """How many tokens an encoder adds around every text."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of `text`, special tokens included."""
        ...

    def measure(self, text: str) -> Ruler:
        """Encode `text` once and return a ruler over it."""
        ...


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `size` tokens of `tokenizer` in what is embedded as one text."""

    size: int
    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        if self.size <= self.tokenizer.n_special:
            raise RecipeError(
                f"size={self.size} leaves no room for text: {self.tokenizer.name} adds "
                f"{self.tokenizer.n_special} tokens to every text; try size=200"
            )

    @property
    def room(self) -> int:
        """The tokens that are left for text."""
        return self.size - self.tokenizer.n_special


def no_reserve(_start: int) -> int:
    """Leave nothing free."""
    return 0


class Chunker(Protocol):
    """Cut a document. A frozen dataclass whose fields are its parameters."""

    @property
    def budget(self) -> Budget:
        """What no chunk of this chunker exceeds."""
        ...

    @property
    def leaf_budget(self) -> Budget:
        """What no chunk without children exceeds; these are what is embedded."""
        ...

    @property
    def cuts_units(self) -> bool:
        """Whether it may cut a table row or a line of code that would have fitted."""
        ...

    @property
    def streamable(self) -> bool:
        """Whether it cuts a plain text looking only a little ahead, so that a stream of it can be cut.

        Where it cuts depends on where the chunk starts and on text up to the ink after the furthest place that it
        looked up with `Ruler.fit`. It counts with its parameter `tokenizer`, and if it looks for sentences, then for
        those of its `language`.
        """
        ...

    @property
    def streams_tables(self) -> bool:
        """Whether it is streamable in the same sense where the text is delimited: a table whose records are lines.

        It may look to the end of the record around a place that it looked up, and at the header; for no sentences.
        """
        ...

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        """Cut each of the spans `within` by itself: disjoint ones in order; the document's body where none is given."""
        ...

    def __or__(self, other: Transform) -> Chunker:
        """Return this chunker followed by a transform."""
        ...

    def outlined(self, document: Document) -> Document:
        """Return the document with the blocks that this chunker finds in its text, which transforms see, too."""
        ...

    def dropped(self, document: Document) -> Sequence[Drop]:
        """Return what this chunker leaves out of every chunk on purpose."""
        ...


class Transform(Protocol):
    """Change chunks after the cut, inside the budget that they were cut for."""

    @property
    def streamable(self) -> bool:
        """Whether it changes one chunk at a time, knowing no more than the one before and the room's text before it.

        A chunk that it made stays the same when it is given once more, as the first. If it looks for sentences, then
        for those of its `language`.
        """
        ...

    def check(self, budget: Budget) -> None:
        """Raise RecipeError if this transform can't work within `budget`."""
        ...

    def reserve(self, document: Document, budget: Budget, within: Sequence[Span]) -> Reserve:
        """Tell the chunker what to leave free for this transform."""
        ...

    def __call__(
        self, chunks: Iterable[Chunk], document: Document, budget: Budget, within: Sequence[Span]
    ) -> Iterator[Chunk]:
        """Change the chunks that were cut of the spans `within`; of the whole body where none is given."""
        ...


class Encoder(Protocol):
    """Turn texts into unit vectors, float32 [n_texts, dim]."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """A hash that changes when the vectors do."""
        ...

    @property
    def dim(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """The longest text that it takes, special tokens included; prefixes that it adds are not the caller's."""
        ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d: ...


class TokenEncoder(Encoder, Protocol):
    """An encoder that can also give the vectors of tokens, of which the vector of a text is the mean."""

    def token_vectors(self, rows: Sequence[NDArray[np.int32]]) -> Iterator[tuple[int, Floats2d]]:
        """Yield each row's number, in any order, and the vectors of its tokens [n_tokens, dim], of any length.

        Rows are ids of its tokenizer, without special tokens; `max_tokens` bounds them as it does a text's.
        """
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is asked: `shared`, then `text`.

    `shared` comes first and is the same for many prompts, so that a server may keep what it made of it. `max_tokens`
    bounds the answer; with `form="json"` it is a JSON object.
    """

    shared: str
    text: str
    max_tokens: int = 256
    form: Literal["text", "json"] = "text"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a language model said; or nothing, and in `failure` why."""

    text: str = ""
    failure: str = ""

    def content(self) -> object:
        """Return the JSON that was asked for; models like to put a fence around it.

        Raises: ValueError, which says why there is none.
        """
        if self.failure:
            raise ValueError(self.failure)
        fenced = _FENCE.match(self.text)
        try:
            return json.loads(fenced[1] if fenced else self.text)
        except (ValueError, RecursionError) as err:
            raise ValueError(f"the answer is no JSON: {self.text[:80]!r}") from err


@runtime_checkable
class LLM(Protocol):
    """Answer prompts, each by itself, in their order. Two language models of the same name are equal.

    The same prompt gets the same answer. One that gets none is told in its `failure`, and stops no other.
    Raises: AnswerError where nothing can be answered at all, as without a key or a server.
    """

    @property
    def name(self) -> str:
        """The name that finds this model again in a recipe."""
        ...

    @property
    def window(self) -> int:
        """The tokens of a document that it is to be given at once."""
        ...

    def __call__(self, prompts: Sequence[Prompt]) -> Sequence[Answer]: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """What a store keeps of one document: its chunks in order, a vector for each, and what it was made from.

    `vectors` are float32 [n_chunks, dim], of unit length. The chunks' `meta` must survive JSON unchanged.
    `meta` is the document's; its plain values can be filtered by, a chunk's own going before them.
    """

    document_id: str
    fingerprint: str
    source: str
    chunks: tuple[Chunk, ...]
    vectors: Floats2d
    meta: Mapping[str, Any]


Scored: TypeAlias = tuple[Chunk, float]


class Store(Protocol):
    """Keep chunks and vectors, and find them. Documents are replaced whole or not at all."""

    @property
    def info(self) -> Mapping[str, Any]:
        """What the index was made with: recipe, encoder name, fingerprint, dim. Empty for a new one."""
        ...

    def describe(self, info: Mapping[str, Any]) -> None:
        """Write down what a new index is made with, before the first `replace`. `info["dim"]` is required and stays.

        `info["levels"]`, 1 by default, is how many levels of chunks it is to hold: see `meta["level"]` of a chunk.
        """
        ...

    def documents(self) -> Mapping[str, tuple[str, str]]:
        """Return `{document_id: (fingerprint, source)}`."""
        ...

    def replace(self, entries: Sequence[Entry]) -> None:
        """Put these documents in place of what was stored under their ids, in one step."""
        ...

    def delete(self, document_ids: Sequence[str]) -> None:
        """Remove documents. An id that is not there is no error."""
        ...

    def finish(self) -> None:
        """Bring search structures up to date after a batch of changes."""
        ...

    def count(self) -> int:
        """Return the number of chunks."""
        ...

    def chunks(self, document_id: str) -> Sequence[Chunk]:
        """Return a document's chunks in order."""
        ...

    @property
    def revision(self) -> Hashable:
        """What changes with every change of what is stored."""
        ...

    def entries(self, document_ids: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield what is stored of these documents, or of all, by document id."""
        ...

    def vectors(self, chunk_ids: Sequence[str]) -> Floats2d:
        """Return the vectors of these chunks, [n_chunk_ids, dim], in their order. Raises: StoreError for another id."""
        ...

    def nearest(self, vector: NDArray[np.float32], k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest cosine with `vector`, best first."""
        ...

    def matching(self, text: str, k: int, where: Filter) -> Sequence[Scored]:
        """Return the `k` chunks of the highest BM25 score for `text`, best first; none of a score of 0.

        Words are counted over the chunks of the same level.
        """
        ...


class Retriever(Protocol):
    """Find chunks for a question, best first."""

    def __call__(self, query: str, k: int) -> list[Hit]: ...


@runtime_checkable
class Reranker(Protocol):
    """Judge how well each text answers a question, having read both together. Higher is better.

    Raises: RerankError where these texts can't be judged; other errors where none can.
    """

    @property
    def name(self) -> str: ...

    def __call__(self, query: str, texts: Sequence[str]) -> Sequence[float]: ...


class Metric(Protocol):
    """Judge the hits of one query. Its `repr` names it.

    Raises: ChunkwiseError for a query without evidence.
    """

    def __call__(self, query: Query, hits: Sequence[Hit]) -> float: ...
