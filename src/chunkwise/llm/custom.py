"""A language model that is a function of the caller's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chunkwise.core.protocols import Answer, Prompt


@dataclass(frozen=True, slots=True)
class Custom:
    """Ask a function, one prompt after the other. `window` is in tokens of a document."""

    name: str
    answer: Callable[[str], str] = field(compare=False)
    window: int = field(default=8192, compare=False)

    def __call__(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Answer prompts. An answer without text is a failure."""
        texts = [self.answer(prompt.shared + prompt.text).strip() for prompt in prompts]
        return [Answer(text) if text else Answer(failure="the answer is empty") for text in texts]
