"""What inputs cost that have brought splitters down: no spaces, one character, newlines, one line, deep brackets."""

from __future__ import annotations

from collections.abc import Iterator

from child import Taken, run
from corpora import HOSTILE
from cost import cell
from peers import PEERS
from splitters import LIMIT, TABLES, ours

_SIZE = 5_000_000  # characters
_SECONDS, _PASSES = 10, 10  # whichever is longer: on some of these a bare pass alone takes four seconds


def page(*, quick: bool) -> Iterator[str]:
    """Yield the table of hostile inputs."""
    yield "## Hostile inputs"
    yield ""
    yield (
        f"{_SIZE / 1e6:.0f} MB each, to {LIMIT} tokens, each cell in a process of its own: passes of tiktoken over the "
        f"same text, and how many chunks came out. Stopped is whoever needs more than {_SECONDS} seconds of the "
        f"processor and more than {_PASSES} passes."
    )
    yield ""
    yield "| | " + " | ".join(HOSTILE) + " |"
    yield "|---|" + "---|" * len(HOSTILE)
    names = ("recursive", "windows", "sentences", "markdown") if quick else ("recursive",)
    tables = [table for table in TABLES if table.name in names]
    for entry in [*ours(tables), *(entry for entry in PEERS if entry.table == "recursive" and not quick)]:
        taken = [run(entry, name, _SIZE, limit=LIMIT, seconds=_SECONDS, passes=_PASSES) for name in HOSTILE]
        yield f"| {cell(entry.name)} | " + " | ".join(map(_cell, taken)) + " |"
    yield ""


def _cell(taken: Taken | str) -> str:
    if isinstance(taken, str):
        return taken
    return f"{taken.passes:.1f} ({taken.n_pieces:,})"
