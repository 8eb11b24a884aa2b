"""Which parts of documents a page holds, each once, and where in them a span is, as scripts of a page count."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import Span
from chunkwise.evaluate.metrics import Located
from chunkwise.report.html import shown


class Needed:
    """The parts of documents that are needed so far."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self.held: dict[str, NDArray[np.bool_]] = {}
        self._weights: dict[str, float] = {}

    def weight(self, places: Iterable[Located]) -> float:
        """Return how many bytes the file grows by about if it is to hold these places, too.

        Raises: ChunkwiseError for one that is in no document.
        """
        return sum(int((~self._mask(id, span)[span.start : span.end]).sum()) * self._weight(id) for id, span in places)

    def add(self, places: Iterable[Located]) -> None:
        """Hold these places, too."""
        for id, span in places:
            self._mask(id, span)[span.start : span.end] = True

    def _mask(self, id: str, span: Span) -> NDArray[np.bool_]:
        text = self._texts.get(id)
        if text is None or span.end > len(text):
            raise ChunkwiseError(
                f"no text from {span.start} to {span.end} of {id}: the report needs the texts that were evaluated"
            )
        if id not in self.held:
            self.held[id] = np.zeros(len(text), np.bool_)
        return self.held[id]

    def _weight(self, id: str) -> float:
        """Return the bytes of a character of a document in the file."""
        if id not in self._weights:
            text = self._texts[id]
            self._weights[id] = len(json.dumps(shown(text), ensure_ascii=False).encode()) / len(text)
        return self._weights[id]


class Place(NamedTuple):
    """A span of a window. Offsets count UTF-16 code units of the text that is shown, as JavaScript does."""

    window: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of a document: its number among all, its span, and its offset in units after every character."""

    number: int
    span: Span
    units: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Windows:
    """The parts of documents that a page holds, as disjoint and as large as they can be. `texts` are as shown."""

    texts: tuple[str, ...]
    by_document: Mapping[str, tuple[_Window, ...]]

    @classmethod
    def of(cls, texts: Mapping[str, str], needed: Needed) -> Windows:
        """Cut out what is needed. Cost: linear in the text that is."""
        found: list[str] = []
        by_document = {}
        for id, mask in needed.held.items():
            windows = []
            for span in _runs(mask):
                text = span.slice(texts[id])
                windows.append(_Window(len(found), span, _units(text)))
                found.append(shown(text))
            by_document[id] = tuple(windows)
        return cls(tuple(found), by_document)

    def place(self, id: str, span: Span) -> Place:
        """Return where a span is, which must not be empty and must be needed."""
        windows = self.by_document[id]
        window = windows[bisect_right(windows, span.start, key=lambda one: one.span.start) - 1]
        start, end = span.start - window.span.start, span.end - window.span.start
        return Place(window.number, int(window.units[start]), int(window.units[end]))


def _runs(mask: NDArray[np.bool_]) -> list[Span]:
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0)).tolist()
    return [Span(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _units(text: str) -> NDArray[np.int64]:
    """Return the offset of every character, and of the end, in the UTF-16 code units of the text as it is shown."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds, which = np.unique(codes, return_inverse=True)
    units = np.array([len(shown(chr(code)).encode("utf-16-le")) // 2 for code in kinds.tolist()], np.int64)[which]
    units[:-1][(codes[:-1] == ord("\r")) & (codes[1:] == ord("\n"))] = 0  # one line break is shown of the two
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(units)])
