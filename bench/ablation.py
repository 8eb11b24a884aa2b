"""What each part of an assembly is worth: python bench/ablation.py [--cache FILE] [--every N].

Writes ABLATION.md beside this file.
Cost: two minutes of one core for each row, once the texts are embedded.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.embed.cache import user_file
from chunkwise.evaluate.metrics import recall
from chunkwise.evaluate.statistics import paired_bootstraps
from chunkwise.pipeline import DEFAULT_RECIPE
from chunkwise.retrieve.assemble import LADDERS
from frontier import load_once
from frontier_methods import LADDER, MINILM, Assembled, Method, keep_vectors, opened
from questions import gold

HERE = Path(__file__).resolve().parent
Recalls: TypeAlias = NDArray[np.float64]
"""Of each question, at each budget of its set."""

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
    parser.add_argument("--every", type=int, default=1, help="ask every so many questions only")
    given = parser.parse_args()
    keep_vectors(given.cache)
    found: dict[str, dict[str, Recalls]] = {name: {} for name in _SHOWN}
    for name, budgets in _SHOWN.items():
        for recipe in (DEFAULT_RECIPE, LADDER):
            index = opened(MINILM)
            index.add_documents(load_once(name).documents, recipe=recipe)
            for method in METHODS:
                if method.recipe == recipe:
                    asked = load_once(name).questions[:: given.every]
                    rows = [
                        [recall(method.find(index, one.text, most), gold(one)) for most in budgets] for one in asked
                    ]
                    found[name][method.name] = 100 * np.array(rows)
                    print(f"{name}: {method.name}", file=sys.stderr, flush=True)
    (HERE / "ABLATION.md").write_text("\n".join(_page(found, given.every)) + "\n", "utf-8")


def _page(found: Mapping[str, Mapping[str, Recalls]], every: int) -> Iterator[str]:
    yield "# What each part of an assembly is worth"
    yield ""
    yield f"Made by `python bench/ablation.py --every {every}` on {datetime.date.today()}: recall in percent at tokens"
    yield "of cl100k_base, as in [FRONTIER.md](FRONTIER.md); below the first row the difference from it, ▲ or ▼"
    yield "where its interval of 95 % (paired bootstrap over questions) is clear of zero. Parameters were fixed on the"
    yield "first three sets."
    yield ""
    columns = [(name, place) for name, budgets in _SHOWN.items() for place in range(len(budgets))]
    yield "| | " + " | ".join(f"{name} {_SHOWN[name][place]:,}" for name, place in columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    cells = [_column({key: row[:, place] for key, row in found[name].items()}) for name, place in columns]
    for method in METHODS:
        yield f"| {method.name} | " + " | ".join(column[method.name] for column in cells) + " |"


def _column(scores: Mapping[str, Recalls]) -> dict[str, str]:
    """Return the cells of one set at one budget by method: a mean first, then differences from it."""
    base = scores[METHODS[0].name]
    shown = {}
    for name, one in zip(scores, paired_bootstraps(np.array([own - base for own in scores.values()]).T), strict=True):
        sign = "" if not one.is_clear else " ▲" if one.mean > 0 else " ▼"
        shown[name] = f"{base.mean():.1f}" if name == METHODS[0].name else f"{one.mean:+.1f}{sign}"
    return shown


if __name__ == "__main__":
    main()
