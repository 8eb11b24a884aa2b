"""Draft queries by a language model, and believe it nothing: its excerpts must stand in the text that it was given."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence

from chunkwise.core.protocols import LLM, Answer, Prompt
from chunkwise.core.spans import contains
from chunkwise.core.types import Document, Evidence, Query, Span
from chunkwise.evaluate.drafts import Draft, Sieve, synthetic
from chunkwise.evaluate.locate import Places, is_short
from chunkwise.evaluate.passages import Passages, sentences
from chunkwise.text.terms import terms

# In characters: how much of a document a prompt shows. About 750 tokens of English: several chunks, so that the model
# chooses what is worth asking, and little enough that it reads all of it.
_SHOWN = 3_000

# Tokens that an answer may have: a question, an excerpt of a few sentences, and thoughts of a model that thinks.
_ANSWER = 1_024

# How often more is asked where answers were dropped, which bounds what a model that is no good costs; and how many more
# than are missing.
_ROUNDS, _SPARE = 4, 1.25

_TASK = """Below is a part of the document {title!r}. Write one question that it answers, as a person would ask it who
has not seen this text but needs to know: in words of his own, in the language of the text, naming what it is about.
The question must be understood alone. It must not speak of a text, passage or document, nor repeat the text's rare
words where a plain word will do.
Copy the excerpt that answers it character for character: whole sentences, as few as suffice.
Answer with a JSON object: {{"question": "...", "excerpt": "...", "answer": "..."}}. If the text says nothing that
anyone would ask for, as a list of references does, answer {{"question": ""}}.

<text>
{text}
</text>"""


def draft_by(llm: LLM, documents: Sequence[Document], *, n: int, seed: int = 0) -> Draft:
    """Draft `n` queries, or as many as come of it, of places all over the documents.

    Cost: a prompt a query of about a thousand tokens, and a quarter more; at most five times that. The same documents
    and seed give the same prompts.
    Raises: AnswerError if the model can't be asked; MissingExtraError without the `search` extra.
    """
    sieve = Sieve(Passages(documents, words=terms), documents)
    how = "llm " + (llm.name.rpartition("#")[2] or llm.name)
    places = _places(documents, seed)
    for _ in range(_ROUNDS):
        missing = n - len(sieve.queries)
        some = [place for _, place in zip(range(max(1, int(missing * _SPARE))), places, strict=False)]
        if missing <= 0 or not some:
            break
        prompts = [
            Prompt("", _TASK.format(title=doc.id, text=span.slice(doc.text)), _ANSWER, "json") for doc, span in some
        ]
        for (document, span), answer in zip(some, llm(prompts), strict=True):
            try:
                query = _query(answer, document, span, how)
            except ValueError as err:
                sieve.dropped.append((f"{document.id}, characters {span.start} to {span.end}", str(err)))
                continue
            if len(sieve.queries) < n:
                sieve.take(query)
    return sieve.draft()


def _places(documents: Sequence[Document], seed: int) -> Iterator[tuple[Document, Span]]:
    """Yield stretches of documents, none twice: one of each document in turn, in an order that the seed decides."""
    rng = random.Random(f"{seed}")  # noqa: S311  # no secret
    left = [(one, _stretches(one)) for one in documents]
    rng.shuffle(left)
    for _, stretches in left:
        rng.shuffle(stretches)
    while left := [(one, stretches) for one, stretches in left if stretches]:
        for document, stretches in left:
            yield document, stretches.pop()


def _stretches(document: Document) -> list[Span]:
    """Partition a document into stretches that end where a sentence does."""
    found: list[Span] = []
    for span in sentences(document):
        if found and span.end - found[-1].start <= _SHOWN:
            found[-1] = Span(found[-1].start, span.end)
        else:
            found.append(span)
    return found


def _query(answer: Answer, document: Document, shown: Span, how: str) -> Query:
    """Return the query of an answer.

    Raises: ValueError, which says what is wrong with the answer.
    """
    if answer.failure:
        raise ValueError(answer.failure)
    try:
        content = json.loads(answer.text)
    except (ValueError, RecursionError) as err:
        raise ValueError(f"the answer is no JSON: {answer.text[:80]!r}") from err
    read = content if isinstance(content, dict) else {}
    question, excerpt, said = (_line(read.get(name)) for name in ("question", "excerpt", "answer"))
    if not question and not excerpt:
        raise ValueError("nothing to ask there")
    if not question or not excerpt:
        raise ValueError(f"the answer has no question, or no excerpt: {answer.text[:80]!r}")
    if is_short(excerpt):
        raise ValueError(f"its excerpt is too short to be told apart: {excerpt[:80]!r}")
    found = [span for span in Places(document.text).of(excerpt) if contains(shown, span)]
    if not found:
        raise ValueError(f"its excerpt is not in the text: {excerpt[:80]!r}")
    return synthetic(question, Evidence(document.id, found[0]), how=how, answer=said)


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
