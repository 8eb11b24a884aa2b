"""Find and read files: one path, or whole folders with a list of what was skipped and why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from chunkwise.core.errors import ReadError
from chunkwise.core.protocols import Reader
from chunkwise.core.types import Document, Source
from chunkwise.readers import READERS

# Folders that hold no documents of the user's own.
_SKIPPED_FOLDERS = {
    "__pycache__",
    "node_modules",
    "venv",
    "site-packages",
    "dist",
    "build",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A file to be read, and the id that its document will have."""

    path: Path
    id: str


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that was not read, or could not be used, and why."""

    id: str
    reason: str


def read(path: str | os.PathLike[str], *, id: str | None = None) -> Document:
    """Read one file as a document. Its id is its name unless given.

    Raises: ReadError if it is missing, unreadable, binary, or of an unknown format.
    """
    location = Path(path)
    if location.is_dir():
        raise ReadError(f"{path} is a folder; use read_folder({str(path)!r}), or name a file in it")
    return read_found(Found(location, id or location.name))


def read_text(text: str, *, id: str = "text", media_type: str = "text/markdown") -> Document:
    """Read a string as if it were the content of a file of this media type.

    Unlike `Document.from_text` it finds the blocks of Markdown and code. The text stays as it is.
    """
    for known, reader in READERS.values():
        if known == media_type:
            content = text.encode("utf-8", "surrogatepass")
            return reader(Source(id, content, "", media_type, encoding="utf-8"))
    known_types = sorted({known for known, _ in READERS.values()})
    raise ReadError(f"no reader for media type {media_type!r}; known: {', '.join(known_types)}")


def read_found(found: Found) -> Document:
    """Read a file that was found.

    Raises: ReadError.
    """
    media_type, reader = _format(found)
    try:
        content = found.path.read_bytes()
    except FileNotFoundError as err:
        raise ReadError(f"{found.path}: no such file") from err
    except OSError as err:
        raise ReadError(f"{found.path}: can't be read: {err.strerror or err}") from err
    suffix = found.path.suffix.lower()
    if suffix and suffix not in READERS and not _is_utf8(content):
        raise ReadError(f"{found.id}: no reader for {suffix} files; convert it to text or Markdown")
    return reader(Source(found.id, content, str(found.path.resolve()), media_type))


def find_files(path: str | os.PathLike[str], *, globs: Sequence[str] = ()) -> Iterator[Found | Skip]:
    """Walk a folder in sorted order, or take a single file.

    Ids are paths relative to the folder, with forward slashes; a single file's id is its name.
    Hidden files and folders are passed over; others that are not taken are told with a reason.
    `globs` match the id; with any given, only matching files are looked at, of whatever suffix.
    Raises: ReadError if the path does not exist.
    """
    root = Path(path)
    if not root.exists():
        raise ReadError(f"{path}: no such file or folder")
    if not root.is_dir():
        yield Found(root, root.name)
        return
    for file in _walk(root):
        id = file.relative_to(root).as_posix()
        if globs:
            if any(fnmatch(id, glob) or fnmatch(file.name, glob) for glob in globs):
                yield Found(file, id)
        elif file.suffix.lower() in READERS or not file.suffix:
            yield Found(file, id)
        else:
            yield Skip(id, f"no reader for {file.suffix} files")


def read_folder(path: str | os.PathLike[str], *, globs: Sequence[str] = ()) -> Iterator[Document | Skip]:
    """Read every file that `find_files` finds; one that can't be read is a `Skip` with its reason."""
    return read_files(find_files(path, globs=globs))


def read_files(files: Iterable[Found | Skip]) -> Iterator[Document | Skip]:
    """Read files one after the other, turning those that can't be read into skips."""
    for file in files:
        if isinstance(file, Skip):
            yield file
            continue
        try:
            document = read_found(file)
        except ReadError as err:
            yield Skip(file.id, str(err))
            continue
        yield document if document.text.strip() else Skip(file.id, "empty")


def doubts(document: Document) -> list[str]:
    """Return what a person should know of how a document was read."""
    if not document.meta.get("encoding_guessed"):
        return []
    return [f"{document.id} is not UTF-8; it was read as {document.meta['encoding']}, which is a guess"]


def _format(found: Found) -> tuple[str, Reader]:
    return READERS.get(found.path.suffix.lower(), READERS[".txt"])


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _walk(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            if entry.name not in _SKIPPED_FOLDERS:
                yield from _walk(entry)
        elif entry.is_file():
            yield entry
