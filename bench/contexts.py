"""Measure what each part of a context brings: recall of `context(...)` on labelled sets.

    python bench/contexts.py DATA_FOLDER [--documents N]

DATA_FOLDER holds documents/ and queries.jsonl, as examples/ does. Dense and hybrid; at 5 hits, and at 800 tokens of
text, with the paired bootstrap interval of the difference to no context. The first line of a plain text is its title.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.protocols import Encoder, Floats2d, Role
from chunkwise.core.types import Document, Hit, Span
from chunkwise.embed import minilm
from chunkwise.evaluate import metrics
from chunkwise.evaluate.statistics import paired_bootstrap
from chunkwise.pipeline import Index, Mode
from chunkwise.readers.read import read_text

PARTS = ["headings=False", "", "title=True", "summary=True", "neighbours=1", "title=True, summary=True"]
BASE = "structural(size=200) | context({})"
MODES: tuple[Mode, ...] = ("vector", "hybrid")
BUDGET = 800

Floats1d: TypeAlias = NDArray[np.float64]


class Remembering:
    """An encoder that encodes no text twice."""

    def __init__(self, inner: Encoder) -> None:
        self.inner, self.known = inner, dict[tuple[str, str], np.ndarray]()
        self.name, self.fingerprint, self.dim = inner.name, inner.fingerprint, inner.dim
        self.max_tokens, self.tokenizer = inner.max_tokens, inner.tokenizer

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        new = list(dict.fromkeys(text for text in texts if (role, text) not in self.known))
        if new:
            self.known |= {(role, text): row for text, row in zip(new, self.inner(new, role=role), strict=True)}
        return np.array([self.known[role, text] for text in texts], np.float32).reshape(-1, self.dim)


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=0, help="the first so many only; 0 for all")
    parser.add_argument("--skip", default="", help="names of documents to leave out, with commas")
    given = parser.parse_args()
    paths = [path for path in sorted((given.folder / "documents").iterdir()) if path.name not in given.skip.split(",")]
    documents = [titled(path) for path in paths[: given.documents or None]]
    known = {document.id for document in documents}
    lines = (given.folder / "queries.jsonl").read_text("utf-8").splitlines()
    queries = [query for query in map(json.loads, lines) if {one["document"] for one in query["evidence"]} <= known]
    encoder = Remembering(minilm())
    print(f"{len(documents)} documents, {len(queries)} questions")
    print("| context | chunks | tokens of text | dense k=5 | hybrid k=5 | dense 800 | hybrid 800 |")
    print("|---|---|---|---|---|---|---|", flush=True)
    plain: list[Floats1d] = []
    for parts in PARTS:
        index = Index("memory:", encoder=encoder)
        index.add_documents(documents, recipe=BASE.format(parts))
        tokens = [text_tokens(hit, encoder) for document in documents for hit in as_hits(index, document.id)]
        recalls = [np.array([at_k(index, query, mode) for query in queries]) for mode in MODES]
        recalls += [np.array([at_tokens(index, query, mode, encoder) for query in queries]) for mode in MODES]
        plain = plain or recalls
        figures = " | ".join(
            f"{100 * own.mean():.1f}" + (f" {interval(own - base)}" if own is not base else "")
            for own, base in zip(recalls, plain, strict=True)
        )
        print(f"| {parts or 'headings=True'} | {len(index)} | {np.mean(tokens):.0f} | {figures} |", flush=True)


def interval(differences: Floats1d) -> str:
    """Return the paired bootstrap interval of 95 % of a mean difference, in points."""
    found = paired_bootstrap(100 * differences)
    return f"[{found.low:+.1f}, {found.high:+.1f}]"


def titled(path: Path) -> Document:
    """Read a text; the first line of one that is no Markdown is its title."""
    text = path.read_bytes().decode("utf-8")
    meta = {"title": text.split("\n", 1)[0].strip()} if path.suffix == ".txt" else {}
    document = read_text(text, id=path.name, media_type="text/markdown" if path.suffix == ".md" else "text/plain")
    return Document(document.id, document.text, document.blocks, document.media_type, meta={**document.meta, **meta})


def as_hits(index: Index, document_id: str) -> list[Hit]:
    """Return the chunks of a document as hits."""
    return [Hit(chunk, 0.0, 0, ()) for chunk in index.chunks(document_id)]


def text_tokens(hit: Hit, encoder: Encoder) -> int:
    """Return the tokens of a hit's text, which is what a reader is given."""
    return encoder.tokenizer.count(hit.chunk.text) - encoder.tokenizer.n_special


def at_k(index: Index, query: dict, mode: Mode) -> float:  # type: ignore[type-arg]  # a line of JSON
    """Return the share of the evidence in the first five hits."""
    return recall(query, index.search(query["query"], k=5, mode=mode))


def at_tokens(index: Index, query: dict, mode: Mode, encoder: Encoder) -> float:  # type: ignore[type-arg]  # a line of JSON
    """Return the share of the evidence in the first hits that have `BUDGET` tokens of text together."""
    left, kept = BUDGET, []
    for hit in index.search(query["query"], k=40, mode=mode):
        if (cost := text_tokens(hit, encoder)) <= left:
            left -= cost
            kept.append(hit)
    return recall(query, kept)


def recall(query: dict, hits: Sequence[Hit]) -> float:  # type: ignore[type-arg]  # a line of JSON
    """Return the share of the evidence's characters that the hits hold."""
    found = [(hit.chunk.document_id, span) for hit in hits for span in hit.chunk.spans]
    return metrics.recall(found, [(one["document"], Span(one["start"], one["end"])) for one in query["evidence"]])


if __name__ == "__main__":
    main()
