"""What a config gives to a question at each cutoff: so many hits, or as many as so many tokens pay for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from chunkwise.core.protocols import Encoder, Floats2d, Role, Tokenizer
from chunkwise.core.retrievals import Retrieval, Scope
from chunkwise.core.types import Chunk, Hit, Query
from chunkwise.evaluate.measures import Cutoff, TokenBudget, kept, n_tokens
from chunkwise.retrieve.assemble import Ladder, Question, bought, scores
from chunkwise.retrieve.search import candidates, spend
from chunkwise.retrieve.sentences import Floats, Sentences
from chunkwise.text.terms import terms

Answers: TypeAlias = Mapping[Cutoff, Sequence[Hit]]
"""The hits of a question at each cutoff, the best first."""

Find: TypeAlias = Callable[[Query], Answers]


@dataclass(frozen=True, slots=True)
class Known:
    """An encoder that knows the vectors of some questions, and asks another one for all else."""

    encoder: Encoder
    vectors: Mapping[str, Floats2d]

    @classmethod
    def of(cls, encoder: Encoder, texts: Sequence[str]) -> Known:
        """Encode questions together, each once."""
        asked = list(dict.fromkeys(texts))
        return cls(encoder, dict(zip(asked, encoder(asked, role="query"), strict=True)))

    @property
    def name(self) -> str:
        """The name of the encoder."""
        return self.encoder.name

    @property
    def fingerprint(self) -> str:
        """That of the encoder."""
        return self.encoder.fingerprint

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self.encoder.dim

    @property
    def max_tokens(self) -> int:
        """The longest text that the encoder takes."""
        return self.encoder.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The encoder's tokenizer."""
        return self.encoder.tokenizer

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        if role == "query" and texts and all(text in self.vectors for text in texts):
            return np.stack([self.vectors[text] for text in texts])
        return self.encoder(texts, role=role)


@dataclass(frozen=True, slots=True)
class Search:
    """Give whole chunks, or what a retrieval widens them to."""

    retrieval: Retrieval
    scope: Scope
    cutoffs: Sequence[Cutoff]
    _counted: dict[tuple[str, str], int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, query: Query) -> Answers:
        scope = replace(self.scope)  # it serves one question
        if any(step.widens for step in self.retrieval.steps):
            return {cutoff: self._widened(query.text, scope, cutoff) for cutoff in self.cutoffs}
        budgets = [cutoff.size for cutoff in self.cutoffs if isinstance(cutoff, TokenBudget)]
        most = [cutoff for cutoff in self.cutoffs if isinstance(cutoff, int)]
        ranked = candidates(
            self.retrieval, query.text, scope=scope, tokens=max(budgets, default=0), k=max(most, default=0)
        )
        costs: dict[str, list[int]] = {}  # each hit is counted once for all budgets
        answers: dict[Cutoff, Sequence[Hit]] = {}
        for cutoff in self.cutoffs:
            if isinstance(cutoff, TokenBudget):
                name = cutoff.tokenizer.name
                costs[name] = costs.get(name) or [self._cost(hit.chunk, cutoff) for hit in ranked]
                answers[cutoff] = _paid(ranked, costs[name], cutoff.size)
            else:
                answers[cutoff] = ranked[:cutoff]
        return answers

    def _cost(self, chunk: Chunk, budget: TokenBudget) -> int:
        """Return what a chunk costs, which many questions ask."""
        key = chunk.id, budget.tokenizer.name
        if key not in self._counted:
            self._counted[key] = budget.cost(chunk)
        return self._counted[key]

    def _widened(self, text: str, scope: Scope, cutoff: Cutoff) -> list[Hit]:
        if isinstance(cutoff, TokenBudget):
            return spend(self.retrieval, text, scope=scope, tokens=cutoff.size, cost=cutoff.cost)
        return self.retrieval.over(scope)(text, cutoff) if cutoff else []


def _paid(ranked: Sequence[Hit], costs: Sequence[int], left: int) -> list[Hit]:
    """Return the hits that a budget pays for, the best first; one that no longer fits is passed over."""
    paid, least = [], min(costs, default=0)
    for hit, cost in zip(ranked, costs, strict=True):
        if left < least:
            break
        if cost <= left:
            left -= cost
            paid.append(hit)
    return paid


@dataclass(frozen=True, slots=True)
class Assembly:
    """Give passages, assembled for each budget; at a number of hits, the best so many of those that `main` pays for."""

    sentences: Sentences
    ladder: Ladder
    encoder: Encoder
    cutoffs: Sequence[Cutoff]
    main: TokenBudget

    def __call__(self, query: Query) -> Answers:
        sentences = self.sentences
        question = Question(terms(query.text), self.encoder([query.text], role="query")[0])
        score = scores(sentences, question, self.ladder, sentences.allowed({}))
        budgets = {self.main, *(cutoff for cutoff in self.cutoffs if isinstance(cutoff, TokenBudget))}
        passages = {budget: self._bought(score, budget) for budget in budgets}
        return {
            cutoff: passages[cutoff] if isinstance(cutoff, TokenBudget) else kept(passages[self.main], cutoff)
            for cutoff in self.cutoffs
        }

    def _bought(self, score: Floats, budget: TokenBudget) -> list[Hit]:
        count = partial(n_tokens, tokenizer=budget.tokenizer)
        hits = bought(self.sentences, score, tokens=budget.size, count=count, gap=self.ladder.gap)
        return sorted(hits, key=lambda hit: hit.rank)
