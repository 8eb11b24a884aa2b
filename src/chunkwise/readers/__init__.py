"""Readers: bytes in, documents out. A format is one file and one line in `READERS`, of which anyone may add one."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import cast

from chunkwise.core.protocols import Reader


@dataclass(frozen=True, slots=True)
class Format:
    """A format, and the place of the function that reads it: `package.module:name`, imported when it is first needed.

    A place that begins with a dot is in this package.
    `isolated`: it is parsed by code that a hostile file may crash or hold up, so a batch reads it in another process.
    """

    media_type: str
    place: str
    isolated: bool = False

    @property
    def reader(self) -> Reader:
        """The function that reads it."""
        module, _, name = self.place.partition(":")
        return cast("Reader", getattr(import_module(module, __name__), name))


TEXT = Format("text/plain", ".plain:read_plain")
_MARKDOWN = Format("text/markdown", ".markdown:read_markdown")
_HTML = Format("text/html", ".html:read_html", isolated=True)
_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_DOCX = Format(_OPEN_XML + "wordprocessingml.document", ".office.docx:read_docx", isolated=True)
_PPTX = Format(_OPEN_XML + "presentationml.presentation", ".office.pptx:read_pptx", isolated=True)

# What a file's name says about its format, by suffix.
READERS: dict[str, Format] = {
    ".txt": TEXT,
    ".text": TEXT,
    ".log": TEXT,
    ".rst": Format("text/x-rst", ".plain:read_plain"),
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".mdx": _MARKDOWN,
    ".csv": Format("text/csv", ".tabular:read_table"),
    ".tsv": Format("text/tab-separated-values", ".tabular:read_table"),
    ".pdf": Format("application/pdf", ".pdf:read_pdf", isolated=True),
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
    ".docx": _DOCX,
    ".docm": _DOCX,
    ".dotx": _DOCX,
    ".dotm": _DOCX,
    ".pptx": _PPTX,
    ".pptm": _PPTX,
    ".ppsx": _PPTX,
    ".potx": _PPTX,
    ".xlsx": Format(_OPEN_XML + "spreadsheetml.sheet", ".sheets:read_sheets", isolated=True),
    ".xlsm": Format("application/vnd.ms-excel.sheet.macroenabled.12", ".sheets:read_sheets", isolated=True),
    ".xlsb": Format("application/vnd.ms-excel.sheet.binary.macroenabled.12", ".sheets:read_sheets", isolated=True),
    ".xls": Format("application/vnd.ms-excel", ".sheets:read_sheets", isolated=True),
    ".ods": Format("application/vnd.oasis.opendocument.spreadsheet", ".sheets:read_sheets", isolated=True),
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

READERS |= {suffix: Format(f"text/x-{language}", ".plain:read_code") for suffix, language in LANGUAGES.items()}
