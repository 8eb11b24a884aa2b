"""What a folder says of the index in it: `index.json`, written so that it is always whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chunkwise.core.errors import StoreError

# Raise it when what is stored changes so that it can't be read as before. 2: all levels of chunks, and gaps.
FORMAT = 2
MANIFEST = "index.json"
TABLE = "chunks"
LOCK = f"{MANIFEST}.lock"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what an index was made with; nothing for a folder that is new, empty, or left by a kill."""
    elsewhere = f"name a new folder for the index, such as {folder.absolute()}.index"
    path = folder / MANIFEST
    with named(folder, "read"):
        names = os.listdir(folder) if folder.is_dir() else []
        content = path.read_bytes() if MANIFEST in names else b""
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file; {elsewhere}")
    if MANIFEST not in names:
        if any(not name.startswith(MANIFEST) for name in names):
            raise StoreError(f"{folder} is not empty and holds no index; {elsewhere}")
        return {}
    return _parse_manifest(path, content)


def write_manifest(folder: Path, info: Mapping[str, Any]) -> None:
    """Write `index.json` so that at any moment there is the old one or the new one, whole."""
    with named(folder, "write to"):
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{MANIFEST}.{os.getpid()}"
        with draft.open("w", encoding="utf-8") as file:
            json.dump({"chunkwise_index": FORMAT, "info": info}, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, folder / MANIFEST)
        _sync_folder(folder)


@contextmanager
def named(folder: Path, verb: str) -> Iterator[None]:
    """Say which index failed, and what to do."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as err:  # what LanceDB raises
        raise StoreError(
            f"can't {verb} the index {folder}: {err}. If the disk is full, make room; if another process writes to "
            "the index, try again; if its files are damaged, move it away and index again."
        ) from err


def _parse_manifest(path: Path, content: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(content)
    except ValueError as err:
        raise _unreadable(path, str(err)) from err
    if not isinstance(manifest, dict) or not isinstance(manifest.get("chunkwise_index"), int):
        raise _unreadable(path, "not written by Chunkwise")
    if manifest["chunkwise_index"] > FORMAT:
        raise StoreError(
            f"{path.parent} has the index format {manifest['chunkwise_index']}, this version reads {FORMAT}; "
            "run: pip install --upgrade chunkwise"
        )
    if manifest["chunkwise_index"] < FORMAT:
        raise StoreError(
            f"{path.parent} has the index format {manifest['chunkwise_index']} of an earlier version, this one writes "
            f"{FORMAT}; move it away and index again"
        )
    info = manifest.get("info")
    if not isinstance(info, dict) or not isinstance(info.get("dim"), int):
        raise _unreadable(path, "it does not say `dim`")
    return info


def _unreadable(path: Path, reason: str) -> StoreError:
    # Only a folder with a table is surely an index, and not somebody's documents.
    if (path.parent / f"{TABLE}.lance").is_dir():
        return StoreError(
            f"{path} is damaged: {reason}. Restore it from a copy, or move {path.parent} away and index again."
        )
    return StoreError(f"{path} does not describe an index: {reason}. Name another folder for the index.")


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere a folder can't be opened, and need not be
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
