"""Results of an evaluation as a JSON file, and what a later run needs of it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from chunkwise.core.errors import ChunkwiseError
from chunkwise.evaluate.costs import Costs
from chunkwise.evaluate.judgements import judged_fields
from chunkwise.evaluate.misses import CAUSES, Blame
from chunkwise.evaluate.results import Evaluation, Outcome

# Raise it when a reader of the file must know.
_VERSION = 1


def result_fields(evaluation: Evaluation) -> dict[str, Any]:
    """Return all that was found, as JSON has it. Texts of documents are not in it, those of questions are."""
    compared = evaluation.comparison
    return {
        "results": _VERSION,
        "chunkwise": evaluation.version,
        "repeat": evaluation.repeat,
        "metric": evaluation.metric,
        "tokens": evaluation.tokens,
        "tokenizer": evaluation.tokenizer,
        "encoder": evaluation.encoder,
        "corpus": asdict(evaluation.corpus),
        "verdict": compared.verdict,
        "choice": compared.choice,
        "winner": compared.winner,
        "ties": list(compared.ties),
        "differences": [
            {"of": one, "to": other, "mean": told.mean, "low": _finite(told.low), "high": _finite(told.high)}
            for (one, other), told in compared.differences.items()
        ],
        "queries": [
            {
                "id": query.id,
                "text": query.text,
                "synthetic": query.is_synthetic,
                "evidence": [[[one.document_id, *one.span] for one in slot] for slot in query.evidence],
            }
            for query in evaluation.queries
        ],
        "configs": [_outcome_fields(outcome) for outcome in evaluation.outcomes],
    }


def _finite(end: float) -> float | None:
    """Return the end of an interval, none where too few questions tell one: JSON has no infinity."""
    return end if math.isfinite(end) else None


def _outcome_fields(outcome: Outcome) -> dict[str, Any]:
    return {
        "label": outcome.config.label,
        **asdict(outcome.config),
        "scores": {name: list(values) for name, values in outcome.scores.items()},
        "recall_at": {str(size): list(values) for size, values in outcome.curve.items()},
        "costs": _cost_fields(outcome.costs),
        "blame": None if outcome.blame is None else _blame_fields(outcome.blame),
        "answers": None if outcome.answers is None else judged_fields(outcome.answers),
        "notes": list(outcome.notes),
        "hits": [
            [
                {
                    "document": hit.document_id,
                    "spans": [list(span) for span in hit.spans],
                    "score": hit.score,
                    "tokens": hit.tokens,
                }
                for hit in hits
            ]
            for hits in outcome.found
        ],
    }


def _cost_fields(costs: Costs) -> dict[str, Any]:
    spent = {"cutting": costs.cutting, "embedding": costs.embedding, "search": costs.search}
    return {
        "tokens": costs.tokens,
        "vectors": costs.vectors,
        "tokens_embedded": costs.embedded,
        **{f"{name}_seconds": one.seconds for name, one in spent.items()},
        **{f"{name}_bytes": one.memory for name, one in spent.items()},
    }


def _blame_fields(blame: Blame) -> dict[str, Any]:
    return {
        "recall": blame.recall,
        "winnable": blame.winnable,
        "lost": {cause: blame.loss(cause).recall for cause in CAUSES},
        "misses": [
            {
                "query": miss.query_id,
                "document": miss.evidence.document_id,
                "span": list(miss.evidence.span),
                "cause": miss.cause,
                "lost": miss.lost,
                "proof": miss.proof,
            }
            for miss in blame.misses
        ],
    }


@dataclass(frozen=True, slots=True)
class Baseline:
    """What an earlier run found: the text of each question, and its score by each config, by the question's id."""

    file: str
    metric: str
    fingerprint: str
    texts: Mapping[str, str] = field(hash=False)
    scores: Mapping[str, Mapping[str, float]] = field(hash=False)


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Read the results of an earlier run.

    Raises: ChunkwiseError for a file that is none.
    """
    file = os.fspath(path)
    try:
        told = json.loads(Path(path).read_text("utf-8"))
    except OSError as err:
        raise ChunkwiseError(f"{file}: {err.strerror}") from err
    except ValueError as err:
        raise ChunkwiseError(f"{file} is no results file: {err}; make one with: chunkwise evaluate ... --json") from err
    try:
        if told["results"] != _VERSION:
            raise ChunkwiseError(f"{file} is of another version of chunkwise; make it anew with: evaluate ... --json")
        ids: Sequence[str] = [str(query["id"]) for query in told["queries"]]
        metric = str(told["metric"])
        texts = {str(query["id"]): str(query["text"]) for query in told["queries"]}
        scores = {
            str(config["label"]): dict(zip(ids, map(float, config["scores"][metric]), strict=True))
            for config in told["configs"]
        }
        return Baseline(file, metric, str(told["corpus"]["fingerprint"]), texts, scores)
    except (KeyError, TypeError, ValueError) as err:
        raise ChunkwiseError(
            f"{file} is no results file of an evaluation ({type(err).__name__}: {err}); make one with: chunkwise "
            "evaluate ... --json"
        ) from err
