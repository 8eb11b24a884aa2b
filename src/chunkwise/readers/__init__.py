"""Readers: bytes in, documents out. A format is one file and one line in `READERS`."""

from __future__ import annotations

from chunkwise.core.protocols import Reader
from chunkwise.readers.markdown import read_markdown
from chunkwise.readers.plain import read_code, read_plain
from chunkwise.readers.tabular import read_table

# What a file's name says about its format: suffix -> (media type, reader).
READERS: dict[str, tuple[str, Reader]] = {
    ".txt": ("text/plain", read_plain),
    ".text": ("text/plain", read_plain),
    ".log": ("text/plain", read_plain),
    ".rst": ("text/x-rst", read_plain),
    ".md": ("text/markdown", read_markdown),
    ".markdown": ("text/markdown", read_markdown),
    ".mdx": ("text/markdown", read_markdown),
    ".csv": ("text/csv", read_table),
    ".tsv": ("text/tab-separated-values", read_table),
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

READERS |= {suffix: (f"text/x-{language}", read_code) for suffix, language in LANGUAGES.items()}
