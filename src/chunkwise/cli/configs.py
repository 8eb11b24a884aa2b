"""What verbs share that go by a config: the file that is named or found, options that win over it, how it asks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkwise.cli.terminal import counted, fail, say

if TYPE_CHECKING:
    from chunkwise.core.config import Config

ConfigOption = Annotated[
    str | None,
    typer.Option(
        "--config",
        help="Go by this file where no option says otherwise. Without: by a chunkwise.toml in the working folder.",
        metavar="FILE",
    ),
]
NoConfigOption = Annotated[bool, typer.Option("--no-config", help="Go by no chunkwise.toml in the working folder.")]


def config_of(named: str | None, *, off: bool, options: Mapping[str, Any]) -> Config | None:
    """Return the config that is named, or that is found, with the options that are given in place of what it says.

    Both are told. One that was only found may not send texts to another machine: nobody has asked for that.
    Raises: ConfigError.
    """
    from chunkwise.configs import CONFIG_FILE, read_config, servers

    if named and off:
        fail("--config names a file, --no-config wants none: give one of the two")
    path = named or CONFIG_FILE
    if off or not (named or os.path.isfile(path)):
        return None
    found = read_config(path)
    if not named and (others := servers(found)):
        fail(
            f"{path} would send your documents to {', '.join(others)}; if you want that, say so with --config {path}, "
            "else --no-config"
        )
    say(f"by {path}: {found.label}; {counted(found.tokens, 'token')} a question")
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if value != (before := getattr(found, name)):
            say(f"  but {name} {_told(value)}, as you say, instead of {_told(before)}")
    return replace(found, **given)


def _told(value: str | bool) -> str:
    return {True: "on", False: "off", "": "the usual"}.get(value) or str(value)
