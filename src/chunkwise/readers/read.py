"""Find files, and read one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from chunkwise.core.errors import ChunkwiseError, ReadError
from chunkwise.core.types import DEFAULT_LIMITS, Document, Limits, Source
from chunkwise.readers import READERS, TEXT, Format
from chunkwise.readers.clean import DEFAULT, cleaned, steps
from chunkwise.readers.detect import HEAD, format_of

# Folders that hold no documents of the user's own.
_SKIPPED_FOLDERS = {"__pycache__", "node_modules", "venv", "site-packages"}

# What a folder holds that is an index: see stores/lance.py.
_INDEX_FOLDER = "chunks.lance"


# What a document's meta tells of how it was read; what else is in it is about the document.
NOTES = frozenset({"left_out", "links", "n_removed", "removed", "warnings"})


@dataclass(frozen=True, slots=True)
class Found:
    """A file to be read, and the id that its document will have."""

    path: Path
    id: str


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that was not read, or could not be used, and why; `location` is its path, if it has one.

    `failed` tells one that was to be read and could not be from one that was passed over.
    """

    id: str
    reason: str
    location: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read. `password` opens those that are encrypted.

    `clean` names what is taken out of them, as "blobs,spaces", "all" or "none": see `readers.clean.cleaned`. None is
    "blobs", or for an index what it was made with. `lines` are what the step "repeated" takes out; a batch finds them.
    Raises: ReadError for a step that does not exist.
    """

    limits: Limits = DEFAULT_LIMITS
    password: str = field(default="", repr=False)
    clean: str | None = None
    lines: frozenset[str] = field(default=frozenset(), repr=False)

    def __post_init__(self) -> None:
        steps(self.clean or DEFAULT)


DEFAULT_READING = Reading()


def read(path: str | os.PathLike[str], *, id: str | None = None, reading: Reading = DEFAULT_READING) -> Document:
    """Read one file as a document. Its id is its name unless given.

    It is read in this process: limits of time and memory bind only what `read_folder` reads.
    Raises: ReadError if it is missing, unreadable, encrypted, of an unknown format, or over its limits;
    MissingExtraError if what reads its format is not installed.
    """
    location = _existing(path)
    if location.is_dir():
        raise ReadError(f"{path} is a folder; use read_folder({str(path)!r}), or name a file in it")
    found = Found(location, id or location.name)
    return _read(found, reading, find_format(found))


def read_text(text: str, *, id: str = "text", media_type: str = "text/markdown", clean: str = DEFAULT) -> Document:
    """Read a string as if it were the content of a file of this media type.

    Unlike `Document.from_text` it finds the blocks of Markdown and code, and leaves out blobs, or what else `clean`
    names: see `readers.clean.cleaned`.
    """
    known = {format.media_type: format for format in READERS.values() if format.media_type.startswith("text/")}
    if media_type not in known:
        raise ReadError(f"no reader of text for media type {media_type!r}; known: {', '.join(sorted(known))}")
    content = text.encode("utf-8", "surrogatepass")
    return cleaned(known[media_type].reader(Source(id, content, "", media_type, encoding="utf-8")), clean)


def find_format(found: Found) -> Format:
    """Return the format of a file, by its name and how it begins.

    Raises: ReadError.
    """
    try:
        if found.path.exists() and not found.path.is_file():
            raise ReadError(f"{found.path}: not a file; a pipe or a device can't be read")
        with found.path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError as err:
        raise ReadError(f"{found.path}: no such file") from err
    except (OSError, ValueError) as err:  # a NUL in the path is a ValueError
        raise ReadError(f"{found.path}: can't be read: {getattr(err, 'strerror', None) or err}") from err
    return format_of(found.path, head, id=found.id)


def _read(found: Found, reading: Reading, format: Format) -> Document:
    content = _content(found, reading.limits, format)
    location = str(found.path.resolve())
    source = Source(found.id, content, location, format.media_type, password=reading.password, limits=reading.limits)
    return cleaned(format.reader(source), reading.clean or DEFAULT, lines=reading.lines)


def attempt(found: Found, reading: Reading, format: Format | None = None) -> Document | Skip:
    """Read a file, or say why it could not be read: one of a batch must not end the others."""
    location = str(found.path.resolve())
    try:
        document = _read(found, reading, format or find_format(found))
    except ChunkwiseError as err:
        reason = str(err) if str(err).startswith(found.id) else f"{found.id}: {err}"
        return Skip(found.id, reason, location, failed=True)
    except MemoryError:
        reason = f"{found.id}: took more memory than the limit; if it is to be trusted, raise the limit: memory"
        return Skip(found.id, reason, location, failed=True)
    except Exception as err:  # a fault of a reader or its library: told, and the other files are read
        reason = f"{found.id}: its reader failed, which is a fault of ours ({type(err).__name__}: {err}); report it"
        return Skip(found.id, reason, location, failed=True)
    return document if document.text.strip() else Skip(found.id, "empty", document.source)


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


def doubts(document: Document) -> list[str]:
    """Return what a person should know of how a document was read."""
    warnings = document.meta.get("warnings")
    found = [f"{document.id}: {warning}" for warning in warnings] if isinstance(warnings, list) else []
    if document.meta.get("encoding_guessed"):
        found.append(f"{document.id} is not UTF-8; it was read as {document.meta['encoding']}, which is a guess")
    return found


def _content(found: Found, limits: Limits, format: Format) -> bytes:
    """Return the bytes of a file.

    Raises: ReadError.
    """
    try:
        size = found.path.stat().st_size
        if size > limits.size:
            raise ReadError(f"{found.id}: {size:,} bytes, over the limit of {limits.size:,}; raise the limit: size")
        content = found.path.read_bytes()
    except OSError as err:
        raise ReadError(f"{found.path}: can't be read: {err.strerror or err}") from err
    suffix = found.path.suffix.lower()
    if suffix and suffix not in READERS and format is TEXT and not _is_utf8(content):
        raise ReadError(f"{found.id}: no reader for {suffix} files; convert it to text or Markdown")
    return content


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
