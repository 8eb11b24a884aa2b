"""Measure configs on the same documents and questions: what each finds at equal budgets, and what it costs."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from itertools import groupby
from statistics import fmean, median

from chunkwise.core.config import Config
from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.leaves import leaves
from chunkwise.core.parsing import with_tokenizer
from chunkwise.core.protocols import LLM, Encoder, Store
from chunkwise.core.types import Document, Hit, Query
from chunkwise.embed import encoder as find_encoder
from chunkwise.embed.cache import USER_CACHE, Keeping, cached_if_possible
from chunkwise.evaluate.answered import answers_for
from chunkwise.evaluate.blame import Search as Blamed
from chunkwise.evaluate.blame import blame
from chunkwise.evaluate.blame_assembled import Assembly as BlamedAssembly
from chunkwise.evaluate.blame_assembled import blame_assembled
from chunkwise.evaluate.costs import Costs, Spent, measured
from chunkwise.evaluate.finding import Answers, Assembly, Find, Known, Search
from chunkwise.evaluate.judgements import Judge
from chunkwise.evaluate.measures import Cutoff, Measure, Recall, TokenBudget, Tokens, n_tokens, standard, tokens
from chunkwise.evaluate.misses import Blame
from chunkwise.evaluate.results import Corpus, Evaluation, Found, Outcome
from chunkwise.evaluate.slots import slots
from chunkwise.pipeline import chunker, retriever
from chunkwise.retrieve.answering import Response, Statement
from chunkwise.retrieve.assemble import LADDERS, Question
from chunkwise.retrieve.search import scope_of
from chunkwise.retrieve.sentences import Sentences
from chunkwise.stores.memory import MemoryStore
from chunkwise.text.huggingface import MINILM
from chunkwise.text.terms import terms
from chunkwise.updating import Embed, Update, description, embedding, fitted

__all__ = ["BUDGETS", "Evaluation", "answered", "blamed", "evaluate"]

# In tokens: where the curve of recall against what is returned is drawn.
BUDGETS = (100, 200, 400, 800, 1200, 2000, 3000)

_OWN = (
    "the answers are those of the questions themselves: faithfulness tells whether they could be given from what was "
    "found, completeness tells nothing"
)

Progress = Callable[[int, int, str], None]
"""Called with the number of configs done, the number of configs, and the label of the one just done."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What all configs of an evaluation have in common.

    `embed` stands in for how an index embeds its chunks, if it is given: see chunkwise.evaluate.screening. `cache` is
    the file that keeps vectors, None for none.
    """

    budget: TokenBudget
    metrics: tuple[Measure, ...]
    budgets: tuple[int, ...] = BUDGETS
    cache: str | os.PathLike[str] | None = USER_CACHE
    embed: Embed | None = None

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


def evaluate(
    documents: Iterable[Document],
    queries: Sequence[Query],
    configs: Sequence[Config],
    *,
    setting: Setting | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Index the documents by every config, in memory, and ask every question of each; search is exact.

    The budget of the setting is spent, not that of a config, and stands in the config of an outcome. A text is embedded
    once, whatever the configs that hold it, and its vector kept; those that index alike share an index.
    Cost: cutting and embedding what no config before has had, some milliseconds a question and config.
    Raises: ChunkwiseError for no question, a question without evidence, evidence that is in no document, two documents
    or questions of one id, or two equal configs; RecipeError, EncodeError.
    """
    texts = {document.id: document for document in _distinct(documents)}
    setting = setting or Setting.of()
    size, counter = setting.budget.size, setting.budget.tokenizer.name
    wanted = [replace(config, tokens=size, tokenizer=counter) for config in configs]
    _check(queries, texts, wanted)
    outcomes: dict[Config, Outcome] = {}
    by_index = sorted(wanted, key=lambda config: [one.index for one in wanted].index(config.index))
    for _, group in groupby(by_index, key=lambda config: config.index):
        built: Built | None = None
        for config in group:
            built = built or Built.of(config, list(texts.values()), queries, setting)
            outcomes[config] = built.outcome(config, queries, setting)
            if progress is not None:
                progress(len(outcomes), len(wanted), config.label)
    return Evaluation(
        queries=tuple(queries),
        outcomes=tuple(outcomes[config] for config in wanted),
        corpus=_corpus(texts),
        metric=repr(Recall @ setting.budget),
        tokens=setting.budget.size,
        tokenizer=setting.budget.tokenizer.name,
        encoder=", ".join(dict.fromkeys(config.encoder or MINILM for config in wanted)),
        version=version("chunkwise"),
    )


def blamed(
    evaluation: Evaluation, documents: Iterable[Document], labels: Iterable[str], *, setting: Setting | None = None
) -> Evaluation:
    """Return an evaluation that says, of the configs of these labels, why they missed what they missed.

    Cost: of each an index is built again, from vectors that are kept; see chunkwise.evaluate.blame for the rest.
    Raises: ChunkwiseError, EncodeError.
    """
    chosen, texts = set(labels), list(documents)
    setting = setting or Setting.of(evaluation.tokens, tokenizer=evaluation.tokenizer)
    outcomes = []
    for outcome in evaluation.outcomes:
        if outcome.config.label in chosen:
            built = Built.of(outcome.config, texts, evaluation.queries, setting)
            why = built.blame(outcome.config, evaluation.queries, texts, setting)
            outcomes.append(replace(outcome, blame=replace(why, recipe=outcome.config.label)))
        else:
            outcomes.append(outcome)
    return replace(evaluation, outcomes=tuple(outcomes))


def answered(
    evaluation: Evaluation,
    documents: Iterable[Document],
    *,
    judge: Judge,
    llm: LLM | None = None,
    given: Mapping[str, Response] | None = None,
) -> Evaluation:
    """Return an evaluation whose configs have judged answers: those that `llm` writes of their hits, or `given` ones.

    Without either, the answers that the questions have are judged by what each config found: whether they could have
    been given.
    Raises: ChunkwiseError where there are no answers, AnswerError if a model can't be asked.
    """
    texts = {document.id: document.text for document in documents}
    notes: tuple[str, ...] = ()
    if given is None and llm is None:
        notes = (_OWN,)
        given = {one.id: Response((Statement(one.answer),)) for one in evaluation.queries if one.answer}
        if not given:
            raise ChunkwiseError(
                "the questions have no answers to judge; name a model that answers, or a file of answers"
            )
    outcomes = []
    for outcome in evaluation.outcomes:
        hits = {query.id: own for query, own in zip(evaluation.queries, outcome.hits(texts), strict=True)}
        told = answers_for(evaluation.queries, hits, texts=texts, judge=judge, llm=llm, given=given)
        outcomes.append(replace(outcome, answers=replace(told, notes=(*notes, *told.notes))))
    return replace(evaluation, outcomes=tuple(outcomes))


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

    @classmethod
    def of(cls, config: Config, documents: Sequence[Document], queries: Sequence[Query], setting: Setting) -> Built:
        """Cut and embed the documents as a config says, and encode the questions.

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
        with measured() as embedded:
            entries = update.entries()
        store, n_special = MemoryStore(), encoder.tokenizer.n_special
        dim = entries[0].vectors.shape[1]
        store.describe(description(cut, encoder, dim=dim, late=config.late, summaries=config.summaries))
        store.replace(entries)
        keeping, _ = cached_if_possible(encoder, setting.cache)
        known = Known.of(keeping, [query.text for query in queries])
        return cls(
            store=store,
            encoder=known,
            embed=embed,
            embedded=sum(entry.chunks[i].token_count - n_special for entry in entries for i in leaves(entry.chunks)),
            cutting=cutting.spent,
            embedding=embedded.spent,
            notes=update.report((), notes + doubts).notes,
        )

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


def _distinct(documents: Iterable[Document]) -> Iterable[Document]:
    seen: dict[str, str] = {}
    for document in documents:
        if document.id in seen:
            places = " and ".join(filter(None, (seen[document.id], document.source)))
            raise ChunkwiseError(
                f"two documents of one name, {document.id}{f' ({places})' if places else ''}; "
                "give the folder above both, so that their paths tell them apart"
            )
        seen[document.id] = document.source
        yield document


def _check(queries: Sequence[Query], texts: Mapping[str, Document], configs: Sequence[Config]) -> None:
    """Refuse what would give numbers that pretend.

    Raises: ChunkwiseError.
    """
    if not queries or not texts or not configs:
        missing = "no questions" if not queries else "no documents" if not texts else "no configs"
        raise ChunkwiseError(f"{missing} to measure with; give at least one")
    ids, labels = [query.id for query in queries], [config.label for config in configs]
    if twice := next((id for id in ids if ids.count(id) > 1), None):
        raise ChunkwiseError(f"two questions have the id {twice!r}; give each one of its own")
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise ChunkwiseError(f"{twice} is given twice; leave one out")
    for query in queries:
        for evidence in (one for slot in slots(query) for one in slot):
            document = texts.get(evidence.document_id)
            if document is None or evidence.span.end > len(document.text):
                raise ChunkwiseError(
                    f"question {query.id!r}: no text from {evidence.span.start} to {evidence.span.end} of "
                    f"{evidence.document_id!r} in these documents; run: chunkwise queries check"
                )


def _corpus(texts: Mapping[str, Document]) -> Corpus:
    digest = hashlib.blake2b(digest_size=8)
    for id in sorted(texts):
        for part in (id, texts[id].text):
            raw = part.encode("utf-8", "surrogatepass")
            digest.update(len(raw).to_bytes(8, "big") + raw)
    return Corpus(len(texts), sum(len(document.text) for document in texts.values()), digest.hexdigest())
