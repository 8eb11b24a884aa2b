"""Code in a page: its text as it is, and the language that its author names."""

from __future__ import annotations

import re
from collections.abc import Container

from chunkwise.readers.html.dom import SILENT, Node, visit

# `language-` is HTML's own convention; the others are those of widely used highlighters: lang- (prettify),
# highlight- (Sphinx), highlight-source- (GitHub), sourceCode (pandoc), brush: (SyntaxHighlighter).
_LANGUAGE_CLASS = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s*|sourceCode\s+)([A-Za-z][\w+#.-]*)"
)
_LANGUAGE_DATA = ("data-lang", "data-language", "data-code-language")
# What stands for no language.
_NONE = {"none", "default", "plaintext", "text", "notranslate", "plain", "nohighlight"}
# How many elements around a `pre` may name its language.
_AROUND = 3


def verbatim(node: Node, left_out: Container[int]) -> str:
    """Return the text of an element as it is, without blank lines at its ends."""
    pieces: list[str] = []

    def enter(inner: Node) -> bool:
        if inner.tag == "-text":
            pieces.append(inner.text_content or "")
        elif inner.tag == "br":
            pieces.append("\n")
        elif inner.tag == "code" and pieces and inner.parent is not None and inner.parent.mem_id == node.mem_id:
            whole = inner.prev is not None and inner.prev.tag == "code"  # two versions of one listing, side by side
            pieces.append("\n" if whole and not pieces[-1].endswith("\n") else "")
        return inner.tag not in SILENT and inner.mem_id not in left_out

    visit(node, enter, _ended)
    text = "".join(pieces).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").replace("\0", "")
    lines = text.rstrip().split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return "\n".join(lines[first:])


def language_of(node: Node) -> str:
    """Return the language that a `pre`, the code in it, or an element close around it names."""
    inner = node.css_first("code")
    around: list[Node] = [inner] if inner is not None else []
    outer: Node | None = node
    for _ in range(_AROUND):
        if outer is None or outer.tag in ("body", "html"):
            break
        around.append(outer)
        outer = outer.parent
    for one in around:
        attributes = one.attributes
        named = [value for name in _LANGUAGE_DATA if (value := attributes.get(name))]
        named += _LANGUAGE_CLASS.findall(attributes.get("class") or "")
        if language := next((name.lower() for name in named if name.lower() not in _NONE), ""):
            return language
    return ""


def _ended(node: Node) -> None:
    """Do nothing: text is written where it begins."""
