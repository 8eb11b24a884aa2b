"""Word files: structure by styles and numbering, nothing lost, nothing shown that a reader of the page does not see."""

from __future__ import annotations

import io
import re
from zipfile import ZipFile

import pytest

from chunkwise.core.types import Document, Limits, Source
from chunkwise.readers import READERS
from golden.make_office import NUMBERING, STYLES, TEXT_BOX, cell, field, item, level, manual, note, p, row, run, style
from ooxml import docx_file, packed, relations, root


def read(body: str, **parts: object) -> Document:
    return read_file(docx_file(body, **{"styles": STYLES, "numbering": NUMBERING, **parts}))  # type: ignore[arg-type]


def read_file(content: bytes, *, limits: Limits | None = None) -> Document:
    return READERS[".docx"].reader(Source("a.docx", content, limits=limits or Limits()))


def found(document: Document, kind: str) -> list[str]:
    return [block.span.slice(document.text).rstrip("\n") for block in document.blocks if block.kind == kind]


def titles(document: Document) -> list[tuple[int, str]]:
    return [(block.level, block.label) for block in document.blocks if block.kind == "heading"]


def numbered(text: str, list_id: int, depth: int = 0) -> str:
    return p(text, "", f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>')


def table(*rows: str, look: str = "") -> str:
    return f"<w:tbl><w:tblPr>{look}</w:tblPr>{''.join(rows)}</w:tbl>"


BOLD = "<w:b/>"
FIRST_ROW = '<w:tblLook w:firstRow="1"/>'


def test_headings_are_found_by_names_of_styles_that_ids_translate() -> None:
    styles = style("Titre1", "heading 1") + style("Mine", "My heading", based_on="Titre1") + style("T", "Title")
    document = read(p("Name", "T") + p("One", "Titre1") + p("Two", "Mine"), styles=styles)
    assert titles(document) == [(1, "Name"), (1, "One"), (1, "Two")]
    assert document.meta["title"] == "Name"
    assert "title" not in read(p("Text.") + p("One", "Titre1"), styles=styles).meta


def test_an_outline_level_makes_a_heading_and_unmakes_one() -> None:
    styles = style("H1", "heading 1") + style("Deep", "Deep", paragraph='<w:outlineLvl w:val="8"/>')
    body = p("By itself", properties='<w:outlineLvl w:val="1"/>') + p("No more", "H1", '<w:outlineLvl w:val="9"/>')
    document = read(body + p("Deepest", "Deep"), styles=styles)
    assert titles(document) == [(2, "By itself"), (6, "Deepest")]
    assert found(document, "paragraph") == ["No more"]


def test_styles_that_are_based_on_each_other_are_read() -> None:
    styles = style("A", "A", based_on="B") + style("B", "heading 2", based_on="A")
    assert titles(read(p("x", "A"), styles=styles)) == [(2, "x")]


def test_what_is_raised_runs_into_no_number_before_it() -> None:
    power = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{}</w:t></w:r>'
    body = f"<w:p><w:r><w:t>10</w:t></w:r>{power.format(6)}<w:r><w:t> on the 4</w:t></w:r>{power.format('th')}</w:p>"
    assert read(body).text == "10⁶ on the 4th"


def test_headings_have_the_numbers_that_word_shows() -> None:
    body = p("a", "berschrift1") + p("b", "berschrift2") + p("c", "berschrift2") + p("d", "berschrift1")
    assert titles(read(body + p("e", "berschrift2"))) == [
        *[(1, "1 a"), (2, "1.1 b"), (2, "1.2 c"), (1, "2 d"), (2, "2.1 e")],
    ]


def test_lists_count_on_after_text_and_begin_anew_where_told() -> None:
    body = item("one", 2) + p("Text.") + item("two", 2) + item("from three", 5) + item("four", 5)
    assert found(read(body), "item") == ["1. one", "2. two", "3. from three", "4. four"]


def test_inner_lists_begin_anew_below_each_item() -> None:
    body = item("one", 2) + item("a", 2, 1) + item("b", 2, 1) + item("two", 2) + item("a", 2, 1)
    document = read(body)
    assert document.text == "1. one\n  (a) a\n  (b) b\n2. two\n  (a) a"
    assert [(block.kind, block.level) for block in document.blocks] == [
        *[("list", 0), ("item", 1), ("list", 2), ("item", 3), ("item", 3)],
        *[("item", 1), ("list", 2), ("item", 3)],
    ]


@pytest.mark.parametrize(
    ("form", "text", "start", "expected"),
    [
        ("lowerRoman", "%1)", 4, "iv) x"),
        ("upperLetter", "(%1)", 27, "(AA) x"),
        ("decimalZero", "%1.", 7, "07. x"),
        ("ordinal", "%1", 22, "22nd x"),
        ("chineseCounting", "第%1条", 12, "第十二条 x"),
        ("upperRoman", "%1.", 5000, "5000. x"),
        ("none", "Note:", 1, "Note: x"),
        ("bullet", "\uf0b7", 1, "- x"),
        ("unheard", "%1.", 3, "3. x"),
    ],
)
def test_each_form_of_number_is_written(form: str, text: str, start: int, expected: str) -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    assert read(numbered("x", 1), numbering=numbering).text == expected


def test_a_list_may_come_from_a_style_of_lists() -> None:
    styles = (
        '<w:style w:type="numbering" w:styleId="L"><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
    )
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="L"/></w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="L"/>{level(0, "decimal", "%1.")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    )
    assert read(numbered("x", 1), styles=styles, numbering=numbering).text == "1. x"
    circle = numbering.replace('<w:abstractNumId w:val="1"/>', '<w:abstractNumId w:val="0"/>')
    assert read(numbered("x", 1), styles=styles, numbering=circle).text == "x"


def test_levels_that_are_not_restarted_count_on() -> None:
    inner = level(1, "decimal", "%1.%2", '<w:lvlRestart w:val="0"/>')
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{inner}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = numbered("a", 1) + numbered("b", 1, 1) + numbered("c", 1) + numbered("d", 1, 1)
    assert read(body, numbering=numbering).text == "1. a\n  1.1 b\n2. c\n  2.2 d"


def test_a_level_that_was_passed_over_counts_as_begun() -> None:
    assert read(p("b", "berschrift2")).text == "1.1 b"


def test_the_depth_of_a_list_may_be_in_the_name_of_its_style() -> None:
    listed = '<w:numPr><w:numId w:val="3"/></w:numPr>'
    styles = style("LB", "List Bullet", paragraph=listed) + style("LB2", "List Bullet 2", paragraph=listed)
    assert read(p("a", "LB") + p("b", "LB2") + p("c", "LB"), styles=styles).text == "- a\n  - b\n- c"


def test_a_paragraph_may_change_its_style_s_level_alone() -> None:
    body = p("a", "berschrift1") + p("b", "berschrift1", '<w:numPr><w:ilvl w:val="1"/></w:numPr>')
    assert titles(read(body)) == [(1, "1 a"), (1, "1.1 b")]


def test_list_zero_takes_a_paragraph_out_of_its_style_s_list() -> None:
    assert titles(read(p("x", "Annex") + p("y", "berschrift1"))) == [(1, "x"), (1, "1 y")]


def test_a_paragraph_of_a_list_without_a_number_belongs_to_the_item_before() -> None:
    document = read(item("one", 2) + p("more", "ListParagraph") + item("two", 2) + p("Text.") + p("x", "ListParagraph"))
    assert found(document, "item") == ["1. one\n  more", "2. two"]
    assert found(document, "paragraph") == ["Text.", "x"]


def test_cells_merged_downward_stand_in_each_row_and_those_to_the_right_once() -> None:
    document = read(
        table(
            row(cell("a", '<w:vMerge w:val="restart"/>'), cell("b"), cell("c")),
            row(cell("", "<w:vMerge/>"), cell("wide", '<w:gridSpan w:val="2"/>')),
            row(cell("d"), cell("e"), cell("f")),
        )
    )
    assert found(document, "row") == ["a | b | c", "a | wide", "d | e | f"]


def test_rows_that_begin_further_right_keep_their_columns() -> None:
    document = read(table(row(cell("a"), cell("b")), row(cell("c"), properties='<w:gridBefore w:val="1"/>')))
    assert found(document, "row") == ["a | b", "| c"]


@pytest.mark.parametrize(
    ("look", "first", "n_header"),
    [
        (FIRST_ROW, BOLD, 1),
        ('<w:tblLook w:val="04A0"/>', BOLD, 1),
        (FIRST_ROW, "", 0),
        ("", BOLD, 1),
        ('<w:tblStyle w:val="Grid1"/>', "", 0),
        ('<w:tblStyle w:val="Grid1"/><w:tblLook w:val="0020"/>', "", 1),
        (FIRST_ROW + '<w:tblStyle w:val="Grid1"/>', "", 1),
    ],
)
def test_the_first_row_is_a_header_where_it_looks_like_one(look: str, first: str, n_header: int) -> None:
    rows = [row(cell(p(run("a", first))), cell(p(run("b", first)))), row(cell("c"), cell("d"))]
    assert len(found(read(table(*rows, look=look)), "header")) == n_header


def test_rows_marked_as_header_are_one_header() -> None:
    marked = "<w:tblHeader/>"
    document = read(table(row(cell("a"), properties=marked), row(cell("b"), properties=marked), row(cell("c"))))
    assert found(document, "header") == ["a\nb"]


def test_a_table_in_a_cell_is_a_line_of_it() -> None:
    inner = table(row(cell("a"), cell("b")), row(cell("c"), cell("d")))
    assert found(read(table(row(cell("x"), cell(p("see") + inner + "<w:p/>")))), "row") == ["x | see a, b; c, d"]


def test_a_table_of_one_cell_is_a_box_around_its_text() -> None:
    document = read(table(row(cell(p("Mind:") + item("this", 3) + item("that", 3)))))
    assert [block.kind for block in document.blocks] == ["paragraph", "list", "item", "item"]


def test_a_table_that_places_sections_on_the_page_is_none() -> None:
    left = p("Skills", "Titel") + p("Pumps.")
    document = read(table(row(cell(left), cell(p("Jobs", "Titel") + p("Two.")))))
    assert [block.kind for block in document.blocks] == ["heading", "paragraph"] * 2


def test_a_text_box_is_read_once() -> None:
    assert found(read(p(run("Before.") + TEXT_BOX)), "paragraph") == [
        *["Before.", "Call the control room before you open the casing."],
    ]


def test_notes_stand_at_the_end_of_their_section() -> None:
    notes = "".join(f'<w:footnote w:id="{id}">{p(f"note {id}")}</w:footnote>' for id in (5, 7))
    document = read(
        p("A", "Titel") + p(run("x") + note("footnote", 7)) + p("B", "Titel") + p(run("y") + note("footnote", 5)),
        targets={"f": ("footnotes", "footnotes.xml")},
        parts={"footnotes.xml": root("w:footnotes", notes)},
    )
    assert document.text == "A\n\nx[^1]\n\n[^1]: note 7\n\nB\n\ny[^2]\n\n[^2]: note 5"
    assert found(document, "footnote") == ["[^1]: note 7", "[^2]: note 5"]


def test_what_was_inserted_is_kept_and_what_was_deleted_is_told() -> None:
    deleted = '<w:del w:id="1"><w:r><w:delText>gone</w:delText></w:r></w:del>'
    moved = f'<w:moveFrom w:id="2">{run("away")}</w:moveFrom><w:moveTo w:id="3">{run(" here")}</w:moveTo>'
    document = read(p(run("old") + deleted + f'<w:ins w:id="4">{run(" new")}</w:ins>' + moved))
    assert document.text == "old new here"
    assert document.meta["left_out"] == ["text deleted in tracked changes: 8 characters"]


def test_a_deleted_paragraph_mark_joins_two_paragraphs() -> None:
    body = p("one ", properties='<w:rPr><w:del w:id="1"/></w:rPr>') + p("two")
    assert read(body).text == "one two"
    cells = cell(p("a", properties='<w:rPr><w:del w:id="1"/></w:rPr>')), cell("b")
    assert found(read(table(row(*cells))), "row") == ["a | b"]


def test_a_drop_cap_is_the_first_letter_of_its_paragraph() -> None:
    assert read(p("L", properties='<w:framePr w:dropCap="drop"/>') + p("orem")).text == "Lorem"


def test_hidden_text_is_left_out_whoever_hides_it() -> None:
    body = p(
        run("seen")
        + run("run", "<w:vanish/>")
        + run("style", '<w:rStyle w:val="Secret"/>')
        + run(" again", '<w:rStyle w:val="Secret"/><w:vanish w:val="0"/>')
    )
    document = read(body)
    assert document.text == "seen again"
    assert document.meta["left_out"] == ["hidden text: 8 characters"]


def test_a_field_shows_its_result_and_not_its_instruction() -> None:
    simple = f'<w:fldSimple w:instr="PAGE">{run("7")}</w:fldSimple>'
    nested = field("IF " + "x", field("REF y", run("inner")))
    assert read(p(run("see ") + simple + run(", ") + nested)).text == "see 7, inner"


def test_an_instruction_that_never_ends_hides_its_paragraph_only() -> None:
    body = p('<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF</w:instrText></w:r>' + run("x"))
    assert read(body + p("Then.")).text == "Then."


def test_a_table_of_contents_is_left_out_by_style_and_by_field() -> None:
    begin, separate, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))
    toc = p(begin + r"<w:r><w:instrText>TOC \o</w:instrText></w:r>" + separate + run("One 3")) + p("Two 5", "TOC1")
    document = read(toc + p(run("Three 7") + end) + p("Text.") + p("Four 9", "TOC1"))
    assert document.text == "Text."
    assert document.meta["left_out"] == ["table of contents: 3 lines"]
    unended = read(toc + p("A", "Titel") + p("Text."))
    assert unended.text == "A\n\nText."


def test_links_are_text_and_their_targets_are_told() -> None:
    linked = (
        f'<w:hyperlink r:id="rLink">{run("page")}</w:hyperlink><w:hyperlink w:anchor="x">{run(" below")}</w:hyperlink>'
    )
    by_field = field('HYPERLINK \\l "http://b.example"', run("other"))
    document = read(p(linked + run(", ") + by_field), targets={"rLink": ("hyperlink", "http://a.example")})
    assert document.text == "page below, other"
    assert document.meta["links"] == [
        {"text": "page", "url": "http://a.example"},
        {"text": "other", "url": "http://b.example"},
    ]


def test_text_in_content_controls_is_kept_but_not_their_prompts() -> None:
    def control(inner: str, properties: str = "") -> str:
        return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"

    body = control(control(p("block"))) + p(control(run("inline")) + control(run("Click here"), "<w:showingPlcHdr/>"))
    document = read(body + table(control(row(control(cell("in")), cell("row"))), row(cell("a"), cell("b"))))
    assert document.text == "block\n\ninline\n\nin | row\na | b\n"
    assert document.meta["left_out"] == ["fields that were not filled in: 1"]


def test_breaks_tabs_hyphens_and_signs_are_characters() -> None:
    parts = (
        "<w:tab/>", "<w:br/>", "<w:noBreakHyphen/>", "<w:softHyphen/>", '<w:sym w:font="Wingdings" w:char="F0FC"/>',
        '<w:sym w:font="Nobody" w:char="F0FC"/>',
    )  # fmt: skip
    document = read(p("".join(f"<w:r><w:t>a</w:t>{part}</w:r>" for part in parts)))
    assert document.text == "a\ta\na-aa✓a"
    assert document.meta["left_out"] == ["signs of the font Nobody that are no letters: 1"]


def test_formulas_are_lines_of_text() -> None:
    def part(name: str, inner: str) -> str:
        return f"<m:{name}>{inner}</m:{name}>"

    def letters(text: str) -> str:
        return part("r", part("t", text))

    power = part("sSup", part("e", letters("x")) + part("sup", letters("n+1")))
    root_of = part("rad", part("deg", letters("")) + part("e", letters("ab")))
    body = part("oMath", letters("y=") + part("f", part("num", power) + part("den", root_of)))
    assert read(p(run("So ") + body)).text == "So y=(x^(n+1))/(√ab)"
    assert found(read(p(part("oMathPara", body))), "math") == ["y=(x^(n+1))/(√ab)"]


def test_lines_of_code_are_one_block_and_paragraphs_of_a_quote_are() -> None:
    document = read(
        p("a:", "SourceCode") + p("", "SourceCode") + p("  b", "SourceCode") + p("q", "Quote") + p("r", "Quote")
    )
    assert found(document, "code") == ["a:\n\n  b"]
    assert found(document, "quote") == ["q\n\nr"]


def test_a_chart_is_a_table_and_a_diagram_a_list() -> None:
    def points(*texts: str) -> str:
        return "".join(f'<c:pt idx="{index}"><c:v>{text}</c:v></c:pt>' for index, text in enumerate(texts))

    chart = (
        "<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Leaks</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea>"
        f"<c:ser><c:tx>{points('P-1')}</c:tx><c:cat>{points('May', 'June')}</c:cat><c:val>"
        f"{points('0.30000000000000004', '2')}</c:val></c:ser></c:plotArea></c:chart>"
    )
    point = '<dgm:pt modelId="{}"{}><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>'
    link = '<dgm:cxn srcId="{}" destId="{}" srcOrd="{}"/>'
    diagram = (
        point.format(0, ' type="doc"', "") + point.format(1, "", "Then") + point.format(2, "", "First")
        + point.format(3, "", "part of it") + point.format(4, ' type="pres"', "not seen")
        + link.format(0, 2, 0) + link.format(0, 1, 1) + link.format(2, 3, 0) + link.format(3, 0, 0)
    )  # fmt: skip
    drawn = '<w:r><w:drawing><c:chart r:id="rC"/><dgm:relIds r:dm="rD"/></w:drawing></w:r>'
    document = read(
        p(drawn) + p(drawn),
        targets={"rC": ("chart", "chart1.xml"), "rD": ("diagramData", "data1.xml")},
        parts={"chart1.xml": root("c:chartSpace", chart), "data1.xml": root("dgm:dataModel", diagram)},
    )
    assert document.text == "Leaks\n\n| P-1\nMay | 0.3\nJune | 2\n\n- First\n  - part of it\n- Then"


def test_a_language_is_believed_only_of_latin_text() -> None:
    assert read(p("Some words.")).meta["language"] == "en-GB"
    assert "language" not in read(p("Несколько слов.")).meta


def test_files_of_the_strict_form_are_read_the_same() -> None:
    def strict(content: bytes) -> bytes:
        return re.sub(
            rb"http://schemas.openxmlformats.org/(officeDocument|wordprocessingml)/2006/(relationships|main)",
            rb"http://purl.oclc.org/ooxml/\1/\2",
            content,
        )

    with ZipFile(io.BytesIO(manual())) as archive:
        parts = {name: strict(archive.read(name)) for name in archive.namelist()}
    assert b"purl.oclc.org" in parts["word/document.xml"]
    assert read_file(packed(parts)) == read_file(manual())


def test_a_file_without_anything_but_a_body_is_read() -> None:
    parts = {
        "_rels/.rels": relations({"r": ("officeDocument", "word/document.xml")}),
        "word/document.xml": root("w:document", f"<w:body>{item('one', 2)}</w:body>"),
    }
    assert read_file(packed(parts)).text == "one"
    assert read("").text == ""
