"""What an evaluation costs: 24 recipes on Chroma's set with vectors that are kept, and two without, beside the encoder.

python bench/evaluating.py [--cache FILE]

The first run with a file embeds what it does not hold, some twenty minutes of two cores; what is measured is the next.
Needs the question sets in `../shared/data` (or $CHUNKWISE_SHARED).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from chunkwise.core.config import Config
from chunkwise.embed import minilm
from chunkwise.embed.cache import user_file
from chunkwise.evaluating import BUDGETS, Setting, evaluate
from chunkwise.pipeline import chunk
from questions import QuestionSet, load

_SIZES = {
    "recursive": (64, 100, 128, 150, 180, 200, 250),
    "structural": (64, 100, 128, 150, 180, 200, 250),
    "sentences": (64, 100, 128, 250),
    "paragraphs": (128, 250),
    "fixed": (64, 128, 250),
}
RECIPES = (
    *(f"{strategy}(size={size})" for strategy, sizes in _SIZES.items() for size in sizes),
    "recursive(size=200) | overlap(sentences=1)",
)


# How often what has nothing kept and the encoder alone are measured, in turn.
_RUNS = 3


def main() -> None:
    """Print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=user_file(), help="the file that keeps vectors")
    cache, questions = parser.parse_args().cache, load("chroma")
    configs = [Config(recipe) for recipe in RECIPES]
    kept = replace(Setting.of(800), cache=cache)
    seconds(questions, configs, kept)
    for name, setting in (("no curve", replace(kept, budgets=())), (f"recall at {len(BUDGETS)} budgets", kept)):
        print(f"{len(RECIPES)} recipes, vectors kept, {name}: {seconds(questions, configs, setting):.1f} s")
    few = [Config("recursive(size=200)"), Config("recursive(size=128)")]
    counter = minilm().tokenizer
    texts = [
        part.embed_text
        for one in questions.documents
        for config in few
        for part in chunk(one, config.recipe, tokenizer=counter)
    ]
    distinct = [*dict.fromkeys(texts), *(query.text for query in questions.questions)]
    alone, whole = [], []
    for _ in range(_RUNS):
        started = time.perf_counter()
        minilm()(distinct, role="passage")
        alone.append(time.perf_counter() - started)
        whole.append(seconds(questions, few, replace(kept, cache=None)))
    ratio = median(one / other for one, other in zip(whole, alone, strict=True))
    print(
        f"{len(few)} recipes, nothing kept: {median(whole):.1f} s; the encoder alone {median(alone):.1f} s; "
        f"{ratio:.2f} times, the median of {_RUNS} runs in turn"
    )


def seconds(questions: QuestionSet, configs: Sequence[Config], setting: Setting) -> float:
    """Return how long an evaluation takes."""
    started = time.perf_counter()
    evaluate(questions.documents, questions.questions, configs, setting=setting)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
