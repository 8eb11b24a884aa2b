"""Read many files in order; what one of them does harms none of the others."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from queue import SimpleQueue
from typing import Literal

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document
from chunkwise.readers import Format
from chunkwise.readers.clean import DEFAULT, REPEATED, repeated_lines, steps
from chunkwise.readers.read import DEFAULT_READING, Found, Reading, Skip, attempt, find_files, find_format
from chunkwise.readers.worker import Worker

OnError = Literal["skip", "fail"]

# More processes than this seldom read faster: what is read has to be cut, too.
_MOST_WORKERS = 4


def read_folder(
    path: str | os.PathLike[str],
    *,
    globs: Sequence[str] = (),
    reading: Reading = DEFAULT_READING,
    on_error: OnError = "skip",
) -> Iterator[Document | Skip]:
    """Read every file that `find_files` finds; one that can't be read is a `Skip` with its reason.

    Raises: ReadError if the path does not exist; with `on_error="fail"` also for the first file that can't be read.
    """
    return read_files(find_files(path, globs=globs), reading=reading, on_error=on_error)


def read_files(
    files: Iterable[Found | Skip],
    *,
    reading: Reading = DEFAULT_READING,
    on_error: OnError = "skip",
) -> Iterator[Document | Skip]:
    """Read files, and yield what they are in the same order.

    Formats whose parsers a file may crash or hold up are read in processes of their own, a few files ahead, under the
    limits of `reading`; one that ends or hangs is replaced. Texts are read here, when it is their turn.
    To leave out the lines that are repeated in most files, all are read twice.
    Raises: ReadError for the first file that can't be read, if `on_error` is "fail".
    """
    if REPEATED in (names := steps(reading.clean or DEFAULT)):
        files = list(files)
        before = replace(reading, clean=",".join(names[: names.index(REPEATED)]) or "none")
        first = read_files(files, reading=before)
        lines = repeated_lines(result for result in first if isinstance(result, Document))
        reading = replace(reading, lines=lines)
    with ExitStack() as stack:
        pool = stack.enter_context(_Pool())
        ahead: deque[Found | Skip | Future[Document | Skip]] = deque()
        coming = iter(files)
        while True:
            while len(ahead) <= pool.n_workers and (file := next(coming, None)) is not None:
                ahead.append(_begun(file, reading, pool))
            if not ahead:
                return
            waiting = ahead.popleft()
            result = waiting.result() if isinstance(waiting, Future) else waiting
            if isinstance(result, Found):
                result = attempt(result, reading)
            if on_error == "fail" and isinstance(result, Skip) and result.failed:
                raise ReadError(result.reason)
            yield result


def _begun(file: Found | Skip, reading: Reading, pool: _Pool) -> Found | Skip | Future[Document | Skip]:
    """Let a worker begin with a file, if it is one for a worker."""
    if isinstance(file, Skip):
        return file
    try:
        format = find_format(file)
    except ReadError:
        return file  # its turn will come, and it will say the same
    return pool.submit(file, reading, format) if format.isolated else file


class _Pool:
    """A few workers, started as they are needed."""

    def __init__(self) -> None:
        self.n_workers = min(_MOST_WORKERS, os.cpu_count() or 1)
        self._threads = ThreadPoolExecutor(self.n_workers, thread_name_prefix="chunkwise-read")
        self._workers = [Worker() for _ in range(self.n_workers)]
        self._free: SimpleQueue[Worker] = SimpleQueue()
        for worker in reversed(self._workers):
            self._free.put(worker)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:  # those that are at work end with this
            worker.close()
        self._threads.shutdown()

    def submit(self, found: Found, reading: Reading, format: Format) -> Future[Document | Skip]:
        """Let a worker read a file as soon as one is free."""
        return self._threads.submit(self._read, found, reading, format)

    def _read(self, found: Found, reading: Reading, format: Format) -> Document | Skip:
        worker = self._free.get()
        try:
            return worker.read(found, reading, format)
        finally:
            self._free.put(worker)
