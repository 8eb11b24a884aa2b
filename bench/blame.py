"""Say why evidence of public questions is missed, and whether another cut finds what is blamed on the cut.

python bench/blame.py [--sets chroma,covidqa] [--cache FILE]

Needs the question sets in `../shared/data` (or $CHUNKWISE_SHARED). Cost: beside embedding, which `--cache` keeps, ten
minutes of two cores a set.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from chunkwise.blaming import blame, blame_assembly
from chunkwise.embed.cache import user_file
from chunkwise.evaluate.misses import Blame, Cause, table
from chunkwise.pipeline import DEFAULT_RECIPE
from frontier_methods import LADDER, MINILM, POOLED, keep_vectors, opened
from questions import QuestionSet, load

BUDGET = 800
RECIPES = {"recursive(size=400)": POOLED, "recursive(size=200)": MINILM, DEFAULT_RECIPE: MINILM}
# Other ways to cut, that what is missed by one of the above is looked for in.
OTHERS = {"recursive(size=100)": MINILM}
_GROUPS: Mapping[str, tuple[Cause, ...]] = {"of the cut": ("fragmented", "diluted"), "outranked": ("outranked",)}


def main() -> None:
    """Print the causes of each recipe, and what the others find of what it missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="chroma,covidqa", help="names of sets, with commas")
    parser.add_argument("--cache", type=Path, default=user_file(), help="the file that keeps vectors")
    given = parser.parse_args()
    keep_vectors(given.cache)
    for name in given.sets.split(","):
        blames = list(blamed(load(name)))
        print(f"{name}, {blames[0].n_queries} questions, {BUDGET} tokens\n\n{table(blames)}\n")
        for row in agreement(blames):
            print(row)
        print()


def blamed(questions: QuestionSet) -> Iterator[Blame]:
    """Yield why each recipe misses evidence, by a hybrid search; the last one assembles it."""
    for recipe, vectors in (RECIPES | OTHERS).items():
        index = opened(vectors)
        index.add_documents(questions.documents, recipe=recipe)
        yield blame(index, questions.questions, questions.documents, tokens=BUDGET)
    index = opened(MINILM)
    index.add_documents(questions.documents, recipe=LADDER)
    yield blame_assembly(index, questions.questions, questions.documents, tokens=BUDGET)


def agreement(blames: list[Blame]) -> Iterator[str]:
    """Yield what share of the evidence that a recipe misses another way to cut it finds, by what it is blamed on."""
    missed = {one.recipe: {(miss.query_id, miss.evidence) for miss in one.misses} for one in blames}
    for one in blames[: len(RECIPES)]:
        others = [missed[other.recipe] for other in blames if other.recipe != one.recipe]
        groups = {name: [miss for miss in one.misses if miss.cause in causes] for name, causes in _GROUPS.items()}
        groups["not found alone"] = [miss for miss in one.misses if not miss.found_alone]
        for name, misses in groups.items():
            found = sum(any((miss.query_id, miss.evidence) not in other for other in others) for miss in misses)
            yield f"{one.recipe}: {name}: {found} of {len(misses)} found by another cut"


if __name__ == "__main__":
    main()
