"""The cost of cutting, in bare passes of the tokenizer over the same text.

Everything runs in one process, in rounds. A round has a stretch of text of its own, and everyone cuts it once, in
another order each round; bare passes are timed before and after. Every text begins with a line of its own as well, for
several libraries (ours too) remember texts that they have seen. Times are those of the processor, not the clock.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from corpora import CORPORA, text_of
from peers import PEERS
from splitters import MINILM, TABLES, TIKTOKEN, Engine, Entry, Table, bare, ours, own

ROUNDS = 5
SLICE = 400_000  # bytes
QUICK_ROUNDS, QUICK_SLICE = 3, 300_000
_WARM_UP = 20_000  # characters, of a part of the corpus that is not measured

# The tokenizer of the default encoder is several times slower: the same recipes, and the default one.
_MINILM = (
    Table(
        "minilm",
        "",
        ("recursive(size={limit})", "sentences(size={limit})", "fixed(size={limit}) | overlap(tokens={overlap})"),
    ),
    Table("minilm", "", ("structural(size=200) | context(headings=True)",), media_type="text/markdown"),
)
_MINILM_SLICE = 150_000


@dataclass(slots=True)
class Row:
    """What was measured of one entry: passes and bytes a second of each round."""

    passes: list[float] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)
    failure: str = ""


def page(*, quick: bool) -> Iterator[str]:
    """Yield the tables of costs."""
    rounds, size = (QUICK_ROUNDS, QUICK_SLICE) if quick else (ROUNDS, SLICE)
    yield "## Cost of cutting"
    yield ""
    yield (
        f"In bare passes of tiktoken (`encode_ordinary`, cl100k_base) over the same text, lower is better: median of "
        f"{rounds} distinct slices of {size // 1000} KB, least and most in brackets. The slow are given shorter slices."
    )
    yield ""
    for table in TABLES:
        entries = [
            *bare([table]),
            *ours([table]),
            *(entry for entry in PEERS if entry.table == table.name and not quick),
        ]
        corpora = [name for name in table.corpora if text_of(name)]
        measured = {
            corpus: measure(entries, text_of(corpus) or "", table, corpus=corpus, rounds=rounds, size=size)
            for corpus in corpora
        }
        yield f"### {table.title}"
        yield ""
        yield from _table(table, entries, measured)
        yield ""
    yield from _minilm(rounds)


def measure(
    entries: Sequence[Entry],
    text: str,
    table: Table,
    *,
    corpus: str,
    rounds: int,
    size: int,
    engine: Engine = TIKTOKEN,
) -> dict[str, Row]:
    """Return what each entry, and a bare pass, cost in each round."""
    there = [entry for entry in entries if corpus in entry.corpora]
    splitters = {entry.name: entry.build(table.limit) for entry in there}
    rows = {"bare": Row(), **{entry.name: Row() for entry in there}}
    warm = text[-_WARM_UP:]
    engine.bare(warm)
    for entry in there:
        splitters[entry.name].cut(warm)
    length = int(size * len(text) / len(text.encode()))
    stride = (len(text) - _WARM_UP - length) // max(1, rounds - 1)
    for i in range(rounds):
        stretch = text[i * stride : i * stride + length]
        passes = []
        for entry in [*there[i % max(1, len(there)) :], *there[: i % max(1, len(there))]]:
            mine = f"{table.name} {i} {entry.name}\n\n" + stretch[: int(length * entry.share)]
            n_bytes = len(mine.encode())
            before = _seconds(engine.bare, mine)
            row = rows[entry.name]
            try:
                took = _seconds(splitters[entry.name].cut, mine)
            except Exception as err:  # whatever a peer raises is its result
                row.failure = type(err).__name__
                continue
            one = (before + _seconds(engine.bare, mine)) / 2
            passes.append((one, n_bytes))
            row.passes.append(took / one)
            row.speeds.append(n_bytes / took)
        rows["bare"].speeds.append(statistics.median(n_bytes / one for one, n_bytes in passes))
    return rows


def _table(table: Table, entries: Sequence[Entry], measured: dict[str, dict[str, Row]]) -> Iterator[str]:
    """Yield a table of passes, or of megabytes a second where no tokens are counted."""
    in_passes = table.name != "characters"
    yield f"| {'passes' if in_passes else 'MB a second'} | " + " | ".join(measured) + " |"
    yield "|---|" + "---|" * len(measured)
    speeds = [f"1 ({_speed(rows['bare'])} MB/s)" if in_passes else _speed(rows["bare"]) for rows in measured.values()]
    yield "| a bare pass of tiktoken | " + " | ".join(speeds) + " |"
    for entry in entries:
        cells = []
        for rows in measured.values():
            row = rows.get(entry.name)
            if row is None or not (row.passes or row.failure):
                cells.append("")
            elif row.failure:
                cells.append(f"raised {row.failure}")
            else:
                cells.append(spread(row.passes) if in_passes else _speed(row))
        yield f"| {cell(entry.name)} | " + " | ".join(cells) + " |"


def _minilm(rounds: int) -> Iterator[str]:
    """Yield what our recipes cost with the tokenizer of the default encoder, in its own bare passes."""
    texts = {name: text for name in CORPORA if (text := text_of(name))}
    entries = [own(recipe, table, MINILM) for table in _MINILM for recipe in table.recipes]
    measured = {
        corpus: measure(entries, text, _MINILM[0], corpus=corpus, rounds=rounds, size=_MINILM_SLICE, engine=MINILM)
        for corpus, text in texts.items()
    }
    yield "### Ours with the tokenizer of the default encoder (all-MiniLM-L6-v2)"
    yield ""
    yield f"In bare passes of that tokenizer; {_MINILM_SLICE // 1000} KB a slice, for the last row read as Markdown."
    yield ""
    yield "| passes | " + " | ".join(measured) + " |"
    yield "|---|" + "---|" * len(measured)
    speeds = [f"1 ({_speed(rows['bare'])} MB/s)" for rows in measured.values()]
    yield "| a bare pass of tokenizers | " + " | ".join(speeds) + " |"
    for entry in entries:
        cells = [spread(rows[entry.name].passes) for rows in measured.values()]
        yield f"| {cell(entry.name)} | " + " | ".join(cells) + " |"
    yield ""


def spread(values: Sequence[float]) -> str:
    """Return the median with the least and the most."""
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def cell(text: str) -> str:
    """Return text as it may stand in a table."""
    return text.replace("|", "\\|")


def _speed(row: Row) -> str:
    return f"{statistics.median(row.speeds) / 1e6:.1f}"


def _seconds(job: Callable[[str], object], text: str) -> float:
    gc.collect()
    started = time.process_time()
    job(text)
    return time.process_time() - started
