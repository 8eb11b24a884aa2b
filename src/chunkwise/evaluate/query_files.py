"""Read and write the files of query sets: JSON lines, YAML, CSV. What they say is judged elsewhere."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import IO, Any

import yaml

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Evidence, Query

# In characters: evidence that is longer than the one is quoted in a file by its beginning, as long as the other.
# So in the public sets that this library is tested on.
LONG, QUOTED = 400, 200

_OF_EVIDENCE = ("document", "start", "end", "text", "within")


@dataclass(frozen=True, slots=True)
class Row:
    """What a file says of one query, the line where it says so, and what is wrong with the line, if it can't be read.

    Numbers may be text still, as in CSV and YAML.
    """

    line: int
    fields: Mapping[str, Any]
    fault: str = ""


def rows(path: Path) -> list[Row]:
    """Read a file of queries by its suffix.

    Raises: ChunkwiseError if it can't be read as a whole.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise ChunkwiseError(f"{path}: a set of queries ends in {', '.join(_READERS)}; rename it, or convert it")
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as err:
        raise ChunkwiseError(f"{path}: not UTF-8 (byte {err.start:,}); save it as UTF-8") from err
    except OSError as err:
        raise ChunkwiseError(f"{path}: can't be read: {err.strerror or err}") from err
    try:
        return list(read(text))
    except ValueError as err:
        raise ChunkwiseError(f"{path}, {err}") from err


def write_queries(queries: Iterable[Query], texts: Mapping[str, str], stream: IO[str]) -> None:
    """Write queries as JSON lines with exact spans and the text there; `texts` are the documents', by their ids."""
    for query in queries:
        stream.write(json.dumps(query_fields(query, texts), ensure_ascii=False) + "\n")


def query_fields(query: Query, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return what is written of a query. A slot with one alternative stands without a list around it."""
    slots = [[evidence_fields(one, texts[one.document_id]) for one in slot] for slot in query.evidence]
    answer = {"answer": query.answer} if query.answer else {}
    evidence = [slot[0] if len(slot) == 1 else slot for slot in slots]
    return {"id": query.id, "query": query.text, **answer, **query.meta, "evidence": evidence}


def evidence_fields(evidence: Evidence, text: str) -> dict[str, Any]:
    """Return what is written of a span of a document whose text is given."""
    quoted = evidence.span.slice(text)
    return {
        "document": evidence.document_id,
        "start": evidence.span.start,
        "end": evidence.span.end,
        "text": quoted if len(quoted) <= LONG else quoted[:QUOTED],
    }


def _jsonl(text: str) -> Iterator[Row]:
    # Only line feeds part lines: JSON may hold other line separators as they are.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as err:
            yield Row(number, {}, f"no JSON ({getattr(err, 'msg', err)}); write one object a line")
            continue
        yield _row(number, fields)


def _yaml(text: str) -> Iterator[Row]:
    # The base loader leaves every scalar as it is written: no `no` becomes false, no 12.50 loses its zero, and no
    # tag makes an object.
    loader = yaml.BaseLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return
        if not isinstance(root, yaml.SequenceNode):
            raise ValueError(f"line {root.start_mark.line + 1}: no list; begin each query with '- query: ...'")
        for node in root.value:
            yield _row(node.start_mark.line + 1, loader.construct_object(node, deep=True))
    except yaml.MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        raise ValueError(f"line {mark.line + 1 if mark else 1}: no YAML: {err.problem}") from err
    except (yaml.YAMLError, RecursionError) as err:
        raise ValueError(f"line 1: no YAML: {' '.join(str(err).split())[:120]}") from err
    finally:
        loader.dispose()


def _row(number: int, fields: object) -> Row:
    if isinstance(fields, dict):
        return Row(number, fields)
    return Row(number, {}, 'no object; write it as {"query": ..., "evidence": [...]}')


def _csv(text: str) -> Iterator[Row]:
    """Read a piece of evidence a line: lines of one id, or without ids of one question, are of one query.

    Those that have the same in a column `slot` are alternatives of one slot.
    """
    head = text.split("\n", 1)[0]
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=max("\t;,", key=head.count), strict=True)
    found: dict[str, tuple[int, dict[str, Any], dict[str, list[dict[str, str]]]]] = {}
    line = 1
    try:
        if reader.fieldnames is None:
            return
        line = reader.line_num + 1
        for number, cells in enumerate(reader):
            if None in cells:
                raise ValueError(f"line {line}: more cells than the header names; quote cells that hold the separator")
            filled = {name.strip().lower(): cell for name, cell in cells.items() if cell and cell.strip()}
            slot = filled.pop("slot", f"line {number}")
            evidence = {name: filled.pop(name) for name in _OF_EVIDENCE if name in filled}
            key = filled.get("id") or filled.get("query") or filled.get("question") or ""
            known = found.setdefault(key, (line, filled, {}))
            if (differs := _differs(known[1], filled)) is not None:
                raise ValueError(f"line {line}: {differs} is another one than in line {known[0]}, under the same id")
            if evidence:
                known[2].setdefault(slot, []).append(evidence)
            line = reader.line_num + 1
    except csv.Error as err:
        raise ValueError(f"line {line}: no CSV: {err}") from err
    for begun, fields, slots in found.values():
        yield Row(begun, {**fields, "evidence": list(slots.values())})


def _differs(known: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """Return the column in which two lines of one query say different things; an empty cell says nothing."""
    return next((name for name, cell in other.items() if known.get(name, cell) != cell), None)


_READERS: Mapping[str, Callable[[str], Iterator[Row]]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".csv": _csv,
    ".tsv": _csv,
}
