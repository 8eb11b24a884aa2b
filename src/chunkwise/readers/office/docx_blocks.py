"""Write the paragraphs and tables of a Word file as blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from chunkwise.core.types import BlockKind
from chunkwise.readers.office.docx_numbering import Numbering
from chunkwise.readers.office.docx_runs import Line, Runs
from chunkwise.readers.office.docx_styles import Look, Styles, outline_level
from chunkwise.readers.office.docx_tables import Cell, cells, grid
from chunkwise.readers.office.drawings import chart_rows, chart_title, diagram_items
from chunkwise.readers.office.lists import Lists
from chunkwise.readers.office.package import Element, branch, children, clark, find, integer, tag, value
from chunkwise.readers.writer import Writer

# A heading is of one of six levels here, as in HTML and Markdown; Word has nine.
_DEEPEST_HEADING = 6
_GALLERY = "w:sdtPr/w:docPartObj/w:docPartGallery"


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the other parts are that a text refers to: the tree of a relation, the element of a note."""

    related: Callable[[str], Element | None]
    note: Callable[[str, str], Element | None]


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """One paragraph: what it looks like, what it says, and its number or bullet, if it has one."""

    look: Look
    level: int
    line: Line
    text: str
    marker: str | None = None
    list_id: str = ""
    depth: int = 0

    @property
    def whole(self) -> str:
        """The text with its number before it."""
        return f"{self.marker} {self.text}" if self.marker and self.text else self.text


class Blocks:
    """Writes a document's blocks in its order.

    Notes are written where the section ends that refers to them, so that they stay under its heading.
    """

    def __init__(self, writer: Writer, styles: Styles, numbering: Numbering, runs: Runs, parts: Parts) -> None:
        self.title = ""  # the heading that the document begins with
        self._writer = writer
        self._styles = styles
        self._numbering = numbering
        self._runs = runs
        self._parts = parts
        self._lists = Lists(writer)
        # Lines of code, or paragraphs of a quote, that are still to be written.
        self._run: tuple[BlockKind, list[str]] = ("paragraph", [])
        self._before = ""  # text that is of the next paragraph: a drop cap, or one whose mark was deleted
        self._n_notes = 0

    def write(self, container: Element, *, is_aside: bool = False) -> None:
        """Write all that a container holds. Aside, as in a text box, nothing is a heading."""
        for element in self._elements(container):
            if tag(element) == "w:tbl":
                self._table(element, is_aside=is_aside)
            else:
                self._paragraph(self._read(element), is_aside=is_aside)

    def end(self) -> None:
        """End what is open, and write the notes that are still to be written."""
        self._end_run()
        self._lists.end()
        while self._n_notes < len(self._runs.notes):  # a note may refer to another
            kind, id, mark = self._runs.notes[self._n_notes]
            self._n_notes += 1
            element = self._parts.note(kind, id)
            text = "\n".join(self._lines(element)) if element is not None else ""
            self._writer.block("footnote", f"{mark}: {text}" if text else "")

    def _elements(self, container: Element) -> Iterator[Element]:
        """Yield the paragraphs and tables that are to be seen, in order, out of whatever is around them."""
        waiting = list(reversed(list(container)))
        while waiting:
            element = waiting.pop()
            name = tag(element)
            if name in ("w:p", "w:tbl"):
                yield element
            elif name == "w:altChunk":
                self._runs.told["embedded documents", ""] += 1
            elif name in ("w:del", "w:moveFrom"):
                self._runs.removed(element)
            elif name == "w:sdt" and value(element, _GALLERY) == "Table of Contents":
                self._runs.told["table of contents", "lines"] += sum(1 for _ in element.iter(clark("w:p")))
            elif name not in ("w:sectPr", "w:sdtPr", "w:tcPr"):
                waiting += reversed(branch(element) if name == "mc:AlternateContent" else list(element))

    def _read(self, element: Element) -> _Paragraph:
        properties = children(find(element, "w:pPr"))
        look = self._styles.paragraph(value(properties.get("w:pStyle")))
        direct = outline_level(properties.get("w:outlineLvl"))
        level = direct if direct is not None else look.level if look.role == "heading" else 0
        if level and self._runs.in_contents:
            self._runs.end_contents()
        line = self._runs.line(element, is_hidden=look.is_hidden, is_bold=look.is_bold)
        text = self._before + line.text
        self._before = ""
        following = element.getnext()
        if following is not None and tag(following) == "w:p" and _runs_on(properties):
            self._before = text.rstrip("\n")
            return _Paragraph(look, 0, line, "")
        text = text.strip("\n").rstrip() if look.role == "code" else text.strip()
        return self._counted(_Paragraph(look, min(level, _DEEPEST_HEADING), line, text), properties.get("w:numPr"))

    def _counted(self, paragraph: _Paragraph, numbering: Element | None) -> _Paragraph:
        """Return the paragraph with its number, if it is of a list."""
        look = paragraph.look
        list_id, level = value(numbering, "w:numId"), value(numbering, "w:ilvl")
        of_style, at = look.number or ("", 0)
        if not (list_id or of_style):
            return paragraph
        if not list_id:
            linked = self._numbering.level_of(of_style, look.linked)
            list_id, at = of_style, at if linked is None else linked
        depth = integer(level, at)
        marker = self._numbering.next(list_id, depth)
        return replace(paragraph, marker=marker, list_id=list_id, depth=depth + look.depth)

    def _paragraph(self, paragraph: _Paragraph, *, is_aside: bool) -> None:
        line, role, text = paragraph.line, paragraph.look.role, paragraph.text
        if role == "contents" or (self._runs.in_contents and not text):
            self._runs.told["table of contents", "lines"] += 1
        elif role == "code" and not paragraph.level:
            self._of_run("code", text)
        elif text and role == "quote":
            self._of_run("quote", paragraph.whole)
        elif text:
            self._end_run()
            if paragraph.level and not is_aside:
                self._heading(paragraph)
            elif paragraph.marker:
                self._lists.item(paragraph.whole, depth=paragraph.depth, key=paragraph.list_id)
            elif role == "continued" and self._lists:
                self._lists.also(text)
            else:
                self._lists.end()
                self._writer.block("math" if line.is_formula else "paragraph", paragraph.whole)
        self._anchored(line)

    def _heading(self, paragraph: _Paragraph) -> None:
        self.end()
        marker = "" if paragraph.marker == "-" else paragraph.marker
        title = " ".join(f"{marker or ''} {paragraph.text}".split())
        if not self._writer.length:
            self.title = title
        self._writer.block("heading", title, level=paragraph.level, label=title)

    def _of_run(self, kind: BlockKind, text: str) -> None:
        """Take a line of code, or a paragraph of a quote, to what comes right before it."""
        if self._run[0] != kind:
            self._end_run()
            self._run = (kind, [])
        self._run[1].append(text)

    def _end_run(self) -> None:
        kind, lines = self._run
        self._run = ("paragraph", [])
        if any(lines):
            self._lists.end()
            text = "\n".join(lines).strip("\n") if kind == "code" else "\n\n".join(lines)
            self._writer.block(kind, text)

    def _anchored(self, line: Line) -> None:
        """Write what is anchored in a paragraph after it."""
        if line.pictures or line.boxes or line.charts or line.diagrams:
            self._end_run()
        for text in line.pictures:
            if self._lists:
                self._lists.also(text, figure=True)
            else:
                self._writer.block("figure", text)
        for id in [*line.charts, *line.diagrams]:
            self._lists.end()
            self._drawing(self._parts.related(id))
        for box in line.boxes:
            self._lists.end()
            self.write(box, is_aside=True)
            self._end_run()
            self._lists.end()

    def _drawing(self, root: Element | None) -> None:
        """Write a chart as a table, a diagram as a list."""
        if root is None:
            return
        if tag(root) == "c:chartSpace":
            self._writer.block("paragraph", chart_title(root))
            self._writer.table(chart_rows(root), n_header=1)
        else:
            for depth, text in diagram_items(root):
                self._lists.item(f"- {text}", depth=depth)
            self._lists.end()

    def _table(self, table: Element, *, is_aside: bool) -> None:
        """Write a table; one that only places text on the page, as what it places."""
        self._end_run()
        self._lists.end()
        is_box = len(list(islice(cells(table), 2))) < 2
        if is_box or any(self._is_section(cell) for cell in cells(table)):
            for cell in cells(table):
                self.write(cell, is_aside=is_aside)
                self._end_run()
                self._lists.end()
        else:
            found = grid(table, self._styles, read=self._cell, removed=self._runs.removed)
            if found.rows:
                self._writer.table(found.rows, n_header=found.n_header)

    def _is_section(self, cell: Element) -> bool:
        """Tell whether a cell holds a heading with text under it, as no cell of data does."""
        is_under = False
        for paragraph in cell.iter(clark("w:p")):
            if is_under and next(paragraph.iter(clark("w:t")), None) is not None:
                return True
            look = self._styles.paragraph(value(paragraph, "w:pPr/w:pStyle"))
            is_under = is_under or look.role == "heading"
        return False

    def _cell(self, cell: Element) -> Cell:
        is_light = False
        texts: list[str] = []
        for element in self._elements(cell):
            if tag(element) == "w:tbl":
                texts.append(self._inner(element))
                is_light = True
            else:
                paragraph = self._read(element)
                texts += self._flat(paragraph)
                is_light |= bool(paragraph.text) and not paragraph.line.is_bold
        text = " ".join(" ".join(texts).split())
        return Cell(text, bool(text) and not is_light)

    def _inner(self, table: Element) -> str:
        """Return a table inside a cell as a line: its rows parted by semicolons, its cells by commas."""
        found = grid(table, self._styles, read=self._cell, removed=self._runs.removed)
        return "; ".join(", ".join(filter(None, row)) for row in found.rows)

    def _lines(self, container: Element) -> list[str]:
        """Return the lines of a container that is written as one block."""
        found: list[str] = []
        for element in self._elements(container):
            found += [self._inner(element)] if tag(element) == "w:tbl" else self._flat(self._read(element))
        return [line for line in found if line]

    def _flat(self, paragraph: _Paragraph) -> list[str]:
        """Return a paragraph and what is anchored in it as lines."""
        line = paragraph.line
        boxed = [text for box in line.boxes for text in self._lines(box)]
        drawn: list[str] = []
        for root in map(self._parts.related, [*line.charts, *line.diagrams]):
            if root is not None and tag(root) == "c:chartSpace":
                drawn += [chart_title(root), *(", ".join(row) for row in chart_rows(root))]
            elif root is not None:
                drawn += [text for _, text in diagram_items(root)]
        return [paragraph.whole, *line.pictures, *drawn, *boxed]


def _runs_on(properties: Mapping[str, Element]) -> bool:
    """Tell whether a paragraph's text is the beginning of the next: a drop cap, or its mark was deleted."""
    mark = children(properties.get("w:rPr"))
    is_drop_cap = value(properties.get("w:framePr"), name="w:dropCap") in ("drop", "margin")
    return is_drop_cap or "w:del" in mark or "w:moveFrom" in mark
