"""Make the PDF file among the goldens: `python tests/golden/make_pdf.py`. The same bytes every time."""

from __future__ import annotations

from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    ListFlowable,
    ListItem,
    PageBreak,
    Paragraph,
    Preformatted,
    SimpleDocTemplate,
    Spacer,
    Table,
)

PATH = Path(__file__).parent / "files" / "readers" / "manual.pdf"
STYLES = getSampleStyleSheet()
BODY = ParagraphStyle("body", parent=STYLES["BodyText"], alignment=4, embeddedHyphenation=1)


def text(words: str) -> Paragraph:
    return Paragraph(words, BODY)


def edges(canvas: Canvas, document: SimpleDocTemplate) -> None:
    canvas.setFont("Helvetica-Oblique", 8)
    canvas.drawString(72, A5[1] - 40, "Waterworks manual")
    canvas.drawCentredString(A5[0] / 2, 30, f"Page {document.page}")


def story() -> list[Flowable]:
    rows = [["Part", "Price", "Stock"], ["Seal", "2.50", "14"], ["Valve body", "11.00", "3"]]
    ruled = Table([["Fault", "What to do"], ["No water", text("Open the valve; then wait for a minute.")]], [70, 180])
    ruled.setStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    items = [
        ListItem(text(f"The {name} is checked weekly, and the result is written down.")) for name in ("pump", "valve")
    ]
    return [
        Paragraph("The pump of the house", STYLES["Title"]),
        Paragraph("1. Pumps", STYLES["Heading1"]),
        text("The pump moves water from the well to the tank. " * 4),
        text(
            "Its capa\u00adbili\u00adties are known, and a high-pressure pump has more capa\u00adbilities still. " * 3
        ),
        Paragraph("1.1 Checks", STYLES["Heading2"]),
        ListFlowable(items, bulletType="bullet", start="\u2022"),
        Paragraph("1.2 Start", STYLES["Heading2"]),
        ListFlowable(items[::-1], bulletType="1", bulletFormat="%s."),
        text("A sentence that runs on to the next page goes on there, as sentences do, and is whole in the text. " * 4),
        PageBreak(),
        Paragraph("2. Parts", STYLES["Heading1"]),
        text("What is in stock:"),
        Table(rows, [90, 60, 60]),
        Spacer(1, 8),
        text("What goes wrong:"),
        ruled,
        Spacer(1, 8),
        text("The pump can be run by a program."),
        Preformatted("def run(pump):\n    pump.start()\n\n    return pump", STYLES["Code"]),
        PageBreak(),
        Paragraph("3. Names", STYLES["Heading1"]),
        text("All names are made up."),
    ]


if __name__ == "__main__":
    template = SimpleDocTemplate(str(PATH), pagesize=A5, invariant=1, title="The pump", author="Waterworks Ltd")
    template.build(story(), onFirstPage=edges, onLaterPages=edges)
