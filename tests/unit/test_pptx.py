"""PowerPoint files: slides as pages, shapes as they are read, lists as the layout has them."""

from __future__ import annotations

import io
import random
from zipfile import ZipFile

import pytest

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Limits, Source
from chunkwise.readers import READERS
from golden.make_office import review
from ooxml import packed, pptx_file, root

TITLE = '<p:ph type="title"/>'


def read(*slides: str, **parts: object) -> Document:
    names = {f"slide{number}": shapes for number, shapes in enumerate(slides, 1)}
    return read_file(pptx_file(names, **parts))  # type: ignore[arg-type]


def read_file(content: bytes, *, limits: Limits | None = None) -> Document:
    return READERS[".pptx"].reader(Source("a.pptx", content, limits=limits or Limits()))


def found(document: Document, kind: str) -> list[str]:
    return [block.span.slice(document.text).rstrip("\n") for block in document.blocks if block.kind == kind]


def place(left: int, top: int, height: int = 400_000) -> str:
    return f'<a:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="900000" cy="{height}"/></a:xfrm>'


def line(text: str, properties: str = "", letters: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:rPr {letters}/><a:t>{text}</a:t></a:r></a:p>"


def shape(text: str, *, placeholder: str = "", at: str = "", styles: str = "", described: str = "") -> str:
    inner = text if text.startswith("<") else line(text)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="Box" descr="{described}"/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>'
        f"<p:spPr>{at}</p:spPr><p:txBody><a:lstStyle>{styles}</a:lstStyle>{inner}</p:txBody></p:sp>"
    )


def group(*shapes: str, at: str = "") -> str:
    return f"<p:grpSp><p:grpSpPr>{at}</p:grpSpPr>{''.join(shapes)}</p:grpSp>"


def frame(inner: str) -> str:
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="Frame"/></p:nvGraphicFramePr>'
        f"<a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"
    )


def level(number: int, bullet: str) -> str:
    return f"<a:lvl{number}pPr>{bullet}</a:lvl{number}pPr>"


def numbers(form: str, more: str = "") -> str:
    return f'<a:pPr><a:buAutoNum type="{form}" {more}/></a:pPr>'


BULLET = '<a:buChar char="•"/>'


def test_a_slide_is_a_page_and_its_title_comes_first() -> None:
    document = read(shape("Text.") + shape("Name", placeholder=TITLE), shape("Next", placeholder=TITLE))
    assert document.text == "Name\n\nText.\n\nNext"
    assert [(block.kind, block.level, block.span) for block in document.blocks] == [
        *[("page", 1, (0, 11)), ("heading", 1, (0, 4)), ("paragraph", 0, (6, 11))],
        *[("page", 2, (13, 17)), ("heading", 1, (13, 17))],
    ]
    assert document.meta["title"] == "Name"


def test_what_is_raised_runs_into_no_number_before_it() -> None:
    raised = '</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>2</a:t></a:r><a:r><a:t> wide'
    assert "10 m² wide" in read(shape(line(f"10 m{raised}"))).text


def test_a_title_of_two_lines_is_one_line() -> None:
    document = read(shape("<a:p><a:r><a:t>One</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r></a:p>", placeholder=TITLE))
    assert [block.label for block in document.blocks if block.kind == "heading"] == ["One two"]


def test_shapes_are_read_row_by_row() -> None:
    at = [(5_000_000, 1_000_000), (100, 1_090_000), (5_000_000, 3_000_000), (100, 3_000_000), (100, 2_000_000)]
    boxes = [shape(f"{index}", at=place(*where)) for index, where in enumerate(at)]
    assert found(read("".join(boxes)), "paragraph") == ["1", "0", "4", "3", "2"]


def test_small_lines_above_each_other_are_rows_of_their_own() -> None:
    boxes = [shape(f"{index}", at=place(500_000 - index * 100_000, index * 200_000, 200_000)) for index in range(3)]
    assert found(read("".join(boxes)), "paragraph") == ["0", "1", "2"]


def test_what_is_in_a_group_stays_together_whatever_its_scale() -> None:
    def card(name: str, left: int) -> str:
        inner = shape(f"{name} text", at=place(0, 90)) + shape(f"{name} head", at=place(0, 10, 50))
        return group(group(inner, at=place(0, 0)), at=place(left, 1_000_000))

    document = read(shape("last", at=place(0, 5_000_000)) + card("b", 4_000_000) + card("a", 100))
    assert found(document, "paragraph") == ["a head", "a text", "b head", "b text", "last"]


def test_a_shape_without_a_place_is_where_its_layout_has_it() -> None:
    layout = shape("", placeholder='<p:ph idx="7"/>', at=place(100, 100))
    document = read(
        shape("below", at=place(100, 4_000_000)) + shape("above", placeholder='<p:ph idx="7"/>'),
        targets={"slide1": {"r": ("slideLayout", "../slideLayouts/a.xml")}},
        parts={"slideLayouts/a.xml": root("p:sldLayout", f"<p:cSld><p:spTree>{layout}</p:spTree></p:cSld>")},
    )
    assert found(document, "paragraph") == ["above", "below"]


def test_bullets_come_from_the_paragraph_the_shape_the_layout_or_the_master() -> None:
    body = line("own", f"<a:pPr>{BULLET}</a:pPr>") + line("none", "<a:pPr><a:buNone/></a:pPr>")
    layout = shape("", placeholder='<p:ph idx="1"/>', styles=level(1, BULLET))
    master = f"<p:txStyles><p:bodyStyle>{level(2, BULLET)}</p:bodyStyle></p:txStyles>"
    document = read(
        shape(body)
        + shape(line("shape", '<a:pPr lvl="2"/>'), styles=level(3, BULLET))
        + shape(line("layout") + line("master", '<a:pPr lvl="1"/>'), placeholder='<p:ph idx="1"/>'),
        targets={
            "slide1": {"r": ("slideLayout", "../slideLayouts/a.xml")},
            "slideLayouts/a": {"r": ("slideMaster", "../slideMasters/m.xml")},
        },
        parts={
            "slideLayouts/a.xml": root("p:sldLayout", f"<p:cSld><p:spTree>{layout}</p:spTree></p:cSld>"),
            "slideMasters/m.xml": root("p:sldMaster", master),
        },
    )
    assert found(document, "item") == ["- own", "- shape", "- layout\n  - master", "  - master"]
    assert found(document, "paragraph") == ["none"]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("arabicPeriod", "3. x"),
        ("arabicParenBoth", "(3) x"),
        ("alphaLcParenR", "c) x"),
        ("romanUcPeriod", "III. x"),
        ("circleNumDbPlain", "③ x"),
        ("unheard", "3 x"),
    ],
)
def test_each_form_of_number_is_written(form: str, expected: str) -> None:
    assert read(shape(line("x", numbers(form, 'startAt="3"')))).text == expected


def test_numbers_begin_anew_after_an_outer_item_and_after_text() -> None:
    inner = '<a:pPr lvl="1"><a:buAutoNum type="alphaLcPeriod"/></a:pPr>'
    outer = numbers("arabicPeriod")
    body = line("x", outer) + line("y", inner) + line("z", inner) + line("x", outer) + line("y", inner)
    document = read(shape(body + line("text") + line("x", outer)))
    assert document.text == "1. x\n  a. y\n  b. z\n2. x\n  a. y\n\ntext\n\n1. x"


def test_hidden_slides_are_told_and_numbers_stay() -> None:
    slides = {"slide1": shape("a"), "hidden2": shape("Secret", placeholder=TITLE), "slide3": "", "slide4": shape("b")}
    document = read_file(pptx_file(slides))
    assert [(block.level, block.span.slice(document.text)) for block in document.blocks if block.kind == "page"] == [
        *[(1, "a"), (4, "b")],
    ]
    assert document.meta["left_out"] == ["hidden slide 2: Secret"]


def test_what_stands_at_the_edge_of_each_slide_is_left_out_and_told() -> None:
    edges = "".join(shape("7", placeholder=f'<p:ph type="{kind}" idx="9"/>') for kind in ("dt", "ftr", "sldNum"))
    document = read(edges + shape("a"), edges)
    assert document.text == "a"
    assert document.meta["left_out"] == ["dates: 2", "footers: 2", "slide numbers: 2"]


def test_notes_follow_their_slide() -> None:
    notes = shape(line("Ask.") + line("Go on."), placeholder='<p:ph type="body" idx="1"/>')
    number = shape("1", placeholder='<p:ph type="sldNum" idx="2"/>')
    document = read(
        shape("a"),
        shape("b"),
        targets={"slide1": {"r": ("notesSlide", "../notesSlides/n.xml")}},
        parts={"notesSlides/n.xml": root("p:notes", f"<p:cSld><p:spTree>{number}{notes}</p:spTree></p:cSld>")},
    )
    assert found(document, "paragraph") == ["a", "Notes: Ask.\nGo on.", "b"]
    assert [block.span.slice(document.text) for block in document.blocks if block.level == 1] == [
        "a\n\nNotes: Ask.\nGo on.",
    ]


def test_a_first_line_of_large_letters_is_the_title_that_a_slide_lacks() -> None:
    large, small = shape(line("Name", letters='sz="3200"')), shape(line("Name", letters='sz="1200"'))
    assert [block.kind for block in read(large + shape("text")).blocks] == ["page", "heading", "paragraph"]
    assert [block.kind for block in read(small + shape("text")).blocks] == ["page", "paragraph", "paragraph"]
    assert [block.kind for block in read(large).blocks] == ["page", "paragraph"]


def test_tables_have_their_merged_cells_and_their_header() -> None:
    def row(*cells: str) -> str:
        return f"<a:tr>{''.join(cells)}</a:tr>"

    def cell(text: str, merged: str = "") -> str:
        return f"<a:tc {merged}><a:txBody>{line(text)}</a:txBody></a:tc>"

    rows = (
        row(cell("Pump"), cell("Limit", 'gridSpan="2"'), cell("", 'hMerge="1"'))
        + row(cell("P-1", 'rowSpan="2"'), cell("10"), cell("80"))
        + row(cell("", 'vMerge="1"'), cell("12"), cell("85"))
    )
    document = read(frame(f'<a:tbl><a:tblPr firstRow="1"/>{rows}</a:tbl>'))
    assert found(document, "header") == ["Pump | Limit"]
    assert found(document, "row") == ["P-1 | 10 | 80", "P-1 | 12 | 85"]


def test_a_diagram_is_a_list_and_is_written_once() -> None:
    point = '<dgm:pt modelId="{}"{}><dgm:t>{}</dgm:t></dgm:pt>'
    diagram = (
        point.format("d", ' type="doc"', "") + point.format("a", "", line("Plan")) + point.format("b", "", line("Do"))
    )
    links = '<dgm:cxn srcId="d" destId="b" srcOrd="1"/><dgm:cxn srcId="d" destId="a" srcOrd="0"/>'
    shown = frame('<dgm:relIds r:dm="rD"/>')
    document = read(
        shown + shown,
        targets={"slide1": {"rD": ("diagramData", "../diagrams/data1.xml")}},
        parts={"diagrams/data1.xml": root("dgm:dataModel", diagram + links)},
    )
    assert document.text == "- Plan\n- Do"


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        ("A pump\nin its casing", ["A pump in its casing"]),
        ("image1.png", []),
        ("Picture 3", []),
        ("A red pump Description automatically generated with medium confidence", ["A red pump"]),
        ("", []),
    ],
)
def test_pictures_are_what_a_person_said_of_them(said: str, figures: list[str]) -> None:
    picture = f'<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture 3" descr="{said}"/></p:nvPicPr></p:pic>'
    document = read(shape("a") + picture)
    assert found(document, "figure") == figures
    assert document.meta.get("left_out") == (None if figures else ["pictures without a description: 1"])


def test_links_breaks_formulas_and_escaped_characters_are_text() -> None:
    linked = '<a:r><a:rPr><a:hlinkClick r:id="rL"/></a:rPr><a:t>page</a:t></a:r>'
    formula = (
        "<mc:AlternateContent><mc:Choice><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath></mc:Choice></mc:AlternateContent>"
    )
    number = '<a:fld type="slidenum"><a:t>3</a:t></a:fld><a:fld type="datetime1"><a:t>May</a:t></a:fld>'
    body = f"<a:p>{linked}<a:br/><a:r><a:t>a_x000B_b_x0007_ </a:t></a:r>{formula}{number}</a:p>"
    document = read(shape(body), targets={"slide1": {"rL": ("hyperlink", "http://a.example")}})
    assert document.text == "page\na\nb xMay"
    assert document.meta["links"] == [{"text": "page", "url": "http://a.example"}]


def test_a_slide_that_is_missing_is_warned_of() -> None:
    with ZipFile(io.BytesIO(pptx_file({"slide1": shape("a"), "slide2": shape("b")}))) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name != "ppt/slides/slide1.xml"}
    document = read_file(packed(parts))
    assert document.meta["warnings"] == ["slide 1 is missing in the file, or is there twice"]
    assert [(block.kind, block.level) for block in document.blocks] == [("page", 2), ("paragraph", 0)]


def test_a_deck_is_held_to_its_limits() -> None:
    with pytest.raises(ReadError, match="3 slides, over the limit of 2"):
        read_file(pptx_file(dict.fromkeys(("a", "b", "c"), "")), limits=Limits(pages=2))
    with pytest.raises(ReadError, match="Excessive depth"):
        read("<p:grpSp>" * 2000 + "</p:grpSp>" * 2000)


def test_many_shapes_for_one_place_are_read_in_time_with_their_number() -> None:
    layout = "".join(shape("", placeholder=f'<p:ph idx="{index}"/>') for index in range(4000))
    document = read(
        shape("a", placeholder='<p:ph idx="3999"/>') * 4000,
        targets={"slide1": {"r": ("slideLayout", "../slideLayouts/a.xml")}},
        parts={"slideLayouts/a.xml": root("p:sldLayout", f"<p:cSld><p:spTree>{layout}</p:spTree></p:cSld>")},
    )
    assert len(found(document, "paragraph")) == 4000


def test_any_change_to_a_file_is_read_or_told() -> None:
    seed = random.Random(7)
    outcomes: set[bool | None] = set()
    with ZipFile(io.BytesIO(review())) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(100):
        name = seed.choice([name for name in parts if parts[name]])
        content = bytearray(parts[name])
        for _ in range(seed.randrange(1, 5)):
            content[seed.randrange(len(content))] ^= 1 << seed.randrange(8)
        kept = bytes(content) if seed.random() < 0.8 else bytes(content[: seed.randrange(len(content))])
        try:
            outcomes.add(bool(read_file(packed({**parts, name: kept})).text))
        except ReadError:
            outcomes.add(None)
    assert outcomes >= {True, None}
