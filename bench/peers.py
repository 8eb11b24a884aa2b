"""Splitters of other libraries, each set up as its documentation shows and given the same encoding.

None may download anything: encodings and sentence models come from installed packages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from splitters import Entry, Piece, Splitter, count, encoding

PACKAGES = (
    *("chonkie", "semchunk", "semantic-text-splitter", "langchain-text-splitters", "llama-index-core"),
    *("haystack-ai", "tree-sitter-python"),
)

# A model whose encoding is cl100k_base: semantic-text-splitter takes no encoding, only this.
_MODEL = "gpt-4"


def prepare() -> None:
    """Point every library to what is installed, before any of them is imported."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    found = find_spec("llama_index")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("llama-index-core is not installed here; run this with .venv-bench/bin/python, or make bench")
    static = Path(found.submodule_search_locations[0]) / "core" / "_static"
    os.environ["NLTK_DATA"] = str(static / "nltk_cache")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(static / "tiktoken_cache")


def chonkie_recursive(limit: int) -> Splitter:
    """Cut by chonkie's default rules."""
    return _chonkie(import_module("chonkie").RecursiveChunker(tokenizer=encoding(), chunk_size=limit))


def chonkie_windows(limit: int) -> Splitter:
    """Cut windows of tokens."""
    chonkie = import_module("chonkie")
    return _chonkie(chonkie.TokenChunker(tokenizer=encoding(), chunk_size=limit, chunk_overlap=limit // 8))


def chonkie_sentences(limit: int) -> Splitter:
    """Collect sentences."""
    return _chonkie(import_module("chonkie").SentenceChunker(tokenizer=encoding(), chunk_size=limit))


def chonkie_recursive_characters(limit: int) -> Splitter:
    """Cut by chonkie's default rules, in characters."""
    return _chonkie(import_module("chonkie").RecursiveChunker(chunk_size=limit))


def chonkie_fast(limit: int) -> Splitter:
    """Cut at line breaks and stops; its sizes are bytes."""
    return _chonkie(import_module("chonkie").FastChunker(chunk_size=limit))


def _chonkie(chunker: Any) -> Splitter:
    def pieces(text: str) -> list[Piece]:
        return [Piece(c.text, c.start_index, c.end_index, c.token_count or None) for c in chunker.chunk(text)]

    return Splitter(chunker.chunk, pieces)


def semchunk_tokens(limit: int) -> Splitter:
    """Cut with semchunk; it remembers the counts of all it has seen."""
    return _semchunk(import_module("semchunk").chunkerify(encoding(), limit))


def semchunk_characters(limit: int) -> Splitter:
    """Cut with semchunk, in characters."""
    return _semchunk(import_module("semchunk").chunkerify(len, limit))


def _semchunk(chunker: Any) -> Splitter:
    def pieces(text: str) -> list[Piece]:
        return [Piece(piece, *place) for piece, place in zip(*chunker(text, offsets=True), strict=True)]

    return Splitter(chunker, pieces)


def text_splitter(limit: int) -> Splitter:
    """Cut plain text with semantic-text-splitter."""
    return _text_splitter(import_module("semantic_text_splitter").TextSplitter.from_tiktoken_model(_MODEL, limit))


def text_splitter_markdown(limit: int) -> Splitter:
    """Cut Markdown with semantic-text-splitter."""
    return _text_splitter(import_module("semantic_text_splitter").MarkdownSplitter.from_tiktoken_model(_MODEL, limit))


def text_splitter_code(limit: int) -> Splitter:
    """Cut Python with semantic-text-splitter and tree-sitter."""
    grammar = import_module("tree_sitter_python").language()
    splitter = import_module("semantic_text_splitter").CodeSplitter
    return _text_splitter(splitter.from_tiktoken_model(grammar, _MODEL, limit))


def text_splitter_characters(limit: int) -> Splitter:
    """Cut plain text with semantic-text-splitter, in characters."""
    return _text_splitter(import_module("semantic_text_splitter").TextSplitter(limit))


def _text_splitter(splitter: Any) -> Splitter:
    def pieces(text: str) -> list[Piece]:
        return [Piece(piece, start, start + len(piece)) for start, piece in splitter.chunk_indices(text)]

    return Splitter(splitter.chunks, pieces)


def langchain(name: str, *, characters: bool = False) -> Callable[[int], Splitter]:
    """Return how to set up a splitter of langchain, which measures by a function of text."""

    def build(limit: int) -> Splitter:
        make = getattr(import_module("langchain_text_splitters"), name)
        options = {"chunk_size": limit, "chunk_overlap": 0, "length_function": len if characters else count}
        return _langchain(make(**options), make(**options, add_start_index=True))

    return build


def langchain_windows(limit: int) -> Splitter:
    """Cut windows of tokens."""
    make = import_module("langchain_text_splitters").TokenTextSplitter
    options = {"encoding_name": "cl100k_base", "disallowed_special": ()}
    sizes = {"chunk_size": limit, "chunk_overlap": limit // 8}
    return _langchain(make(**options, **sizes), make(**options, **sizes, add_start_index=True))


def langchain_code(limit: int) -> Splitter:
    """Cut Python by langchain's separators for it."""
    package = import_module("langchain_text_splitters")
    make = package.RecursiveCharacterTextSplitter.from_language
    options = {"chunk_size": limit, "chunk_overlap": 0, "length_function": count}
    language = package.Language.PYTHON
    return _langchain(make(language, **options), make(language, **options, add_start_index=True))


def _langchain(splitter: Any, placing: Any) -> Splitter:
    def pieces(text: str) -> list[Piece]:
        found = []
        for document in placing.create_documents([text]):
            start = document.metadata["start_index"]
            found.append(Piece(document.page_content, start, start + len(document.page_content)))
        return found

    return Splitter(splitter.split_text, pieces)


def llama_sentences(limit: int) -> Splitter:
    """Collect sentences; what is longer is cut by ever smaller separators."""
    make = import_module("llama_index.core.node_parser").SentenceSplitter
    return _llama(make(chunk_size=limit, chunk_overlap=0, tokenizer=encoding().encode_ordinary))


def llama_windows(limit: int) -> Splitter:
    """Collect words."""
    make = import_module("llama_index.core.node_parser").TokenTextSplitter
    return _llama(make(chunk_size=limit, chunk_overlap=limit // 8, tokenizer=encoding().encode_ordinary))


def llama_levels(_limit: int) -> Splitter:
    """Cut in levels of 2048, 512 and 128 tokens."""
    package = import_module("llama_index.core.node_parser")
    sizes = (2048, 512, 128)
    parsers = {
        f"level {size}": package.SentenceSplitter(
            chunk_size=size, chunk_overlap=0, tokenizer=encoding().encode_ordinary
        )
        for size in sizes
    }
    splitter = package.HierarchicalNodeParser.from_defaults(node_parser_ids=list(parsers), node_parser_map=parsers)
    make = import_module("llama_index.core").Document

    def cut(text: str) -> Sequence[Any]:
        found: Sequence[Any] = splitter.get_nodes_from_documents([make(text=text)])
        return found

    return Splitter(cut, lambda _: [])


def _llama(splitter: Any) -> Splitter:
    make = import_module("llama_index.core").Document

    def pieces(text: str) -> list[Piece]:
        nodes = splitter.get_nodes_from_documents([make(text=text)])
        return [Piece(node.text, node.start_char_idx, node.end_char_idx) for node in nodes]

    return Splitter(splitter.split_text, pieces)


def haystack_tokens(limit: int) -> Splitter:
    """Cut with haystack, given our encoding in place of its o200k_base."""
    return _haystack(limit, "token")


def haystack_characters(limit: int) -> Splitter:
    """Cut with haystack, in characters."""
    return _haystack(limit, "char")


def _haystack(limit: int, unit: str) -> Splitter:
    make = import_module("haystack.components.preprocessors").RecursiveDocumentSplitter
    document = import_module("haystack").Document
    splitter = make(split_length=limit, split_overlap=0, split_unit=unit)
    splitter.warm_up()
    if unit == "token":
        splitter.tiktoken_tokenizer = encoding()

    def cut(text: str) -> Sequence[Any]:
        found: Sequence[Any] = splitter.run(documents=[document(content=text)])["documents"]
        return found

    def pieces(text: str) -> list[Piece]:
        return [
            Piece(found.content, start := found.meta["split_idx_start"], start + len(found.content))
            for found in cut(text)
        ]

    return Splitter(cut, pieces)


_SPOKEN = ("prose", "markdown", "cjk")

PEERS = (
    Entry("chonkie RecursiveChunker", "recursive", "chonkie", chonkie_recursive),
    Entry("semchunk", "recursive", "semchunk", semchunk_tokens),
    Entry("semantic-text-splitter", "recursive", "semantic-text-splitter", text_splitter, share=0.5),
    Entry(
        "langchain RecursiveCharacterTextSplitter",
        "recursive",
        "langchain-text-splitters",
        langchain("RecursiveCharacterTextSplitter"),
        share=0.5,
    ),
    Entry("llama-index SentenceSplitter", "recursive", "llama-index-core", llama_sentences, share=0.5),
    Entry("haystack RecursiveDocumentSplitter", "recursive", "haystack-ai", haystack_tokens, share=0.5),
    Entry("chonkie TokenChunker", "windows", "chonkie", chonkie_windows),
    Entry("langchain TokenTextSplitter", "windows", "langchain-text-splitters", langchain_windows),
    Entry("llama-index TokenTextSplitter", "windows", "llama-index-core", llama_windows, share=0.1),
    Entry("chonkie SentenceChunker", "sentences", "chonkie", chonkie_sentences, _SPOKEN),
    Entry("llama-index SentenceSplitter", "sentences", "llama-index-core", llama_sentences, _SPOKEN, share=0.5),
    Entry(
        "langchain MarkdownTextSplitter",
        "markdown",
        "langchain-text-splitters",
        langchain("MarkdownTextSplitter"),
        ("markdown",),
        share=0.5,
    ),
    Entry(
        "semantic-text-splitter Markdown",
        "markdown",
        "semantic-text-splitter",
        text_splitter_markdown,
        ("markdown",),
        share=0.5,
    ),
    Entry(
        "langchain for Python",
        "code",
        "langchain-text-splitters",
        langchain_code,
        ("python",),
        share=0.5,
    ),
    Entry("semantic-text-splitter Code", "code", "semantic-text-splitter", text_splitter_code, ("python",), share=0.1),
    Entry("llama-index HierarchicalNodeParser", "levels", "llama-index-core", llama_levels, _SPOKEN, share=0.2),
    Entry("chonkie FastChunker (bytes)", "characters", "chonkie", chonkie_fast),
    Entry("chonkie RecursiveChunker", "characters", "chonkie", chonkie_recursive_characters),
    Entry("semchunk", "characters", "semchunk", semchunk_characters),
    Entry("semantic-text-splitter", "characters", "semantic-text-splitter", text_splitter_characters),
    Entry(
        "langchain CharacterTextSplitter",
        "characters",
        "langchain-text-splitters",
        langchain("CharacterTextSplitter", characters=True),
    ),
    Entry(
        "langchain RecursiveCharacterTextSplitter",
        "characters",
        "langchain-text-splitters",
        langchain("RecursiveCharacterTextSplitter", characters=True),
    ),
    Entry("haystack RecursiveDocumentSplitter", "characters", "haystack-ai", haystack_characters),
)
