"""What `chunkwise evaluate` does about answers: who writes them, who judges them, how far the judge can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chunkwise.cli.terminal import fail

if TYPE_CHECKING:
    from chunkwise.core.types import Document
    from chunkwise.evaluate.judgements import Judge
    from chunkwise.evaluate.results import Evaluation


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers, which answers are given, who judges, and what people say of answers: names and files."""

    llm: str | None
    given: Path | None
    judge: str | None
    labels: Path | None

    def __post_init__(self) -> None:
        if self.llm is not None and self.given is not None:
            fail("--llm writes answers, --given has them: give one of the two")

    def judged(self, found: Evaluation, documents: Sequence[Document]) -> Evaluation:
        """Have answers of every config judged."""
        from chunkwise.evaluate.answer_files import read_answers
        from chunkwise.evaluating import answered
        from chunkwise.llm import llm

        return answered(
            found,
            documents,
            judge=self._judge(),
            llm=llm(self.llm) if self.llm is not None else None,
            given=read_answers(self.given, found.queries) if self.given is not None else None,
        )

    def calibration(self, found: Evaluation, documents: Sequence[Document]) -> str:
        """Return what labels say of the judge, and of the means of the config that is chosen."""
        from chunkwise.evaluate.answer_files import read_labels
        from chunkwise.evaluate.calibration import calibrated, calibration_table

        if self.labels is None:
            return ""
        texts = {document.id: document.text for document in documents}
        hits = {query.id: own for query, own in zip(found.queries, found.chosen.hits(texts), strict=True)}
        told = calibrated(read_labels(self.labels, found.queries), self._judge(), hits=hits)
        return calibration_table(told, found.chosen.answers)

    def _judge(self) -> Judge:
        from chunkwise.evaluate.answered import judge_by
        from chunkwise.llm import llm

        return judge_by(llm(self.judge) if self.judge is not None else None)
