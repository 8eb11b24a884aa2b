"""Say why assembled evidence misses what answers a question: see blame, of which this is the same for sentences.

Here no chunk is returned, and what is cut are the stretches of text at which sentences are scored. Evidence that was
not bought whole is tried as a stretch of its own at every scale:

- over budget: it costs more than the budget; or what is missing of it scores more than something that was bought.
- outranked: even as a stretch of its own it is not bought whole.
- diluted: as a stretch of its own it is bought; a stretch of some scale holds it whole, with other text.
- fragmented: as a stretch of its own it is bought, and no stretch holds it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chunkwise.core.protocols import Filter
from chunkwise.core.spans import overlaps
from chunkwise.core.types import Document, Evidence, Hit, Query
from chunkwise.evaluate.blame import Missed, covered, missing, nearness
from chunkwise.evaluate.counterfactual import holds
from chunkwise.evaluate.misses import Blame, Cause, Miss
from chunkwise.retrieve.assemble import Ladder, Question, assemble, scores
from chunkwise.retrieve.sentences import Floats, Sentences


@dataclass(frozen=True, slots=True)
class Assembly:
    """How evidence is assembled: of which sentences, with what question, for how many tokens, counted by what."""

    sentences: Sentences
    ask: Callable[[str], Question]
    tokens: int
    count: Callable[[str], int]
    ladder: Ladder
    where: Filter

    def __call__(self, question: Question, sentences: Sentences) -> list[Hit]:
        """Return the passages that are bought of some sentences."""
        return assemble(sentences, question, tokens=self.tokens, count=self.count, ladder=self.ladder, where=self.where)


def blame_assembled(
    queries: Sequence[Query], documents: Mapping[str, Document], *, assembly: Assembly, recipe: str = ""
) -> Blame:
    """Assemble evidence for every question, and say of all that was not found whole why.

    Ranks are those of the best sentence of the evidence, by score. Text that is in no sentence of the index counts as
    fragmented; it can't be tried.
    Cost: the evidence is assembled twice for a question that misses some.
    Raises: ChunkwiseError for evidence that is in no document, EncodeError.
    """
    judged: dict[tuple[int, int], Miss] = {}
    for number, query in enumerate(queries):
        question = assembly.ask(query.text)
        hits = assembly(question, assembly.sentences)
        trial: _Trial | None = None
        for one in missing(query, hits, documents):
            trial = trial or _Trial(query.id, assembly, question, hits)
            miss, key = trial.miss(one, documents), (number, one.slot)
            if key not in judged or nearness(miss) > nearness(judged[key]):
                judged[key] = miss
    name = f"assemble({assembly.ladder!r})"
    return Blame(recipe, name, f"{assembly.tokens} tokens", len(queries), tuple(judged.values()))


class _Trial:
    """A question with the evidence that was bought for it, to try other evidence."""

    def __init__(self, query_id: str, assembly: Assembly, question: Question, hits: Sequence[Hit]) -> None:
        self._query_id = query_id
        self._assembly = assembly
        self._question = question
        self._hits = hits
        self._allowed = assembly.sentences.allowed(assembly.where)
        self._scores = self._scored(assembly.sentences)

    def miss(self, missed: Missed, documents: Mapping[str, Document]) -> Miss:
        """Try a piece of evidence as a stretch of its own."""
        evidence, assembly = missed.evidence, self._assembly
        tokens = assembly.count(evidence.span.slice(documents[evidence.document_id].text))
        numbers = list(_numbers(assembly.sentences, evidence))
        if not numbers:
            return Miss(self._query_id, evidence, "fragmented", missed.lost, 0, None, None, tokens, None)
        parted = assembly.sentences.parted(numbers[0], numbers[-1] + 1, assembly.ladder.sizes)
        bought = covered(assembly(self._question, parted), documents)
        found = holds(bought.get(evidence.document_id, ()), evidence.span)
        rungs = [assembly.sentences.rung(size) for size in assembly.ladder.sizes]
        n_holding = sum(bool(rung.owner[numbers[0]] == rung.owner[numbers[-1]]) for rung in rungs)
        return Miss(
            query_id=self._query_id,
            evidence=evidence,
            cause=self._cause(evidence, numbers, tokens, whole=n_holding > 0, found=found),
            lost=missed.lost,
            n_holding=n_holding,
            rank=_rank(self._scores, numbers),
            rank_alone=_rank(self._scored(parted), numbers),
            tokens=tokens,
            cut=evidence.span if found else None,
        )

    def _cause(self, evidence: Evidence, numbers: Sequence[int], tokens: int, *, whole: bool, found: bool) -> Cause:
        if tokens > self._assembly.tokens or self._was_passed_over(evidence, numbers):
            return "over budget"
        if not found:
            return "outranked"
        return "diluted" if whole else "fragmented"

    def _was_passed_over(self, evidence: Evidence, numbers: Sequence[int]) -> bool:
        """Tell whether every sentence that is missing scores more than a passage that was bought."""
        of_document = [hit.chunk for hit in self._hits if hit.chunk.document_id == evidence.document_id]
        bought = [span for chunk in of_document for span in chunk.spans]
        left = [number for number in numbers if not holds(bought, self._assembly.sentences.each[number].span)]
        least = min((hit.score for hit in self._hits), default=np.inf)
        return bool(left) and min(self._scores[number] for number in left) > least

    def _scored(self, sentences: Sentences) -> Floats:
        return scores(sentences, self._question, self._assembly.ladder, self._allowed)


def _numbers(sentences: Sentences, evidence: Evidence) -> Iterator[int]:
    """Yield the sentences that have some of the evidence."""
    for number in sentences.of_document(evidence.document_id):
        if overlaps(sentences.each[number].span, evidence.span):
            yield number


def _rank(score: Floats, numbers: Sequence[int]) -> int:
    return int((score > max(score[number] for number in numbers)).sum()) + 1
