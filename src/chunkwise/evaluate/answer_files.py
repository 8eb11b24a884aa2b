"""Read answers that somebody else gave, and what people say of answers: JSON lines, YAML, CSV."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Query
from chunkwise.evaluate.query_files import Row, rows
from chunkwise.retrieve.answering import Response, Statement

# How people write what they think of an answer; numbers and booleans of JSON are compared as text.
_LABELS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "yes", "good", "supported", "faithful"), True),
    **dict.fromkeys(("0", "false", "no", "bad", "unsupported", "unfaithful"), False),
}


@dataclass(frozen=True, slots=True)
class Labelled:
    """An answer to a question, and whether a person calls it good.

    `passages` are what the person saw; empty where it was what the evaluation found.
    """

    query: Query
    response: Response
    label: bool
    passages: tuple[str, ...] = ()


def read_answers(path: str | os.PathLike[str], queries: Sequence[Query]) -> dict[str, Response]:
    """Read answers by the ids of their questions: lines of `id` and `answer`.

    An empty answer says that the passages do not tell. Questions without a line are left out.
    Raises: ChunkwiseError, which names the line.
    """
    file = Path(path)
    found: dict[str, Response] = {}
    for row, query in _rows(file, queries):
        if query.id in found:
            raise ChunkwiseError(f"{file}, line {row.line}: a second answer to question {query.id!r}; keep one of them")
        found[query.id] = _response(row, file)
    if not any(response.statements for response in found.values()):
        raise ChunkwiseError(f'{file}: no answer in it; write lines such as {{"id": "q1", "answer": "..."}}')
    return found


def read_labels(path: str | os.PathLike[str], queries: Sequence[Query]) -> list[Labelled]:
    """Read what people say of answers: lines of `id`, `answer`, `label`, and `passages` if they saw others.

    A label is true or false, 1 or 0, supported or unsupported. A question may have several answers.
    Raises: ChunkwiseError, which names the line.
    """
    file = Path(path)
    return [
        Labelled(query, _response(row, file), _label(row, file), _passages(row, file))
        for row, query in _rows(file, queries)
    ]


def _rows(file: Path, queries: Sequence[Query]) -> Iterator[tuple[Row, Query]]:
    known = {query.id: query for query in queries}
    for row in rows(file):
        id = str(row.fields.get("id", "")).strip()
        if row.fault or not id:
            raise ChunkwiseError(f"{file}, line {row.line}: {row.fault or 'no id of a question'}")
        if id not in known:
            raise ChunkwiseError(
                f"{file}, line {row.line}: no question {id!r} in the set; take its ids, or leave it out"
            )
        yield row, known[id]


def _response(row: Row, file: Path) -> Response:
    answer = row.fields.get("answer")
    if answer is not None and not isinstance(answer, str):
        raise ChunkwiseError(f"{file}, line {row.line}: the answer is no text: {str(answer)[:80]!r}")
    text = " ".join((answer or "").split())
    return Response((Statement(text),) if text else (), by=file.name)


def _label(row: Row, file: Path) -> bool:
    written = str(row.fields.get("label", "")).strip().lower()
    if written not in _LABELS:
        raise ChunkwiseError(f"{file}, line {row.line}: the label {written!r} is none of {', '.join(_LABELS)}")
    return _LABELS[written]


def _passages(row: Row, file: Path) -> tuple[str, ...]:
    passages = row.fields.get("passages") or []
    if not isinstance(passages, list) or not all(isinstance(text, str) and text.strip() for text in passages):
        raise ChunkwiseError(f"{file}, line {row.line}: `passages` is no list of texts")
    return tuple(passages)
