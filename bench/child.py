"""Cut one text once in a process of its own, and print what that took: processor time, a bare pass, peak memory.

Started by `growth.py` and `hostile.py`; the system stops it when its time is up, whatever it is doing.
"""

from __future__ import annotations

import json
import math
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from corpora import HOSTILE, path_of, text_of
from peers import PEERS, prepare
from splitters import TIKTOKEN, Entry, ours

_MEMORY = 12 << 30  # bytes of address space
_WARM_UP = 20_000
_HUNG = 900  # seconds of the clock
_PROC = Path("/proc/self")

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Taken:
    """What one cut took. `n_bytes` and `n_characters` are the text's; `peak` is memory beyond the text, in bytes."""

    seconds: float
    bare: float
    n_bytes: int
    n_characters: int
    n_pieces: int
    peak: int

    @property
    def passes(self) -> float:
        """Processor time, in bare passes of the tokenizer."""
        return self.seconds / self.bare


def run(entry: Entry, text: str, size: int, *, limit: int, seconds: int, passes: int = 0) -> Taken | str:
    """Cut the first `size` bytes of a corpus, or a hostile text of so many characters, or say what happened.

    It may take so many seconds of the processor; with `passes` also as long as so many bare passes. These are then
    timed first, so that the peak of memory is no longer the cut's own.
    """
    request = json.dumps({"name": entry.name, "table": entry.table, "text": text, "size": size, "limit": limit})
    command = [sys.executable, __file__, request, str(seconds), str(passes)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_HUNG)  # noqa: S603
    except subprocess.TimeoutExpired:
        return f"did nothing for {_HUNG} s"
    if done.returncode == -signal.SIGPROF:
        return f"stopped after {done.stdout.splitlines()[-1]} s"
    if done.returncode < 0:
        return f"died of {signal.Signals(-done.returncode).name}"
    if done.returncode:
        return f"raised {done.stderr.strip().splitlines()[-1].partition(':')[0]}"
    return Taken(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure, and print how many seconds are allowed, then one line of JSON."""
    prepare()
    request = json.loads(sys.argv[1])
    allowed, passes = int(sys.argv[2]), int(sys.argv[3])
    [entry] = [e for e in (*ours(), *PEERS) if (e.name, e.table) == (request["name"], request["table"])]
    splitter = entry.build(request["limit"])
    warm = (text_of("python") or "")[-_WARM_UP:]
    splitter.cut(warm)
    TIKTOKEN.bare(warm)
    text = _text(request["text"], request["size"])
    bare = 0.0
    if passes:
        bare, _ = _timed(TIKTOKEN.bare, text)
        allowed = max(allowed, math.ceil(passes * bare))
    print(allowed, flush=True)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    before = _memory(reset=True)
    signal.setitimer(signal.ITIMER_PROF, allowed)
    seconds, pieces = _timed(splitter.cut, text)
    signal.setitimer(signal.ITIMER_PROF, 0)
    peak = _memory() - before
    if not passes:
        bare, _ = _timed(TIKTOKEN.bare, text)
    taken = Taken(seconds, bare, len(text.encode()), len(text), len(pieces), peak)
    print(json.dumps(asdict(taken)))


def _timed(job: Callable[[str], Result], text: str) -> tuple[float, Result]:
    started = time.process_time()
    result = job(text)
    return time.process_time() - started, result


def _text(name: str, size: int) -> str:
    if name in HOSTILE:
        return HOSTILE[name](size)
    with path_of(name).open("rb") as file:
        return file.read(size).decode("utf-8", "ignore")


def _memory(*, reset: bool = False) -> int:
    """Return the most memory that was ever resident; with `reset`, forget the past first where the system can."""
    status, clear = _PROC / "status", _PROC / "clear_refs"
    if not status.is_file():
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    if reset:
        clear.write_text("5")  # sets the peak to what is resident now
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main()
