"""The parts that a page is built of: how much they say, how much of it is links, and which their names give away."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from chunkwise.readers.html.dom import BLOCKS, HEADINGS, SILENT, Node, children, visit

# What elements are by their tag or role, if they are no content.
_TAGS = {
    "nav": "navigation",
    "footer": "footer",
    "aside": "aside",
    "form": "form",
    "header": "header",
    "dialog": "pop-up",
    "search": "form",
}
_ROLES = {
    "navigation": "navigation",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "search": "form",
    "dialog": "pop-up",
    "alertdialog": "pop-up",
    "menu": "navigation",
    "menubar": "navigation",
}
# Words in classes and ids by which authors and widely used templates call what is no content.
_WORDS = {
    word: reason
    for reason, words in {
        "navigation": "breadcrumb breadcrumbs menu nav navbar navigation pager pagination skip toolbar",
        "comments": "comment comments disqus",
        "buttons to share": "share shares sharedaddy sharethis sharing social",
        "links to other pages": "outbrain popular recirc recommend recommendation recommendations recommended related "
        "taboola trending zergnet",
        "newsletter": "newsletter newsletters signup subscribe subscription",
        "login": "login paywall",
        "advertising": "ad ads adv advert advertisement advertising promo promos promotion sponsor sponsored",
        "cookie notice": "consent cookie cookies gdpr",
        "aside": "rail sidebar",
        "pop-up": "modal overlay popup popups",
        "footer": "copyright footer",
        "header": "masthead",
        "tags": "taglist tags topics",
        "byline": "byline timestamp",
        "gallery": "carousel gallery lightbox slideshow",
    }.items()
    for word in words.split()
}
_LEADING_AWAY = re.compile(
    r"(?:read|see|more|most|up|you)[-_ ]?(?:next|more|on|read|from|in|popular|stories|articles|also)\b"
)
_BESIDE = re.compile(
    r"tag[-_]?(?:list|cloud)|author[-_]?(?:bio|box|info)|about[-_]?(?:the[-_]?)?author|widget[-_]?area"
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# In characters: names beyond are those of styles.
_LONGEST_NAME = 300
# What an `aside` is called that belongs to the text, as notes and footnotes do.
_NOTE = re.compile(
    r"admonition|callout|caution|danger|footnote|hint|important|info|note|tip|topic|warning", re.IGNORECASE
)
# Elements that are taken for what they hold, not for what they are called.
_NAMELESS = {"article", "body", "code", "html", "main", "pre", "table", *HEADINGS}
_ROWS = {"tbody", "td", "th", "tr"}
_SECTIONS = ("article", "main", "section")


@dataclass(slots=True)
class Part:
    """A block of a page. `own` and `linked` count the characters right in it, outside of links and in them.

    `reason` says what it is, if its tag, its role or its name tells that it is no content. `parent` is an index.
    """

    node: Node
    tag: str
    parent: int
    reason: str
    own: int = 0
    linked: int = 0


class Survey:
    """The parts of a page in document order, the first of them the element that was looked at."""

    def __init__(self, root: Node, hidden: Container[int]) -> None:
        self.parts: list[Part] = []
        self._around: list[int] = []
        self._n_sections = 0
        self._in_link = False
        self._hidden = hidden
        visit(root, self._enter, self._leave)

    def _enter(self, node: Node) -> bool:
        tag = node.tag or ""
        if tag == "-text":
            self._count(node.text_content or "")
            return False
        if tag in SILENT or node.mem_id in self._hidden:
            return False
        if tag in BLOCKS:
            parent = self._around[-1] if self._around else -1
            self._around.append(len(self.parts))
            quoted = tag == "footer" and parent >= 0 and self.parts[parent].tag == "blockquote"  # it says by whom
            reason = "" if quoted else _reason(node, tag, inner=self._n_sections > 0)
            self.parts.append(Part(node, tag, parent, reason))
            self._n_sections += tag in _SECTIONS
        elif tag == "a":
            self._in_link = "href" in node.attributes  # else it is a place that others lead to
        return True

    def _leave(self, node: Node) -> None:
        tag = node.tag or ""
        if tag in BLOCKS:
            self._around.pop()
            self._n_sections -= tag in _SECTIONS
        elif tag == "a":
            self._in_link = False

    def _count(self, text: str) -> None:
        count = len(text.strip())
        if not count or not self._around:
            return
        part = self.parts[self._around[-1]]
        if self._in_link:
            part.linked += count
        else:
            part.own += count


def _reason(node: Node, tag: str, *, inner: bool) -> str:
    """Return what an element is, if it is no content. `inner`: it is in a section, an article or the main part."""
    if tag in _ROWS:
        return ""
    attributes = node.attributes
    name, id = (attributes.get("class") or "")[:_LONGEST_NAME], (attributes.get("id") or "")[:_LONGEST_NAME]
    if tag in _TAGS and not (tag == "header" and inner) and not (tag == "aside" and _NOTE.search(name)):
        return _TAGS[tag]
    if reason := _ROLES.get(attributes.get("role") or "", ""):
        return reason
    if tag in _NAMELESS or not (name or id):
        return ""
    reason = _named(name)
    if not reason and id and (reason := _named(id)) and _is_slug(id, node):
        return ""
    return reason


def _named(name: str) -> str:
    for word in _WORD.findall(name):
        if reason := _WORDS.get(word.lower(), ""):
            return reason
    lower = name.lower()
    if _LEADING_AWAY.search(lower):
        return "links to other pages"
    return "aside" if _BESIDE.search(lower) else ""


def _is_slug(id: str, node: Node) -> bool:
    """Tell whether an id is made of the heading that the element begins with, as in generated documentation."""
    heading = next(children(node, *HEADINGS), None)
    title = {word.lower() for word in _WORD.findall(heading.text())} if heading is not None else set()
    return {word.lower() for word in _WORD.findall(id)} <= title
