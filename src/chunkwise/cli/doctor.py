"""`chunkwise doctor`: what is installed, and whether it works."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Sequence
from functools import partial

import typer

from chunkwise import __version__
from chunkwise.cli.terminal import console

# What reads formats beyond texts: formats, modules, extra.
_READERS = (
    ("PDF", ("pypdfium2",), ""),
    ("HTML", ("selectolax",), "web"),
    ("Word, PowerPoint, spreadsheets", ("lxml", "python_calamine"), "office"),
)


def doctor() -> None:
    """Check the installation. Exit code 1 if something that is installed does not work."""
    screen = console()
    screen.print(
        f"chunkwise {__version__}, Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    )
    faults = 0
    for label, check in _checks():
        found, said = _result(check)
        faults += found == "broken"
        mark = {"ok": "[green]ok[/]", "missing": "[yellow]missing[/]", "broken": "[red]broken[/]"}[found]
        screen.print(f"  {mark}  {label}: ", end="")
        screen.print(said, markup=False)
    if faults:
        raise typer.Exit(1)


def _checks() -> list[tuple[str, Callable[[], str]]]:
    tokenizers = ("all-MiniLM-L6-v2", "cl100k_base", "o200k_base")
    return [
        ("packages", _packages),
        *((f"tokenizer {name}", partial(_tokenizer, name)) for name in tokenizers),
        *((f"reads {formats}", partial(_reader, modules, extra)) for formats, modules, extra in _READERS),
        ("fast byte pairs", _fast),
        ("syntax of code", _syntax),
        ("engine of encoders", _engine),
        ("encoder all-MiniLM-L6-v2", partial(_encoder, "all-MiniLM-L6-v2")),
        ("encoder static", partial(_encoder, "static")),
        ("vectors that are kept", _cache),
        ("lexical search", _lexical),
        ("index on disk", _store),
    ]


def _result(check: Callable[[], str]) -> tuple[str, str]:
    from chunkwise.core.errors import ChunkwiseError, MissingExtraError

    try:
        return "ok", check()
    except MissingExtraError as err:
        return "missing", str(err)
    except (ChunkwiseError, ImportError, OSError) as err:
        return "broken", str(err)


def _packages() -> str:
    from importlib.metadata import requires

    needed = [line for line in requires("chunkwise") or () if "extra ==" not in line]
    base = sorted(re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in needed)  # before a bound of versions
    return ", ".join(f"{name} {_version(name)}" for name in base)


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _tokenizer(name: str) -> str:
    from chunkwise.text.tokens import tokenizer

    return f"'unbelievably' has {tokenizer(name).count('unbelievably')} tokens"


def _reader(modules: Sequence[str], extra: str) -> str:
    from importlib.metadata import packages_distributions

    from chunkwise.core.errors import require

    for module in modules:
        require(module, extra=extra)
    names = packages_distributions()
    return ", ".join(f"{names[module][0]} {_version(names[module][0])}" for module in modules)


def _fast() -> str:
    from chunkwise.text.engines import engine

    engine("cl100k_base", "toktok")  # compares it with the reference
    return f"toktok-rs {_version('toktok-rs')}"


def _syntax() -> str:
    from chunkwise.core.types import Span
    from chunkwise.text.syntax import languages, syntax

    for language in languages():
        syntax("a", Span(0, 1), language)  # loads its grammar
    return f"tree-sitter {_version('tree-sitter')}, {len(languages())} languages"


def _encoder(name: str) -> str:
    from chunkwise.embed import encoder

    found = encoder(name)
    vectors = found(["A cat sat.", "A feline was sitting.", "Interest rates rose."], role="passage")
    like, unlike = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    return f"{found.dim} dimensions, at most {found.max_tokens:,} tokens; like {like:.2f}, unlike {unlike:.2f}"


def _engine() -> str:
    from chunkwise.embed.onnx import engine, minilm

    return engine(minilm())


def _cache() -> str:
    from chunkwise.embed.cache import user_file, why_unwritable

    file = user_file()
    if reason := why_unwritable(file):
        return f"none, for {reason}"
    return f"{file}, " + (f"{file.stat().st_size / 1e6:.1f} MB" if file.exists() else "none yet")


def _lexical() -> str:
    from chunkwise.core.errors import require

    require("bm25s", extra="search")
    require("Stemmer", extra="search")
    return f"bm25s {_version('bm25s')}, PyStemmer {_version('PyStemmer')}"


def _store() -> str:
    from chunkwise.core.errors import require

    return f"lancedb {require('lancedb', extra='search').__version__}"
