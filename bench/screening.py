"""Whether screening puts recipes in the order that embedding them does, and what a choice by it loses.

python bench/screening.py [--sets chroma,covidqa] [--tokens] [--page] [--cache FILE]

Writes SCREENING.md beside this file, of all that has been measured; what is there is not measured again, so that a run
that was stopped goes on where it was. `--tokens` also pools token vectors of one run over long windows. Needs the
question sets in `../shared/data` (or $CHUNKWISE_SHARED). Cost: about 35 passes of the encoder over each set, an hour of
two cores for covidqa; vectors are kept in the file `--cache`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import screening_page
from chunkwise.embed import encoder
from chunkwise.embed.cache import user_file
from frontier_methods import MINILM, keep_vectors
from screening_ranking import check
from screening_runs import REAL, keep, loaded, measured, measured_late, stored

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / ".bench" / "screening"


def main() -> None:
    """Measure what is not there yet, and write the page."""
    given = options()
    keep_vectors(given.cache)
    found = encoder(MINILM)
    for name in () if given.page else given.sets:
        questions, started = loaded(name), time.monotonic()
        for run in measured(questions, found, given.results):
            keep(given.results, run)
            if run.way == REAL:
                check(run.recipe, questions, run.table)
            print(f"{name}: {run.recipe}, {run.way}, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        for run in measured_late(questions, found, given.results) if given.tokens else ():
            keep(given.results, run)
    pages = {name: runs for name in given.sets if (runs := stored(given.results, name))}
    (HERE / "SCREENING.md").write_text(screening_page.page(pages, found), "utf-8")


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="chroma,covidqa", help="names with commas; covidqa/3 is a third of it")
    parser.add_argument("--tokens", action="store_true", help="also pool token vectors")
    parser.add_argument("--page", action="store_true", help="only write the page of what has been measured")
    parser.add_argument("--cache", type=Path, default=user_file(), help="the file that keeps vectors")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder that keeps what was measured")
    given = parser.parse_args()
    given.sets = given.sets.split(",")
    return given


if __name__ == "__main__":
    main()
