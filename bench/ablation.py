"""What each part of an assembly is worth: python bench/ablation.py [--cache FILE] [--results FOLDER].

Writes ABLATION.md beside this file. What was measured is kept and not measured again, as by frontier.py.
Cost: two minutes of one core for each row, once the texts are embedded.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from chunkwise.embed.cache import user_file
from chunkwise.evaluate.statistics import paired_bootstraps
from chunkwise.pipeline import DEFAULT_RECIPE
from chunkwise.retrieve.assemble import LADDERS
from frontier import load_once, measured
from frontier_methods import LADDER, Assembled, Method, keep_vectors
from frontier_results import BUDGETS, Result, keep, stored

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / ".bench" / "ablation"

# The parameters were fixed on the first three; the fourth was only looked at.
_SHOWN: Mapping[str, tuple[int, ...]] = {
    "covidqa": (200, 400, 800, 1200),
    "qmsum": (400, 800, 1200, 2000),
    "xquad-en": (100, 200),
    "chroma": (200, 400, 800, 1200),
}
_OWN = LADDERS["default"]
_VARIANTS = {
    "default: 100 to 1,600 and the sentence": _OWN,
    "sentence only": replace(_OWN, sizes=(100,), weights=(0,), sentence=1),
    "200 and the sentence": replace(_OWN, sizes=(200,)),
    "100, 200, 400 and the sentence": replace(_OWN, sizes=(100, 200, 400)),
    "100 to 800 and the sentence": replace(_OWN, sizes=(100, 200, 400, 800)),
    "200 to 1,600 and the sentence": replace(_OWN, sizes=(200, 400, 800, 1600)),
    "no sentence": replace(_OWN, sentence=0),
    "sentence 1, however long": replace(_OWN, sentence=1),
    "no share of the neighbour": replace(_OWN, neighbour=0),
    "half of the neighbour": replace(_OWN, neighbour=0.5),
    "no gaps filled": replace(_OWN, gap=0),
    "gaps to 60 filled": replace(_OWN, gap=60),
    "words only (alpha 0)": replace(_OWN, alpha=0),
    "vectors only (alpha 1)": replace(_OWN, alpha=1),
    "fine": LADDERS["fine"],
    "coarse": LADDERS["coarse"],
}
METHODS = (
    *(Method(name, DEFAULT_RECIPE, Assembled(ladder)) for name, ladder in _VARIANTS.items()),
    Method("default, with a vector for every sentence", LADDER, Assembled(_OWN)),
)


def main() -> None:
    """Measure what is not there yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=user_file(), help="the file that keeps vectors")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder that keeps what was measured")
    given = parser.parse_args()
    keep_vectors(given.cache)
    for name in _SHOWN:
        for recipe in (DEFAULT_RECIPE, LADDER):
            methods = [method for method in METHODS if method.recipe == recipe]
            missing = [method for method in methods if stored(given.results, name, method) is None]
            for result in measured(load_once(name), missing) if missing else ():
                keep(given.results, result)
                print(f"{name}: {result.method}", file=sys.stderr, flush=True)
    found = {name: {one.name: stored(given.results, name, one) for one in METHODS} for name in _SHOWN}
    (HERE / "ABLATION.md").write_text("\n".join(_page(found)) + "\n", "utf-8")


def _page(found: Mapping[str, Mapping[str, Result | None]]) -> Iterator[str]:
    yield "# What each part of an assembly is worth"
    yield ""
    yield f"Made by `python bench/ablation.py` on {datetime.date.today()}: recall in percent at tokens of cl100k_base,"
    yield "as in [FRONTIER.md](FRONTIER.md); below the first row the difference from it, ▲ or ▼ where its interval of"
    yield "95 % (paired bootstrap over questions) is clear of zero. The parameters were fixed on the first three sets."
    yield ""
    columns = [(name, budget) for name, budgets in _SHOWN.items() for budget in budgets]
    yield "| | " + " | ".join(f"{name} {budget:,}" for name, budget in columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    cells = [_column(found[name], budget) for name, budget in columns]
    for method in METHODS:
        yield f"| {method.name} | " + " | ".join(column[method.name] for column in cells) + " |"


def _column(results: Mapping[str, Result | None], budget: int) -> dict[str, str]:
    """Return the cells of one set at one budget by method: a mean first, then differences."""
    place = BUDGETS.index(budget)
    known = {name: 100 * result.scores("recall")[place] for name, result in results.items() if result is not None}
    first, base = next(iter(known.items()))
    shown = dict.fromkeys(results, "")
    differences = paired_bootstraps(np.array([own - base for own in known.values()]).T)
    for name, one in zip(known, differences, strict=True):
        sign = "" if not one.is_clear else " ▲" if one.mean > 0 else " ▼"
        shown[name] = f"{base.mean():.1f}" if name == first else f"{one.mean:+.1f}{sign}"
    return shown


if __name__ == "__main__":
    main()
