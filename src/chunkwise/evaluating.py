"""Measure configs on the same documents and questions: what each finds at equal budgets, and what it costs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import groupby

from chunkwise.core.config import Config
from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.protocols import LLM
from chunkwise.core.types import Document, Query
from chunkwise.evaluate.answered import answers_for
from chunkwise.evaluate.judgements import Judge
from chunkwise.evaluate.measures import Recall
from chunkwise.evaluate.results import Corpus, Evaluation, Outcome
from chunkwise.evaluate.slots import slots
from chunkwise.measuring import BUDGETS, Built, CutUp, Setting
from chunkwise.retrieve.answering import Response, Statement
from chunkwise.text.huggingface import MINILM

__all__ = ["BUDGETS", "Evaluation", "Setting", "answered", "blamed", "evaluate"]

_OWN = (
    "the answers are those of the questions themselves: faithfulness tells whether they could be given from what was "
    "found, completeness tells nothing"
)

Progress = Callable[[int, int, str], None]
"""Called with the number of configs done, the number of configs, and the label of the one just done."""


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
    once, whatever the configs that hold it, and its vector kept; those that cut alike are asked once.
    Cost: cutting, embedding what no config before has had, and some milliseconds a question and config.
    Raises: ChunkwiseError for no question, a question without evidence, evidence that is in no document, two documents
    or questions of one id, or two equal configs; RecipeError, EncodeError.
    """
    texts = {document.id: document for document in _distinct(documents)}
    setting = setting or Setting.of()
    size, counter = setting.budget.size, setting.budget.tokenizer.name
    wanted = [replace(config, tokens=size, tokenizer=counter) for config in configs]
    _check(queries, texts, wanted)
    outcomes: dict[Config, Outcome] = {}
    known: dict[tuple[str, str, str], Outcome] = {}
    by_index = sorted(wanted, key=lambda config: [one.index for one in wanted].index(config.index))
    with setting.keeping() as kept:
        for _, group in groupby(by_index, key=lambda config: config.index):
            for outcome in _measured(list(group), list(texts.values()), queries, kept, known):
                outcomes[outcome.config] = outcome
                if progress is not None:
                    progress(len(outcomes), len(wanted), outcome.config.label)
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


def _measured(
    configs: Sequence[Config],
    documents: Sequence[Document],
    queries: Sequence[Query],
    setting: Setting,
    known: dict[tuple[str, str, str], Outcome],
) -> Iterator[Outcome]:
    """Yield what configs that index alike find; what is known of equal cuts is taken from there, and added."""
    cut = CutUp.of(configs[0], documents, setting)
    built: Built | None = None
    for config in configs:
        same = (cut.key, config.retrieval, config.evidence)
        if same not in known:
            built = built or cut.built(queries, setting)
            known[same] = built.outcome(config, queries, setting)
        costs = replace(known[same].costs, cutting=cut.cutting)
        yield replace(known[same], config=config, costs=costs, notes=cut.notes, cut=cut.key)


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
    with setting.keeping() as kept:
        for outcome in evaluation.outcomes:
            if outcome.config.label in chosen:
                built = CutUp.of(outcome.config, texts, kept).built(evaluation.queries, kept)
                why = built.blame(outcome.config, evaluation.queries, texts, kept)
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
