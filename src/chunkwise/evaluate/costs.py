"""What a recipe costs: vectors stored, tokens a question, seconds and memory of cutting, embedding and searching."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

# Of the process, in Linux: writing 5 starts the count of the most memory anew.
# Source: proc(5), /proc/pid/clear_refs and VmHWM of /proc/pid/status.
_RESET, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds by the clock, and the most bytes of memory above what was in use before; None where that is unknown."""

    seconds: float = 0.0
    memory: int | None = None

    def __add__(self, other: Spent) -> Spent:
        """Return both, one after the other: the seconds of both, the larger memory."""
        known = [one.memory for one in (self, other) if one.memory is not None]
        return Spent(self.seconds + other.seconds, max(known, default=None))


@dataclass(frozen=True, slots=True)
class Costs:
    """What one recipe costs. `tokens` and `search` are of one question, the others of the whole corpus.

    The memory of `search` is that of asking all questions, with what is searched in. `embedded` are the tokens that an
    encoder is given for the vectors, special ones not counted.
    """

    tokens: float = 0.0
    vectors: int = 0
    cutting: Spent = field(default_factory=Spent)
    embedding: Spent = field(default_factory=Spent)
    search: Spent = field(default_factory=Spent)
    embedded: int = 0

    @property
    def order(self) -> tuple[float, ...]:
        """What is paid for longest first: tokens a question, vectors, seconds of an index, of a question."""
        return self.tokens, self.vectors, self.cutting.seconds + self.embedding.seconds, self.search.seconds

    def __str__(self) -> str:
        told = (
            f"{self.tokens:,.0f} tokens a question" if self.tokens else "",
            f"{self.vectors:,} vectors" if self.vectors else "",
            f"{seconds:.1f} s to index" if (seconds := self.cutting.seconds + self.embedding.seconds) else "",
        )
        return ", ".join(filter(None, told))


def cheapest(costs: Mapping[str, Costs]) -> list[str]:
    """Return those of which none is clearly cheaper, in the order in which they are given.

    What is within a twentieth is no difference; of seconds, which vary from run to run, what is within a half, ten
    seconds of an index, and a twentieth of a second of a question: a model that reads the answer takes longer.
    """
    left = list(costs)
    for i, (share, least_that_counts) in enumerate(((0.05, 0.0), (0.05, 0.0), (0.5, 10.0), (0.5, 0.05))):
        least = min((costs[name].order[i] for name in left), default=0.0)
        left = [name for name in left if costs[name].order[i] <= least + max(share * least, least_that_counts)]
    return left


class Meter:
    """What `measured` found, once its block is done."""

    spent: Spent = Spent()


@contextmanager
def measured() -> Iterator[Meter]:
    """Measure the block of a `with`: what it gives has it in `spent`, once the block is done.

    The memory is what the whole process had resident at the most, above what it had at the start: of all threads, of
    libraries in C, too, and of no child processes. What was freed before is given back to the system first, as far as
    glibc does that; the rest may be used again and not show. Only Linux tells it; elsewhere it is None. One such block
    inside another takes the outer one's peak before it away, and what else runs in the process counts as the block's.
    Garbage in cycles is in use until it is collected, which is not done here: it takes a tenth of a second each time.
    """
    meter = Meter()
    before = _restarted()
    start = time.perf_counter()
    try:
        yield meter
    finally:
        seconds = time.perf_counter() - start
        most = None if before is None else _status("VmHWM")
        meter.spent = Spent(seconds, None if before is None or most is None else max(0, most - before))


def _restarted() -> int | None:
    """Start the count of the most memory anew, and return what is in use; None where that can't be done."""
    _give_back()
    try:
        _RESET.write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _give_back() -> None:
    """Let the allocator give free memory back to the system, where it is one that can."""
    if sys.platform.startswith("linux") and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def _status(key: str) -> int | None:
    """Return a line of the process's status in bytes."""
    try:
        lines = _STATUS.read_text("ascii", "replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(f"{key}:")), None)
