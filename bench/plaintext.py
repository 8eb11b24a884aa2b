"""Turn HTML and manual pages into plain paragraphs with an empty line between them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "dd", "div", "dl", "dt", "figcaption", "figure"),
        *("footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre"),
        *("section", "table", "td", "th", "title", "tr", "ul"),
    )
)
_UNSEEN = frozenset(("script", "style", "head"))
_BLANKS = re.compile(r"[ \t\r\n\f]+")

# Manual pages: a request that begins a paragraph, any other request, a comment, an escape.
_PARAGRAPH = re.compile(r"\.\s*(SH|SS|PP|P|LP|TP|IP|Sh|Ss|Pp|It)\b")
_TEXT_REQUEST = re.compile(r"\.\s*(SH|SS|B|I|BR|BI|IR|IB|RB|RI|Sh|Ss)\s+")
_ESCAPE = re.compile(r"\\(f(?:\[\w*\]|\(..|.)|\*(?:\[\w*\]|\(..|.)|\((?:..)|s[+-]?\d|[&|^/,:%~c]|\".*$)")


class _Paragraphs(HTMLParser):
    """Collect what a reader sees, one string for each block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[str] = []
        self._parts: list[str] = []
        self._unseen = self._verbatim = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.end_block()
        self._verbatim += tag == "pre"
        if tag == "br":
            self._parts.append("\n")

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag in _BLOCKS:
            self.end_block()

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.end_block()
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        self._verbatim = max(0, self._verbatim - (tag == "pre"))

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._parts.append(data if self._verbatim else _BLANKS.sub(" ", data))

    def end_block(self) -> None:
        """Keep what was collected, if it holds anything."""
        block = "".join(self._parts)
        block = block.strip("\n") if self._verbatim else block.strip()
        if block.strip():
            self.blocks.append(block)
        self._parts = []


def from_html(page: str) -> list[str]:
    """Return the paragraphs of a page; `pre` keeps its lines."""
    parser = _Paragraphs()
    parser.feed(page)
    parser.close()
    parser.end_block()
    return parser.blocks


def from_manual(page: str) -> list[str]:
    """Return the paragraphs of a manual page without its requests and escapes."""
    paragraphs: list[list[str]] = [[]]
    for line in page.splitlines():
        if _PARAGRAPH.match(line) or not line.strip():
            paragraphs.append([])
        if line.startswith((".", "'")):
            line = _TEXT_REQUEST.sub("", line).strip('"') if _TEXT_REQUEST.match(line) else ""
        line = _ESCAPE.sub("", line).replace("\\-", "-").replace("\\e", "\\").replace("\\ ", " ").strip()
        if line:
            paragraphs[-1].append(line)
    return ["\n".join(lines) for lines in paragraphs if lines]
