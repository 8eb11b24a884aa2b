"""Measure what methods find against what they return: recall, precision and IoU at budgets of tokens.

python bench/frontier.py [--sets chroma,covidqa] [--methods "hybrid, 200;late, hybrid"] [--page]

Writes FRONTIER.md and frontier.svg beside this file, of all that has been measured. What is there of a set and a method
is not measured again, so that a run that was stopped goes on where it was, and a method that was added is measured
alone. `--again` measures the chosen ones once more, as is needed when a search has changed; `--page` measures nothing.
Needs the question sets in `../shared/data` (or $CHUNKWISE_SHARED). Cost: hours of two cores, nearly all of it for
embedding; vectors are kept in the file `--cache`, but not those of late chunking.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np

import chunkwise as cw
import frontier_page
import frontier_plot
from chunkwise.embed import minilm
from chunkwise.embed.cache import user_file
from chunkwise.evaluate.metrics import iou, precision, recall
from frontier_methods import METHODS, Method, keep_vectors, n_tokens, opened
from frontier_results import BUDGETS, SETS, Result, all_stored, keep, stored
from questions import QuestionSet, gold, load

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / ".bench" / "frontier"
_NAMES = [method.name for method in METHODS]


def main() -> None:
    """Measure what is not there yet, and write the page."""
    given = options()
    keep_vectors(given.cache)
    chosen = [method for method in METHODS if method.name in given.methods]
    for indexed, methods in groupby(() if given.page else chosen, key=lambda method: method.indexed):
        together = list(methods)
        for name in given.sets:
            missing = [method for method in together if given.again or stored(given.results, name, method) is None]
            if missing:
                started = time.monotonic()
                for result in measured(load_once(name), missing):
                    keep(given.results, result)
                print(f"{name}: {' '.join(indexed)}, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        write(given.results)
    write(given.results)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS), help="names of sets, with commas")
    parser.add_argument("--methods", default="", help="names of methods, with semicolons; all where none is given")
    parser.add_argument("--again", action="store_true", help="measure also what has been measured")
    parser.add_argument("--page", action="store_true", help="only write the page of what has been measured")
    parser.add_argument("--cache", type=Path, default=user_file(), help="the file that keeps vectors")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder that keeps what was measured")
    given = parser.parse_args()
    given.sets, given.methods = given.sets.split(","), given.methods.split(";") if given.methods else _NAMES
    for wanted, known in ((given.sets, SETS), (given.methods, _NAMES)):
        if unknown := set(wanted) - set(known):
            parser.error(f"{sorted(unknown)} not among {', '.join(map(repr, known))}")
    return given


def measured(questions: QuestionSet, methods: Sequence[Method]) -> Iterator[Result]:
    """Index the documents once, and ask every method every question."""
    started = time.monotonic()
    index = opened(methods[0].vectors)
    index.add_documents(questions.documents, recipe=methods[0].recipe)
    seconds = time.monotonic() - started
    texts = {document.id: document.text for document in questions.documents}
    for method in methods:
        scores = np.array([asked(index, texts, method, question) for question in questions.questions])
        recalls, precisions, ious, tokens = np.round(scores.transpose(2, 1, 0), 5)
        yield Result(
            set=questions.name,
            method=method.name,
            recipe=method.recipe,
            vectors=method.vectors,
            fingerprint=minilm().fingerprint,
            budgets=BUDGETS,
            n_chunks=len(index),
            seconds=round(seconds, 1),
            recall=recalls.tolist(),
            precision=precisions.tolist(),
            iou=ious.tolist(),
            tokens=tokens.astype(int).tolist(),
        )


def asked(
    index: cw.Index, texts: Mapping[str, str], method: Method, question: cw.Query
) -> list[tuple[float, float, float, float]]:
    """Return recall, precision, IoU and the tokens returned at each budget. No method may spend more than it has."""
    scores = []
    for budget in BUDGETS:
        found = method.find(index, question.text, budget)
        cost = sum(n_tokens(span.slice(texts[id])) for id, span in found)
        if cost > budget:
            raise SystemExit(f"{method.name} returns {cost} tokens where it may {budget}: {question.text}")
        wanted = gold(question)
        scores.append((recall(found, wanted), precision(found, wanted), iou(found, wanted), float(cost)))
    return scores


@lru_cache(maxsize=len(SETS))
def load_once(name: str) -> QuestionSet:
    """Read a set for all methods."""
    return load(name)


def write(folder: Path) -> None:
    """Write the page and the picture of all that was measured."""
    found = all_stored(folder)
    tables = frontier_page.tables(found)
    (HERE / "FRONTIER.md").write_text(frontier_page.page(tables, found), "utf-8")
    (HERE / "frontier.svg").write_text(frontier_plot.drawn(tables), "utf-8")


if __name__ == "__main__":
    main()
