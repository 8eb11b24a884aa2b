"""Read the running text of a Word file: what a person sees of runs, fields, links, notes and formulas."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from chunkwise.readers.office.docx_styles import Styles
from chunkwise.readers.office.drawings import described, description
from chunkwise.readers.office.formulas import formula
from chunkwise.readers.office.numerals import numeral
from chunkwise.readers.office.package import Element, Relation, branch, children, clark, find, is_on, tag, value
from chunkwise.readers.office.symbols import symbol
from chunkwise.text.numerals import raised

_CHARACTERS = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "w:noBreakHyphen": "-",
}
_REMOVED = ("w:del", "w:moveFrom")
# What holds no text of the document, or only that of an instruction.
_SILENT = {
    *("w:pPr", "w:rPr", "w:sdtPr", "w:sdtEndPr", "w:smartTagPr", "w:customXmlPr", "w:rubyPr", "w:softHyphen"),
    *("w:delText", "w:delInstrText", "w:fldData", "w:ffData"),
}
_PICTURES = {"wp:docPr", "pic:cNvPr"}
# Fields that list other places of the document with their pages, which there are none of.
_CONTENTS = {"TOC", "INDEX", "TOA"}
_NOTES = {"w:footnoteReference": "footnote", "w:endnoteReference": "endnote"}
_CODE = re.compile("[0-9A-Fa-f]{1,6}")
_PRIVATE = re.compile("[\uf020-\uf0ff]")
_ADDRESS = re.compile(r'HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]+)"', re.IGNORECASE)
# How many links are listed; more tell nobody anything.
_MOST_LINKS = 10_000
# How many pieces of text, usually words, a link has at most, and how many characters an instruction; more is no use.
_LONGEST_LINK, _LONGEST_INSTRUCTION = 200, 10_000


@dataclass(slots=True)
class Line:
    """The text of one paragraph, and what is anchored in it: text boxes, pictures' descriptions, charts, diagrams.

    `is_bold`: no letter of it is light. `is_formula`: it holds nothing but a formula.
    """

    text: str = ""
    boxes: list[Element] = field(default_factory=list)
    pictures: dict[str, None] = field(default_factory=dict)
    charts: list[str] = field(default_factory=list)
    diagrams: list[str] = field(default_factory=list)
    is_bold: bool = False
    is_formula: bool = False


@dataclass(slots=True)
class _Field:
    """A field that has begun: its instruction, then, once `is_shown`, its result."""

    code: str = ""
    is_shown: bool = False
    is_contents: bool = False
    start: int = 0


@dataclass(frozen=True, slots=True)
class _LinkEnd:
    """The place where a link ends that began at a piece of text."""

    start: int
    address: str


class Runs:
    """Reads paragraphs one after the other, for a field may begin in one and end in another.

    `told` counts what is left out, by what it is and its unit. `links` and `notes` are in the order of the text.
    """

    def __init__(self, styles: Styles, relations: dict[str, Relation]) -> None:
        self.told: Counter[tuple[str, str]] = Counter()
        self.links: list[dict[str, str]] = []
        self.notes: list[tuple[str, str, str]] = []  # kind, id, and the mark in the text
        self._styles = styles
        self._relations = relations
        self._n_notes: Counter[str] = Counter()
        self._marks: dict[tuple[str, str], str] = {}
        self._fields: list[_Field] = []
        self._n_instructions = 0  # how many of the fields are still in their instruction
        self._n_contents = 0  # how many of them list other places
        self._pieces: list[str] = []
        self._line = Line()
        self._light = 0  # pieces of text that are not bold
        self._n_pictures = 0

    @property
    def _is_muted(self) -> bool:
        """Whether what comes is no text of the document."""
        return self._n_instructions + self._n_contents > 0

    @property
    def in_contents(self) -> bool:
        """Whether a table of contents has begun and not ended."""
        return self._n_contents > 0

    def end_contents(self) -> None:
        """Forget a table of contents that a damaged file never ends."""
        self._fields = [one for one in self._fields if not one.is_contents]
        self._n_contents = 0

    def line(self, paragraph: Element, *, is_hidden: bool = False, is_bold: bool = False) -> Line:
        """Read one paragraph, hidden or bold as its style has it where its runs say nothing."""
        self._line, self._pieces, self._light, self._n_pictures = Line(), [], 0, 0
        formulas = 0
        waiting: list[Element | str | _LinkEnd] = [paragraph]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                self._show(item)
            elif isinstance(item, _LinkEnd):
                self._link(item.address, item.start)
            elif (name := tag(item)) == "w:r":
                self._run(item, waiting, is_hidden=is_hidden, is_bold=is_bold)
            elif name in ("m:oMath", "m:oMathPara"):
                formulas += 1
                self._show(formula(item))
            else:
                self._open(item, name, waiting)
        self._end_instructions()
        line, line.text = self._line, "".join(self._pieces)
        if (n_silent := self._n_pictures - len(line.pictures)) > 0:
            self.told["pictures without a description", ""] += n_silent
        line.is_bold = bool(line.text.strip()) and not self._light
        line.is_formula = formulas > 0 and formulas == sum(bool(piece.strip()) for piece in self._pieces)
        return line

    def removed(self, element: Element) -> None:
        """Count the letters of text that tracked changes took away."""
        parts = element.iter(clark("w:t"), clark("w:delText"))
        self.told["text deleted in tracked changes", "characters"] += sum(len(part.text or "") for part in parts)

    def _run(self, run: Element, waiting: list[Element | str | _LinkEnd], *, is_hidden: bool, is_bold: bool) -> None:
        """Read a run; what is drawn in it waits its turn."""
        properties = children(find(run, "w:rPr"))
        style = value(properties.get("w:rStyle"))
        own = is_on(properties.get("w:vanish"))
        is_hidden = own if own is not None else is_hidden or self._styles.hides(style)
        bold = is_on(properties.get("w:b"))
        is_bold = bold if bold is not None else is_bold or (bool(style) and self._styles.paragraph(style).is_bold)
        font = value(properties.get("w:rFonts"), name="w:ascii")
        is_raised = value(properties.get("w:vertAlign")) == "superscript"
        later: list[Element | str | _LinkEnd] = []
        for part in run:
            name = tag(part)
            if name == "w:fldChar":
                self._field(part.get(clark("w:fldCharType")) or "")
            elif name == "w:instrText":
                top = self._fields[-1] if self._fields else None
                if top and not top.is_shown and len(top.code) < _LONGEST_INSTRUCTION:
                    top.code += part.text or ""
            elif is_hidden:
                if name == "w:t" and not self._is_muted:
                    self.told["hidden text", "characters"] += len(part.text or "")
            elif text := self._letters(part, name, font):
                before = len(self._pieces)
                (later.append if later else self._show)(raised(text) if is_raised and name == "w:t" else text)
                self._light += len(self._pieces) > before and bool(text.strip()) and not is_bold
            elif name not in _SILENT:
                later.append(part)
        waiting += reversed(later)

    def _letters(self, part: Element, name: str, font: str) -> str:
        """Return the text that a part of a run stands for, if it is of letters."""
        if name == "w:t":
            text = (part.text or "").replace("\n", " ")
            if _PRIVATE.search(text):
                return _PRIVATE.sub(lambda found: self._symbol(ord(found[0]), font), text)
            return text
        if name == "w:sym":
            return self._symbol(_hexadecimal(part.get(clark("w:char"))), part.get(clark("w:font")) or "")
        if name in _NOTES and not self._is_muted:
            return self._note(_NOTES[name], part.get(clark("w:id")) or "")
        return _CHARACTERS.get(name, "")

    def _symbol(self, code: int, font: str) -> str:
        found = symbol(code, font)
        if not found:
            self.told[f"signs of the font {font or 'of symbols'} that are no letters", ""] += 1
        return found

    def _note(self, kind: str, id: str) -> str:
        """Return the mark of a note: notes at the foot are 1, 2, ..., those at the end i, ii, ..., as Word has it."""
        if (kind, id) not in self._marks:
            self._n_notes[kind] += 1
            number = self._n_notes[kind]
            mark = f"[^{numeral(number, 'decimal' if kind == 'footnote' else 'lowerRoman')}]"
            self._marks[kind, id] = mark
            self.notes.append((kind, id, mark))
        return self._marks[kind, id]

    def _open(self, element: Element, name: str, waiting: list[Element | str | _LinkEnd]) -> None:
        """Read an element around runs, or something drawn: its parts wait their turn, if they are to be seen."""
        if name in _SILENT:
            return
        if name in _REMOVED:
            self.removed(element)
        elif name == "w:txbxContent":
            self._line.boxes.append(element)
        elif name == "w:sdt" and is_on(element, "w:sdtPr/w:showingPlcHdr"):
            self.told["fields that were not filled in", ""] += 1
        elif name == "w:ruby":
            waiting += [")", *_found(element, "w:rt"), "(", *_found(element, "w:rubyBase")]
        elif name in _NOTES or name in _CHARACTERS or name == "w:t":
            self._show(self._letters(element, name, ""))
        elif name == "c:chart":
            self._line.charts.append(element.get(clark("r:id")) or "")
        elif name == "dgm:relIds":
            self._line.diagrams.append(element.get(clark("r:dm")) or "")
        elif name in _PICTURES:
            self._n_pictures += name == "pic:cNvPr"
            self._picture(description(element))
        else:
            if name == "w:hyperlink":
                relation = self._relations.get(element.get(clark("r:id")) or "")
                if relation and relation.external:
                    waiting.append(_LinkEnd(len(self._pieces), relation.target))
            elif name == "v:textpath":
                self._picture(described(element.get("string")))
            elif name == "v:shape":
                self._picture(described(element.get("alt")))
            waiting += reversed(branch(element) if name == "mc:AlternateContent" else list(element))

    def _picture(self, text: str) -> None:
        if text and not self._is_muted:
            self._line.pictures[text] = None

    def _show(self, text: str) -> None:
        if text and not self._is_muted:
            self._pieces.append(text)

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(_Field())
            self._n_instructions += 1
        elif kind == "separate" and self._fields and not self._fields[-1].is_shown:
            top = self._fields[-1]
            top.is_shown, top.start = True, len(self._pieces)
            top.is_contents = top.code.split(None, 1)[:1] != [] and top.code.split(None, 1)[0].upper() in _CONTENTS
            self._n_instructions -= 1
            self._n_contents += top.is_contents
        elif kind == "end" and self._fields:
            top = self._fields.pop()
            self._n_instructions -= not top.is_shown
            self._n_contents -= top.is_contents
            if top.is_shown and (found := _ADDRESS.search(top.code)):
                self._link(found[1], top.start)

    def _end_instructions(self) -> None:
        """Forget fields that a paragraph's end cuts off in their instruction: all that follows would be hidden."""
        if self._n_instructions:
            self._fields = [one for one in self._fields if one.is_shown]
            self._n_instructions = 0

    def _link(self, address: str, start: int) -> None:
        text = " ".join("".join(self._pieces[start : start + _LONGEST_LINK]).split())
        if text and len(self.links) < _MOST_LINKS:
            self.links.append({"text": text, "url": address})


def _found(element: Element, path: str) -> list[Element]:
    found = find(element, path)
    return [] if found is None else [found]


def _hexadecimal(text: str | None) -> int:
    return int(text, 16) if text and _CODE.fullmatch(text) else 0
