"""Why an index misses evidence: the cut, the ranking, or the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chunkwise.core.errors import ChunkwiseError, StoreError
from chunkwise.core.protocols import Filter, Tokenizer
from chunkwise.core.retrievals import Finder, Retrieval
from chunkwise.core.types import Document, Query
from chunkwise.evaluate.blame import Search
from chunkwise.evaluate.blame import blame as of_search
from chunkwise.evaluate.blame_assembled import Assembly, blame_assembled
from chunkwise.evaluate.counterfactual import WIDTHS
from chunkwise.evaluate.misses import Blame
from chunkwise.pipeline import Index, retriever
from chunkwise.retrieve.assemble import LADDERS, Ladder, Question
from chunkwise.retrieve.sentences import Sentences
from chunkwise.text.terms import terms

__all__ = ["blame", "blame_assembly"]


def blame(
    index: Index,
    queries: Sequence[Query],
    documents: Iterable[Document],
    *,
    tokens: int | None = None,
    k: int | None = None,
    retrieval: str | Finder | Retrieval = "hybrid()",
    where: Filter | None = None,
    widths: Sequence[int] = WIDTHS,
) -> Blame:
    """Search an index as `Index.search` does, and say why evidence is missed: see chunkwise.evaluate.blame.

    `documents` are those that were indexed, and one of `tokens` and `k` bounds the hits. Evidence is tried by itself,
    in its sentences, and in stretches of up to so many tokens as each of the `widths`.
    Raises: ChunkwiseError, RecipeError, StoreError for an empty index, EncodeError.
    """
    search = Search(retriever(retrieval), tokens=tokens, k=k)
    _check(index)
    return of_search(
        queries,
        {document.id: document for document in documents},
        search=search,
        scope=index.scope(search.retrieval, where or {}),
        embed=index.embedding()[0],
        widths=widths,
    )


def blame_assembly(
    index: Index,
    queries: Sequence[Query],
    documents: Iterable[Document],
    *,
    tokens: int,
    ladder: str | Ladder = "default",
    tokenizer: Tokenizer | None = None,
    where: Filter | None = None,
) -> Blame:
    """Assemble evidence as `Index.assemble` does, and say why some is missed: see chunkwise.evaluate.blame_assembled.

    Cost: the whole index is read into memory. Raises: ChunkwiseError, StoreError for an empty index, EncodeError.
    """
    if isinstance(ladder, str) and ladder not in LADDERS:
        raise ChunkwiseError(f"ladder={ladder!r} is not one of {', '.join(LADDERS)}; or give a Ladder")
    _check(index)
    scope = index.scope(retriever("hybrid()"), where or {})
    encoder, counter = scope.encoder, tokenizer or scope.encoder.tokenizer
    assembly = Assembly(
        Sentences(scope.store.entries(), encoder.tokenizer.n_special),
        ask=lambda text: Question(terms(text), encoder([text], role="query")[0]),
        tokens=tokens,
        count=lambda text: counter.count(text) - counter.n_special,
        ladder=LADDERS[ladder] if isinstance(ladder, str) else ladder,
        where=where or {},
    )
    return blame_assembled(
        queries, {document.id: document for document in documents}, assembly=assembly, recipe=index.recipe
    )


def _check(index: Index) -> None:
    if not len(index):
        raise StoreError(f"{index.url} holds no chunks; run: chunkwise index PATH --index {index.url}")
