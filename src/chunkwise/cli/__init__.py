"""The command line. One file a verb; what is heavy is imported when a verb runs.

Exit codes: 0 done (skipped files are listed), 1 a check found a fault or a gate a regression, 2 bad input,
130 interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer

from chunkwise import __version__
from chunkwise.cli.assemble import assemble
from chunkwise.cli.check import check
from chunkwise.cli.chunk import chunk
from chunkwise.cli.doctor import doctor
from chunkwise.cli.evaluate import evaluate
from chunkwise.cli.index import index
from chunkwise.cli.queries import queries
from chunkwise.cli.read import read
from chunkwise.cli.search import search
from chunkwise.cli.show import show
from chunkwise.cli.strategies import strategies
from chunkwise.cli.terminal import load_module, told
from chunkwise.cli.tune import tune

app = typer.Typer(
    name="chunkwise",
    help="Cut documents into chunks for retrieval, prove the cuts sound, and find which cut is right.",
    epilog="Exit codes: 0 done, 1 a check found a fault or a gate a regression, 2 bad input, 130 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

for verb in (chunk, read, show, check, index, search, assemble, evaluate, tune, strategies, doctor):
    app.command()(told(verb))
app.add_typer(queries, name="queries")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"chunkwise {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
    load: Annotated[
        list[str] | None,
        typer.Option("--load", help="Import this module or .py file first: a strategy of your own.", metavar="MODULE"),
    ] = None,
) -> None:
    """Take the options that stand before a verb."""
    for module in load or ():
        told(load_module)(module)


def main() -> None:
    """Run the command line."""
    app()
