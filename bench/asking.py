"""What a question costs on an index of 20,000 sentences, beside encoding it.

Needs the question sets in `../shared/data` (or $CHUNKWISE_SHARED); without them nothing is measured.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import chunkwise as cw
from chunkwise.core.protocols import Encoder, Floats2d, Role
from chunkwise.embed import encoder
from frontier_methods import LADDER, Remembering
from questions import SHARED, load

_SETS = ("chroma", "covidqa", "qmsum")
_SENTENCES, _QUICK_SENTENCES = 20_000, 2_000
_QUESTIONS = 60


def page(*, quick: bool) -> Iterator[str]:
    """Yield the milliseconds of processor time of searches and of assembling, and of the first one."""
    yield "## What a question costs"
    yield ""
    if not all((SHARED / "data" / name).is_dir() for name in _SETS):
        yield "Not measured: the sets are not there."
        return
    documents, asked = _given(_QUICK_SENTENCES if quick else _SENTENCES)
    with tempfile.TemporaryDirectory() as folder:
        index = cw.Index(f"{folder}/index", encoder=Remembering(_static()), cache=None)
        index.add_documents(documents, recipe=LADDER)
        index.encoder(asked, role="query")  # what is measured is the rest
        first = _seconds(lambda: index.assemble(asked[0]))
        yield f"An index in a folder, {len(index):,} chunks by `{LADDER}`; median and longest processor time of"
        yield f"{len(asked)} questions, in milliseconds, encoding not counted. The first assembly, which reads the"
        yield f"index into memory, took {first:.1f} s."
        yield ""
        yield "| | median | longest |"
        yield "|---|---:|---:|"
        yield from _rows(index, asked)
    yield ""


def _rows(index: cw.Index, asked: Sequence[str]) -> Iterator[str]:
    ways: dict[str, Callable[[str], object]] = {
        "assemble 800 tokens": lambda question: index.assemble(question, tokens=800),
        "assemble 800 tokens of cl100k_base": lambda question: index.assemble(
            question, tokens=800, tokenizer="cl100k_base"
        ),
        "assemble 3,000 tokens": lambda question: index.assemble(question, tokens=3000),
        "five chunks, hybrid": lambda question: index.search(question, k=5),
    }
    for name, ask in ways.items():
        ask(asked[0])
        took = [1000 * _seconds(partial(ask, question)) for question in asked]
        yield f"| {name} | {statistics.median(took):.0f} | {max(took):.0f} |"


def _seconds(step: Callable[[], object]) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start


def _given(sentences: int) -> tuple[list[cw.Document], list[str]]:
    """Return documents of the sets with about so many sentences, and questions about them."""
    documents: list[cw.Document] = []
    asked: list[str] = []
    left = sentences
    for name in _SETS:
        questions = load(name)
        asked += [question.text for question in questions.questions[: _QUESTIONS // len(_SETS)]]
        for document in questions.documents:
            if left <= 0:
                break
            documents.append(document)
            left -= len(cw.chunk(document, "sentences(max_sentences=1)"))
    return documents, asked


def _static() -> Encoder:
    """Return an encoder that takes no time, with vectors as long as those of the default one."""
    return _Widened(encoder("static"))


class _Widened:
    """The static encoder, with zeros behind its vectors."""

    dim = 384

    def __init__(self, inner: Encoder) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        return np.pad(self._inner(texts, role=role), ((0, 0), (0, self.dim - self._inner.dim)))
