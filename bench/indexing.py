"""Where the time of indexing goes: the share that is spent inside the encoder, and what indexing again embeds.

Needs the question sets in `../shared/data` (or $CHUNKWISE_SHARED); without them the examples are indexed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chunkwise as cw
from chunkwise.core.protocols import Encoder, Floats2d, Role
from chunkwise.embed import minilm
from chunkwise.embed.onnx import engine
from cost import cell
from questions import SHARED

_BYTES = 1_000_000
_QUICK_BYTES = 50_000
_DEFAULT = "structural(size=200) | context(headings=True)"
_OTHER = "structural(size=150) | context(headings=True)"
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "corpus"


class Timed:
    """The default encoder, with a watch."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.seconds = 0.0
        self.n_texts = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        start = time.perf_counter()
        vectors = self.encoder(texts, role=role)
        self.seconds += time.perf_counter() - start
        self.n_texts += len(texts)
        return vectors


@dataclass(frozen=True, slots=True)
class Taken:
    """What one run took: seconds in all and in the encoder, chunks that were stored, texts that were embedded."""

    seconds: float
    inside: float
    n_chunks: int
    n_texts: int


def page(*, quick: bool) -> Iterator[str]:
    """Yield the table of runs on one folder: a first one, the same again elsewhere, and another size."""
    n_bytes = _QUICK_BYTES if quick else _BYTES
    yield f"## Indexing {n_bytes / 1e6:g} MB from files to an index on disk"
    yield ""
    yield (
        "Wall time, and the share of it inside the encoder; vectors are kept, as by default, so the runs after the "
        f"first embed only what they cut otherwise. The encoder runs in {engine(minilm())}."
    )
    yield ""
    yield "| run | recipe | chunks | embedded | s | in the encoder |"
    yield "|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_texts(folder / "docs", n_bytes)
        warm(folder)
        for run, recipe in (("first", _DEFAULT), ("again", _DEFAULT), ("another size", _OTHER)):
            taken = indexed(folder, run, recipe)
            share = f"{100 * taken.inside / taken.seconds:.1f} %" if taken.n_texts else ""
            yield f"| {run} | `{cell(recipe)}` | {taken.n_chunks} | {taken.n_texts} | {taken.seconds:.2f} | {share} |"
    yield ""


def write_texts(folder: Path, n_bytes: int) -> None:
    """Write files of real text, `n_bytes` in all."""
    public = SHARED / "data" / "chroma" / "documents"
    folder.mkdir()
    for file in sorted((public if public.is_dir() else _EXAMPLES).glob("*.md"), key=lambda file: file.stat().st_size):
        content = file.read_bytes()[:n_bytes].decode("utf-8", "ignore")
        (folder / file.name).write_text(content, "utf-8")
        n_bytes -= len(content.encode())
        if n_bytes <= 0:
            break


def warm(folder: Path) -> None:
    """Load the model and the store's library, which a run of a second would mostly consist of."""
    index = cw.Index(folder / "warm", cache=None)
    index.add_documents([cw.read_text("A pump has a seal.", id="warm")])


def indexed(folder: Path, run: str, recipe: str) -> Taken:
    """Index the folder's texts, with a cache that all runs share."""
    encoder = Timed(minilm())
    start = time.perf_counter()
    index = cw.Index(folder / run, encoder=encoder, cache=folder / "kept.sqlite")
    index.add(folder / "docs", recipe=recipe)
    return Taken(time.perf_counter() - start, encoder.seconds, len(index), encoder.n_texts)
