"""PDF files that are drawn line by line, or flow, for the tests of the reader."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from reportlab.lib.colors import black
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

from chunkwise.core.types import Document, Limits, Source
from chunkwise.readers.pdf import read_pdf

PROSE = [
    "The pump moves water from the well to the tank on the roof of the",
    "house. It runs for an hour each morning and stops when the float in",
    "the tank has risen to its mark. Nobody has to be there for that to",
    "work as it should.",
]


class Page:
    """A file that is drawn line by line, from the top of its page."""

    def __init__(self, **options: object) -> None:
        self._buffer = BytesIO()
        self.canvas = Canvas(self._buffer, pageCompression=0, **options)
        self.y = 700.0

    def text(self, *lines: str, size: float = 10, bold: bool = False, x: float = 72, font: str = "Helvetica") -> Page:
        """Draw lines under each other."""
        for line in lines:
            self.canvas.setFont(font + "-Bold" * bold, size)
            self.canvas.drawString(x, self.y, line)
            self.y -= 1.2 * size
        return self

    def gap(self, points: float = 12) -> Page:
        """Leave space."""
        self.y -= points
        return self

    def turn(self) -> Page:
        """Begin a page."""
        self.canvas.showPage()
        self.y = 700.0
        return self

    def content(self) -> bytes:
        """Return the file."""
        self.canvas.save()
        return self._buffer.getvalue()

    def read(self, password: str = "", limits: Limits | None = None) -> Document:
        """Read the file."""
        return read_pdf(Source("a.pdf", self.content(), password=password, limits=limits or Limits()))


GRID = ("GRID", (0, 0), (-1, -1), 0.5, black)
PARTS = [["Part", "Price", "Stock"], ["Seal ring", "2.50", "14"], ["Valve", "11.00", "3"]]


def platypus(
    rows: list[list[Any]], *style: tuple[object, ...], widths: list[float] | None = None, repeat: int = 0
) -> Table:
    """Return a table for a page."""
    return Table(rows, style=style, colWidths=widths, repeatRows=repeat)


def flowing(table: Table) -> Document:
    """Return what is read of pages with prose and a table."""
    buffer = BytesIO()
    SimpleDocTemplate(buffer).build([Paragraph(" ".join(PROSE)), Spacer(1, 20), table])
    return read_pdf(Source("a.pdf", buffer.getvalue()))


def found(document: Document, *kinds: str) -> list[tuple[str, str]]:
    return [(block.kind, block.span.slice(document.text)) for block in document.blocks if block.kind in kinds]
