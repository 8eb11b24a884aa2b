"""What is compared: records of splitters, and Chunkwise's own, one line a recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

import tiktoken

import chunkwise as cw
from chunkwise.core.protocols import Tokenizer
from chunkwise.text.bytepairs import BytePairs
from chunkwise.text.syntax import syntax
from corpora import CORPORA

LIMIT = 512


class Piece(NamedTuple):
    """A chunk as its maker reports it; what it does not report is None."""

    text: str
    start: int | None = None
    end: int | None = None
    n_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Splitter:
    """A way of cutting that is set up: `cut` is what is timed, `pieces` is the same cut with all that is reported."""

    cut: Callable[[str], Sequence[Any]]
    pieces: Callable[[str], list[Piece]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a table. `share` is how much of a slice it is given: less for the very slow."""

    name: str
    table: str
    package: str
    build: Callable[[int], Splitter]
    corpora: tuple[str, ...] = CORPORA
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Engine:
    """A tokenizer as it stands: ours on it, and one bare pass over a text without us."""

    name: str
    tokenizer: Tokenizer
    bare: Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Table:
    """Recipes of ours that stand beside splitters of others; `{limit}` and `{overlap}` are filled in."""

    name: str
    title: str
    recipes: tuple[str, ...]
    limit: int = LIMIT
    corpora: tuple[str, ...] = CORPORA
    media_type: str = ""  # of `read_text`; without one the text is cut as it is


TABLES = (
    Table("recursive", "Recursive, 512 tokens", ("recursive(size={limit})",)),
    Table(
        "windows",
        "Every 512 tokens, 64 of them repeated",
        ("fixed(size={limit}) | overlap(tokens={overlap})",),
    ),
    Table("sentences", "Sentences to 512 tokens", ("sentences(size={limit})",), corpora=("prose", "markdown", "cjk")),
    Table(
        "markdown",
        "Markdown, 512 tokens",
        ("structural(size={limit})",),
        corpora=("markdown",),
        media_type="text/markdown",
    ),
    Table(
        "code",
        "Code, 512 tokens",
        ("structural(size={limit})", "code(size={limit})"),
        corpora=("python",),
        media_type="text/x-python",
    ),
    Table(
        "levels",
        "Levels of 2048, 512 and 128 tokens, beside one of 128",
        ("recursive(size=128, fill=0)", "nest(2048, 512, 128)"),
        corpora=("prose", "markdown", "cjk"),
    ),
    Table(
        "others",
        "Other strategies, 512 tokens",
        (
            "paragraphs(size={limit})",
            "density(size={limit})",
            "pages(size={limit})",
            "rows(size={limit})",
            "clauses(size={limit})",
            "turns(size={limit})",
            "random(size={limit})",
            "auto(size={limit})",
        ),
        corpora=("prose", "markdown", "cjk"),
    ),
    Table(
        "characters",
        "2,000 characters",
        ("fixed(size={limit}, unit='characters')", "recursive(size={limit}, tokenizer='characters')"),
        limit=2000,
    ),
)


@cache
def encoding() -> tiktoken.Encoding:
    """Return the encoding that everyone is given. `peers.prepare` says where its ranks are installed."""
    return tiktoken.get_encoding("cl100k_base")


def count(text: str) -> int:
    """Return the true number of tokens of a text."""
    return len(encoding().encode_ordinary(text))


TIKTOKEN = Engine(
    "tiktoken", BytePairs("cl100k_base", engine="tiktoken"), lambda text: encoding().encode_ordinary(text)
)
TOKTOK = Engine("toktok-rs", BytePairs("cl100k_base", engine="toktok"), BytePairs("cl100k_base", engine="toktok").count)
MINILM = Engine("tokenizers", cw.tokenizer("all-MiniLM-L6-v2"), cw.tokenizer("all-MiniLM-L6-v2").count)

# Engines that our recipes are shown with. All costs are in passes of the first.
ENGINES = (TIKTOKEN, TOKTOK)


def ours(tables: Iterable[Table] = TABLES, engines: Iterable[Engine] = ENGINES) -> list[Entry]:
    """Return a row for every recipe of a table with every engine."""
    return [
        own(recipe, table, engine)
        for table in tables
        for recipe in table.recipes
        for engine in (engines if table.name != "characters" else ENGINES[:1])
    ]


def bare(tables: Iterable[Table]) -> list[Entry]:
    """Return a row for one pass of every engine but the first, where tokens are counted."""
    return [
        Entry(f"a bare pass of {engine.name}", table.name, "", partial(_pass, engine), table.corpora)
        for table in tables
        for engine in ENGINES[1:]
        if table.name != "characters"
    ] + [
        Entry("a bare parse of tree-sitter", "code", "", parse, ("python",)) for table in tables if table.name == "code"
    ]


def parse(_limit: int) -> Splitter:
    """Parse Python with tree-sitter, and do nothing with it."""
    return Splitter(lambda text: [syntax(text, cw.Span(0, len(text)), "python")], lambda _: [])


def _piece(text: str, chunk: cw.Chunk) -> Piece:
    """Return a chunk without what rides along with it, whose tokens are then not its own."""
    alone = len(chunk.spans) == 1
    return Piece(chunk.body.slice(text), *chunk.body, chunk.token_count if alone else None)


def _pass(engine: Engine, _limit: int) -> Splitter:
    return Splitter(lambda text: [engine.bare(text)], lambda _: [])


def own(recipe: str, table: Table, engine: Engine) -> Entry:
    """Return the row of a recipe."""

    def build(limit: int) -> Splitter:
        cutter = cw.parse(recipe.format(limit=limit, overlap=limit // 8), tokenizer=engine.tokenizer)

        def cut(text: str) -> list[cw.Chunk]:
            if table.media_type:
                return list(cutter(cw.read_text(text, media_type=table.media_type)))
            return list(cutter(cw.Document.from_text(text, id="x")))

        def pieces(text: str) -> list[Piece]:
            return [_piece(text, chunk) for chunk in cut(text)]

        return Splitter(cut, pieces)

    shown = recipe.format(limit=table.limit, overlap=table.limit // 8)
    name = f"**Chunkwise** `{shown}`" + (f" on {engine.name}" if engine in ENGINES[1:] else "")
    return Entry(name, table.name, "chunkwise", build, table.corpora)
