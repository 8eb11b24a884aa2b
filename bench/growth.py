"""What one long document costs: whether the cost of a megabyte grows with its length, and how much memory it takes."""

from __future__ import annotations

from collections.abc import Iterator

from child import Taken, run
from corpora import MIXED
from cost import cell
from peers import PEERS
from splitters import LIMIT, TABLES, ours

_SIZES = (1_000_000, 10_000_000, 50_000_000)  # bytes
_TIMES = {1_000_000: 3, 10_000_000: 1, 50_000_000: 1}  # a short time is a noisy one
_PEERS_TO = 10_000_000
_SECONDS = 90


def page(*, quick: bool) -> Iterator[str]:
    """Yield the table of growth and memory."""
    sizes = _SIZES[:2] if quick else _SIZES
    yield "## One long document"
    yield ""
    yield (
        f"Everything in one string, to {LIMIT} tokens, each cell in a process of its own. Passes of tiktoken over the "
        "same text; processor seconds for a megabyte; the most memory that was held beyond the text, results included, "
        f"in bytes for each character. Whoever needs more than {_SECONDS} seconds of the processor is stopped; other "
        "libraries are measured to 10 MB. The text mixes files of all corpora in random order."
    )
    yield ""
    yield "| | " + " | ".join(f"{size // 1_000_000} MB" for size in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)
    tables = [table for table in TABLES if table.name == "recursive"]
    for entry in [*ours(tables), *(entry for entry in PEERS if entry.table == "recursive" and not quick)]:
        cells = []
        for size in sizes:
            if entry.package != "chunkwise" and size > _PEERS_TO:
                cells.append("")
                continue
            cells.append(_cell([run(entry, MIXED, size, limit=LIMIT, seconds=_SECONDS) for _ in range(_TIMES[size])]))
        yield f"| {cell(entry.name)} | " + " | ".join(cells) + " |"
    yield ""


def _cell(results: list[Taken | str]) -> str:
    done = [taken for taken in results if isinstance(taken, Taken)]
    if not done:
        return str(results[0])
    taken = sorted(done, key=lambda taken: taken.passes)[len(done) // 2]
    rate = taken.seconds / taken.n_bytes * 1e6
    return f"{taken.passes:.2f} passes, {rate:.2f} s/MB, {taken.peak / taken.n_characters:.1f} B/char"
