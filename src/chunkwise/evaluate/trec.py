"""Runs and qrels of TREC, which ir_measures, ranx and trec_eval read: what was found, and what is relevant.

A chunk is named by its place, `report.md:120-540`, so that a file alone tells which text it means; blanks and colons
of a document's id are percent-encoded. A name without a place is a whole document.
Source: the formats of trec_eval; of diversity tasks, where the second column of qrels has the subtopic, here the slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias
from urllib.parse import quote, unquote

import numpy as np

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.spans import join
from chunkwise.core.types import Chunk, Document, Evidence, Hit, Query, Span
from chunkwise.evaluate.slots import is_relevant, slots

Unit: TypeAlias = Literal["chunk", "document"]

_PLACED = re.compile(r"(?P<document>[^:]+):(?P<spans>\d+-\d+(?:\+\d+-\d+)*)")


def run_lines(found: Mapping[str, Sequence[Hit]], *, unit: Unit = "chunk", tag: str = "chunkwise") -> Iterator[str]:
    """Yield a run: `query Q0 name rank score tag`, of `found`, the hits by the ids of questions.

    Evaluators sort by score and forget the rank. So the scores of a question's hits are written only where they fall
    from rank to rank; elsewhere, as after a rerank by diversity, a falling count stands for them. Of several hits that
    have one name, as of a document, the best is written.
    Raises: ChunkwiseError for a question whose id has a blank in it, which the format can't hold.
    """
    _check_word(tag)
    for id, hits in found.items():
        _check_word(id)
        best: dict[str, float] = {}
        for hit in sorted(hits, key=lambda hit: hit.rank):
            best.setdefault(_name(hit.chunk, unit), hit.score)
        for rank, ((name, _), score) in enumerate(zip(best.items(), _falling([*best.values()]), strict=True), 1):
            yield f"{id} Q0 {name} {rank} {score} {tag}"


def read_run(lines: Iterable[str], documents: Iterable[Document] = ()) -> dict[str, list[Hit]]:
    """Return the hits of a run by question, by falling score as evaluators order them; of equals the first stays first.

    `documents` give the hits their text, which budgets of tokens count, and names without a place their length.
    Raises: ChunkwiseError, which names the line.
    """
    known = {document.id: document for document in documents}
    rows: dict[str, list[tuple[float, Chunk]]] = {}
    for number, (query, _, name, _, score, _) in _rows(lines, 6):
        document_id, spans = _place(name, known, number)
        text = join(known[document_id].text, spans) if document_id in known else ""
        rows.setdefault(query, []).append((_number(score, number), Chunk(document_id, spans, text)))
    return {
        query: [
            Hit(chunk, score, rank, ("trec",))
            for rank, (score, chunk) in enumerate(sorted(some, key=lambda row: -row[0]), 1)
        ]
        for query, some in rows.items()
    }


def gold_lines(queries: Iterable[Query]) -> Iterator[str]:
    """Yield the evidence itself as qrels, `query slot place 1`: it is read back as it was, slots and alternatives.

    Slots count from 1: 0 stands in qrels of others, which know none.
    """
    for query in queries:
        _check_word(query.id)
        for number, slot in enumerate(slots(query), 1):
            for one in slot:
                yield f"{query.id} {number} {_placed(one.document_id, (one.span,))} 1"


def qrels_lines(queries: Iterable[Query], chunks: Iterable[Chunk] = (), *, unit: Unit = "chunk") -> Iterator[str]:
    """Yield `query 0 name 1` for each relevant one of these chunks, or for each document that holds evidence.

    `chunks` should be all that are searched: evaluators ask how many could have been found.
    Cost: one look at each chunk of the documents that hold a question's evidence.
    """
    by_document: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document_id, []).append(chunk)
    for query in queries:
        _check_word(query.id)
        evidence = [one for slot in slots(query) for one in slot]
        ids = dict.fromkeys(one.document_id for one in evidence)
        relevant = (chunk for id in ids for chunk in by_document.get(id, ()) if _answers(chunk, evidence))
        names = (_word(id) for id in ids) if unit == "document" else (_name(chunk, unit) for chunk in relevant)
        yield from (f"{query.id} 0 {name} 1" for name in dict.fromkeys(names))


def read_qrels(lines: Iterable[str], documents: Iterable[Document] = ()) -> dict[str, tuple[tuple[Evidence, ...], ...]]:
    """Return the evidence of each question: lines of one slot are alternatives, those of slot 0 each a slot.

    Qrels of others have 0 in all lines: there each relevant document is to be found. What is judged 0 or less is no
    evidence; grades above 1 count as 1. `documents` give names without a place their length.
    Raises: ChunkwiseError, which names the line.
    """
    known = {document.id: document for document in documents}
    found: dict[str, dict[str, list[Evidence]]] = {}
    for number, (query, slot, name, grade) in _rows(lines, 4):
        if _number(grade, number) > 0:
            document_id, spans = _place(name, known, number)
            place = slot if slot != "0" else f"line {number}"
            by_slot = found.setdefault(query, {}).setdefault(place, [])
            by_slot += [Evidence(document_id, span) for span in spans]
    return {query: tuple(map(tuple, by_slot.values())) for query, by_slot in found.items()}


def _answers(chunk: Chunk, evidence: Iterable[Evidence]) -> bool:
    return any(is_relevant(Hit(chunk, 0.0, 1, ()), one) for one in evidence)


def _name(chunk: Chunk, unit: Unit) -> str:
    return _word(chunk.document_id) if unit == "document" else _placed(chunk.document_id, chunk.spans)


def _placed(document_id: str, spans: Sequence[Span]) -> str:
    return f"{_word(document_id)}:{'+'.join(f'{start}-{end}' for start, end in spans)}"


def _word(id: str) -> str:
    """Encode what would end a column, and the colon; letters of all scripts stay readable."""
    return "".join(quote(one, safe="") if one.isspace() or one in ":%" else one for one in id)


def _place(name: str, known: Mapping[str, Document], number: int) -> tuple[str, tuple[Span, ...]]:
    """Return the document and the spans that a name means."""
    if placed := _PLACED.fullmatch(name):
        spans = (span.split("-") for span in placed["spans"].split("+"))
        return unquote(placed["document"]), tuple(Span(int(start), int(end)) for start, end in spans)
    if (id := name if name in known else unquote(name)) not in known:
        raise ChunkwiseError(f"line {number}: {name!r} names no place such as {name}:0-120, and no document given")
    return id, (Span(0, len(known[id].text)),)


def _falling(scores: Sequence[float]) -> Sequence[float]:
    """Return the scores where they fall strictly, as float32, in which trec_eval keeps them; else a falling count."""
    if all(one > other for one, other in pairwise(np.asarray(scores, np.float32).tolist())):
        return scores
    return [float(count) for count in range(len(scores), 0, -1)]


def _rows(lines: Iterable[str], n_columns: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, 1):
        columns = line.split()
        if columns and len(columns) != n_columns:
            raise ChunkwiseError(f"line {number} has {len(columns)} columns, not {n_columns}: {line.strip()!r}")
        if columns:
            yield number, columns


def _number(word: str, number: int) -> float:
    try:
        return float(word)
    except ValueError as err:
        raise ChunkwiseError(f"line {number}: {word!r} is no number") from err


def _check_word(word: str) -> None:
    if not word or any(map(str.isspace, word)):
        raise ChunkwiseError(f"{word!r} can't stand in a TREC file: it is empty or has a blank; give it another id")
