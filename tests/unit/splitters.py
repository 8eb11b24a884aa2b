"""Splitters that do what those of other libraries do, with their faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


def careless(text: str) -> list[str]:
    """Join the lines of paragraphs, and lose every code block and the last paragraph."""
    return [" ".join(part.split()) for part in text.split("\n\n")[:-1] if "```" not in part]


def windows(text: str, *, size: int = 40, step: int = 30) -> list[str]:
    """Cut windows of characters that overlap, and strip them."""
    return [text[start : start + size].strip() for start in range(0, max(len(text) - size + step, 1), step)]


@dataclass
class Found:
    """A chunk as chonkie and LangChain give it, with the names of either."""

    text: str
    start_index: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class Page:
    """A document of LangChain's."""

    def __init__(self, page_content: str, start: int) -> None:
        self.page_content = page_content
        self.metadata = {"start_index": start}


class LangChainLike:
    """Split at separators that are then lost, and strip, as CharacterTextSplitter does."""

    def split_text(self, text: str) -> list[str]:
        return [part.strip() for part in re.split(r";\s*", text) if part.strip()]


class ChonkieLike:
    """Say where chunks start, in bytes: wrong after the first character that has more than one."""

    def __init__(self, cut: Callable[[str], Sequence[str]]) -> None:
        self._cut = cut

    def chunk(self, text: str) -> list[Found]:
        found, start = [], 0
        for part in self._cut(text):
            found.append(Found(part, start))
            start += len(part.encode())
        return found

    def __call__(self, text: str) -> list[Found]:
        raise AssertionError("chunk is what is called")


class Node:
    """A node of LlamaIndex's."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.start_char_idx = None


class LlamaLike:
    """Take documents, not texts; give levels, the larger chunks first, as HierarchicalNodeParser does."""

    def get_nodes_from_documents(self, documents: Sequence[Any]) -> list[Node]:
        (document,) = documents
        sentences = re.findall(r"[^.]+\.", document.text)
        pairs = ["".join(sentences[i : i + 2]) for i in range(0, len(sentences), 2)]
        return [Node(text.strip()) for text in (*pairs, *sentences)]


def lines(text: str) -> list[str]:
    """Cut at the end of lines, which stay."""
    return text.splitlines(keepends=True)
