"""Keep answers in one SQLite file, by what was asked, so that nothing is paid for twice."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from chunkwise.core.errors import AnswerError
from chunkwise.kept import make_private, prepare, user_folder

# Marks the file as ours: "Cwan" in SQLite's header. A file of something else is never written to.
_APPLICATION_ID, _VERSION = 0x4377616E, 1
_TABLE = "CREATE TABLE answers (key BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID"
# Seconds that one process waits for another to finish writing.
_PATIENCE = 30.0
# SQLite takes no more parameters at once in its oldest builds.
_AT_ONCE = 500

_OFF = "off"


def default_answers() -> Answers | None:
    """Return the file that CHUNKWISE_ANSWERS names, else one in the user's cache folder; None where it says "off"."""
    named = os.environ.get("CHUNKWISE_ANSWERS", "")
    if named == _OFF:
        return None
    return Answers(named or str(user_folder() / "answers.sqlite"))


def key_of(settings: Sequence[object]) -> bytes:
    """Hash all that an answer depends on. Settings are what JSON can hold."""
    return hashlib.sha256(json.dumps(settings, ensure_ascii=True).encode()).digest()


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a file, which is made when the first is kept. Several processes may share it."""

    path: str

    def known(self, keys: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return those of the answers that are kept. Raises: AnswerError if the file is damaged or another's."""
        if not Path(self.path).exists():
            return {}
        found: dict[bytes, str] = {}
        with self._open() as file:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                found |= dict(file.execute(f"SELECT key, text FROM answers WHERE key IN ({marks})", some))  # noqa: S608  # marks only
        return found

    def keep(self, key: bytes, text: str) -> None:
        """Write one answer down, whole or not at all. It is on the disk before the next is asked for."""
        with self._open() as file:
            file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, text))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            make_private(Path(self.path).parent)
            # Answers tell what documents say, so the file is the user's alone.
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as file:
                prepare(file, mark=_APPLICATION_ID, version=_VERSION, table=_TABLE)
                yield file
        except (OSError, sqlite3.Error) as err:
            raise AnswerError(
                f"{self.path}: answers can't be kept here ({err}); name another file in CHUNKWISE_ANSWERS, "
                f"or {_OFF!r} to keep none"
            ) from err
