"""Readers: bytes in, documents out. A format is one file and one line in `READERS`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import cast

from chunkwise.core.protocols import Reader


@dataclass(frozen=True, slots=True)
class Format:
    """A format, and the place of the function that reads it, as `module:name`; imported when it is first needed.

    `isolated`: it is parsed by code that a hostile file may crash or hold up, so a batch reads it in another process.
    """

    media_type: str
    place: str
    isolated: bool = False

    @property
    def reader(self) -> Reader:
        """The function that reads it."""
        module, _, name = self.place.partition(":")
        return cast("Reader", getattr(import_module(f"chunkwise.readers.{module}"), name))


TEXT = Format("text/plain", "plain:read_plain")
_MARKDOWN = Format("text/markdown", "markdown:read_markdown")
_HTML = Format("text/html", "html.read:read_html", isolated=True)

# What a file's name says about its format, by suffix.
READERS: dict[str, Format] = {
    ".txt": TEXT,
    ".text": TEXT,
    ".log": TEXT,
    ".rst": Format("text/x-rst", "plain:read_plain"),
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".mdx": _MARKDOWN,
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": Format("application/xhtml+xml", "html.read:read_html", isolated=True),
    ".csv": Format("text/csv", "tabular:read_table"),
    ".tsv": Format("text/tab-separated-values", "tabular:read_table"),
}

# Suffix -> language, as in tree-sitter's grammar names.
LANGUAGES = {
    ".bash": "bash",
    ".c": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".cs": "c_sharp",
    ".css": "css",
    ".go": "go",
    ".h": "c",
    ".hpp": "cpp",
    ".java": "java",
    ".js": "javascript",
    ".json": "json",
    ".jsonl": "json",
    ".jsx": "javascript",
    ".kt": "kotlin",
    ".lua": "lua",
    ".ndjson": "json",
    ".php": "php",
    ".py": "python",
    ".rb": "ruby",
    ".rs": "rust",
    ".scala": "scala",
    ".sh": "bash",
    ".sql": "sql",
    ".swift": "swift",
    ".toml": "toml",
    ".ts": "typescript",
    ".tsx": "tsx",
    ".yaml": "yaml",
    ".yml": "yaml",
}

READERS |= {suffix: Format(f"text/x-{language}", "plain:read_code") for suffix, language in LANGUAGES.items()}
