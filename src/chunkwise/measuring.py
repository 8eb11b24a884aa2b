"""One config on some documents and questions: cut, embed, ask, score, and say why evidence was missed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

from chunkwise.core.config import Config
from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.leaves import leaves
from chunkwise.core.parsing import with_tokenizer
from chunkwise.core.protocols import Encoder, Store
from chunkwise.core.types import Document, Hit, Query
from chunkwise.embed import encoder as find_encoder
from chunkwise.embed.cache import USER_CACHE, Keeping, cached_if_possible
from chunkwise.evaluate.blame import Search as Blamed
from chunkwise.evaluate.blame import blame
from chunkwise.evaluate.blame_assembled import Assembly as BlamedAssembly
from chunkwise.evaluate.blame_assembled import blame_assembled
from chunkwise.evaluate.costs import Costs, Spent, measured
from chunkwise.evaluate.finding import Answers, Assembly, Find, Known, Search
from chunkwise.evaluate.measures import Cutoff, Measure, Recall, TokenBudget, Tokens, n_tokens, standard, tokens
from chunkwise.evaluate.misses import Blame
from chunkwise.evaluate.results import Found, Outcome
from chunkwise.pipeline import chunker, retriever
from chunkwise.retrieve.assemble import LADDERS, Question
from chunkwise.retrieve.search import scope_of
from chunkwise.retrieve.sentences import Sentences
from chunkwise.stores.memory import MemoryStore
from chunkwise.text.huggingface import MINILM
from chunkwise.text.terms import terms
from chunkwise.updating import Embed, Update, description, embedding, fitted

# In tokens: where the curve of recall against what is returned is drawn.
BUDGETS = (100, 200, 400, 800, 1200, 2000, 3000)


@dataclass(frozen=True, slots=True)
class Setting:
    """What all configs of an evaluation have in common.

    `embed` stands in for how an index embeds its chunks, if it is given: see chunkwise.evaluate.screening. `cache` is
    the file that keeps vectors; with None they are in a folder for temporary files while they are needed.
    """

    budget: TokenBudget
    metrics: tuple[Measure, ...]
    budgets: tuple[int, ...] = BUDGETS
    cache: str | os.PathLike[str] | None = USER_CACHE
    embed: Embed | None = None

    @contextmanager
    def keeping(self) -> Iterator[Setting]:
        """Give the setting with a file of its own for vectors while the block runs, if it has none.

        What several configs have in common is embedded once, and nothing of it is left.
        """
        with ExitStack() as stack:
            kept = self
            if self.cache is None:
                with suppress(OSError):  # no folder for temporary files can be written: each config embeds by itself
                    folder = stack.enter_context(TemporaryDirectory(prefix="chunkwise-"))
                    kept = replace(self, cache=Path(folder) / "vectors.sqlite")
            yield kept

    @classmethod
    def of(cls, size: int = 800, *, tokenizer: str = "", metrics: Sequence[Measure] = ()) -> Setting:
        """Return the usual setting for a budget of tokens, with the metrics that are usual where none is given.

        Raises: RecipeError.
        """
        budget = tokens(size, tokenizer=tokenizer) if tokenizer else tokens(size)
        wanted = [Recall @ budget, *(metrics or standard(budget))]
        return cls(budget, tuple({repr(metric): metric for metric in wanted}.values()))

    @property
    def curve(self) -> dict[int, Measure]:
        """The metric at each budget of the curve."""
        return {size: Recall @ replace(self.budget, size=size) for size in sorted({*self.budgets, self.budget.size})}

    @property
    def cutoffs(self) -> list[Cutoff]:
        """Where hits are cut off for the metrics and the curve."""
        wanted = [*self.metrics, *self.curve.values()]
        return list(dict.fromkeys([self.budget, *(metric.cutoff or self.budget for metric in wanted)]))


@dataclass(frozen=True, slots=True)
class CutUp:
    """Documents as a config cuts them, none embedded yet, and what that has cost.

    `key` is the same for two that make the same index: whatever is asked of either, the other gives, too.
    """

    update: Update
    info: Mapping[str, Any]
    key: str
    encoder: Encoder
    embed: Embed
    cutting: Spent
    notes: tuple[str, ...]

    @classmethod
    def of(cls, config: Config, documents: Iterable[Document], setting: Setting) -> CutUp:
        """Cut the documents as a config says.

        Raises: ChunkwiseError if no chunk comes of it, RecipeError, EncodeError.
        """
        encoder = find_encoder(config.encoder or MINILM)
        cut, notes = fitted(with_tokenizer(chunker(config.recipe), encoder.tokenizer), encoder)
        embed, doubts = embedding(encoder, setting.cache, late=config.late)
        embed = setting.embed or embed
        update = Update({}, Keeping(cut, setting.cache), encoder=encoder, embed=embed, summaries=config.summaries)
        with measured() as cutting:
            for document in documents:
                update.take(document)
        if not update.n_waiting:
            raise ChunkwiseError(f"{config.label} makes no chunk of these documents; is there text in them?")
        info = description(cut, encoder, dim=0, late=config.late, summaries=config.summaries)
        key = _digest(chain([{**info, "recipe": ""}], update.waiting))
        return cls(update, info, key, encoder, embed, cutting.spent, update.report((), notes + doubts).notes)

    def built(self, queries: Sequence[Query], setting: Setting) -> Built:
        """Embed what was cut, and encode the questions. It can be done once.

        Raises: EncodeError.
        """
        with measured() as embedded:
            entries = self.update.entries()
        store, n_special = MemoryStore(), self.encoder.tokenizer.n_special
        store.describe({**self.info, "dim": entries[0].vectors.shape[1]})
        store.replace(entries)
        keeping, _ = cached_if_possible(self.encoder, setting.cache)
        return Built(
            store=store,
            encoder=Known.of(keeping, [query.text for query in queries]),
            embed=self.embed,
            embedded=sum(entry.chunks[i].token_count - n_special for entry in entries for i in leaves(entry.chunks)),
            cutting=self.cutting,
            embedding=embedded.spent,
            notes=self.notes,
        )


@dataclass(frozen=True, slots=True)
class Built:
    """An index in memory, and what it has cost; `encoder` knows the questions."""

    store: Store
    encoder: Encoder
    embed: Embed
    embedded: int
    cutting: Spent
    embedding: Spent
    notes: tuple[str, ...]

    def outcome(self, config: Config, queries: Sequence[Query], setting: Setting) -> Outcome:
        """Ask every question, and score what is found."""
        seconds: list[float] = []
        scores: dict[str, list[float]] = {repr(metric): [] for metric in setting.metrics}
        curve: dict[int, list[float]] = {size: [] for size in setting.curve}
        paid, found = [], []
        with measured() as searching:
            find = self._find(config, setting)
            find(queries[0])  # the first question builds what is searched in
            for query in queries:
                start = time.perf_counter()
                answers = find(query)
                seconds.append(time.perf_counter() - start)
                for metric in setting.metrics:
                    scores[repr(metric)].append(_score(metric, query, answers, setting.budget))
                for size, metric in setting.curve.items():
                    curve[size].append(_score(metric, query, answers, setting.budget))
                hits = answers[setting.budget]
                paid.append(_score(Tokens @ setting.budget, query, answers, setting.budget))
                found.append(tuple(_found(hit, setting.budget) for hit in hits))
        costs = Costs(
            tokens=fmean(paid),
            vectors=self.store.count(),
            embedded=self.embedded,
            cutting=self.cutting,
            embedding=self.embedding,
            search=Spent(median(seconds), searching.spent.memory),
        )
        return Outcome(
            config,
            {name: tuple(values) for name, values in scores.items()},
            {size: tuple(values) for size, values in curve.items()},
            tuple(found),
            costs,
            notes=self.notes,
        )

    def blame(self, config: Config, queries: Sequence[Query], documents: Iterable[Document], setting: Setting) -> Blame:
        """Say why a config missed what it missed."""
        by_id = {document.id: document for document in documents}
        retrieval, budget = retriever(config.retrieval), setting.budget
        count = partial(n_tokens, tokenizer=budget.tokenizer)
        if config.ladder is None:
            search = Blamed(retrieval, tokens=budget.size, cost=budget.cost)
            scope = scope_of(self.store, self.encoder, retrieval, {})
            return blame(queries, by_id, search=search, scope=scope, embed=self.embed)
        assembly = BlamedAssembly(
            Sentences(self.store.entries(), self.encoder.tokenizer.n_special),
            ask=lambda text: Question(terms(text), self.encoder([text], role="query")[0]),
            tokens=budget.size,
            count=count,
            ladder=LADDERS[config.ladder],
            where={},
        )
        return blame_assembled(queries, by_id, assembly=assembly, recipe=config.recipe)

    def _find(self, config: Config, setting: Setting) -> Find:
        if config.ladder is not None:
            sentences = Sentences(self.store.entries(), self.encoder.tokenizer.n_special)
            return Assembly(sentences, LADDERS[config.ladder], self.encoder, setting.cutoffs, setting.budget)
        retrieval = retriever(config.retrieval)
        return Search(retrieval, scope_of(self.store, self.encoder, retrieval, {}), setting.cutoffs)


def _score(metric: Measure, query: Query, answers: Answers, budget: TokenBudget) -> float:
    """Return a metric of the hits that are cut off already."""
    return metric.formula(query, answers[metric.cutoff or budget], metric.cutoff)


def _found(hit: Hit, budget: TokenBudget) -> Found:
    chunk = hit.chunk
    return Found(chunk.document_id, chunk.spans, hit.score, hit.rank, budget.cost(chunk))


def _digest(parts: Iterable[object]) -> str:
    """Hash what parts say of themselves."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(repr(part).encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
