"""Write the pieces of a PDF as a document: words at line ends are joined, pages cut through what runs over them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import median

from chunkwise.core.types import BlockKind
from chunkwise.readers.pdf.lines import Line
from chunkwise.readers.pdf.lists import Mark
from chunkwise.readers.pdf.paragraphs import LEADERS
from chunkwise.readers.pdf.pieces import Piece
from chunkwise.readers.writer import Writer
from chunkwise.text.hyphens import joins

# Scripts that put no blank between words, so none where a line ends either.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60]")
# In sizes of the font: lines of code that are farther apart have a blank line between them.
_BLANK_LINE = 1.9
# In characters: no blanks are put beyond that column of a line of code.
_LONGEST_LINE = 120
_INDENT = "  "


def write(pieces: Sequence[Piece], labels: Mapping[int, str]) -> Writer:
    """Write pieces, which are in the order of their pages; `labels` name pages by their place, from 0."""
    pages = _Pages(labels)
    lists: list[str] = []  # those that are open, each with an item, by the form of their marks
    for piece, texts in zip(pieces, _texts(pieces), strict=True):
        _close_lists(pages.writer, lists, piece)
        if piece.table is not None:
            pages.turn_to(piece.lines[0].page)
            pages.writer.table(piece.table.rows, n_header=piece.table.n_header)
        elif piece.kind == "code":
            _write_code(pages, piece)
        elif piece.mark is not None:
            _write_item(pages, piece, piece.mark, texts, lists)
        else:
            _write_block(pages, piece, texts)
    _close_lists(pages.writer, lists, None)
    return pages.writer


class _Pages:
    """A writer, and the page that it is on."""

    def __init__(self, labels: Mapping[int, str]) -> None:
        self.writer = Writer()
        self._labels = labels
        self._page = -1

    def turn_to(self, page: int) -> None:
        """Begin a page, unless it has begun."""
        if page != self._page:
            self.writer.begin_page(page + 1, label=self._labels.get(page, ""))
            self._page = page

    def write_lines(self, lines: Sequence[Line], texts: Sequence[str]) -> None:
        """Write the lines of a block, each on its page."""
        for page, group in groupby(zip(lines, texts, strict=True), key=lambda pair: pair[0].page):
            self.turn_to(page)
            text = "".join(text for _, text in group)
            self.writer.write(text.removesuffix("\n"))
            if text.endswith("\n"):
                self.writer.part(1)


def _write_block(pages: _Pages, piece: Piece, texts: Sequence[str]) -> None:
    heading = piece.kind == "heading"
    kind: BlockKind = "heading" if heading else "paragraph"
    label = "".join(texts) if heading else ""
    pages.writer.part()
    pages.writer.open(kind, level=piece.level if heading else None, label=label)
    pages.write_lines(piece.lines, texts)
    pages.writer.close()
    pages.writer.part()


def _write_item(pages: _Pages, piece: Piece, mark: Mark, texts: Sequence[str], lists: list[str]) -> None:
    """Write an item in the list that is open at its level, or begin one."""
    writer = pages.writer
    level = min(piece.level, len(lists))
    if level < len(lists):
        writer.close()
        writer.part(1)
    else:
        writer.part(1 if lists else 2)
        writer.open("list")
        lists.append(mark.form)
    pages.turn_to(piece.lines[0].page)
    writer.open("item")
    writer.indent = _INDENT * level
    writer.write(f"{mark.text} ")
    writer.indent += _INDENT
    pages.write_lines(piece.lines, texts)
    writer.indent = ""


def _close_lists(writer: Writer, lists: list[str], piece: Piece | None) -> None:
    """Close the lists, with their items, that a piece does not go on with."""
    mark = piece.mark if piece else None
    while lists and (piece is None or mark is None or not _goes_on(lists, piece.level, mark)):
        writer.close()
        writer.close()
        lists.pop()
        if not lists:
            writer.part()


def _goes_on(lists: Sequence[str], level: int, mark: Mark) -> bool:
    return level >= len(lists) or (level == len(lists) - 1 and lists[-1] == mark.form)


def _write_code(pages: _Pages, piece: Piece) -> None:
    pages.writer.part()
    pages.writer.open("code")
    for index, (page, group) in enumerate(groupby(piece.lines, key=lambda line: line.page)):
        pages.turn_to(page)
        pages.writer.write_raw("\n" * (index > 0) + "\n".join(_code(list(group))))
    pages.writer.close()
    pages.writer.part()


def _code(lines: Sequence[Line]) -> Iterator[str]:
    """Yield lines of code with the indents and the blank lines that they have on the page."""
    width = median((line.right - line.left) / len(line.text) for line in lines)
    left = min(line.left for line in lines)
    for index, line in enumerate(lines):
        if index and lines[index - 1].bottom - line.bottom > _BLANK_LINE * line.size:
            yield ""
        text = ""
        for cell in line.cells or (line,):
            column = round((cell.left - left) / width) if width > 0 else 0
            text += " " * max(min(column, _LONGEST_LINE) - len(text), 1 if text else 0) + cell.text
        yield text


def _texts(pieces: Sequence[Piece]) -> list[list[str]]:
    """Return what is written of the lines of each piece, with what parts a line from the next."""
    raw = [_raw(piece) for piece in pieces]
    # All lines make one text, so that a word anywhere is evidence for one that a line's end parts.
    whole = "\n\n".join("".join(lines) for lines in raw)
    edits = {span.start: hyphen for span, hyphen in joins(whole)}
    start = 0
    texts: list[list[str]] = []
    for lines in raw:
        written: list[str] = []
        for index, line in enumerate(lines):
            hyphen = edits.get(start + len(line) - 2)
            following = lines[index + 1] if index + 1 < len(lines) else ""
            written.append(_ended(line, following) if hyphen is None else line[:-2] + hyphen)
            start += len(line)
        texts.append(written)
        start += 2
    return texts


def _raw(piece: Piece) -> list[str]:
    r"""Return the lines of a piece; those that flow into the next end with \n, those whose break is kept with \v."""
    texts = [LEADERS.sub("\u2026", line.text) for line in piece.lines]
    if piece.mark:
        texts[0] = piece.lines[0].text[piece.mark.length :]
    kept = piece.kept[1:]
    return [text + ("\v" if broken else "\n") for text, broken in zip(texts, kept, strict=False)] + texts[-1:]


def _ended(line: str, following: str) -> str:
    """Return a line with a blank for its break, or with the break that is kept."""
    if line.endswith("\v"):
        return line[:-1] + "\n"
    if not line.endswith("\n"):
        return line
    unspaced = _UNSPACED.match(line[-2:-1]) and _UNSPACED.match(following[:1])
    return line[:-1] + ("" if unspaced else " ")
