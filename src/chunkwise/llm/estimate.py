"""Count what a run would ask of a language model, and what that would cost, without asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chunkwise.core.protocols import Answer, Prompt, Tokenizer
from chunkwise.llm.chat import Chat
from chunkwise.text.bytepairs import BytePairs

# The prices of models are given for so many tokens.
_MILLION = 1_000_000

_TOKENIZER = BytePairs("o200k_base")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Stand in for a language model and count. Every prompt fails, so that a recipe does what it does without one.

    `price_in` and `price_out` are those of a million tokens. Tokens of answers are counted as the most that a prompt
    allows. What a server's prefix cache spares is not subtracted; `shared_tokens` tells how much that is at best.
    """

    llm: Chat
    price_in: float = 0.0
    price_out: float = 0.0
    tokenizer: Tokenizer = _TOKENIZER
    _counted: dict[bytes, tuple[int, int]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _shared: dict[str, list[int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.llm.name

    @property
    def window(self) -> int:
        """The window of the model."""
        return self.llm.window

    def __call__(self, prompts: Sequence[Prompt]) -> list[Answer]:
        """Count the prompts that are not answered yet, each once."""
        keys = [self.llm.key(prompt) for prompt in prompts]
        known = self.llm.kept(keys)
        for key, prompt in zip(keys, prompts, strict=True):
            if key not in known and key not in self._counted:
                self._count(key, prompt)
        return [Answer(known[key]) if key in known else Answer(failure="a dry run") for key in keys]

    @property
    def n_calls(self) -> int:
        """How many prompts would be sent."""
        return len(self._counted)

    @property
    def prompt_tokens(self) -> int:
        """How many tokens these have."""
        return sum(tokens for tokens, _ in self._counted.values())

    @property
    def answer_tokens(self) -> int:
        """How many tokens the answers have at most."""
        return sum(most for _, most in self._counted.values())

    @property
    def shared_tokens(self) -> int:
        """How many tokens of the prompts repeat the beginning of one before."""
        return sum(tokens * (times - 1) for tokens, times in self._shared.values())

    @property
    def cost(self) -> float:
        """What the run would cost at most, in the currency of the prices."""
        return (self.prompt_tokens * self.price_in + self.answer_tokens * self.price_out) / _MILLION

    def __str__(self) -> str:
        cost = f", at most {self.cost:.2f}" if self.price_in or self.price_out else ""
        return (
            f"{self.n_calls} calls of {self.llm.model}: {self.prompt_tokens:,} tokens in, of which "
            f"{self.shared_tokens:,} repeat a beginning, at most {self.answer_tokens:,} out{cost}"
        )

    def _count(self, key: bytes, prompt: Prompt) -> None:
        shared = self._shared.setdefault(prompt.shared, [self.tokenizer.count(prompt.shared), 0])
        shared[1] += 1
        self._counted[key] = (shared[0] + self.tokenizer.count(prompt.text), prompt.max_tokens)
