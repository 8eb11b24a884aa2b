"""Make the Word and PowerPoint files in files/readers; to be run after a change here.

The manual is raw XML as Word writes it; what it holds no library can make.
"""

from __future__ import annotations

import io
import sys
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import docx
import pptx
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches, Pt

sys.path.insert(0, str(Path(__file__).parents[1]))

from ooxml import docx_file, packed, root  # where it is found is set right above

FILES = Path(__file__).parent / "files" / "readers"


def run(text: str, properties: str = "") -> str:
    inner = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{inner}<w:t xml:space="preserve">{text}</w:t></w:r>'


def p(inner: str, style: str = "", properties: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    content = inner if inner.startswith("<") or not inner else run(inner)
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{content}</w:p>"


def item(text: str, list_id: int, level: int = 0) -> str:
    return p(text, "ListParagraph", f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>')


def style(id: str, name: str, *, based_on: str = "Normal", paragraph: str = "", letters: str = "") -> str:
    return (
        f'<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/><w:basedOn w:val="{based_on}"/>'
        f"<w:pPr>{paragraph}</w:pPr><w:rPr>{letters}</w:rPr></w:style>"
    )


def level(index: int, form: str, text: str, more: str = "") -> str:
    inner = f'<w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{index}">{inner}</w:lvl>'


def cell(inner: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner if inner.startswith('<') else p(inner)}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


def field(code: str, result: str) -> str:
    kinds = ("begin", "separate", "end")
    begin, separate, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in kinds)
    return f"{begin}<w:r><w:instrText>{code}</w:instrText></w:r>{separate}{result}{end}"


STYLES = (
    '<w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="en-GB"/></w:rPr></w:rPrDefault></w:docDefaults>'
    '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
    + style("Titel", "Title")
    + style("berschrift1", "heading 1", paragraph='<w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/>')
    + style("berschrift2", "heading 2", paragraph='<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>')
    + style("Annex", "Annex heading", based_on="berschrift1", paragraph='<w:numPr><w:numId w:val="0"/></w:numPr>')
    + style("TOC1", "toc 1")
    + style("ListParagraph", "List Paragraph")
    + style("Quote", "Intense Quote")
    + style("SourceCode", "Source Code")
    + style("Caption", "caption")
    + style("Footnote", "footnote text")
    + '<w:style w:type="character" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="table" w:styleId="Grid1"><w:name w:val="Grid Table 1"/><w:tblStylePr w:type="firstRow">'
    "<w:rPr><w:b/></w:rPr></w:tblStylePr></w:style>"
)

NUMBERING = (
    f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1", """<w:pStyle w:val="berschrift1"/>""")}'
    f'{level(1, "decimal", "%1.%2", """<w:pStyle w:val="berschrift2"/>""")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="1">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "(%2)")}'
    f"{level(2, 'upperRoman', '%1.%2.%3', '<w:isLgl/>')}</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="2">{level(0, "bullet", chr(0xF0B7))}{level(1, "bullet", "o")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="3">{level(0, "upperRoman", "Article %1.")}</w:abstractNum>'
    + "".join(f'<w:num w:numId="{id + 1}"><w:abstractNumId w:val="{id}"/></w:num>' for id in range(4))
    + '<w:num w:numId="5"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="3"/>'
    "</w:lvlOverride></w:num>"
)

_BOX = "<w:txbxContent>" + p("Call the control room before you open the casing.") + "</w:txbxContent>"
TEXT_BOX = (
    "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:anchor><wp:docPr id='4' name='Text Box 4'/>"
    f"<a:graphic><a:graphicData><wps:wsp><wps:txbx>{_BOX}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor>"
    f"</w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{_BOX}</v:textbox></v:shape></w:pict>"
    "</mc:Fallback></mc:AlternateContent></w:r>"
)


def picture(text: str) -> str:
    return (
        f"<w:r><w:drawing><wp:inline><wp:docPr id='1' name='Picture 1' descr='{text}'/><a:graphic><a:graphicData>"
        "<pic:pic><pic:nvPicPr><pic:cNvPr id='0' name='image1.png'/></pic:nvPicPr></pic:pic></a:graphicData>"
        "</a:graphic></wp:inline></w:drawing></w:r>"
    )


def note(kind: str, id: int) -> str:
    return f'<w:r><w:{kind}Reference w:id="{id}"/></w:r>'


TABLE = (
    '<w:tbl><w:tblPr><w:tblStyle w:val="Grid1"/><w:tblLook w:val="04A0" w:firstRow="1"/></w:tblPr>'
    + row(cell("Pump"), cell("Limit", '<w:gridSpan w:val="2"/>'), properties="<w:tblHeader/>")
    + row(cell(""), cell("bar"), cell("°C"), properties="<w:tblHeader/>")
    + row(cell("P-1", '<w:vMerge w:val="restart"/>'), cell("10"), cell("80"))
    + row(cell("", "<w:vMerge/>"), cell("12"), cell("85"))
    + row(
        cell("P-2"),
        cell(
            p("see") + "<w:tbl>" + row(cell("cold"), cell("8")) + row(cell("hot"), cell("9")) + "</w:tbl>" + "<w:p/>",
            '<w:gridSpan w:val="2"/>',
        ),
    )
    + row(cell("All values are measured at the outlet.", '<w:gridSpan w:val="3"/>'))
    + "</w:tbl>"
)

MANUAL = (
    "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr><w:sdtContent>"
    + p(field(r"TOC \o", run("1 Scope 3")), "TOC1")
    + "</w:sdtContent></w:sdt>"
    + p("Pump manual", "Titel")
    + p("Scope", "berschrift1")
    + p(
        run("This manual is for pumps of the series ")
        + run("P", "<w:b/>")
        + run(", described ")
        + f'<w:hyperlink r:id="rLink">{run("on the maker")}{run("’s page")}</w:hyperlink>'
        + f'<w:ins w:id="9">{run(", made after 2019")}</w:ins>'
        + '<w:del w:id="8"><w:r><w:delText>before</w:delText></w:r></w:del>'
        + note("footnote", 2)
        + run(". Weight: 5")
        + "<w:r><w:noBreakHyphen/></w:r>"
        + run("7 kg.")
        + run(" Not for print.", '<w:rStyle w:val="Secret"/>')
        + note("endnote", 2)
    )
    + p("Before you begin", "berschrift2")
    + item("Close the valve.", 2)
    + item("Drain the casing:", 2)
    + item("open the plug,", 2, 1)
    + item("wait for an hour.", 2, 1)
    + item("In winter, two.", 2, 2)
    + p("The water is hot.", "ListParagraph")
    + item("Close the plug.", 2)
    + item("Gloves", 3)
    + item("Goggles", 3)
    + item("with side shields", 3, 1)
    + p("Then go on:")
    + item("Lift the lid.", 5)
    + p(run("Mind your hands.") + TEXT_BOX)
    + p(picture("Cross-section of the pump, its inlet at the left"))
    + p(run("Figure ") + field("SEQ Figure", run("1")) + run(": the pump"), "Caption")
    + p("Limits", "berschrift1")
    + TABLE
    + p("Never run a pump dry.", "Quote")
    + p("It will not forgive.", "Quote")
    + p("def start(pump):", "SourceCode")
    + p("<w:r><w:tab/></w:r><w:r><w:t>pump.run()</w:t></w:r>", "SourceCode")
    + p("", "SourceCode")
    + p("start(P1)", "SourceCode")
    + p("Power", "berschrift2")
    + p(
        "<m:oMathPara><m:oMath><m:r><m:t>P=</m:t></m:r><m:f><m:num><m:r><m:t>Q·H·ρ</m:t></m:r></m:num>"
        "<m:den><m:r><m:t>η</m:t></m:r></m:den></m:f></m:oMath></m:oMathPara>"
    )
    + p(
        run("Angle ")
        + '<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>'
        + run(", see ")
        + f"<w:r><w:ruby><w:rt>{run('かんじ')}</w:rt><w:rubyBase>{run('漢字')}</w:rubyBase></w:ruby></w:r>"
        + run(".")
        + note("footnote", 3)
    )
    + p("Warranty", "Annex")
    + p("Two years.", properties='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="4"/></w:numPr>')
    + p("None for pumps that ran dry.", properties='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="4"/></w:numPr>')
    + '<w:sectPr><w:headerReference w:type="default" r:id="rHead"/></w:sectPr>'
)


def notes(kind: str, texts: dict[int, str]) -> str:
    inner = "".join(
        f'<w:{kind} w:id="{id}">{p(f"<w:r><w:{kind}Ref/></w:r>" + run(f" {text}"), "Footnote")}</w:{kind}>'
        for id, text in {0: "", **texts}.items()
    )
    return root(f"w:{kind}s", inner)


def manual() -> bytes:
    return docx_file(
        MANUAL,
        styles=STYLES,
        numbering=NUMBERING,
        core="<dc:creator>Ada Field</dc:creator><dc:subject>Pumps</dc:subject>"
        '<dcterms:created xsi:type="dcterms:W3CDTF">2024-03-01T08:00:00Z</dcterms:created>'
        '<dcterms:modified xsi:type="dcterms:W3CDTF">2024-05-06T07:08:09Z</dcterms:modified>',
        targets={
            "rLink": ("hyperlink", "https://example.com/pumps"),
            "rHead": ("header", "header1.xml"),
            "rFoot": ("footnotes", "footnotes.xml"),
            "rEnd": ("endnotes", "endnotes.xml"),
            "rComments": ("comments", "comments.xml"),
        },
        parts={
            "header1.xml": root("w:hdr", p("ACME · Pump manual")),
            "footnotes.xml": notes("footnote", {2: "Older ones have a manual of their own.", 3: "In degrees."}),
            "endnotes.xml": notes("endnote", {2: "Without oil."}),
            "comments.xml": root("w:comments", f'<w:comment w:id="0">{p("Really?")}</w:comment>'),
        },
    )


def minutes() -> bytes:
    """Return a file as programs make it that use a library, with the styles of its template."""
    document = docx.Document()
    document.add_heading("Minutes of 6 May", 0)
    document.add_heading("Decisions", 1)
    document.add_paragraph("Order seals", "List Number")
    document.add_paragraph("of two sizes", "List Number 2")
    document.add_paragraph("Train the crew", "List Number")
    document.add_paragraph("by June", "List Bullet")
    document.add_heading("Costs", 2)
    document.add_paragraph("Table 1: costs in euros", "Caption")
    table = document.add_table(rows=3, cols=3, style="Light Grid Accent 1")
    for cell, text in zip(
        table._cells, ("What", "2023", "2024", "Seals", "120", "140", "Oil", "80", "75"), strict=True
    ):
        cell.text = text
    document.add_paragraph("Safety is no cost.", "Intense Quote")
    document.core_properties.title = "Minutes"
    document.core_properties.modified = document.core_properties.created = datetime(2024, 5, 6, 7, 8, 9)
    return saved(document)


def review() -> bytes:
    """Return a deck with a table, a chart, notes, and slides that are hidden, empty, or without a title."""
    deck = pptx.Presentation()
    deck.core_properties.modified = deck.core_properties.created = datetime(2024, 5, 6, 7, 8, 9)
    cover, findings, compare, cards, sums, hidden, _, last = (
        deck.slides.add_slide(deck.slide_layouts[layout]) for layout in (0, 1, 4, 5, 6, 1, 6, 1)
    )
    names = ("Pump review", "Findings", "Old or new?", "What we ask for", "", "Salaries", "", "Thank you")
    for slide, name in zip(deck.slides, names, strict=True):
        if name:
            slide.shapes.title.text = name
    cover.placeholders[1].text = "Spring 2024"
    points = findings.placeholders[1].text_frame
    points.text = "Two pumps leak"
    for text, depth in (("P-1 at the seal", 1), ("P-4 at the flange", 1), ("All bearings are worn", 0)):
        points.add_paragraph().text = text
        points.paragraphs[-1].level = depth
    findings.notes_slide.notes_text_frame.text = "Ask about spare parts.\nThen go on."
    for index, text in enumerate(("Repair", "Cheap this year", "Replace", "Quiet, and under warranty"), 1):
        compare.placeholders[index].text = text
    for left, top, text in ((5, 2, "Money"), (1, 2.05, "Time"), (5, 4, "Seals"), (1, 4, "People")):
        cards.shapes.add_textbox(Inches(left), Inches(top), Inches(3), Inches(1)).text_frame.text = text
    head = sums.shapes.add_textbox(Inches(1), Inches(0.3), Inches(5), Inches(1)).text_frame
    head.text = "Costs by quarter"
    head.paragraphs[0].runs[0].font.size = Pt(32)
    table = sums.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for cell, text in zip(table.iter_cells(), ("Pump", "Q1", "Q2", "P-1", "10", "12", "P-4", "", "9"), strict=True):
        cell.text = text
    table.cell(2, 1).merge(table.cell(1, 1))
    numbers: Any = CategoryChartData()  # type: ignore[no-untyped-call]  # its package is typed in part
    numbers.categories = ["Q1", "Q2"]
    numbers.add_series("Leaks", (0.1 + 0.2, 4))
    numbers.add_series("Repairs", (3, 5))
    place = (Inches(1), Inches(4.5), Inches(4), Inches(2))
    chart = sums.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, numbers).chart
    chart.chart_title.text_frame.text = "Leaks and repairs"
    hidden._element.set("show", "0")
    last.placeholders[1].text = "Questions?"
    return saved(deck)


def saved(document: Any) -> bytes:
    """Return a file without pictures and workbooks, which no reader opens, and without the time when it was made."""
    buffer = io.BytesIO()
    document.save(buffer)
    with ZipFile(buffer) as archive:
        names = [name for name in archive.namelist() if name.endswith((".xml", ".rels"))]
        return packed({name: archive.read(name) for name in names})


def main() -> None:
    for name, content in (("manual.docx", manual()), ("minutes.docx", minutes()), ("review.pptx", review())):
        (FILES / name).write_bytes(content)


if __name__ == "__main__":
    main()
