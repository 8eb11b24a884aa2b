"""Splitters of other libraries themselves, where they are installed, on real text and on what users reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chunkwise.chunkers import external
from chunkwise.chunkers.external import faults
from chunkwise.core.types import Chunk, Document
from chunkwise.pipeline import chunk
from chunkwise.text.tokens import tokenizer

GUIDE = (Path(__file__).parents[1] / "golden" / "files" / "guide.md").read_text("utf-8")
Make = Callable[[], Any]


def langchain(name: str, **options: Any) -> Make:
    def make() -> Any:
        package = pytest.importorskip("langchain_text_splitters")
        return getattr(package, name)(**options)

    return make


def chonkie(name: str, **options: Any) -> Make:
    return lambda: getattr(pytest.importorskip("chonkie"), name)(**options)


def llama(name: str, **options: Any) -> Make:
    def make() -> Any:
        parser = getattr(pytest.importorskip("llama_index.core.node_parser"), name)
        return parser.from_defaults(**options) if name.startswith("Hier") else parser(**options)

    return make


def semchunk(size: int) -> Make:
    return lambda: pytest.importorskip("semchunk").chunkerify(len, size)


def text_splitter(size: int) -> Make:
    return lambda: pytest.importorskip("semantic_text_splitter").TextSplitter(size)


def words(text: str) -> list[int]:
    return list(range(len(text.split())))


# What each does to a Markdown page: these kinds of faults, chunks in others, and changed white space; nothing else.
CASES: dict[str, tuple[Make, set[str]]] = {
    "langchain recursive": (langchain("RecursiveCharacterTextSplitter", chunk_size=200, chunk_overlap=40), set()),
    "langchain characters": (langchain("CharacterTextSplitter", chunk_size=200, chunk_overlap=0), set()),
    "langchain markdown": (langchain("MarkdownTextSplitter", chunk_size=200, chunk_overlap=0), {"lost_before"}),
    "langchain headers": (
        langchain("MarkdownHeaderTextSplitter", headers_to_split_on=[("#", "1"), ("##", "2")]),
        {"lost_before"},
    ),
    "chonkie recursive": (chonkie("RecursiveChunker", tokenizer="character", chunk_size=200), set()),
    "chonkie sentences": (chonkie("SentenceChunker", tokenizer="character", chunk_size=200), set()),
    "chonkie tokens": (chonkie("TokenChunker", tokenizer="character", chunk_size=200, chunk_overlap=30), set()),
    "semchunk": (semchunk(200), set()),
    "semantic-text-splitter": (text_splitter(200), set()),
    "llama sentences": (llama("SentenceSplitter", chunk_size=40, chunk_overlap=8, tokenizer=words), set()),
    "llama markdown": (llama("MarkdownNodeParser"), set()),
    # Its offsets are those in the chunk above.
    "llama levels": (
        llama("HierarchicalNodeParser", chunk_sizes=[120, 40], chunk_overlap=4),
        {"wrong_offset", "out_of_order"},
    ),
}


def cut(make: Make, text: str, size: int = 10_000, counted_by: str = "characters") -> list[Chunk]:
    recipe = external(make(), size=size, tokenizer=tokenizer(counted_by))
    chunks = chunk(Document.from_text(text, id="x"), recipe)
    assert all(text[one.start : one.end] == one.text for one in chunks)
    return chunks


@pytest.mark.parametrize("name", CASES)
def test_what_a_library_returns_is_found_in_the_text(name: str) -> None:
    make, known = CASES[name]
    chunks = cut(make, GUIDE)
    assert len(chunks) > 3
    assert set(faults(chunks)) <= known | {"nested", "whitespace"}, faults(chunks)
    assert "altered" not in faults(chunks)
    assert not any("not_found" in kind for kind in faults(chunks))


REPORTED: dict[str, tuple[Make, str, int, set[str]]] = {
    # Chunks far over chunk_size where the separator is absent: langchain-ai/langchain#6958.
    "over size": (
        langchain("CharacterTextSplitter", chunk_size=50, chunk_overlap=0),
        "no blank lines here " * 20,
        50,
        {"over_size"},
    ),
    # With overlap the limit is exceeded: isaacus-dev/semchunk#25.
    "over size with overlap": (
        lambda: lambda text: pytest.importorskip("semchunk").chunkerify(len, 4)(text, overlap=2),
        "aa  bb  cc  dd",
        4,
        {"over_size"},
    ),
    # The source of the pattern is inserted into chunks: langchain-ai/langchain#39569.
    "not in the text": (
        langchain(
            "RecursiveCharacterTextSplitter",
            chunk_size=40,
            chunk_overlap=0,
            separators=[r"\s*;\s*"],
            is_separator_regex=True,
            keep_separator=False,
        ),
        "red ; green ;blue; " + "violet " * 10,
        40,
        {"not_found_before", "lost_before"},
    ),
    # An unterminated fence swallows the rest: langchain-ai/langchain#37966.
    "lost": (
        langchain("ExperimentalMarkdownSyntaxTextSplitter"),
        "# Guide\nBefore.\n\n```bash\nmake install\n\n## Limits\nMax 40 seats.\n",
        500,
        {"lost_after"},
    ),
    # No delimiter is known of Chinese: one chunk over the limit (chonkie 1.7.0).
    "over size in Chinese": (
        chonkie("SentenceChunker", tokenizer="character", chunk_size=20),
        "水泵每周检查一次。阀门必须关闭。记录压力读数。" * 3,
        20,
        {"over_size"},
    ),
    # Tabs and no-break spaces deleted: langchain-ai/langchain#40071.
    "white space": (
        langchain("MarkdownHeaderTextSplitter", headers_to_split_on=[("#", "1")]),
        "# Build\n\n```make\nall:\n\tcc main.c\n```\n\nCosts 10\u00a0000 EUR.\n",
        500,
        {"whitespace"},
    ),
}


@pytest.mark.parametrize("name", REPORTED)
def test_what_users_reported_of_a_library_is_told(name: str) -> None:
    make, text, size, told = REPORTED[name]
    assert set(faults(cut(make, text, size))) >= told
