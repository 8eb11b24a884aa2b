"""Write a page's text and blocks in one walk through its tree, in document order."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from urllib.parse import urljoin, urlsplit, urlunsplit

from chunkwise.core.types import BlockKind, Limits
from chunkwise.readers.html.code import language_of, verbatim
from chunkwise.readers.html.dom import BLOCKS, HEADINGS, SILENT, Node, attribute, is_permalink, visit
from chunkwise.readers.html.inline import Inline, Link
from chunkwise.readers.html.lists import Listing, listing
from chunkwise.readers.html.math import is_display, superscript, tex
from chunkwise.readers.html.tables import grid, is_layout
from chunkwise.readers.writer import Writer

# A page has hundreds; one that lists thousands is an index, and its links are its text.
_MOST_LINKS = 2000
# In characters: a heading that is longer is a paragraph in large letters.
_LONGEST_TITLE = 200
# Tables that lay out a page are looked into for tables inside them; so deep in them, each is a table of data.
_MOST_LAYOUTS = 20
# What stands for an image, where a program made it of the file's name.
_FILE_NAME = re.compile(r"\S+\.(?:avif|bmp|gif|jpe?g|png|svg|webp)|[^\s_-]+(?:[_-][^\s_-]*){2,}", re.IGNORECASE)
_SCHEMES = ("http://", "https://", "mailto:", "tel:", "ftp://")


class Walk:
    """Writes what it is shown of a page.

    `left_out` holds the ids of nodes that are passed over with all that is in them; `base` is what links start from.
    """

    def __init__(self, *, left_out: Container[int], base: str = "", limits: Limits) -> None:
        self.writer = Writer()
        self.links: list[Link] = []
        self._left_out = left_out
        self._base = base
        self._limits = limits
        self._inline = Inline()
        self._url = ""
        self._inked = False  # whether the line holds more than what stands for images
        self._heading: Node | None = None
        self._on_button = False  # whether all that the heading says is written on a button that opens its text
        self._around: list[BlockKind] = []  # the blocks that are open, but for those too deep to be written
        self._n_flat = 0  # how many are too deep
        self._lists: list[Listing] = []
        self._marker = ""
        self._n_layouts = 0
        self._alts: list[str] = []  # what stands for the images of a figure until its caption is known
        self._seen: set[str] = set()  # what stood for images before: a page shows one image in many sizes

    def walk(self, root: Node) -> None:
        """Write the text in an element and its blocks."""
        visit(root, self._enter, self._leave)
        self._end_line()

    def _enter(self, node: Node) -> bool:
        tag = node.tag or ""
        if tag == "-text":
            self._write_inline(node.text_content or "")
            return False
        if node.mem_id in self._left_out:
            return False
        if tag == "sup" and (raised := superscript(node)):
            self._write_inline(raised)
            return False
        if self._heading is not None and tag not in _INLINE:
            self._inline.add(" " if tag in BLOCKS else "")
            return tag not in SILENT or (tag == "button" and self._on_button)
        if tag in BLOCKS:
            self._end_line()
        begin = _BEGIN.get(tag)
        if begin is not None:
            return begin(self, node)
        return _SIGNS[tag](self) if tag in _SIGNS else tag not in SILENT

    def _leave(self, node: Node) -> None:
        tag = node.tag or ""
        if self._heading is not None and tag not in _INLINE:
            if node.mem_id == self._heading.mem_id:
                self._end_heading(int(tag[1]))
            elif tag in BLOCKS:
                self._inline.add(" ")
            return
        if tag in BLOCKS:
            self._end_line()
        if (end := _END.get(tag)) is not None:
            end(self)

    def _write_inline(self, text: str) -> None:
        self._inline.add(text)
        self._inked = self._inked or bool(text.strip())

    def _end_line(self) -> None:
        """Write the line that was gathered as what it is where it stands."""
        if self._inline.blank:
            return
        text, links = self._taken()
        figure, self._inked = not self._inked, False
        if not text:
            return
        if self._around and self._around[-1] == "figure":
            self._end_alts(text)
            self._write(text, links)
        elif self._around and self._around[-1] == "item":
            self._write(text, links)
        else:
            self._part()
            self.writer.open("figure" if figure else "paragraph")
            self._write(text, links)
            self.writer.close()
            self._part()

    def _taken(self) -> tuple[str, list[Link]]:
        """Return the line that was gathered, and begin a new one; a link that is open goes on there."""
        inline, self._inline = self._inline, Inline(self._url)
        return inline.done()

    def _write(self, text: str, links: list[Link]) -> None:
        """Write lines; in an item the first begins with its marker, and the others under its text."""
        marker, self._marker = self._marker, ""
        hang = "  " if marker else ""
        self.writer.part(1)
        start = self.writer.write(marker + (text.replace("\n", "\n" + hang) if hang else text)) + len(marker)
        shift = len(self.writer.indent) + len(hang)
        for link in links[: _MOST_LINKS - len(self.links)]:
            first, last = (place + start + shift * text.count("\n", 0, place) for place in link[:2])
            self.links.append(Link(first, last, link.url))
        if marker:
            self._indent(len(self._lists))

    def _part(self) -> None:
        """Part blocks by a blank line, but for those in an item, which stay together."""
        self.writer.part(1 if "item" in self._around[-1:] or self._lists else 2)

    def _indent(self, depth: int) -> None:
        self.writer.indent = "  " * min(depth, self._limits.nesting)

    def _open(self, kind: BlockKind) -> None:
        """Begin a block; one that is too deep is written without."""
        if len(self._around) >= self._limits.nesting:
            self._n_flat += 1
            return
        self._around.append(kind)
        self.writer.open(kind)

    def _close(self) -> None:
        if self._n_flat:
            self._n_flat -= 1
            return
        self._around.pop()
        self.writer.close()

    def _begin_heading(self, node: Node) -> bool:
        self._heading = node
        buttons = node.css("button")
        self._on_button = bool(buttons) and not _ink(node) - sum(_ink(button) for button in buttons)
        return True

    def _end_heading(self, level: int) -> None:
        self._heading = None
        text, links = self._taken()
        text = text.replace("\n", " ")
        self._inked = False
        if not text:
            return
        self._part()
        if len(text) > _LONGEST_TITLE:
            self.writer.open("paragraph")
        else:
            self.writer.open("heading", level=level, label=text)
        self._write(text, links)
        self.writer.close()
        self._part()

    def _begin_list(self, node: Node) -> bool:
        self._part()
        self._open("list")
        self._lists.append(listing(node))
        self._indent(len(self._lists) - 1)
        return True

    def _end_list(self) -> None:
        if self._lists.pop().in_item:
            self._close()
        self._close()
        self._indent(len(self._lists))
        self._part()

    def _begin_item(self, node: Node) -> bool:
        self.writer.part(1)
        self._open("item")
        self._marker = self._lists[-1].marker(node) if self._lists else "- "
        self._indent(len(self._lists) - 1)
        return True

    def _end_item(self) -> None:
        self._close()
        self._marker = ""
        self._indent(len(self._lists) - 1)
        self.writer.part(1)

    def _begin_term(self, node: Node) -> bool:
        terms = self._lists[-1] if self._lists else None
        if terms is None or not terms.terms:
            return True
        if node.tag == "dt" and terms.told:
            if terms.in_item:
                self._close()
            self.writer.part(1)
            self._open("item")
            terms.in_item = True
        terms.told = node.tag == "dd"
        self._indent(len(self._lists) - (node.tag == "dt"))
        return True

    def _begin_quote(self) -> bool:
        self._part()
        self._open("quote")
        return True

    def _end_block(self) -> None:
        self._close()
        self._part()

    def _begin_figure(self) -> bool:
        self._part()
        self._open("figure")
        return True

    def _end_figure(self) -> None:
        self._end_alts("")
        self._end_block()

    def _end_alts(self, caption: str) -> None:
        """Write what stands for the images of a figure, but for what its caption says, too."""
        alts, self._alts = self._alts, []
        for alt in dict.fromkeys(alts):
            if alt not in caption and (not caption or caption not in alt):
                self._write(alt, [])

    def _image(self, node: Node) -> bool:
        alt = " ".join(attribute(node, "alt").split())
        if alt and alt not in self._seen and not _FILE_NAME.fullmatch(alt) and not alt.startswith("data:"):
            self._seen.add(alt)
            if self._around[-1:] == ["figure"]:
                self._alts.append(alt)
            else:
                self._inline.add(f" {alt} ")
        return False

    def _begin_link(self, node: Node) -> bool:
        if is_permalink(node):
            return False
        self._url = self._target(node)
        self._inline.begin_link(self._url)
        return True

    def _end_link(self) -> None:
        self._inline.end_link()
        self._url = ""

    def _target(self, node: Node) -> str:
        """Return where a link leads, if that is out of the page and no program."""
        target = attribute(node, "href").strip()
        if not target or target.startswith("#"):
            return ""
        try:
            url = urlunsplit(urlsplit(urljoin(self._base, target)))
        except ValueError:  # brackets that hold no address
            return ""
        known = url.lower().startswith(_SCHEMES) or (not self._base and ":" not in url.partition("/")[0])
        return url if known else ""

    def _break(self) -> bool:
        if self._heading is not None:
            self._inline.add(" ")
        elif self._inline.end_line():
            self._end_line()
        return False

    def _rule(self) -> bool:
        self._part()
        return False

    def _begin_q(self) -> bool:
        self._inline.add("\u201c")
        return True

    def _end_q(self) -> None:
        self._inline.add("\u201d")

    def _code(self, node: Node) -> bool:
        if self._heading is not None:
            return True
        self._end_line()
        text = verbatim(node, self._left_out)
        if text.strip():
            self._write_marker()
            self._part()
            self.writer.open("code", label=language_of(node))
            self.writer.write_raw(text)
            self.writer.close()
            self._part()
        return False

    def _table(self, node: Node) -> bool:
        if self._n_layouts < _MOST_LAYOUTS and is_layout(node):
            self._n_layouts += 1
            return True
        table = grid(node, self._left_out, self._target)
        self._inline.add(table.caption)
        self._inked = True
        self._end_line()
        if table.rows:
            self._write_marker()
            rows = [[cell.text for cell in row] for row in table.rows]
            starts = self.writer.table(rows, n_header=table.n_header)
            for row, start in zip(table.rows, starts, strict=True):
                place = start - (not row[0].text)  # the row does not begin with a blank
                for cell in row:
                    room = _MOST_LINKS - len(self.links)
                    self.links += [Link(place + first, place + last, url) for first, last, url in cell.links[:room]]
                    place += len(cell.text) + len(" | ")
        return False

    def _end_layout(self) -> None:
        self._n_layouts -= 1

    def _write_marker(self) -> None:
        """Write the number of an item that begins with code or a table; a dash alone says nothing."""
        if self._marker not in ("", "- "):
            marker, self._marker = self._marker, ""
            self.writer.part(1)
            self.writer.write(marker.rstrip())

    def _math(self, node: Node) -> bool:
        formula = tex(node)
        if formula and is_display(node) and self._heading is None:
            self._end_line()
            self.writer.block("math", formula)
        elif formula:
            self._write_inline(f"${formula}$")
        return False


def _ink(node: Node) -> int:
    """Return how many characters that are no blanks stand in an element."""
    return len("".join(node.text().split()))


_INLINE = frozenset(["a", "br", "img", "math", "q", "script"])
_BEGIN: dict[str, Callable[[Walk, Node], bool]] = {
    **dict.fromkeys(HEADINGS, Walk._begin_heading),
    **dict.fromkeys(["ul", "ol", "dl", "menu", "dir"], Walk._begin_list),
    **dict.fromkeys(["dt", "dd"], Walk._begin_term),
    **dict.fromkeys(["pre", "listing", "plaintext", "xmp"], Walk._code),
    **dict.fromkeys(["math", "script"], Walk._math),
    "a": Walk._begin_link,
    "img": Walk._image,
    "li": Walk._begin_item,
    "table": Walk._table,
}
# Elements of which nothing but the tag counts.
_SIGNS: dict[str, Callable[[Walk], bool]] = {
    "blockquote": Walk._begin_quote,
    "br": Walk._break,
    "figure": Walk._begin_figure,
    "hr": Walk._rule,
    "q": Walk._begin_q,
}
_END: dict[str, Callable[[Walk], None]] = {
    **dict.fromkeys(["ul", "ol", "dl", "menu", "dir"], Walk._end_list),
    "a": Walk._end_link,
    "blockquote": Walk._end_block,
    "figure": Walk._end_figure,
    "li": Walk._end_item,
    "q": Walk._end_q,
    "table": Walk._end_layout,
}
