"""Let a language model mark where the subject changes: numbered sentences in, numbers out.

Source: Chroma 2024, Evaluating Chunking Strategies for Retrieval, LLMSemanticChunker, which has numbered pieces
marked; LumberChunker (arXiv:2406.17526) for letting the model find the shift.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from chunkwise.core.protocols import LLM, Answer, Prompt

# Sentences that one prompt decides on, and those around them that it only reads.
_DECIDED, _READ = 40, 4

# In characters: a subject is told by the beginning of a sentence, too.
_LONGEST = 400

# Tokens: forty numbers are fewer than 200; the rest is for models that think before they write.
_ANSWER = 1024

_TASK = """Below are numbered sentences of a document, in their order. Part them into groups, each about one subject, so
that a group can be understood without the others. A group mostly has several sentences; where the subject does not
change there is nothing to part. Answer with a JSON object, {"starts": [...]}: the numbers of the sentences that begin a
new group, rising.

"""


@dataclass(frozen=True, slots=True)
class Marks:
    """The numbers of the sentences that begin a group, from 0, in order; and where there was no answer, and why."""

    starts: tuple[int, ...]
    failures: tuple[str, ...]


def marks(sentences: Sequence[str], llm: LLM) -> Marks:
    """Ask which sentences begin a new subject. Where an answer fails or makes no sense, none is marked, which is told.

    Each prompt decides on forty sentences and sees a few around them, so an edit further on changes nothing.
    Cost: a prompt for forty sentences, of at most 6,000 tokens. Raises: AnswerError if the model can't be asked.
    """
    windows = [range(first, min(first + _DECIDED, len(sentences))) for first in range(0, len(sentences), _DECIDED)]
    shown = [range(max(0, window.start - _READ), min(window.stop + _READ, len(sentences))) for window in windows]
    prompts = [Prompt(_TASK, _numbered(sentences, numbers), max_tokens=_ANSWER, form="json") for numbers in shown]
    starts: list[int] = []
    failures: list[str] = []
    for window, numbers, answer in zip(windows, shown, llm(prompts), strict=True):
        try:
            found = [numbers.start + number - 1 for number in _starts(answer, len(numbers))]
            starts += [number for number in found if number in window and number > 0]
        except ValueError as err:
            failures.append(f"sentences {window.start + 1} to {window.stop}: {err}")
    return Marks(tuple(starts), tuple(failures))


def _numbered(sentences: Sequence[str], numbers: range) -> str:
    lines = (" ".join(sentences[number].split())[:_LONGEST] for number in numbers)
    return "\n".join(f"[{count}] {line}" for count, line in enumerate(lines, 1))


def _starts(answer: Answer, last: int) -> list[int]:
    """Return the numbers of an answer.

    Raises: ValueError, which says what is wrong with it.
    """
    content = answer.content()
    found = content.get("starts") if isinstance(content, dict) else content
    if not isinstance(found, list) or any(type(number) is not int for number in found):
        raise ValueError(f"the answer has no list of numbers `starts`: {answer.text[:80]!r}")
    wrong = next((number for number in found if not 1 <= number <= last), None)
    if wrong is not None:
        raise ValueError(f"there is no sentence {wrong}, only 1 to {last}")
    if any(one >= other for one, other in pairwise(found)):
        raise ValueError(f"the numbers do not rise: {found[:20]}")
    return found
