"""Sets of queries: read, checked against the documents that they are about, and what is wrong with them told.

A file holds a question a line (JSON lines), an entry (YAML) or some lines (CSV): see docs/queries.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.spans import overlaps
from chunkwise.core.types import Document, Query, Span
from chunkwise.evaluate.corpus import Corpus
from chunkwise.evaluate.gold import Gold, GoldError, gold, id_of
from chunkwise.evaluate.passages import Passage
from chunkwise.evaluate.query_files import rows

# How many passages are shown that an excerpt may be from, and what share of its words the least of them has.
# Source: of excerpts of another corpus 95 % are at most 0.28 like anything (40 each of chroma and covidqa against each
# other); with every third word replaced, 95 % are at least 0.57 like what they were.
_SHOWN, _ALIKE = 3, 0.33

# From this share on, a passage has most words of an excerpt, and it is worth telling which numbers it has not.
# Source: with two digits changed, 90 % of the same excerpts are more than 0.79 like what they were.
_SAME = 0.7

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong with a line of a set, or to be known of it; what would mend it; and passages that may be meant."""

    file: str
    line: int
    id: str
    problem: str
    remedy: str = ""
    passages: tuple[Passage, ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" + (f", query {self.id}" if self.id else "")
        return f"{place}: {self.problem}" + (f"; {self.remedy}" if self.remedy else "")


@dataclass(frozen=True, slots=True)
class Checked:
    """The queries of a set that are sound, what is wrong with the others, and what to know of the sound ones."""

    queries: tuple[Query, ...]
    faults: tuple[Remark, ...]
    notes: tuple[Remark, ...]


def read_queries(path: str | os.PathLike[str], documents: Iterable[Document] | Corpus) -> list[Query]:
    """Read a set of queries whose evidence stands in these documents.

    Raises: ChunkwiseError for the first line that is broken, saying how many are.
    """
    checked = check_queries(path, documents if isinstance(documents, Corpus) else Corpus(documents))
    if checked.faults:
        n_more = len(checked.faults) - 1
        more = f" ({n_more} more; see: chunkwise queries check PATH --queries {path})" if n_more else ""
        raise ChunkwiseError(f"{checked.faults[0]}{more}")
    return list(checked.queries)


def check_queries(path: str | os.PathLike[str], corpus: Corpus) -> Checked:
    """Locate the evidence of every query of a file, and say what is broken.

    Raises: ChunkwiseError if the file can't be read at all, or holds no query.
    """
    file = os.fspath(path)
    written = rows(Path(path))
    if not written:
        raise ChunkwiseError(f"{file}: no query in it; draft some with: chunkwise queries draft PATH -o {file}")
    queries: list[Query] = []
    faults: list[Remark] = []
    notes: list[Remark] = []
    lines: dict[str, int] = {}
    for row in written:
        id = id_of(row)
        try:
            if (first := lines.setdefault(id, row.line)) != row.line and id:
                raise GoldError(f"the id is that of line {first}, too", "give each query an id of its own")
            query, told = _located(gold(row), corpus)
        except GoldError as err:
            faults.append(_fault(err, corpus, place=(file, row.line, id)))
        else:
            queries.append(query)
            notes += [Remark(file, row.line, id, note) for note in told]
    return Checked(tuple(queries), tuple(faults), tuple(notes))


def _located(claimed: Gold, corpus: Corpus) -> tuple[Query, list[str]]:
    """Return the query with the spans of its evidence, and notes on them.

    Raises: GoldError.
    """
    notes: list[str] = []
    slots = []
    for slot in claimed.slots:
        placed = [corpus.place(cited) for cited in slot]
        slots.append(tuple(dict.fromkeys(evidence for found, _ in placed for evidence in found)))
        notes += [note for _, note in placed if note]
    for one, other in combinations(slots, 2):
        for first, second in product(one, other):
            if first.document_id == second.document_id and overlaps(first.span, second.span):
                raise GoldError(
                    f"two slots share text of {first.document_id}: {_written(first.span)} and {_written(second.span)}",
                    "make them one, or alternatives of one, with a list around them",
                )
    return Query(claimed.id, claimed.text, tuple(slots), claimed.answer, claimed.meta), notes


def _fault(err: GoldError, corpus: Corpus, *, place: tuple[str, int, str]) -> Remark:
    """Return what is wrong, with the passages that an excerpt may have been taken from."""
    if not err.lost:
        return Remark(*place, err.problem, err.remedy)
    alike = corpus.passages.alike(err.lost, _SHOWN)
    shown = tuple(passage for passage in alike if passage.score >= _ALIKE)
    if not shown:
        return Remark(*place, err.problem, "nothing in the documents is like it: is its document among them?")
    remedy = "paste the text of the passage that is meant"
    missing = [number for number in _NUMBER.findall(err.lost) if number not in _NUMBER.findall(shown[0].text)]
    if missing and shown[0].score >= _SAME:
        remedy = f"the nearest passage has no {', '.join(missing)}; if it is meant, paste its text"
    return Remark(*place, err.problem, remedy, shown)


def _written(span: Span) -> str:
    return f"{span.start}-{span.end}"
