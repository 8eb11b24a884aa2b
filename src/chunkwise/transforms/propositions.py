"""Say what chunks state one fact at a time, as derived chunks beside them.

Source: Chen et al. 2023, Dense X Retrieval (arXiv:2312.06648).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import between, unit_ends
from chunkwise.core.protocols import LLM, Answer, Budget, Prompt
from chunkwise.core.recipes import numbered
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.graphemes import inked
from chunkwise.transforms.fitting import Line, with_context
from chunkwise.transforms.leads import title

# Tokens of an answer: the facts of a chunk repeat it, each with its subject named, in JSON.
_ANSWER = 2048

_SHARED = """Below are numbered sentences of the document {title!r}. Write down every fact that they state: one fact a
statement, as short as it can be, true to the text, and to be understood alone: instead of a pronoun or "the company"
write the name. Answer with a JSON object, {{"facts": [{{"sentence": 1, "text": "..."}}, ...]}}: the number of the
sentence that states the fact, and the statement, in the language of the text.

"""


@dataclass(frozen=True, slots=True)
class Propositions:
    """Derived chunks in order of their sentences, and where there was no answer, and why."""

    chunks: tuple[Chunk, ...]
    failures: tuple[str, ...]


def propositions(chunks: Sequence[Chunk], document: Document, *, budget: Budget, llm: LLM) -> Propositions:
    """Return a derived chunk for every fact that a chunk of `document` states.

    The statement is its context, its text the sentence that states it, so that a hit shows where it was read;
    `meta["derived"]` is "proposition", and `parent` the chunk. Several may share a sentence: they are entries to find
    chunks by, not a cut. Cost: one prompt a chunk. Raises: AnswerError if the model can't be asked.
    """
    ends = unit_ends(document, "auto")
    shared = _SHARED.format(title=title(document) or document.id)
    sentences = [_sentences(document, chunk.own, ends) for chunk in chunks]
    prompts = [Prompt(shared, _numbered(document, spans), max_tokens=_ANSWER, form="json") for spans in sentences]
    found: list[Chunk] = []
    failures: list[str] = []
    for chunk, spans, answer in zip(chunks, sentences, llm(prompts), strict=True):
        try:
            facts = _facts(answer, len(spans))
        except ValueError as err:
            failures.append(f"{document.id}, characters {chunk.start} to {chunk.end}: {err}")
            continue
        found += _derived(chunk, document, budget, [(spans[number - 1], text) for number, text in facts])
    return Propositions(tuple(numbered(found)), tuple(failures))


def _sentences(document: Document, own: Span, ends: Sequence[int]) -> list[Span]:
    return [inked(document.text, span) for span in between(document.text, ends, own)]


def _numbered(document: Document, spans: Sequence[Span]) -> str:
    return "\n".join(f"[{i}] {' '.join(span.slice(document.text).split())}" for i, span in enumerate(spans, 1))


def _facts(answer: Answer, last: int) -> list[tuple[int, str]]:
    """Return the facts of an answer with the numbers of their sentences, in order of these.

    Raises: ValueError, which says what is wrong with the answer.
    """
    content = answer.content()
    facts = content.get("facts") if isinstance(content, dict) else None
    if not isinstance(facts, list) or not all(isinstance(fact, dict) for fact in facts):
        raise ValueError(f"the answer has no list `facts`: {answer.text[:80]!r}")
    read = [(fact.get("sentence"), fact.get("text")) for fact in facts]
    told = [(number, " ".join(text.split())) for number, text in read if type(number) is int and isinstance(text, str)]
    if len(told) < len(read) or not all(1 <= number <= last and text for number, text in told):
        raise ValueError(f"a fact has no text, or no sentence from 1 to {last}: {answer.text[:80]!r}")
    return sorted(dict.fromkeys(told), key=lambda fact: fact[0])


def _derived(chunk: Chunk, document: Document, budget: Budget, facts: Sequence[tuple[Span, str]]) -> Iterator[Chunk]:
    cut, ruler = cutter(document, budget), budget.tokenizer.measure(document.text)
    for span, text in facts:
        made = replace(cut(span, meta={"derived": "proposition"}), parent=chunk.id)
        yield with_context(made, (), [Line(text)], ruler, budget, share=1.0)
