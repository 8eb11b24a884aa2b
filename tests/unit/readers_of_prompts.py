"""A model for tests that reads its prompts by their tags, and judges by words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from chunkwise.core.types import Chunk, Evidence, Hit, Query, Span
from chunkwise.retrieve.answering import Response, Statement
from unit.fake_server import Asked, Reply, prompt_of, said


def tagged(prompt: str, kind: str) -> dict[int, str]:
    """Return what stands between the tags of a kind, by its number; 0 where they have none."""
    found = re.findall(rf"<({kind}(?: (\d+))? [0-9a-f]{{16}})>\n(.*?)\n</\1>", prompt, re.DOTALL)
    return {int(number or 0): text for _, number, text in found}


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def sentences(text: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=\.)\s+", text) if sentence]


def judge(prompt: str) -> dict[str, object]:
    """Judge as a sound model would: a claim is supported by the passage that has all of its words."""
    if claims := tagged(prompt, "claim"):
        passages = tagged(prompt, "passage")
        verdicts = []
        for number, claim in claims.items():
            held = next((n for n, text in passages.items() if words(claim) <= words(text)), None)
            verdicts.append({"claim": number, "verdict": "supported" if held else "absent", "passage": held})
        return {"verdicts": verdicts}
    if answer := tagged(prompt, "answer"):
        return {"claims": sentences(answer[0]), "answers": "whole"}
    if text := tagged(prompt, "text"):
        return {"claims": sentences(text[0])}
    passages = tagged(prompt, "passage")
    found = [n for n, text in passages.items() if words(tagged(prompt, "question")[0]) & words(text)]
    return {"sentences": [{"text": passages[n], "passages": [n]} for n in found[:1]]}


def healthy(asked: Asked) -> str:
    return said(json.dumps(judge(prompt_of(asked))))


def always(act: Callable[[Asked], str], times: int = 40) -> Sequence[Reply]:
    return [Reply(body=act)] * times


def hits(*texts: str, document: str = "d") -> tuple[Hit, ...]:
    """Return hits one after the other in a document."""
    found: list[Hit] = []
    start = 0
    for rank, text in enumerate(texts, 1):
        found.append(Hit(Chunk(document, (Span(start, start + len(text)),), text), 1 / rank, rank, ("test",)))
        start += len(text) + 1
    return tuple(found)


def query(text: str = "What do cats eat?", *, id: str = "q", answer: str = "", span: Span | None = None) -> Query:
    return Query(id, text, ((Evidence("d", span),),) if span else (), answer)


def response(*texts: str, by: str = "someone") -> Response:
    return Response(tuple(Statement(text) for text in texts), by)
