"""A scorer that asks a language model where the subject changes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from chunkwise.chunkers.marks import marks
from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import LLM
from chunkwise.core.recipes import scorer
from chunkwise.core.scoring import Passage


@scorer
@dataclass(frozen=True, slots=True)
class Marked:
    """Part the sentences where a language model, named as `llm`, says that the subject changes.

    Where it gives no answer that makes sense, the text is cut as without marks, and a warning says where and why.
    Cost: a prompt for forty sentences; the encoder is not asked.
    """

    llm: LLM | None = None

    @property
    def local(self) -> bool:
        """A prompt holds forty sentences, and what stands further on changes nothing."""
        return True

    def __call__(self, passage: Passage) -> Sequence[int]:
        if self.llm is None:
            raise RecipeError("marked: no llm is named; try scored(scorer=marked(llm='https://HOST/v1#MODEL'))")
        found = marks([passage.slice(number, number + 1) for number in range(len(passage.spans))], self.llm)
        if found.failures:
            more = f" (and {len(found.failures) - 1} more)" if len(found.failures) > 1 else ""
            warnings.warn(f"{self.llm.name} marked nothing in {found.failures[0]}{more}", stacklevel=2)
        return found.starts
