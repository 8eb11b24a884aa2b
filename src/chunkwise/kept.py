"""Files in which something is kept for the user between runs: SQLite, in the user's cache folder, marked as ours."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Where that folder is, if the system's own place will not do.
FOLDER_VARIABLE = "CHUNKWISE_CACHE"


def user_folder() -> Path:
    """Return where things are kept for the user: CHUNKWISE_CACHE, or a folder in the system's one for caches.

    Source: XDG Base Directory Specification 0.8; File System Programming Guide (macOS); Known Folders (Windows).
    """
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    if sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "chunkwise"


def make_private(folder: Path) -> None:
    """Make a folder, and those around it that are missing, into which only the user may look.

    What is kept tells what documents say. Raises: OSError.
    """
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):  # `parents=True` would make them as open as any folder
        place.mkdir(mode=0o700, exist_ok=True)


def prepare(connection: sqlite3.Connection, *, mark: int, version: int, table: str) -> None:
    """Make the table in a new file, and mark it; several processes may do so at once.

    The connection is in autocommit mode (`isolation_level=None`).
    Raises: sqlite3.OperationalError for a file of another program, which must not be touched; DatabaseError for one of
    another version.
    """
    if _marks(connection) == (0, 0):
        with transaction(connection):
            if _marks(connection) == (0, 0) and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
                connection.execute(table)
                connection.execute(f"PRAGMA application_id={mark}")
                connection.execute(f"PRAGMA user_version={version}")
    found = _marks(connection)
    if found[0] != mark:
        raise sqlite3.OperationalError("it is the database of another program")
    if found[1] != version:
        raise sqlite3.DatabaseError(f"it is of version {found[1]}, this is for version {version}")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        with suppress(sqlite3.OperationalError):  # another process is at it, or writes: SQLite does not wait here
            connection.execute("PRAGMA journal_mode=WAL")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do all or nothing. To close a connection rolls back what was not committed."""
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version
