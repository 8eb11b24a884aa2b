"""Open the package that a Word or PowerPoint file is: its parts as trees, and how they relate."""

from __future__ import annotations

import posixpath
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, Self, cast
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from chunkwise.core.errors import ReadError, require
from chunkwise.core.types import Source
from chunkwise.readers.archive import unpacked

# Prefix -> namespace, as ECMA-376 and Microsoft's extensions to it write them.
_NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "v": "urn:schemas-microsoft-com:vml",
    "adec": "http://schemas.microsoft.com/office/drawing/2017/decorative",
    "rel": "http://schemas.openxmlformats.org/package/2006/relationships",
    "cp": "http://schemas.openxmlformats.org/package/2006/metadata/core-properties",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
}
_PREFIXES = {namespace: prefix for prefix, namespace in _NAMESPACES.items()}
_PREFIXED = re.compile(r"(\w+):(?=\w)")
# The strict form of ECMA-376 has the same names in other namespaces.
_STRICT_ROOT = b"http://purl.oclc.org/ooxml/"
_STRICT = re.compile(re.escape(_STRICT_ROOT) + rb"(\w+)/(\w+)")
# How the container begins that encrypted files have, and those of the formats before 2007. Source: MS-CFB 2.2.
_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Bytes of memory that a tag or an attribute costs in libxml2 2.14 at most, measured on elements without text.
_NODE = 128
# How deep elements may be nested for libxml2 without being told otherwise, and that is not lifted.
_PARSER_DEPTH = 256
# What share of the memory that a file may use one tree may take.
_TREE_SHARE = 0.5
# What the standard library raises for an archive whose directory, or whose compressed bytes, were changed.
_UNREADABLE = (BadZipFile, EOFError, OSError, RuntimeError, ValueError, struct.error, zlib.error)
# What the core properties of a file are called here.
_PROPERTIES = {
    "title": "dc:title",
    "author": "dc:creator",
    "subject": "dc:subject",
    "keywords": "cp:keywords",
    "language": "dc:language",
    "created": "dcterms:created",
    "modified": "dcterms:modified",
}
# Titles of files that nobody gave one.
_DEFAULT_TITLES = {"powerpoint presentation", "word document"}
_INTEGER = re.compile(r"\s*([-+]?\d{1,9})\s*")


class Element(Protocol):
    """What is used of an element of lxml."""

    tag: str
    text: str | None

    def __iter__(self) -> Iterator[Self]: ...
    def __reversed__(self) -> Iterator[Self]: ...
    def __len__(self) -> int: ...
    def get(self, key: str) -> str | None: ...
    def getnext(self) -> Self | None: ...
    def find(self, path: str) -> Self | None: ...
    def findall(self, path: str) -> list[Self]: ...
    def iter(self, *tags: str) -> Iterator[Self]: ...


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part refers to: the last word of the relation's type, and the part's name, or an address outside."""

    kind: str
    target: str
    external: bool = False


class Package:
    """The parts of a file, by their name without a leading slash. Nothing outside it is ever looked at."""

    def __init__(self, source: Source) -> None:
        if source.content.startswith(_OLE2):
            raise ReadError(
                f"{source.id} is encrypted or of an old format (.doc, .ppt); "
                "save it as .docx or .pptx without a password"
            )
        self.id = source.id
        self._limits = source.limits
        self._archive: ZipFile = unpacked(source)
        self._etree: Any = require("lxml.etree", extra="office")
        self._names = {name.lstrip("/").lower(): name for name in self._archive.namelist()}
        self._relations: dict[str, dict[str, Relation]] = {}

    def tree(self, name: str) -> Element | None:
        """Return the root of a part, or None if there is no such part.

        No entity is expanded, nothing is fetched.
        Raises: ReadError if the part is damaged, or its tree would be too large or too deep.
        """
        if not name or name.lower() not in self._names:
            return None
        content = self._content(name)
        parser = self._etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        try:
            root = self._etree.fromstring(content, parser)
        except self._etree.XMLSyntaxError as err:
            raise ReadError(f"{self.id}, {name}: damaged ({err}); open it in its program and save it anew") from err
        if root.getroottree().docinfo.internalDTD is not None:
            raise ReadError(f"{self.id}, {name}: defines entities, as no Office program does; not read")
        nesting = self._limits.nesting
        if nesting < _PARSER_DEPTH and root.xpath("boolean(" + "/*" * (nesting + 1) + ")"):
            raise ReadError(
                f"{self.id}, {name}: elements nested deeper than {nesting}; "
                "if it is to be trusted, raise the limit: nesting"
            )
        return cast("Element", root)

    def relations(self, name: str) -> dict[str, Relation]:
        """Return the relations of a part, or with "" of the package, by their ids."""
        if name not in self._relations:
            folder, _, file = name.rpartition("/")
            root = self.tree(posixpath.join(folder, "_rels", f"{file}.rels"))
            self._relations[name] = {
                one.get("Id") or "": _relation(one, folder)
                for one in ([] if root is None else root.findall(clark("rel:Relationship")))
            }
        return self._relations[name]

    def related(self, name: str, kind: str) -> list[str]:
        """Return the names of the parts that a part refers to as of this kind, each once."""
        found = (one.target for one in self.relations(name).values() if one.kind == kind and not one.external)
        return list(dict.fromkeys(found))

    def main(self, kind: str) -> tuple[str, Element]:
        """Return the name and the tree of the part that the file is about, whose root is a `kind`.

        Raises: ReadError if there is none.
        """
        for name in self.related("", "officeDocument"):
            root = self.tree(name)
            if root is not None and tag(root) == kind:
                return name, root
        raise ReadError(f"{self.id}: holds no {kind.partition(':')[2]}; is its suffix right?")

    def _content(self, name: str) -> bytes:
        """Return what a part holds, in the namespaces of the usual form of the format."""
        stored = self._names[name.lower()]
        self._refuse_large(name, self._archive.getinfo(stored).file_size)
        try:
            content = self._archive.read(stored)
        except _UNREADABLE as err:
            raise ReadError(f"{self.id}, {name}: damaged ({err}); open it in its program and save it anew") from err
        self._refuse_large(name, len(content) + _NODE * (content.count(b"<") + content.count(b"=")))
        if _STRICT_ROOT in content:
            content = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/\2", content)
        return content

    def _refuse_large(self, name: str, size: int) -> None:
        """Refuse a part whose tree would take so many bytes of memory, by its text, tags and attributes."""
        if size > _TREE_SHARE * self._limits.memory:
            raise ReadError(
                f"{self.id}, {name}: its tree would take {size >> 20:,} MiB; "
                "if it is to be trusted, raise the limit: memory"
            )


def properties(package: Package) -> dict[str, object]:
    """Return what a file's core properties say of it, by the names that all readers use; dates as in ISO 8601."""
    names = package.related("", "core-properties")
    root = package.tree(names[0]) if names else None
    if root is None:
        return {}
    meta: dict[str, object] = {}
    for key, path in _PROPERTIES.items():
        element = root.find(clark(path))
        if element is not None and element.text and (text := " ".join(element.text.split())):
            meta[key] = text
    if str(meta.get("title", "")).lower() in _DEFAULT_TITLES:
        del meta["title"]
    if date := meta.get("modified", meta.get("created")):
        meta["date"] = date
    return meta


@lru_cache(maxsize=1024)
def clark(path: str) -> str:
    """Return a path or a name with the namespaces of its prefixes, as lxml wants them."""
    return _PREFIXED.sub(lambda found: f"{{{_NAMESPACES[found[1]]}}}", path)


def tag(element: Element) -> str:
    """Return an element's name with its prefix, such as "w:p"; empty if it is of no known namespace."""
    return _prefixed(element.tag) if isinstance(element.tag, str) else ""


@lru_cache(maxsize=1024)
def _prefixed(name: str) -> str:
    namespace, _, local = name.removeprefix("{").rpartition("}")
    return f"{_PREFIXES[namespace]}:{local}" if namespace in _PREFIXES else ""


def find(element: Element | None, path: str) -> Element | None:
    """Return the first element at a path, if there is one; with an empty path the element itself."""
    if element is None or not path:
        return element
    return element.find(clark(path)) if len(element) else None


def children(element: Element | None) -> dict[str, Element]:
    """Return the children of an element by their names, the first of each: cheaper than to find many of them."""
    return {} if element is None else {tag(child): child for child in reversed(element)}


def value(element: Element | None, path: str = "", name: str = "w:val") -> str:
    """Return an attribute of the first element at a path, else an empty string."""
    found = find(element, path)
    return "" if found is None else found.get(clark(name)) or ""


def is_on(element: Element | None, path: str = "") -> bool | None:
    """Tell whether a property of Word is switched on or off at a path; None if it is not named there."""
    found = find(element, path)
    return None if found is None else found.get(clark("w:val")) not in ("0", "false", "off")


def branch(element: Element) -> list[Element]:
    """Return what an `mc:AlternateContent` holds, which has it twice: as it is now, and for older programs."""
    choice = find(element, "mc:Choice")
    chosen = choice if choice is not None and len(list(choice)) else find(element, "mc:Fallback")
    return [] if chosen is None else list(chosen)


def integer(text: str | None, default: int = 0) -> int:
    """Return a number of up to nine digits, else the default."""
    found = _INTEGER.fullmatch(text or "")
    return int(found[1]) if found else default


def _relation(element: Element, folder: str) -> Relation:
    target = element.get("Target") or ""
    kind = (element.get("Type") or "").rpartition("/")[2]
    if element.get("TargetMode") == "External":
        return Relation(kind, target, external=True)
    name = posixpath.normpath(posixpath.join("/", folder, unquote(target.partition("#")[0]))).lstrip("/")
    return Relation(kind, name)
