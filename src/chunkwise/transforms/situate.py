"""Let a language model say where a chunk stands in its document.

Source: Anthropic 2024, "Introducing Contextual Retrieval". The document comes first in the prompt, so that a server
which keeps what it made of a beginning reads it once for all chunks of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from chunkwise.core.protocols import LLM, Answer, Budget, Prompt, Ruler
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.transforms.fitting import most_of

# Of a long document a prompt holds the stretch around the chunk; this share of it is what stands before.
_BEFORE = 0.25

# Words of English that so many tokens make. Source: OpenAI's help pages, "What are tokens": 100 tokens are 75 words.
_WORDS = 0.75

# Tokens: the least that an answer is allowed, for models that think before they write.
_LEAST_ANSWER = 512

_SHARED = "<document>\n{document}\n</document>\n\n"
_TASK = """Below is a passage of this document. It will be found by search, alone, without what stands around it.
<passage>
{passage}
</passage>
In at most {words} words, in the language of the document, say what the passage is about and where it belongs: name
the subject, and whatever the passage refers to without naming it (who, what, where, when). Do not repeat the passage.
Answer with that description only, in plain running text."""


def situated(chunks: Sequence[Chunk], document: Document, budget: Budget, llm: LLM) -> list[Answer]:
    """Return for each chunk what the model says of its place, on one line.

    Cost: one prompt a chunk, of at most `llm.window` tokens and the chunk. Raises: AnswerError.
    """
    around = stretches(document, budget.tokenizer.measure(document.text), llm.window)
    words = max(1, int(most_of(budget) * _WORDS))
    most = max(_LEAST_ANSWER, 4 * most_of(budget))
    prompts = [
        Prompt(
            _SHARED.format(document=around(chunk.own.start).slice(document.text)),
            _TASK.format(passage=chunk.text, words=words),
            max_tokens=most,
        )
        for chunk in chunks
    ]
    return [Answer(" ".join(answer.text.split()), answer.failure) for answer in llm(prompts)]


def stretches(document: Document, ruler: Ruler, window: int) -> Callable[[int], Span]:
    """Return a function from a place to the stretch of at most about `window` tokens that it is read in.

    A document that fits is one stretch. Stretches are few and the same for many places, and overlap, so that each
    place has some text before it. They are counted from the start: an edit further on changes none of them.
    """
    end = len(document.text)
    if ruler.fit(0, window) >= end:
        return lambda _place: Span(0, end)
    overlap = max(1, int(window * _BEFORE))
    starts = [0]
    while starts[-1] < end:
        starts.append(min(end, max(starts[-1] + 1, ruler.fit(starts[-1], max(1, window - overlap)))))

    def around(place: int) -> Span:
        index = min(bisect_right(starts, place), len(starts) - 1)
        first = starts[index - 1]
        return Span(ruler.fit_back(first, overlap) if first else 0, starts[index])

    return around
