"""Measure what cutting costs and what the default chain finds; write RESULTS.md beside this file.

Cost is in units of one bare pass of the same tokenizer over the same text, measured side by side in
one process. Retrieval needs the public question sets in `../shared/data` (or $CHUNKWISE_SHARED).
Run: make bench
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import chunkwise as cw
from chunkwise.core.spans import gaps
from chunkwise.pipeline import Mode

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("CHUNKWISE_SHARED", HERE.parents[1] / "shared"))

COST_RECIPES = (
    "fixed(size=200)",
    "sentences(size=200)",
    "recursive(size=200)",
    "structural(size=200)",
    "structural(size=200) | overlap(sentences=1) | context(headings=True)",
)
TOKENIZERS = ("cl100k_base", "all-MiniLM-L6-v2")
FOUND_RECIPES = ("recursive(size=200)", "structural(size=200) | context(headings=True)")
MODES: tuple[Mode, ...] = ("vector", "lexical", "hybrid")
ROUNDS = 5
SLICE = 60_000  # characters; every round has a slice of its own, for rulers are kept


def main() -> None:
    """Measure, and write the page."""
    packages = ("chunkwise", "tiktoken", "tokenizers", "onnxruntime", "bm25s")
    lines = [
        "# Results",
        "",
        f"Made by `make bench` on {datetime.date.today()}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in packages)
        + ".",
        "",
        *cost_table(),
        *found_table(),
    ]
    (HERE / "RESULTS.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print((HERE / "RESULTS.md").read_text(encoding="utf-8"))


def cost_table() -> Iterator[str]:
    """Yield the cost of each recipe, in bare passes of its tokenizer."""
    yield "## Cost of cutting, in bare tokenizer passes over the same text"
    yield ""
    yield f"Median of {ROUNDS} distinct slices of {SLICE:,} characters of the State of the Union (least to most)."
    yield ""
    yield "| recipe | " + " | ".join(TOKENIZERS) + " |"
    yield "|---|" + "---|" * len(TOKENIZERS)
    text = (HERE.parent / "examples" / "corpus" / "state_of_the_union_2024.md").read_text("utf-8") * 8
    for recipe in COST_RECIPES:
        yield f"| `{_cell(recipe)}` | " + " | ".join(_cost(recipe, name, text) for name in TOKENIZERS) + " |"
    yield ""


def found_table() -> Iterator[str]:
    """Yield how much of the evidence is found in five hits, and what they cost the reader."""
    yield "## Evidence found on Chroma's public set (472 questions, 790 exact spans), five hits"
    yield ""
    folder = SHARED / "data" / "chroma"
    if not folder.is_dir():
        yield "Not measured: the set is not there."
        return
    yield "Share of the evidence's characters that are in a hit, in percent, and cl100k tokens of the five hits."
    yield ""
    yield "| recipe | chunks | " + " | ".join(MODES) + " | tokens (hybrid) |"
    yield "|---|---|" + "---|" * len(MODES) + "---|"
    documents = [document for document in cw.read_folder(folder / "documents") if isinstance(document, cw.Document)]
    questions = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    for recipe in FOUND_RECIPES:
        index = cw.Index("memory:")
        index.add_documents(documents, recipe=recipe)
        cells = []
        for mode in MODES:
            hits = [index.search(question["query"], k=5, mode=mode) for question in questions]
            cells.append(f"{100 * statistics.mean(map(_recall, questions, hits)):.1f}")
        count = cw.tokenizer("cl100k_base").count
        tokens = statistics.mean(sum(count(hit.chunk.text) for hit in found) for found in hits)
        yield f"| `{_cell(recipe)}` | {len(index)} | " + " | ".join(cells) + f" | {tokens:.0f} |"


def _cost(recipe: str, tokenizer: str, text: str) -> str:
    counter = cw.tokenizer(tokenizer)
    counter.count(text)  # loads it
    ratios = []
    for i in range(ROUNDS):
        document = cw.Document.from_text(text[i * 7919 : i * 7919 + SLICE], id="x")
        bare = _seconds(partial(counter.count, document.text))
        cut = _seconds(partial(cw.chunk, document, recipe, tokenizer=tokenizer))
        ratios.append(cut / bare)
    return f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def _cell(recipe: str) -> str:
    return recipe.replace("|", "\\|")


def _seconds(job: Callable[[], object]) -> float:
    started = time.process_time()
    job()
    return time.process_time() - started


def _recall(question: dict[str, Any], hits: Sequence[cw.Hit]) -> float:
    covered = total = 0
    for evidence in question["evidence"]:
        spans = [span for hit in hits if hit.chunk.document_id == evidence["document"] for span in hit.chunk.spans]
        whole = cw.Span(evidence["start"], evidence["end"])
        total += len(whole)
        covered += len(whole) - sum(len(gap) for gap in gaps(spans, whole))
    return covered / total


if __name__ == "__main__":
    main()
