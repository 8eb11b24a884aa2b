"""Routes: whether kinds of documents are better served by recipes of their own than by the one that serves all best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields

from chunkwise.chunkers.kinds import Kind, kind_of
from chunkwise.chunkers.route import Route
from chunkwise.core.types import Document, Query
from chunkwise.evaluate.compare import FEW, compare
from chunkwise.evaluate.results import Outcome

KINDS: tuple[Kind, ...] = tuple(field.name for field in fields(Route))  # type: ignore[misc]

# What cuts a kind by its own parts.
SPECIAL: Mapping[Kind, str] = {
    "code": "code",
    "table": "rows",
    "json": "json",
    "log": "rows",
    "transcript": "turns",
    "legal": "clauses",
}


def kinds(documents: Iterable[Document], queries: Sequence[Query]) -> dict[Kind, list[int]]:
    """Return the numbers of the questions about each kind of document, of kinds with enough of them to choose by.

    Empty where all documents are of one kind: then there is nothing to route.
    """
    of = {document.id: kind_of(document)[0] for document in documents}
    if len(set(of.values())) < 2:
        return {}
    found: dict[Kind, list[int]] = {}
    for number, query in enumerate(queries):
        found.setdefault(of[query.evidence[0][0].document_id], []).append(number)
    return {kind: numbers for kind, numbers in found.items() if len(numbers) >= FEW}


def routed(prose: str, routes: Mapping[Kind, str]) -> str:
    """Return a recipe that cuts some kinds by recipes of their own, and all others by `prose`."""
    return f"route({', '.join(f'{kind}={routes.get(kind, prose)}' for kind in KINDS)})"


def special(kind: Kind, size: int) -> str:
    """Return the recipe that cuts a kind by its own parts."""
    return f"{SPECIAL[kind]}(size={size})"


def better(tried: Mapping[str, Outcome], best: str, numbers: Sequence[int], metric: str) -> str | None:
    """Return the recipe that serves some questions better than the one that serves all best; None if none is clear."""
    found = compare({recipe: [outcome.scores[metric][i] for i in numbers] for recipe, outcome in tried.items()})
    return None if best in found.ties else found.names[0]
