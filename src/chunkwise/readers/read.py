"""Find and read files: one path, or whole folders with a list of what was skipped and why."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Source
from chunkwise.readers import READERS, TEXT
from chunkwise.readers.clean import DEFAULT, REPEATED, cleaned, repeated_lines, steps

# Folders that hold no documents of the user's own.
_SKIPPED_FOLDERS = {"__pycache__", "node_modules", "venv", "site-packages"}

# What a folder holds that is an index: see stores/lance.py.
_INDEX_FOLDER = "chunks.lance"


@dataclass(frozen=True, slots=True)
class Found:
    """A file to be read, and the id that its document will have."""

    path: Path
    id: str


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that was not read, or could not be used, and why; `location` is its path, if it has one."""

    id: str
    reason: str
    location: str = ""


def read(path: str | os.PathLike[str], *, id: str | None = None, clean: str = DEFAULT) -> Document:
    """Read one file as a document. Its id is its name unless given.

    `clean` names what is taken out of it, as "blobs,spaces", "all" or "none": see `readers.clean.cleaned`.
    Raises: ReadError if it is missing, unreadable, binary, or of an unknown format.
    """
    location = _existing(path)
    if location.is_dir():
        raise ReadError(f"{path} is a folder; use read_folder({str(path)!r}), or name a file in it")
    return read_found(Found(location, id or location.name), clean=clean)


def read_text(text: str, *, id: str = "text", media_type: str = "text/markdown", clean: str = DEFAULT) -> Document:
    """Read a string as if it were the content of a file of this media type.

    Unlike `Document.from_text` it finds the blocks of Markdown and code, and leaves out blobs, or what else `clean`
    names: see `readers.clean.cleaned`.
    """
    for known in READERS.values():
        if known.media_type == media_type:
            content = text.encode("utf-8", "surrogatepass")
            return cleaned(known.reader(Source(id, content, "", media_type, encoding="utf-8")), clean)
    known_types = sorted({known.media_type for known in READERS.values()})
    raise ReadError(f"no reader for media type {media_type!r}; known: {', '.join(known_types)}")


def read_found(found: Found, *, clean: str = DEFAULT, lines: Collection[str] = ()) -> Document:
    """Read a file that was found, and clean it; `lines` are those that the step "repeated" takes out.

    Raises: ReadError.
    """
    format = READERS.get(found.path.suffix.lower(), TEXT)
    try:
        if found.path.exists() and not found.path.is_file():
            raise ReadError(f"{found.path}: not a file; a pipe or a device can't be read")
        content = found.path.read_bytes()
    except FileNotFoundError as err:
        raise ReadError(f"{found.path}: no such file") from err
    except (OSError, ValueError) as err:  # a NUL in the path is a ValueError
        raise ReadError(f"{found.path}: can't be read: {getattr(err, 'strerror', None) or err}") from err
    suffix = found.path.suffix.lower()
    if suffix and suffix not in READERS and not _is_utf8(content):
        raise ReadError(f"{found.id}: no reader for {suffix} files; convert it to text or Markdown")
    document = format.reader(Source(found.id, content, str(found.path.resolve()), format.media_type))
    return cleaned(document, clean, lines=lines)


def find_files(path: str | os.PathLike[str], *, globs: Sequence[str] = ()) -> Iterator[Found | Skip]:
    """Walk a folder in sorted order, or take a single file.

    Ids are paths relative to the folder, with forward slashes; a single file's id is its name.
    What is not taken is told with a reason; hidden files and folders are, too.
    `globs` match the id or the name; with any given, only matching files are taken, of whatever suffix.
    Raises: ReadError if the path does not exist.
    """
    if isinstance(globs, str):
        raise ReadError(f"globs is a list of patterns; write [{globs!r}]")
    root = _existing(path)
    if not root.is_dir():
        yield Found(root, root.name)
        return
    for file in _walk(root, root):
        if isinstance(file, Skip):
            yield file
            continue
        id = file.relative_to(root).as_posix()
        if not _is_utf8_name(id):
            yield Skip(id.encode("utf-8", "backslashreplace").decode(), "its name is not UTF-8; rename it")
        elif globs:
            if any(_matches(id, glob) for glob in globs):
                yield Found(file, id)
        elif file.suffix.lower() in READERS or not file.suffix:
            yield Found(file, id)
        else:
            yield Skip(id, f"no reader for {file.suffix} files")


def read_folder(
    path: str | os.PathLike[str], *, globs: Sequence[str] = (), clean: str = DEFAULT
) -> Iterator[Document | Skip]:
    """Read every file that `find_files` finds; one that can't be read is a `Skip` with its reason."""
    return read_files(find_files(path, globs=globs), clean=clean)


def read_files(files: Iterable[Found | Skip], *, clean: str = DEFAULT) -> Iterator[Document | Skip]:
    """Read files one after the other, turning those that can't be read into skips.

    To leave out lines that are repeated in most of them, all are read twice.
    """
    lines: Collection[str] = ()
    if REPEATED in (names := steps(clean)):
        files = list(files)
        before = ",".join(names[: names.index(REPEATED)])
        lines = repeated_lines(found for found in read_files(files, clean=before) if isinstance(found, Document))
    for file in files:
        if isinstance(file, Skip):
            yield file
            continue
        try:
            document = read_found(file, clean=clean, lines=lines)
        except ReadError as err:
            yield Skip(file.id, str(err), str(file.path.resolve()))
            continue
        yield document if document.text.strip() else Skip(file.id, "empty", document.source)


def doubts(document: Document) -> list[str]:
    """Return what a person should know of how a document was read."""
    if not document.meta.get("encoding_guessed"):
        return []
    return [f"{document.id} is not UTF-8; it was read as {document.meta['encoding']}, which is a guess"]


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _walk(folder: Path, root: Path) -> Iterator[Path | Skip]:
    """Yield the files below a folder in sorted order, and what is passed over."""
    id = folder.relative_to(root).as_posix()
    try:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError as err:
        yield Skip(id, f"can't be read: {err.strerror or err}")
        return
    if any(entry.name == _INDEX_FOLDER for entry in entries):
        yield Skip(id, "an index of Chunkwise, not documents")
        return
    for entry in entries:
        if (reason := _passed_over(entry)) is not None:
            yield Skip(entry.relative_to(root).as_posix(), reason)
        elif entry.is_dir():
            yield from _walk(entry, root)
        else:
            yield entry


def _passed_over(entry: Path) -> str | None:
    """Return why a file or folder is not looked at, if so."""
    if entry.name.startswith("."):
        return "hidden"
    if entry.is_symlink() and not entry.is_file():
        return "a link to a folder, or to nothing"
    if entry.is_dir():
        return "holds no documents of one's own" if entry.name in _SKIPPED_FOLDERS else None
    return None if entry.is_file() else "not a file"


def _existing(path: str | os.PathLike[str]) -> Path:
    """Return a path that exists.

    Raises: ReadError.
    """
    try:
        found = bool(os.fspath(path)) and Path(path).exists()
    except (OSError, ValueError) as err:  # too long a name, or a NUL in it
        raise ReadError(f"{path}: no such file or folder") from err
    if not found:
        raise ReadError(
            f"{path}: no such file or folder" if os.fspath(path) else "the path is empty; name a file or a folder"
        )
    return Path(path)


def _matches(id: str, glob: str) -> bool:
    """Tell whether a pattern matches a path or a name; `**/` also stands for no folder at all."""
    pattern = glob.removeprefix("./")
    return any(
        fnmatch(name, part) for name in (id, id.rpartition("/")[2]) for part in (pattern, pattern.removeprefix("**/"))
    )


def _is_utf8_name(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)
