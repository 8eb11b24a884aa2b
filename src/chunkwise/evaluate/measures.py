"""Metrics as values: `Recall @ tokens(800)` prints as it parses, in Python, on the command line and in a report.

Recall, precision and IoU count characters. MRR, MAP and the hit rate ask which hits are relevant (see `slots`), nDCG
how much each adds. All are of one question, from 0 to 1, but for `Tokens`, which is what a reader pays.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias, cast

from chunkwise.core.errors import ChunkwiseError, RecipeError
from chunkwise.core.protocols import Metric, Tokenizer
from chunkwise.core.recipes import meant
from chunkwise.core.types import Chunk, Hit, Query
from chunkwise.evaluate import metrics
from chunkwise.evaluate.slots import counted, filled, gains, is_relevant, located, slots
from chunkwise.text.tokens import tokenizer as find_tokenizer

# In what a budget is counted where nothing is said: one tokenizer for all recipes, or budgets would not be equal.
DEFAULT_TOKENIZER = "cl100k_base"

_EXAMPLE = "'Recall @ tokens(800)', 'nDCG @ 10' or 'MRR'"


@dataclass(frozen=True, slots=True, repr=False)
class TokenBudget:
    """As many of the best hits as `size` tokens pay for; one that no longer fits is passed over, as in a search.

    Their texts are counted one by one, contexts not. `tokenizer` should be that of the model that reads them.
    """

    size: int
    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        if not _is_count(self.size):
            raise RecipeError(f"tokens({self.size!r}) must be a whole number of at least 1; try tokens(800)")

    def cost(self, chunk: Chunk) -> int:
        """Return what a chunk costs of it."""
        return n_tokens(chunk.text, self.tokenizer)

    def __repr__(self) -> str:
        named = "" if self.tokenizer.name == DEFAULT_TOKENIZER else f", tokenizer={self.tokenizer.name!r}"
        return f"tokens({self.size}{named})"


Cutoff: TypeAlias = int | TokenBudget | None
"""How many hits count: the first so many, those that a budget pays for, or all."""

Formula: TypeAlias = Callable[[Query, Sequence[Hit], Cutoff], float]
"""`formula(query, hits, cutoff)` is given the hits that count, best first, and at what they were cut off."""


def tokens(size: int, *, tokenizer: str | Tokenizer = DEFAULT_TOKENIZER) -> TokenBudget:
    """Return a budget for a metric to look at."""
    counts = find_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    if not isinstance(counts, Tokenizer):
        raise RecipeError(f"tokens({size}): tokenizer={tokenizer!r} must be a name; try tokenizer='o200k_base'")
    return TokenBudget(size, counts)


@dataclass(frozen=True, slots=True, repr=False)
class Measure:
    """A metric that is a value: a formula by name, and how many hits it looks at. `@` sets that.

    Hits are taken by their rank, in whatever order they come.
    """

    name: str
    formula: Formula = field(compare=False)
    cutoff: Cutoff = None

    def __post_init__(self) -> None:
        if not (self.cutoff is None or isinstance(self.cutoff, TokenBudget) or _is_count(self.cutoff)):
            raise RecipeError(f"{self.name} @ {self.cutoff!r}: at a number of hits or of tokens; try {_EXAMPLE}")

    def __call__(self, query: Query, hits: Sequence[Hit]) -> float:
        return self.formula(query, kept(hits, self.cutoff), self.cutoff)

    def __matmul__(self, cutoff: int | TokenBudget) -> Measure:
        return replace(self, cutoff=cutoff)

    def __repr__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name} @ {self.cutoff!r}"


METRICS: dict[str, Measure] = {}
"""Every metric by name."""

# What others call them.
_ALSO = {"hit": "HitRate", "success": "HitRate", "rr": "MRR", "ap": "MAP"}


def metric(name: str, formula: Formula) -> Measure:
    """Register a formula as a metric, which then parses by its name, in capitals or not."""
    METRICS[name] = Measure(name, formula)
    return METRICS[name]


def parse_metric(text: str) -> Measure:
    """Read a metric.

    Raises: RecipeError, which names the part that is wrong and what may have been meant.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as err:  # the last two: absurdly nested
        raise RecipeError(f"can't read the metric {text!r}; try {_EXAMPLE}") from err
    at = tree.right if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult) else None
    name = tree.left if isinstance(tree, ast.BinOp) and at is not None else tree
    if not isinstance(name, ast.Name):
        raise RecipeError(f"can't read {ast.unparse(name)!r} as the name of a metric; try {_EXAMPLE}")
    found = _named(name.id)
    return found if at is None else found @ _cutoff(at)


def kept(hits: Sequence[Hit], cutoff: Cutoff) -> list[Hit]:
    """Return the hits that count, by rank."""
    ranked = sorted(hits, key=lambda hit: hit.rank)
    if not isinstance(cutoff, TokenBudget):
        return ranked[:cutoff]
    left, paid = cutoff.size, []
    for hit in ranked:
        if (cost := n_tokens(hit.chunk.text, cutoff.tokenizer)) <= left:
            left -= cost
            paid.append(hit)
    return paid


def scores(
    wanted: Iterable[Metric], queries: Sequence[Query], found: Mapping[str, Sequence[Hit]]
) -> dict[str, list[float]]:
    """Return the values of metrics by their `repr`, one for each question, in their order.

    `found` has the hits by the ids of questions. One for which nothing was found scores, too: 0.
    Raises: ChunkwiseError if there are no questions, two have one id, or one has no evidence.
    """
    twice = [id for id, n in Counter(query.id for query in queries).items() if n > 1]
    if twice or not queries:
        raise ChunkwiseError(f"two questions have the id {twice[0]!r}" if twice else "no questions to score")
    return {repr(one): [one(query, found.get(query.id, ())) for query in queries] for one in wanted}


def _recall(query: Query, hits: Sequence[Hit], _cutoff: Cutoff) -> float:
    """Return the share of the evidence that was found, each slot weighing as much as its shortest alternative.

    With fixed weights another hit never lowers it, whichever alternative it fills.
    """
    gold, found = slots(query), located(hits)
    weights = [min(one.span.length for one in slot) for slot in gold]
    shares = [counted(slot, found) for slot in gold]
    return sum(weight * n / one.span.length for weight, (one, n) in zip(weights, shares, strict=True)) / sum(weights)


def _precision(query: Query, hits: Sequence[Hit], _cutoff: Cutoff) -> float:
    found = located(hits)
    return metrics.precision(found, _gold(query, found))


def _iou(query: Query, hits: Sequence[Hit], _cutoff: Cutoff) -> float:
    found = located(hits)
    return metrics.iou(found, _gold(query, found))


def _ndcg(query: Query, hits: Sequence[Hit], cutoff: Cutoff) -> float:
    """Return the discounted gains by the best possible ones: one slot whole at each rank.

    The gain of a hit is the share of a slot that it adds. The j-th slot that is touched counts at the rank of its hit,
    or at j if that is lower: a hit that holds two slots is worth as much as two that hold one each, and never more.
    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418, with log2(1 + rank).
    """
    gold = slots(query)
    most = min(len(gold), cutoff) if isinstance(cutoff, int) else len(gold)
    order: dict[int, int] = {}
    total = 0.0
    for rank, slot, gain in gains(gold, hits):
        place = order.setdefault(slot, len(order) + 1)
        if place <= most:
            total += gain / math.log2(1 + max(rank, place))
    return total / sum(1 / math.log2(1 + place) for place in range(1, most + 1))


def _mrr(query: Query, hits: Sequence[Hit], _cutoff: Cutoff) -> float:
    """Return one by the rank of the first relevant hit; its mean over questions is the MRR."""
    return next((1 / rank for rank in filled(slots(query), hits)), 0.0)


def _map(query: Query, hits: Sequence[Hit], _cutoff: Cutoff) -> float:
    """Return the mean over slots of the precision where each is filled; its mean over questions is the MAP.

    The j-th slot that is filled counts j by its rank, and 1 where hits before fill several. Those that no hit fills
    count 0, also with a cutoff.
    """
    gold = slots(query)
    precisions = [place / max(place, rank) for place, rank in enumerate(filled(gold, hits), 1)]
    return sum(precisions) / len(gold)


def _hit_rate(query: Query, hits: Sequence[Hit], _cutoff: Cutoff) -> float:
    """Return 1 where a hit is relevant, else 0."""
    return float(bool(filled(slots(query), hits)))


def _hit_precision(query: Query, hits: Sequence[Hit], _cutoff: Cutoff) -> float:
    """Return the share of the hits that are relevant: what is called the precision of a context, in whole hits."""
    alternatives = [one for slot in slots(query) for one in slot]
    return sum(any(is_relevant(hit, one) for one in alternatives) for hit in hits) / len(hits) if hits else 0.0


def _tokens(_query: Query, hits: Sequence[Hit], cutoff: Cutoff) -> float:
    """Return the tokens of the hits, counted as the budget is."""
    counts = cutoff.tokenizer if isinstance(cutoff, TokenBudget) else find_tokenizer(DEFAULT_TOKENIZER)
    return float(sum(n_tokens(hit.chunk.text, counts) for hit in hits))


Recall = metric("Recall", _recall)
Precision = metric("Precision", _precision)
IoU = metric("IoU", _iou)
nDCG = metric("nDCG", _ndcg)  # noqa: N816  # as the field writes it
MRR = metric("MRR", _mrr)
MAP = metric("MAP", _map)
HitRate = metric("HitRate", _hit_rate)
HitPrecision = metric("HitPrecision", _hit_precision)
Tokens = metric("Tokens", _tokens)


def _gold(query: Query, found: Sequence[metrics.Located]) -> list[metrics.Located]:
    """Return the places of the alternatives that count, one for each slot."""
    chosen = (counted(slot, found)[0] for slot in slots(query))
    return [(one.document_id, one.span) for one in chosen]


def n_tokens(text: str, tokenizer: Tokenizer) -> int:
    """Return the tokens of a text that is read: special ones are no part of it. Texts are remembered."""
    return _counted(text, cast("Hashable", tokenizer))  # a frozen dataclass, as all of ours are


@lru_cache(maxsize=1 << 16)
def _counted(text: str, tokenizer: Any) -> int:
    """Count a text once for all metrics and questions: special tokens are no part of what is read."""
    n_tokens: int = tokenizer.count(text) - tokenizer.n_special
    return n_tokens


def _named(name: str) -> Measure:
    known = {one.lower(): one for one in METRICS} | _ALSO
    plain = name.lower().replace("_", "")
    if plain not in known:
        raise RecipeError(f"no metric {name!r}{meant(plain, known)}; known: {', '.join(METRICS)}")
    return METRICS[known[plain]]


def _cutoff(node: ast.expr) -> int | TokenBudget:
    """Return a number of hits, or a budget of tokens."""
    try:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tokens":
            size, *rest = map(ast.literal_eval, node.args)
            options = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
            if not rest and set(options) <= {"tokenizer"}:
                return tokens(size, **options)
        elif _is_count(number := ast.literal_eval(node)):
            return int(number)
    except (ValueError, TypeError) as err:
        raise RecipeError(f"can't read {ast.unparse(node)!r} after @; try {_EXAMPLE}") from err
    raise RecipeError(f"can't read {ast.unparse(node)!r} after @; try {_EXAMPLE}")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def standard(budget: TokenBudget) -> tuple[Measure, ...]:
    """Return what is shown where nothing is asked for: at an equal budget first, then at fixed numbers of hits.

    These are what published tables have. Source: 5 is the number of hits of Chroma's report, 10 that of BEIR's tables.
    """
    return (
        *(one @ budget for one in (Recall, Precision, IoU, nDCG, Tokens)),
        *(one @ 5 for one in (Recall, Precision, IoU, HitRate, Tokens)),
        *(one @ 10 for one in (nDCG, MRR, MAP)),
    )


STANDARD: tuple[Measure, ...] = standard(tokens(800))
