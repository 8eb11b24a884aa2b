"""The question sets with marked evidence, in `../shared/data` (or $CHUNKWISE_SHARED)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Document, Evidence, Query, Span
from chunkwise.evaluate.metrics import Located
from chunkwise.readers.read import Reading, read

SHARED = Path(os.environ.get("CHUNKWISE_SHARED", Path(__file__).resolve().parents[2] / "shared"))

_MARK = "\ufeff"
# Sets of texts whose first line is the title.
_TITLED = ("covidqa",)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions about some documents, which are searched together."""

    name: str
    documents: Sequence[Document]
    questions: Sequence[Query]


def load(name: str) -> QuestionSet:
    """Read a set, and check that its evidence stands where it is said to.

    Raises: ChunkwiseError.
    """
    folder = SHARED / "data" / name
    if not folder.is_dir():
        raise ChunkwiseError(f"{folder} is not there; name the folder above data/ in $CHUNKWISE_SHARED")
    files = sorted((folder / "documents").iterdir())
    documents = {file.name: _read(file, titled=name in _TITLED) for file in files}
    # Offsets count a byte order mark, which is no part of a document.
    marks = {file.name: int(file.read_text("utf-8").startswith(_MARK)) for file in files}
    questions = []
    for line in (folder / "queries.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        gold = []
        for one in told["evidence"]:
            id, shift = one["document"], marks[one["document"]]
            span = Span(one["start"] - shift, one["end"] - shift)
            if not span.slice(documents[id].text).startswith(one.get("text", "")):
                raise ChunkwiseError(f"{name}, question {told['id']}: the evidence is not at {one['start']} of {id}")
            gold.append((Evidence(id, span),))
        questions.append(Query(told["id"], told["query"], tuple(gold), told.get("answer", "")))
    return QuestionSet(name, list(documents.values()), questions)


def gold(question: Query) -> list[Located]:
    """Return the spans that answer a question of these sets, which know no alternatives."""
    return [(one.document_id, one.span) for (one,) in question.evidence]


def _read(file: Path, *, titled: bool) -> Document:
    document = read(file, reading=Reading(clean="none"))
    return replace(document, meta={**document.meta, "title": document.text.partition("\n")[0]}) if titled else document
