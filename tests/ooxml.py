"""Make small Word and PowerPoint files out of raw XML, the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Mapping
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_ROOT = "http://schemas.openxmlformats.org"
_MICROSOFT = "http://schemas.microsoft.com/office"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": f"{_ROOT}/wordprocessingml/2006/main",
        "a": f"{_ROOT}/drawingml/2006/main",
        "p": f"{_ROOT}/presentationml/2006/main",
        "r": f"{_ROOT}/officeDocument/2006/relationships",
        "c": f"{_ROOT}/drawingml/2006/chart",
        "dgm": f"{_ROOT}/drawingml/2006/diagram",
        "m": f"{_ROOT}/officeDocument/2006/math",
        "wp": f"{_ROOT}/drawingml/2006/wordprocessingDrawing",
        "pic": f"{_ROOT}/drawingml/2006/picture",
        "mc": f"{_ROOT}/markup-compatibility/2006",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
        "wps": f"{_MICROSOFT}/word/2010/wordprocessingShape",
        "w14": f"{_MICROSOFT}/word/2010/wordml",
    }.items()
)
_TYPES = {"wordprocessingml": "document.main", "presentationml": "presentation.main"}
CORE = f"""<cp:coreProperties xmlns:cp="{_ROOT}/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">%s</cp:coreProperties>"""


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """Return an archive of these parts; its times are those that a fresh `ZipInfo` has."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            info = ZipInfo(name)
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


def root(name: str, inner: str) -> str:
    """Return a part whose root has this name."""
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<{name} {NAMESPACES}>{inner}</{name}>'


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return the relations of a part: id -> kind and target. A target with a scheme is external."""
    lines = (
        f'<Relationship Id="{id}" Type="{_ROOT}/officeDocument/2006/relationships/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if ":" in target else "/>")
        for id, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_ROOT}/package/2006/relationships">{"".join(lines)}</Relationships>'


def types(main: str, kind: str) -> str:
    """Return the content types of a package with this main part."""
    return (
        f'<Types xmlns="{_ROOT}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/{main}" ContentType="application/vnd.openxmlformats-officedocument.{kind}.'
        f'{_TYPES[kind]}+xml"/></Types>'
    )


def docx_file(
    body: str,
    *,
    styles: str = "",
    numbering: str = "",
    core: str = "",
    targets: Mapping[str, tuple[str, str]] | None = None,
    parts: Mapping[str, str] | None = None,
) -> bytes:
    """Return a Word file with this body. `targets` are relations of the document, `parts` are parts in word/."""
    main = {"styles": ("styles", "styles.xml"), "numbering": ("numbering", "numbering.xml"), **(targets or {})}
    return packed(
        {
            "[Content_Types].xml": types("word/document.xml", "wordprocessingml"),
            "_rels/.rels": relations(
                {"rId1": ("officeDocument", "word/document.xml"), "rId2": ("core-properties", "docProps/core.xml")}
            ),
            "docProps/core.xml": CORE % core,
            "word/document.xml": root("w:document", f"<w:body>{body}</w:body>"),
            "word/_rels/document.xml.rels": relations(main),
            "word/styles.xml": root("w:styles", styles),
            "word/numbering.xml": root("w:numbering", numbering),
            **{f"word/{name}": content for name, content in (parts or {}).items()},
        }
    )


def pptx_file(
    slides: Mapping[str, str],
    *,
    targets: Mapping[str, Mapping[str, tuple[str, str]]] | None = None,
    parts: Mapping[str, str] | None = None,
    core: str = "",
) -> bytes:
    """Return a deck: the shapes of each slide by its name, such as `slide1`; `hidden` in a name hides it.

    `targets` are relations by the name of the slide or the layout, `parts` are parts in ppt/.
    """
    ids = {name: f"rId{number}" for number, name in enumerate(slides, 1)}
    listed = "".join(f'<p:sldId id="{255 + number}" r:id="{id}"/>' for number, id in enumerate(ids.values(), 1))
    made: dict[str, str] = {}
    for name, shapes in slides.items():
        tree = f"<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld>"
        hidden = "hidden" in name
        part = root("p:sld", tree)
        made[f"ppt/slides/{name}.xml"] = part.replace("<p:sld ", '<p:sld show="0" ', 1) if hidden else part
    for name, found in (targets or {}).items():
        folder, _, file = name.rpartition("/")
        made[f"ppt/{folder or 'slides'}/_rels/{file}.xml.rels"] = relations(found)
    return packed(
        {
            "[Content_Types].xml": types("ppt/presentation.xml", "presentationml"),
            "_rels/.rels": relations(
                {"rId1": ("officeDocument", "ppt/presentation.xml"), "rId2": ("core-properties", "docProps/core.xml")}
            ),
            "docProps/core.xml": CORE % core,
            "ppt/presentation.xml": root("p:presentation", f"<p:sldIdLst>{listed}</p:sldIdLst>"),
            "ppt/_rels/presentation.xml.rels": relations(
                {id: ("slide", f"slides/{name}.xml") for name, id in ids.items()}
            ),
            **made,
            **{f"ppt/{name}": content for name, content in (parts or {}).items()},
        }
    )
