"""Evaluations that are made up, and look at the text as strictly as real ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chunkwise.core.config import Config
from chunkwise.core.types import Evidence, Query, Span
from chunkwise.evaluate.costs import Costs, Spent
from chunkwise.evaluate.misses import CAUSES, Blame, Miss
from chunkwise.evaluate.results import Corpus, Evaluation, Found, Outcome

METRIC = "Recall @ tokens(800)"

# What spoils offsets in scripts: characters of two code units, of several characters, marks that are left out.
WORDS = "the seal 🩺 of 泵 is 👩‍🔧 worn\u202e and\r\nmust \u0000 be 𝒳 changed. "
TEXTS = {f"{name}.md": f"{name} {WORDS * 6}" for name in ("pump", "valve", "帯", *(f"d{i}" for i in range(21)))}

HOSTILE = "</script><script>pwned=1</script><img src=x onerror=pwned=1>"
HOSTILE += "\" autofocus onfocus='pwned=1' <!-- \u202eevil\u2066 ]]>"


def query(i: int, texts: Mapping[str, str] = TEXTS, **fields: str) -> Query:
    """A question of which the answer is all but the first and the last words of a document."""
    ids = list(texts)
    id = ids[i % len(ids)]
    span = Span(len(ids[0]), len(texts[id]) // 2)
    asked = Query(f"q{i}", f"What is wrong with {id}, {i}?", ((Evidence(id, span),),), f"worn {i}")
    return replace(asked, **fields)  # type: ignore[arg-type]  # texts only


def found(asked: Query, share: float) -> tuple[Found, ...]:
    """Hits of which the second holds the first `share` of the evidence, and the first holds what comes after it."""
    one = asked.evidence[0][0]
    cut = one.span.start + round(share * one.span.length)
    beyond = Found(one.document_id, (Span(one.span.end, one.span.end + 20),), 0.9, 1, 7)
    return (beyond,) if cut == one.span.start else (beyond, Found(one.document_id, (Span(2, cut),), 0.5, 3, 11))


def outcome(label: str, queries: Sequence[Query], shares: Sequence[float], *, vectors: int = 100) -> Outcome:
    """What a config did that finds these shares of the evidence; what it misses has each cause in turn."""
    misses = tuple(
        Miss(asked.id, asked.evidence[0][0], CAUSES[i % 4], 1 - share, 0, None, 1, 9, asked.evidence[0][0].span)
        for i, (asked, share) in enumerate(zip(queries, shares, strict=True))
        if share < 1
    )
    costs = Costs(712.4, vectors, Spent(1.5, 3_000_000), Spent(20.25, None), Spent(0.0042, 10_000))
    return Outcome(
        Config(label),
        {
            METRIC: tuple(shares),
            "Recall @ 5": tuple(share / 2 for share in shares),
            "Tokens @ 5": (1234.0,) * len(shares),
        },
        {n: tuple(share * n / 1600 for share in shares) for n in (200, 800, 1600)},
        tuple(found(asked, share) for asked, share in zip(queries, shares, strict=True)),
        costs,
        Blame(label, "hybrid()", "800 tokens", len(queries), misses),
    )


def evaluation(
    n: int = 60, names: Sequence[str] = ("fixed(size=100)", "recursive(size=200)", "structural(size=400)")
) -> Evaluation:
    """Configs of which each later one finds less, on questions about many documents."""
    queries = tuple(query(i) for i in range(n))
    shares = [[1.0 if i % 5 > place else (i % 3) / 2 for i in range(n)] for place in range(len(names))]
    outcomes = tuple(
        outcome(name, queries, row, vectors=100 * (place + 1))
        for place, (name, row) in enumerate(zip(names, shares, strict=True))
    )
    size = sum(map(len, TEXTS.values()))
    corpus = Corpus(len(TEXTS), size, "c0ffee")
    return Evaluation(queries, outcomes, corpus, METRIC, 800, "cl100k_base", "static", "chunkwise evaluate docs", "0.7")


def hostile() -> tuple[Evaluation, dict[str, str]]:
    """An evaluation of which every word is an attack, and its texts."""
    texts = {f"{i}{HOSTILE}": f"{HOSTILE} {i} " * 20 for i in range(30)}
    queries = tuple(query(i, texts, text=f"{i}{HOSTILE}", answer=HOSTILE, id=f"{i}{HOSTILE}") for i in range(30))
    outcomes = tuple(
        replace(outcome(f"{name}{HOSTILE}", queries, [share] * 30), notes=(HOSTILE,))
        for name, share in (("a", 1.0), ("b", 0.5))
    )
    corpus = Corpus(30, 1, HOSTILE)
    return Evaluation(queries, outcomes, corpus, METRIC, 800, HOSTILE, HOSTILE, HOSTILE, HOSTILE), texts
