"""An evaluation in words and as a table, for a terminal."""

from __future__ import annotations

from chunkwise.evaluate.compare import FEW, FEWEST, mean_intervals
from chunkwise.evaluate.results import Evaluation, Outcome
from chunkwise.evaluate.tables import aligned

# Of more metrics than these a line of a terminal has room for the second few only: the others are in the files.
_MOST, _SHOWN = 4, ("Precision @ tokens", "Recall @ 5", "nDCG @ 10")


def measured(found: Evaluation) -> str:
    """Return what was measured, and what makes it worth less."""
    n_synthetic = sum(query.is_synthetic for query in found.queries)
    told = [
        f"{_counted(len(found.queries), 'question')} about {_counted(found.corpus.n_documents, 'document')}, "
        f"{found.tokens} tokens ({found.tokenizer}) of evidence for each, encoder {found.encoder}"
    ]
    if n_synthetic:
        share = "all" if n_synthetic == len(found.queries) else f"{n_synthetic:,}"
        told.append(f"{share} of the questions are synthetic: what they show of people's questions is a guess")
    if found.groups:
        told.append("intervals are over documents, which are drawn with all of their questions")
    elif len(found.queries) < FEW:
        told.append("few questions: only large differences can show")
    return "; ".join(told)


def config_table(found: Evaluation) -> str:
    """Return a row for each config, the best first: recall and what it is behind, other metrics, costs."""
    outcomes = {outcome.config.label: outcome for outcome in found.outcomes}
    names = [name for name in next(iter(outcomes.values())).scores if name != found.metric]
    shown = names if len(names) <= _MOST else [name for name in names if name.startswith(_SHOWN)]
    rows = [["recall", "", "behind by", *map(_short, shown), "tokens", "vectors", "index s", "ask ms", "config"]]
    rows += [_row(found, outcomes[label], shown) for label in found.comparison.names]
    return aligned(rows, left=(1, 2, len(rows[0]) - 1))


def _row(found: Evaluation, outcome: Outcome, shown: list[str]) -> list[str]:
    compared, label, costs = found.comparison, outcome.config.label, outcome.costs
    scores = outcome.scores[found.metric]
    (interval,) = mean_intervals([scores], groups=found.groups)
    first, can_tell = compared.names[0], compared.n_groups >= FEWEST
    if label == first:
        behind = ""
    else:
        told = compared.differences[first, label]
        tie = "" if told.is_clear else ", a tie"
        bounds = f"[{100 * told.low:.1f}, {100 * told.high:.1f}]{tie}" if can_tell else "not to be told"
        behind = f"{100 * told.mean:.1f} {bounds}"
    marks = "*" * (label == compared.choice and len(compared.names) > 1 and can_tell)
    return [
        f"{_points(scores)}{marks}",
        f"[{100 * interval.low:.1f}, {100 * interval.high:.1f}]" if interval else "",
        behind,
        *(_points(outcome.scores[name]) for name in shown),
        f"{costs.tokens:.0f}",
        f"{costs.vectors:,}",
        f"{costs.cutting.seconds + costs.embedding.seconds:.1f}",
        f"{1000 * costs.search.seconds:.1f}",
        label,
    ]


def _points(scores: tuple[float, ...]) -> str:
    return f"{100 * sum(scores) / len(scores):.1f}"


def _short(name: str) -> str:
    """Return the name of a metric as a column's: `P @ 800t`."""
    metric, _, cutoff = name.partition(" @ ")
    size = cutoff.removeprefix("tokens(").partition(",")[0].rstrip(")")
    return f"{metric}@{size}{'t' * cutoff.startswith('tokens')}" if cutoff else metric


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
