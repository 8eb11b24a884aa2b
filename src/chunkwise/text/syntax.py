"""Source code as a tree of parts, by tree-sitter; each grammar is a package of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from chunkwise.core.errors import require
from chunkwise.core.types import Span
from chunkwise.text.offsets import offsets
from chunkwise.text.unicode import encodable

# Language -> module, and the function in it that returns the grammar.
_GRAMMARS = {
    language: (f"tree_sitter_{language}", "language")
    for language in (
        *("bash", "c", "c_sharp", "cpp", "css", "go", "html", "java", "javascript", "json", "kotlin", "lua"),
        *("python", "ruby", "rust", "scala", "sql", "swift", "toml", "yaml"),
    )
} | {
    "php": ("tree_sitter_php", "language_php"),
    "php_only": ("tree_sitter_php", "language_php_only"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}

# What people write after the marks of a fence.
_ALIASES = {
    "c#": "c_sharp",
    "c++": "cpp",
    "cc": "cpp",
    "console": "bash",
    "cs": "c_sharp",
    "csharp": "c_sharp",
    "golang": "go",
    "h": "c",
    "htm": "html",
    "hpp": "cpp",
    "js": "javascript",
    "json5": "json",
    "jsonc": "json",
    "jsx": "javascript",
    "kt": "kotlin",
    "mjs": "javascript",
    "postgresql": "sql",
    "py": "python",
    "python3": "python",
    "rb": "ruby",
    "rs": "rust",
    "sh": "bash",
    "shell": "bash",
    "ts": "typescript",
    "xhtml": "html",
    "yml": "yaml",
    "zsh": "bash",
}

# Kinds of nodes that define something with a name.
_DEFINITION = re.compile(
    r"(?:class|module|method|singleton_method)"
    r"|(?:annotation_type|class|constructor|contract|enum|function|impl|interface|method|mod|module|namespace|object"
    r"|package|protocol|record|struct|trait|type|union)_(?:declaration|definition|item|spec|specifier)"
)
_IMPORT = re.compile(r"import|using|use_declaration|namespace_use|package_|preproc_include|future")
# What belongs to the part after it.
_ATTACHED = re.compile(r"comment|attribute_item|attribute_list|decorator|annotation|modifier")
# What stands around a definition.
_WRAPPER = re.compile(r"decorated|export|template|ambient|visibility")
_BODY = re.compile(r"(?:^|_)(?:body|block|suite|declaration_list|field_declaration_list|list)$")
_NAME = re.compile(r"identifier|^name$|^constant$|^word$")


@dataclass(frozen=True, slots=True)
class Part:
    """A node of a syntax tree, with its span in code points."""

    node: Any
    at: Callable[[int], int]
    span: Span

    is_definition: bool
    """Whether it defines something: a class, a function, a module."""
    is_import: bool
    """Whether it names what is used from elsewhere."""
    is_attached: bool
    """Whether it belongs to what follows, as a comment or a decorator does."""
    is_comment: bool

    @property
    def definition(self) -> Part | None:
        """The definition that it is, or that it decorates, exports or templates."""
        if self.is_definition or not _WRAPPER.match(self.node.type):
            return self if self.is_definition else None
        return next((part for part in self.parts if part.is_definition), None)

    @property
    def is_broken(self) -> bool:
        """Whether the parser made no sense of it."""
        return bool(self.node.type == "ERROR")

    @property
    def parts(self) -> Iterator[Part]:
        """The named parts of it, in order."""
        for child in self.node.named_children:
            yield _part(child, self.at)

    @property
    def body(self) -> Part | None:
        """The part that holds what is defined, if there is one."""
        found = self.node.child_by_field_name("body")
        if found is None:
            found = next((child for child in self.node.named_children if _BODY.search(child.type)), None)
        return _part(found, self.at) if found is not None else None

    @property
    def name(self) -> str:
        """The name of what is defined, or nothing."""
        found = self.node
        for _ in range(8):  # in C it is down in declarators: of a pointer, of a function
            inner = found.child_by_field_name("name") or found.child_by_field_name("declarator")
            inner = inner or found.child_by_field_name("type")
            if inner is None:
                break
            found = inner
        if found is self.node:
            found = next((child for child in self.node.named_children if _NAME.search(child.type)), None)
        return found.text.decode("utf-8", "replace") if found is not None else ""


def language_named(name: str) -> str:
    """Return the language of a name as people write it; the name itself where none is known."""
    lowered = name.strip().lower()
    return _ALIASES.get(lowered, lowered)


def is_known(language: str) -> bool:
    """Tell whether there is a grammar for a language."""
    return language_named(language) in _GRAMMARS


def languages() -> list[str]:
    """Return the languages that there is a grammar for."""
    return sorted(_GRAMMARS.keys() - {"php_only"})


def is_installed() -> bool:
    """Tell whether the extra `code` is installed."""
    return find_spec("tree_sitter") is not None


def syntax(text: str, within: Span, language: str) -> Part | None:
    """Return the root of the syntax tree of a part of a text, or None for a language that is not known.

    Cost: one parse, 2 to 10 MB a second. Raises: MissingExtraError.
    """
    name = language_named(language)
    code = within.slice(text)
    if name == "php" and "<?" not in code:
        name = "php_only"
    if name not in _GRAMMARS:
        return None
    tree = _parser(name).parse(encodable(code).encode())
    at = offsets(code)
    return _part(tree.root_node, lambda offset: at(offset) + within.start)


def _part(node: Any, at: Callable[[int], int]) -> Part:
    return Part(node, at, Span(at(node.start_byte), at(node.end_byte)), *_traits(node.type))


@cache
def _traits(kind: str) -> tuple[bool, bool, bool, bool]:
    """Tell of a kind of node whether it is a definition, an import, attached to what follows, a comment."""
    return (
        _DEFINITION.fullmatch(kind) is not None,
        _IMPORT.search(kind) is not None,
        _ATTACHED.search(kind) is not None,
        "comment" in kind,
    )


@lru_cache(maxsize=8)
def _parser(name: str) -> Any:
    module, function = _GRAMMARS[name]
    parsing = require("tree_sitter", extra="code")
    return parsing.Parser(parsing.Language(getattr(require(module, extra="code"), function)()))
