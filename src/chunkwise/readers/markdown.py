"""Read Markdown: the text as it is, and CommonMark's blocks with their exact spans.

Tables, footnotes and front matter are understood beyond CommonMark.
"""

from __future__ import annotations

import re
from typing import Any, cast

import pyromark

from chunkwise.core.origins import Origin
from chunkwise.core.types import Block, BlockKind, Document, Source, Span
from chunkwise.readers.decode import decode
from chunkwise.text.offsets import offsets
from chunkwise.text.unicode import encodable

_PARSER = pyromark.Markdown(
    options=pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_MATH
)

_KINDS: dict[str, BlockKind] = {
    "Heading": "heading",
    "Paragraph": "paragraph",
    "List": "list",
    "Item": "item",
    "Table": "table",
    "TableHead": "header",
    "TableRow": "row",
    "CodeBlock": "code",
    "BlockQuote": "quote",
    "HtmlBlock": "html",
    "FootnoteDefinition": "footnote",
}

# Only at the very start: further down, CommonMark knows a rule and an underlined heading.
_FRONT_MATTER = re.compile(
    r"\ufeff?---[ \t]*(?:\r\n|\n|\r)(?=\S)(?:.*?(?:\r\n|\n|\r))??(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|$)", re.DOTALL
)
_YAML_LINE = re.compile(r"\s|#|-(?:\s|$)|[\w.\"'-]+[ \t]*:(?:\s|$)|$")
# In characters. A longer text with a line of hyphens under it is a paragraph before a rule.
_LONGEST_TITLE = 200
_LONE_RETURN = re.compile(r"\r(?!\n)")
_ATX = re.compile(r"#{1,6}(?:[ \t]+(?P<title>.*?))??(?:[ \t]+#+)?", re.DOTALL)
_UNDERLINE = re.compile(r"(?:\r\n|\n|\r)[ \t>]*(?:=+|-+)\s*$")
_FIELD = re.compile(r"^(?P<key>[A-Za-z_][\w-]*):[ \t]*(?P<value>.*?)[ \t]*\r?$", re.MULTILINE)


def read_markdown(source: Source) -> Document:
    """Read Markdown. Simple `key: value` lines of its front matter become metadata."""
    text, meta = decode(source)
    blocks = markdown_blocks(text)
    front = next((block for block in blocks if block.kind == "front_matter"), None)
    fields = _fields(front.span.slice(text)) if front else {}
    return Document(source.id, text, blocks, source.media_type, source.location, {**fields, **meta}, Origin())


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a Markdown text in document order, with spans in code points."""
    front = _front_matter(text)
    blocks = [Block("front_matter", Span(0, front.end()))] if front else []
    # A byte order mark would hide the first block's markers.
    skip = front.end() if front else int(text.startswith("\ufeff"))
    text = _LONE_RETURN.sub("\n", text)  # of the same length; the parser takes it for no line break
    body = text[skip:]
    at = offsets(body)
    open_blocks: list[int] = []
    for event, where in _PARSER.events_with_range(encodable(body)):
        if event == "Rule":
            _append(blocks, open_blocks, text, "rule", at(where["start"]) + skip, at(where["end"]) + skip, None)
            continue
        if not isinstance(event, dict):
            continue
        if "Start" in event:
            name, detail = _tag(event["Start"])
            if name in _KINDS:
                start, end = at(where["start"]) + skip, at(where["end"]) + skip
                _append(blocks, open_blocks, text, _KINDS[name], start, end, detail)
                open_blocks.append(len(blocks) - 1)
        elif "\n" in str(event.get("DisplayMath", "")):
            _append(blocks, open_blocks, text, "math", at(where["start"]) + skip, at(where["end"]) + skip, None)
        elif "End" in event and _tag(event["End"])[0] in _KINDS:
            open_blocks.pop()
    return tuple(blocks)


def _append(
    blocks: list[Block], around: list[int], text: str, kind: BlockKind, start: int, end: int, detail: Any
) -> None:
    span = _tidy(text, start, end, kind)
    if around:  # never beyond the block around it
        outer = blocks[around[-1]].span
        span = Span(max(span.start, outer.start), min(span.end, outer.end))
    level, label = len(around), ""
    if kind == "heading":
        level, label = int(detail["level"][1]), title_of(span.slice(text))
        if len(label) > _LONGEST_TITLE and not span.slice(text).lstrip("> \t").startswith("#"):
            kind, level, label = "paragraph", len(around), ""
    elif kind == "code" and isinstance(detail, dict):
        label = (detail["Fenced"].split() or [""])[0]
    elif kind == "header":
        span = Span(span.start, _end_of_delimiter(text, span.end))
    blocks.append(Block(kind, span, level, label, around[-1] if around else -1))


def _tag(tag: Any) -> tuple[str, Any]:
    """Return the name and the detail of an event's tag."""
    if isinstance(tag, dict):
        (name, detail), *_ = tag.items()
        return name, detail
    return cast("str", tag), None


def _tidy(text: str, start: int, end: int, kind: BlockKind) -> Span:
    """Let a block begin where its first line does, and end after the break of its last line."""
    while start < end and text[start] in "\r\n":
        start += 1
    piece = text[start:end]
    end = start + len(piece.rstrip())
    line_start = text.rfind("\n", 0, start) + 1
    if not text[line_start:start].strip(" \t>\ufeff"):  # a quote's markers and a byte order mark belong to its line
        start = line_start
    if kind in ("row", "header", "code", "front_matter", "html") and end < len(text):
        end += 2 if text.startswith("\r\n", end) else 1 if text[end] in "\r\n" else 0
    return Span(start, max(start, end))


def _end_of_delimiter(text: str, start: int) -> int:
    """Return the end of the |---| line that follows a table's header row."""
    match = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)").match(text, start)
    return match.end() if match else start


def title_of(heading: str) -> str:
    """Return a heading's text as it is written in Markdown, without its marks."""
    bare = heading.strip("\ufeff \t\r\n>")
    match = _ATX.fullmatch(bare)
    title = (match["title"] or "") if match else _UNDERLINE.sub("", bare)
    return " ".join(title.split())


def _front_matter(text: str) -> re.Match[str] | None:
    """Return the front matter, if what stands between the first two rules looks like YAML."""
    front = _FRONT_MATTER.match(text)
    lines = front[0].splitlines()[1:-1] if front else []
    keyed = any(_FIELD.match(line) for line in lines)
    return front if keyed and all(_YAML_LINE.match(line) for line in lines) else None


def _fields(front_matter: str) -> dict[str, object]:
    lines = _LONE_RETURN.sub("\n", front_matter)
    found = {match["key"]: match["value"].strip("\"'") for match in _FIELD.finditer(lines)}
    # Only plain values: lists, blocks and anchors are YAML's own.
    return {key: value for key, value in found.items() if value and value[0] not in "[{>|&*!"}
