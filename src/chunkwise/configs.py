"""The file that a measured choice is shipped in: `chunkwise.toml`, written for people and read with care."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chunkwise.retrieve  # noqa: F401 - registers finders, steps and rerankers
from chunkwise.chunkers.route import Route
from chunkwise.chunkers.splitters import stored
from chunkwise.core.config import Config
from chunkwise.core.errors import ChunkwiseError, ConfigError
from chunkwise.core.parsing import retriever
from chunkwise.core.recipes import meant
from chunkwise.cutting import chunker
from chunkwise.embed import encoder as find_encoder
from chunkwise.readers.clean import steps
from chunkwise.text.tokens import tokenizer as find_tokenizer
from chunkwise.text.unicode import encodable, printable

CONFIG_FILE = "chunkwise.toml"

# Raise it when a file means something else than before.
_VERSION = 1
# In bytes. A config is a page: what is larger is another file.
_MOST = 1 << 18
# What each key holds, and how that is told.
_KEYS: Mapping[str, tuple[type, str]] = {
    "version": (int, f"a whole number, as in version = {_VERSION}"),
    "recipe": (str, 'a string, as in recipe = "structural(size=200)"'),
    "routes": (dict, 'a table of recipes by kind of text: [routes], and below it table = "rows(size=200)"'),
    "retrieval": (str, 'a string, as in retrieval = "hybrid()"'),
    "evidence": (str, 'a string, as in evidence = "chunks"'),
    "tokens": (int, "a whole number, as in tokens = 800"),
    "tokenizer": (str, 'a string, as in tokenizer = "o200k_base"'),
    "encoder": (str, 'a string, as in encoder = "static"'),
    "late": (bool, "true or false"),
    "summaries": (bool, "true or false"),
    "clean": (str, 'a string, as in clean = "blobs,spaces"'),
}
_URL = re.compile(r"https?://[^\s'\"#]*", re.IGNORECASE)
_OWN = ("localhost", "127.0.0.1", "::1")
_KINDS = tuple(field.name for field in fields(Route))

_ABOUT = """\
How documents are cut, embedded and searched. `chunkwise index` goes by this file in the folder where it is run, or by
the one that --config names; an index remembers it, and `chunkwise search` asks as it says."""
_ABOUT_EVIDENCE = """\
What a question is answered with: "chunks" as the retrieval ranks them, or sentences that "assemble", "assemble-fine"
or "assemble-coarse" finds."""
_ABOUT_ROUTES = "How each kind of text is cut."

At = Callable[[str], AbstractContextManager[None]]
"""`at(key)` says of what is wrong inside it that it is so of this key of a file."""


def read_config(path: str | os.PathLike[str] = CONFIG_FILE) -> Config:
    """Read a config, and make sure that all it names is there, so that nothing fails later.

    Nothing is imported for what it names: a splitter of others must be known already. A table of routes is read as the
    recipe that it stands for.
    Raises: ConfigError, which names the file, and the line where it is known.
    """
    text = _text(Path(path))
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as err:  # no TOML; a number without end; absurdly nested
        raise ConfigError(f'{path} is no TOML: {err}; strings stand in quotes, as in encoder = "static"') from err
    at = partial(_at, str(path), text)
    _check_keys(table, at)
    with stored():
        given = {key: value for key, value in table.items() if key not in ("version", "routes")}
        given["recipe"] = _recipe(table, at)
        for key in ("evidence", "tokens"):
            with at(key):
                Config("", **{key: given[key]} if key in given else {})
        config = Config(**given)
        check_config(config, at)
    return config


def write_config(config: Config, path: str | os.PathLike[str] = CONFIG_FILE, *, notes: Sequence[str] = ()) -> None:
    """Write a config to a file, in place of what was there; `notes` tell a person what was measured, as comments.

    Raises: as `format_config`, before anything is written; OSError.
    """
    text = format_config(config, notes=notes)
    place = Path(path)
    aside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        aside.write_text(text, "utf-8", newline="\n")
        os.replace(aside, place)
    finally:
        aside.unlink(missing_ok=True)


def format_config(config: Config, *, notes: Sequence[str] = ()) -> str:
    """Return what is written of a config; a recipe that is a `route(...)` is a table with a line for each kind of text.

    Raises: ChunkwiseError for what could not be read again.
    """
    check_config(config)
    cut = chunker(config.recipe)
    head = [
        *_ABOUT.splitlines(),
        *([""] if notes else []),
        *(line for note in notes for line in note.splitlines() or [""]),
    ]
    lines = [*_comment(head), "", f"version = {_VERSION}"]
    if not isinstance(cut, Route):
        lines += [f"recipe = {_quoted(config.recipe)}"]
    lines += [f"{key} = {_quoted(value)}" for key in ("encoder", "clean") if (value := getattr(config, key))]
    lines += [f"{key} = true" for key in ("late", "summaries") if getattr(config, key)]
    lines += ["", *_comment(_ABOUT_EVIDENCE.splitlines()), f"evidence = {_quoted(config.evidence)}"]
    if config.evidence == "chunks" or config.retrieval != "hybrid()":
        lines += [f"retrieval = {_quoted(config.retrieval)}"]
    counted_by = "tokenizer" if config.tokenizer else "encoder"
    lines += ["", *_comment([f"How much of it, in tokens of the {counted_by}."]), f"tokens = {config.tokens}"]
    lines += [f"tokenizer = {_quoted(config.tokenizer)}"] if config.tokenizer else []
    if isinstance(cut, Route):
        lines += ["", *_comment([_ABOUT_ROUTES]), "[routes]"]
        lines += [f"{kind} = {_quoted(repr(getattr(cut, kind)))}" for kind in _KINDS]
    return "\n".join(lines) + "\n"


def check_config(config: Config, at: At = lambda _: nullcontext()) -> None:
    """Make sure that what a config names is there. No model is loaded and no connection opened.

    Raises: ChunkwiseError, as `at` tells it.
    """
    with at("recipe"):
        chunker(config.recipe)
    with at("retrieval"):
        retriever(config.retrieval)
    with at("encoder"):
        if config.encoder:
            find_encoder(config.encoder)
    with at("tokenizer"):
        if config.tokenizer:
            find_tokenizer(config.tokenizer)
    with at("clean"):
        steps(config.clean)


def servers(config: Config) -> list[str]:
    """Return the servers on other machines that a config would send documents or questions to.

    >>> servers(Config("structural(size=200)", encoder="https://models.example/v1#small"))
    ['https://models.example/v1']
    """
    # As they print: a string can be written in other ways than it reads.
    named = " ".join((repr(chunker(config.recipe)), repr(retriever(config.retrieval)), config.encoder))
    return list(dict.fromkeys(url for url in _URL.findall(named) if not _is_own(url)))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST + 1)
    except OSError as err:
        raise ConfigError(f"the config {path} can't be read: {err.strerror}; name the file that you mean") from err
    if len(content) > _MOST:
        raise ConfigError(f"{path} has more than {_MOST >> 10} KB, which no config has; name the file that you mean")
    try:
        return content.decode("utf-8-sig")  # some editors write a mark first
    except UnicodeDecodeError as err:
        raise ConfigError(f"{path} is not in UTF-8, as TOML is: {err.reason}; save it so") from err


def _check_keys(table: Mapping[str, Any], at: At) -> None:
    """Refuse what this version does not know, and values of the wrong type."""
    version = table.get("version", _VERSION)
    with at("version"):
        if type(version) is int and version > _VERSION:  # first of all: what is new in it can't be known
            raise ConfigError(f"this version of Chunkwise reads {_VERSION}; run: pip install --upgrade chunkwise")
        if version != _VERSION:
            raise ConfigError(f"{version!r} must be {_VERSION}")
    for key, value in table.items():
        with at(key):
            if key not in _KEYS:
                raise ConfigError(f"no such key{meant(key, _KEYS)}; known: {', '.join(_KEYS)}")
            kind, form = _KEYS[key]
            if type(value) is not kind:  # a bool is an int, too
                raise ConfigError(f"{_shown(value)} must be {form}")


def _recipe(table: Mapping[str, Any], at: At) -> str:
    """Return the recipe, or that of the table of routes."""
    if "routes" not in table:
        with at("recipe"):
            if "recipe" not in table:
                raise ConfigError(f"not there; write {_KEYS['recipe'][1].removeprefix('a string, as in ')}")
            return str(table["recipe"])
    routes: Mapping[str, Any] = table["routes"]
    with at("routes"):
        if "recipe" in table:
            raise ConfigError("a recipe is given, too; give one of the two")
        if not routes:
            raise ConfigError(f"it is empty; known kinds: {', '.join(_KINDS)}")
    cuts = {}
    for kind, recipe in routes.items():
        with at(kind):
            if kind not in _KINDS:
                raise ConfigError(f"no such kind of text{meant(kind, _KINDS)}; known: {', '.join(_KINDS)}")
            if not isinstance(recipe, str):
                raise ConfigError(f'{_shown(recipe)} must be a string, as in {kind} = "structural(size=200)"')
            cuts[kind] = chunker(recipe)
    with at("routes"):
        return repr(Route(**cuts))


@contextmanager
def _at(path: str, text: str, key: str) -> Iterator[None]:
    """Say where it is that something is wrong."""
    try:
        yield
    except ChunkwiseError as err:
        line = _line(text, key)
        raise ConfigError(f"{path}{f', line {line}' if line else ''}: {key}: {err}") from err


def _line(text: str, key: str) -> int:
    """Return the line where a key stands, from 1; 0 where that can't be told at a glance."""
    name = re.escape(key)
    found = [*re.finditer(rf"""^[ \t]*(?:["']?{name}["']?[ \t]*=|\[[ \t]*{name}[ \t]*\])""", text, re.MULTILINE)]
    return text.count("\n", 0, found[0].start()) + 1 if len(found) == 1 else 0


def _is_own(url: str) -> bool:
    """Tell whether a URL is of this machine. One that can't be read is not."""
    try:
        return urlsplit(url).hostname in _OWN
    except ValueError:
        return False


def _shown(value: object) -> str:
    """Return a value of the wrong type; of a long one, the beginning."""
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:60]} ..."


def _quoted(text: str) -> str:
    """Return a basic string of TOML, which escapes what JSON does, and DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(lines: Sequence[str]) -> list[str]:
    return [f"# {encodable(printable(line))}".rstrip() for line in lines]
