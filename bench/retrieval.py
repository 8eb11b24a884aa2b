"""What the default chain finds on public questions with marked evidence.

Needs the question sets in `../shared/data` (or $CHUNKWISE_SHARED); without them the table is left out.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import chunkwise as cw
from chunkwise.evaluate import metrics
from chunkwise.pipeline import Mode
from cost import cell
from questions import SHARED

_RECIPES = ("recursive(size=200)", "structural(size=200) | context(headings=True)")
_MODES: tuple[Mode, ...] = ("vector", "lexical", "hybrid")


def page(*, quick: bool) -> Iterator[str]:
    """Yield how much of the evidence is found in five hits, and what they cost the reader."""
    yield "## Evidence found on Chroma's public set (472 questions, 790 exact spans), five hits"
    yield ""
    folder = SHARED / "data" / "chroma"
    if quick or not folder.is_dir():
        yield "Not measured" + ("." if quick else ": the set is not there.")
        return
    yield "Share of the evidence's characters that are in a hit, in percent, and cl100k tokens of the five hits."
    yield ""
    yield "| recipe | chunks | " + " | ".join(_MODES) + " | tokens (hybrid) |"
    yield "|---|---|" + "---|" * len(_MODES) + "---|"
    documents = [document for document in cw.read_folder(folder / "documents") if isinstance(document, cw.Document)]
    questions = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    count = cw.tokenizer("cl100k_base").count
    for recipe in _RECIPES:
        index = cw.Index("memory:")
        index.add_documents(documents, recipe=recipe)
        cells = []
        for mode in _MODES:
            hits = [index.search(question["query"], k=5, mode=mode) for question in questions]
            cells.append(f"{100 * statistics.mean(map(recall, questions, hits)):.1f}")
        tokens = statistics.mean(sum(count(hit.chunk.text) for hit in found) for found in hits)
        yield f"| `{cell(recipe)}` | {len(index)} | " + " | ".join(cells) + f" | {tokens:.0f} |"
    yield ""


def recall(question: dict[str, Any], hits: Sequence[cw.Hit]) -> float:
    """Return the share of the evidence's characters that are in a hit."""
    found = [(hit.chunk.document_id, span) for hit in hits for span in hit.chunk.spans]
    gold = [(one["document"], cw.Span(one["start"], one["end"])) for one in question["evidence"]]
    return metrics.recall(found, gold)
