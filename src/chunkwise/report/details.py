"""Tell a page's script what an opened question shows: evidence, hits and why it was missed; every text once."""

from __future__ import annotations

import json
from collections.abc import Mapping

from chunkwise.core.spans import overlaps
from chunkwise.core.types import Evidence, Span
from chunkwise.evaluate.misses import CAUSES, Blame
from chunkwise.evaluate.results import Found
from chunkwise.report.html import shown
from chunkwise.report.questions import Questions
from chunkwise.report.windows import Windows


def details(questions: Questions) -> dict[str, object]:
    """Return texts, and of questions by their numbers what they need of them. Shares are percents, none rounded up.

    Hits are triples of a place, a rank and a score; of each config, as shares and misses are.
    """
    needed, evidence, hits = questions.kept
    places = _Places(Windows.of(questions.texts, needed))
    queries, outcomes = questions.ranking.evaluation.queries, questions.ranking.outcomes
    proofs: dict[str, int] = {}
    listed = [i for i in questions.order if i in evidence]
    return {
        "ids": {i: shown(queries[i].id) for i in listed},
        "answers": {i: shown(queries[i].answer) for i in listed if queries[i].answer},
        "evidence": {
            i: [[_evidence(one, questions, places) for one in slot] for slot in questions.gold(i)] for i in listed
        },
        "shares": [{i: [n for one in rows[i] for n in _percent(*one)] for i in listed} for rows in questions.shares],
        "hits": [
            {i: [n for hit in outcome.found[i] for n in places.hit(hit)] for i in listed if (config, i) in hits}
            for config, outcome in enumerate(outcomes)
        ],
        "misses": [_misses(outcome.blame, questions, evidence, proofs) for outcome in outcomes],
        "proofs": list(proofs),
        "places": places.table,
        "documents": [shown(id) for id in places.documents],
        "texts": places.windows.texts,
    }


def written(data: object) -> str:
    """Return data as JSON that may stand in a page: nothing in it can close its element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


class _Places:
    """Number the places of hits. Each stands in a table once: `[document, offset, tokens, window, start, end...]`."""

    def __init__(self, windows: Windows) -> None:
        self.windows = windows
        self.documents = {id: number for number, id in enumerate(windows.by_document)}
        self.table: list[list[int]] = []
        self._numbers: dict[tuple[str, tuple[Span, ...]], int] = {}

    def hit(self, found: Found) -> tuple[int, int, float]:
        """Return the number of the place of a hit, its rank, and its score with four digits."""
        key = (found.document_id, found.spans)
        if key not in self._numbers:
            self._numbers[key] = len(self.table)
            spans = [self.windows.place(found.document_id, span) for span in found.spans if span.length]
            start = min(span.start for span in found.spans)
            flat = (n for one in spans for n in one)
            self.table.append([self.documents[found.document_id], start, found.tokens, *flat])
        return self._numbers[key], found.rank, float(f"{found.score:.4g}")


def _evidence(one: Evidence, questions: Questions, places: _Places) -> list[int]:
    """Return `[document, start, end, window, from, start, end, to, parted, goes on]`, with the text around it."""
    around = questions.around(one)
    wide, own = places.windows.place(one.document_id, around), places.windows.place(one.document_id, one.span)
    goes_on = around.end < len(questions.texts[one.document_id])
    offsets = wide.window, wide.start, own.start, own.end, wide.end
    return [places.documents[one.document_id], *one.span, *offsets, int(around.start > 0), int(goes_on)]


def _percent(which: int, share: float) -> tuple[int, int]:
    return which, int(100 * share + 1e-9)


def _misses(
    blame: Blame | None, questions: Questions, evidence: frozenset[int], proofs: dict[str, int]
) -> Mapping[int, list[tuple[int, int, int, int]]]:
    """Return of each question `(slot, cause, lost in thousandths, proof)` of what was missed, by numbers."""
    numbers = {query.id: i for i, query in enumerate(questions.ranking.evaluation.queries)}
    told: dict[int, list[tuple[int, int, int, int]]] = {}
    for miss in blame.misses if blame else ():
        i = numbers[miss.query_id]
        if i in evidence:
            proof = proofs.setdefault(miss.proof, len(proofs))
            slot = _slot(questions, i, miss.evidence)
            told.setdefault(i, []).append((slot, CAUSES.index(miss.cause), round(1000 * miss.lost), proof))
    return told


def _slot(questions: Questions, i: int, missed: Evidence) -> int:
    """Return the number of the slot that missed evidence is of: its span may be without blanks at its ends."""
    for number, slot in enumerate(questions.gold(i)):
        if any(one.document_id == missed.document_id and overlaps(one.span, missed.span) for one in slot):
            return number
    return 0
