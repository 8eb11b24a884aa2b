"""Read files in another process, which may crash, hang or run out of memory without harm to the batch.

The two talk in lines of JSON over pipes: nothing that comes out of a file is ever unpickled.
"""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys
from array import array
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from threading import Event, Timer
from typing import Any

from chunkwise.core.origins import Origin
from chunkwise.core.types import Block, Document, Limits, Span
from chunkwise.readers import Format
from chunkwise.readers.read import Found, Reading, Skip, attempt

# In seconds: a process that nobody has ended ends by itself so long after its limit.
_GRACE = 5.0


class Worker:
    """A process that reads one file at a time. It starts with the first one, and is replaced when it ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, found: Found, reading: Reading, format: Format) -> Document | Skip:
        """Read a file, or say why not.

        Costs some 0.2 s more for the first file, and for the first after one that ended the process.
        """
        process = self._process = self._process or _started()
        expired = Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = Timer(reading.limits.seconds, expire)
        timer.start()
        try:
            answer = _asked(process, _task(found, reading, format))
        finally:
            timer.cancel()
        if answer:
            return _result(json.loads(answer))
        code = process.wait()
        self.close()
        reason = _expiry(reading.limits) if expired.is_set() else _crash(code)
        return Skip(found.id, f"{found.id}: {reason}", str(found.path.resolve()), failed=True)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def main() -> None:
    """Answer every line on standard input with one on standard output, until there are no more."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints must not pass for an answer
    for line in sys.stdin.buffer:
        task = json.loads(line)
        limits = Limits(**task["limits"])
        _bind(limits.memory)
        found = Found(Path(os.fsdecode(bytes.fromhex(task["path"]))), task["id"])
        reading = Reading(limits, task["password"], task["clean"], frozenset(task["lines"]))
        # Who asked keeps the time, but may have been killed. This watch needs no lock that a hanging parser holds.
        faulthandler.dump_traceback_later(limits.seconds + _GRACE, exit=True)
        result = attempt(found, reading, Format(**task["format"]))
        faulthandler.cancel_dump_traceback_later()
        out.write(json.dumps(_fields(result)).encode("ascii") + b"\n")
        out.flush()


def _started() -> subprocess.Popen[bytes]:
    """Start a process that finds the same packages as this one, and none in the folder it happens to be in."""
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}  # which takes memory a thread
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "chunkwise.readers.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _task(found: Found, reading: Reading, format: Format) -> Mapping[str, Any]:
    return {
        "path": os.fsencode(found.path).hex(),
        "id": found.id,
        "format": asdict(format),
        "limits": asdict(reading.limits),
        "password": reading.password,
        "clean": reading.clean,
        "lines": sorted(reading.lines),
    }


def _asked(process: subprocess.Popen[bytes], task: Mapping[str, Any]) -> bytes:
    """Return the process's answer; nothing if it ended."""
    if process.stdin is None or process.stdout is None:
        return b""
    try:
        process.stdin.write(json.dumps(task).encode("ascii") + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        return b""
    return process.stdout.readline()


def _bind(memory: int) -> None:
    """Let this process take no more than that, where the system can be told so."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (memory if most < 0 else min(memory, most), most))


def _fields(result: Document | Skip) -> dict[str, Any]:
    if isinstance(result, Skip):
        return {"skip": asdict(result)}
    blocks = [[block.kind, *block.span, block.level, block.label, block.parent] for block in result.blocks]
    fields = {name: getattr(result, name) for name in ("id", "text", "media_type", "source")}
    origin = None if result.origin is None else [result.origin.raw.tolist(), result.origin.text.tolist()]
    return {"document": {**fields, "meta": dict(result.meta)}, "blocks": blocks, "origin": origin}


def _result(answer: Mapping[str, Any]) -> Document | Skip:
    if "skip" in answer:
        return Skip(**answer["skip"])
    blocks = tuple(
        Block(kind, Span(start, end), level, label, parent)
        for kind, start, end, level, label, parent in answer["blocks"]
    )
    origin = None if answer["origin"] is None else Origin(*(array("q", edges) for edges in answer["origin"]))
    return Document(**answer["document"], blocks=blocks, origin=origin)


def _expiry(limits: Limits) -> str:
    return f"took longer than {limits.seconds:g} s to read; if it is to be trusted, raise the limit: seconds"


def _crash(code: int) -> str:
    cause = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"crashed its parser ({cause}), or took more memory than the limit; open it in its program and save it anew"


if __name__ == "__main__":
    main()
