"""The tree of a page: how it is parsed, and how it is walked without recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, cast

from chunkwise.core.errors import ReadError, require
from chunkwise.core.types import Source
from chunkwise.text.unicode import encodable

_BLOCKS = """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li listing main menu nav ol p plaintext pre search section
    summary table tbody td tfoot th thead tr ul xmp
"""
_SILENT = """
    applet area audio base button canvas col colgroup datalist embed frame frameset head iframe input link meta meter
    noembed noframes noscript object param progress rp rt script select source style svg template textarea title track
    video -comment -doctype
"""

# Elements that end the line before them and after them, as browsers show them.
BLOCKS = frozenset(_BLOCKS.split())
# Elements that hold no text of the page: programs, styles, controls, and what is embedded.
SILENT = frozenset(_SILENT.split())
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

# The parser compares each attribute with all before it: ten thousand take it a second.
_MOST_ATTRIBUTES = 10_000
_LONG_TAG = re.compile(r"<[A-Za-z][^<>]{20000,}")
# Elements inside which the parser looks through all open ones at each start: its time grows with the square of their
# depth. Ten thousand take it 0.2 s; a page whose author forgot to close some has hundreds.
_DEEPEST = 20_000
_NESTING = (
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "div",
    "dl",
    "fieldset",
    "main",
    "ol",
    "section",
    "ul",
)
# Formatting that is left open is opened anew in every paragraph, so nodes multiply: 500 in 10,000 paragraphs make
# five million.
_MOST_REOPENED = 2_000_000
_OPENED = re.compile(r"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s>]", re.IGNORECASE)
_CLOSED = re.compile(r"</(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s>]", re.IGNORECASE)

# XHTML may close an element in its start tag. To a parser of HTML it stays open, a script up to the end of the page.
_XHTML = re.compile(r"\s*<\?xml\b|<html\b[^<>]*\bxmlns\s*=", re.IGNORECASE)
_HEAD = 5000
_SELF_CLOSED = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>")
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}

# Signs by which headings link to themselves.
_PERMALINKS = {"¶", "#", "§", "🔗", "∞"}

# White space that is no single blank, which most is.
_BLANK = re.compile(r" [ \t\n\r\f]+|[\t\n\r\f][ \t\n\r\f]*")


class Node(Protocol):
    """What is used of an element, a text or a comment of the parser's tree. `tag` is `-text` for a text."""

    @property
    def tag(self) -> str | None: ...
    @property
    def mem_id(self) -> int: ...
    @property
    def first_child(self) -> Node | None: ...
    @property
    def next(self) -> Node | None: ...
    @property
    def prev(self) -> Node | None: ...
    @property
    def parent(self) -> Node | None: ...
    @property
    def attributes(self) -> Mapping[str, str | None]: ...
    @property
    def text_content(self) -> str | None: ...

    def css(self, query: str) -> list[Node]: ...
    def css_first(self, query: str) -> Node | None: ...
    def text(self, *, deep: bool = True, separator: str = "") -> str: ...


class Tree(Protocol):
    """A parsed page."""

    @property
    def body(self) -> Node | None: ...
    def css(self, query: str) -> list[Node]: ...
    def css_first(self, query: str) -> Node | None: ...


def parse(source: Source, text: str) -> Tree:
    """Parse HTML as browsers do, whatever is wrong with it.

    Raises: ReadError for a page that is nested so deeply that a parser would not end.
    """
    lexbor = require("selectolax.lexbor", extra="web")
    _refuse_bombs(source, text)
    if source.media_type == "application/xhtml+xml" or _XHTML.search(text[:_HEAD]):
        text = _SELF_CLOSED.sub(_closed, text)
    return cast("Tree", lexbor.LexborHTMLParser(encodable(text)))


def visit(root: Node, enter: Callable[[Node], bool], leave: Callable[[Node], None]) -> None:
    """Call `enter` for each node in document order, and `leave` after those whose children it asked to see."""
    around: list[Node] = []
    node: Node | None = root
    while node is not None:
        if enter(node):
            around.append(node)
            node = node.first_child
        else:
            node = node.next if around else None
        while node is None and around:
            done = around.pop()
            leave(done)
            node = done.next if around else None


def children(node: Node, *tags: str) -> Iterator[Node]:
    """Yield the child elements with one of these tags."""
    child = node.first_child
    while child is not None:
        if child.tag in tags:
            yield child
        child = child.next


def is_permalink(node: Node) -> bool:
    """Tell whether a link is but a sign by which a heading or a caption links to itself."""
    return attribute(node, "href").startswith("#") and node.text().strip() in _PERMALINKS


def attribute(node: Node, name: str) -> str:
    """Return an attribute of an element; empty where it has none."""
    return node.attributes.get(name) or ""


def collapsed(text: str) -> str:
    """Return text with each run of white space as one blank, as browsers show it."""
    return _BLANK.sub(" ", text)


def _closed(match: re.Match[str]) -> str:
    return match[0] if match[1].lower() in _VOID else f"<{match[1]}{match[2]}></{match[1]}>"


def _refuse_bombs(source: Source, text: str) -> None:
    if any(match[0].count("=") > _MOST_ATTRIBUTES for match in _LONG_TAG.finditer(text)):
        raise ReadError(
            f"{source.id}: an element with more than {_MOST_ATTRIBUTES} attributes; no page is built like that"
        )
    lower = text.lower()
    if any(_unclosed(lower, tag) > _DEEPEST for tag in _NESTING):
        raise ReadError(f"{source.id}: more than {_DEEPEST} elements inside each other; no page is built like that")
    n_open = len(_OPENED.findall(text)) - len(_CLOSED.findall(text))
    if n_open * lower.count("<p") > _MOST_REOPENED:
        raise ReadError(f"{source.id}: {n_open} elements of formatting are never closed; mend the page, or exclude it")


def _unclosed(lower: str, tag: str) -> int:
    return lower.count(f"<{tag}") - lower.count(f"</{tag}")
