"""What a file says of the evidence of a question, before it is looked for in documents."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chunkwise.core.types import Meta, Span
from chunkwise.evaluate.query_files import Row

_KNOWN = ("id", "query", "question", "answer", "evidence")
_EXAMPLE = '{"document": "a.md", "text": "what it says there"}'


class GoldError(ValueError):
    """What is wrong with one line of a set, and what would mend it; `lost` is an excerpt that stands nowhere."""

    def __init__(self, problem: str, remedy: str = "", *, lost: str = "") -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.lost = problem, remedy, lost


@dataclass(frozen=True, slots=True)
class Cited:
    """A piece of evidence as it is written: a span, an excerpt, or both, which must agree.

    `document` is the id or the end of its path; empty for an excerpt that may stand in any. An excerpt with a
    `within`, a longer one that holds it, is looked for only there.
    """

    document: str = ""
    span: Span | None = None
    text: str = ""
    within: str = ""


@dataclass(frozen=True, slots=True)
class Gold:
    """A question, and its evidence as it is written: slots of alternatives."""

    id: str
    text: str
    slots: tuple[tuple[Cited, ...], ...]
    answer: str = ""
    meta: Meta = field(default_factory=dict, hash=False)


def gold(row: Row) -> Gold:
    """Return what a line says. A question without an id gets one of its text.

    Raises: GoldError.
    """
    if row.fault:
        raise GoldError(row.fault)
    text = _string(row.fields, "query") or _string(row.fields, "question")
    if not text:
        raise GoldError("no question", 'write it under "query"')
    written = row.fields.get("evidence")
    listed = written if isinstance(written, list) else [written] if written else []
    if not listed:
        raise GoldError("no evidence", "find some with: chunkwise queries find QUESTION PATH; or leave the query out")
    slots = tuple(tuple(map(_cited, slot if isinstance(slot, list) else [slot])) for slot in listed)
    if not all(slots):
        raise GoldError("a slot of evidence is empty", "fill it, or leave it out")
    meta = {name: value for name, value in row.fields.items() if name not in _KNOWN}
    return Gold(id_of(row), text, slots, _string(row.fields, "answer"), meta)


def id_of(row: Row) -> str:
    """Return the id of a line, or one that is made of its question: the same wherever in a file that stands."""
    if given := _string(row.fields, "id"):
        return given
    text = _string(row.fields, "query") or _string(row.fields, "question")
    return query_id(text) if text else ""


def query_id(text: str) -> str:
    """Return an id that is made of a question."""
    return "q-" + hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


def _cited(written: object) -> Cited:
    if isinstance(written, str) and written.strip():
        return Cited(text=written.strip())
    if not isinstance(written, dict):
        raise GoldError(f"evidence that can't be read: {str(written)[:80]!r}", f"write it as {_EXAMPLE}")
    cited = Cited(_string(written, "document"), _span(written), _string(written, "text"), _string(written, "within"))
    if cited.span is None and not cited.text:
        raise GoldError("evidence with neither a span nor a text", f"write it as {_EXAMPLE}")
    if cited.span is not None and not cited.document:
        raise GoldError(f"a span {tuple(cited.span)} of no document", 'name it under "document"')
    return cited


def _span(fields: Mapping[str, Any]) -> Span | None:
    start, end = _whole(fields, "start"), _whole(fields, "end")
    if start is None and end is None:
        return None
    if start is None or end is None or not 0 <= start < end:
        raise GoldError(
            f"a span from {start} to {end}", "give both `start` and `end`, the end after the last character"
        )
    return Span(start, end)


def _whole(fields: Mapping[str, Any], name: str) -> int | None:
    """Return a whole number, which CSV and YAML give as text."""
    value = fields.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal():
        return int(value)
    if type(value) is not int:
        raise GoldError(f"{name}={value!r} is no whole number", "count code points of the document's text from 0")
    return value


def _string(fields: Mapping[str, Any], name: str) -> str:
    """Return a text without white space around it; of a number as it is written."""
    value = fields.get(name)
    if value is None or isinstance(value, dict | list):
        return ""
    return str(value).strip()
