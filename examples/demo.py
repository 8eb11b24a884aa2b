"""The main job on real texts: index two folders, ask forty questions, show where each answer was found."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chunkwise import Hit, Index, Span
from chunkwise.cli.files import tell_skips
from chunkwise.cli.hits import print_hits
from chunkwise.cli.terminal import console, progress
from chunkwise.core.spans import gaps

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "examples" / "corpus", ROOT / "docs")
SHOWN = ("sotu-01", "apollo-01", "rights-01")


def main() -> None:
    """Index, search, and count the answers that were found."""
    screen = console()
    screen.rule("Index")
    started = time.perf_counter()
    index = Index(ROOT / ".demo")
    with progress("indexing") as show:
        result = index.add(*FOLDERS, progress=show)
    tell_skips(result.skipped)
    screen.print(f"{len(index.documents())} documents, {len(index)} chunks by {index.recipe}")
    screen.print(f"{len(result.added)} added, {len(result.unchanged)} unchanged, {time.perf_counter() - started:.1f} s")

    questions = [json.loads(line) for line in (ROOT / "examples" / "questions.jsonl").read_text("utf-8").splitlines()]
    screen.rule("Search")
    for question in questions:
        if question["id"] in SHOWN:
            screen.print(f"[bold]{question['query']}[/]")
            print_hits(index.search(question["query"], k=2))

    screen.rule("Were the answers found?")
    for mode in ("vector", "lexical", "hybrid"):
        found = sum(answered(question, index.search(question["query"], k=5, mode=mode)) for question in questions)
        screen.print(f"{mode:>8}: {found} of {len(questions)} answers whole in the first 5 hits")
    found = sum(
        answered(question, index.assemble(question["query"], tokens=400, ladder="fine")) for question in questions
    )
    screen.print(f"assembled: {found} of {len(questions)} answers whole in 400 tokens, less than half of five hits")
    screen.print("\nAsk your own: .venv/bin/chunkwise search 'Who flew around the Moon first?' --index .demo")
    screen.print("See the cuts: .venv/bin/chunkwise show examples/corpus/apollo_program.md")


def answered(question: Mapping[str, Any], hits: Sequence[Hit]) -> bool:
    """Tell whether every character of the evidence that is not white space is in a hit."""
    for evidence in question["evidence"]:
        spans = [span for hit in hits if hit.chunk.document_id == evidence["document"] for span in hit.chunk.spans]
        start = evidence["start"]
        for gap in gaps(spans, Span(start, evidence["end"])):
            if evidence["text"][gap.start - start : gap.end - start].strip():
                return False
    return True


if __name__ == "__main__":
    main()
