"""Read PowerPoint files (.pptx): a page for each slide, its title as a heading, shapes in the order of reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document, Source
from chunkwise.readers.office.drawings import chart_rows, chart_title, description, diagram_items
from chunkwise.readers.office.grids import Grid, compact
from chunkwise.readers.office.lists import Lists
from chunkwise.readers.office.package import Element, Package, clark, find, properties, tag, value
from chunkwise.readers.office.pptx_shapes import TITLES, Layout, Shape, shapes
from chunkwise.readers.office.pptx_text import BULLET, Paragraph, links, paragraphs
from chunkwise.readers.writer import Writer

# What stands at the edge of every slide.
_MARGINS = {"dt": "dates", "ftr": "footers", "sldNum": "slide numbers", "hdr": "headers"}
# A slide without a title has one if its first text is but a line of large letters: at most so many, of 20 points.
_LONGEST_TITLE, _TITLE_SIZE = 100, 2000
# How many links are listed; more tell nobody anything.
_MOST_LINKS = 10_000


def read_pptx(source: Source) -> Document:
    """Read a PowerPoint file.

    Slides have the numbers that PowerPoint shows. Hidden slides, comments, dates, footers and slide numbers are left
    out and told in the meta. A speaker's notes follow their slide as a paragraph that begins with "Notes:".
    Raises: ReadError.
    """
    package = Package(source)
    name, root = package.main("p:presentation")
    ids = [one.get(clark("r:id")) or "" for one in root.iter(clark("p:sldId"))]
    if len(ids) > source.limits.pages:
        raise ReadError(
            f"{source.id}: {len(ids):,} slides, over the limit of {source.limits.pages:,}; raise the limit: pages"
        )
    deck = _Deck(package)
    for number, id in enumerate(ids, 1):
        relation = package.relations(name).get(id)
        deck.slide(number, relation.target if relation and not relation.external else "")
    deck.left_out += [f"{what}: {count:,}" for what, count in sorted(deck.told.items()) if count]
    meta = properties(package)
    found = {"links": deck.links[:_MOST_LINKS], "left_out": deck.left_out, "warnings": deck.warnings}
    if "title" not in meta and deck.title:
        meta["title"] = deck.title
    return deck.writer.document(source, meta | {key: value for key, value in found.items() if value})


class _Deck:
    """Writes one slide after the other, and remembers what was left out."""

    def __init__(self, package: Package) -> None:
        self.writer = Writer()
        self.title = ""
        self.links: list[dict[str, str]] = []
        self.left_out: list[str] = []
        self.warnings: list[str] = []
        self.told: Counter[str] = Counter()
        self._package = package
        self._lists = Lists(self.writer)
        self._known: dict[str, list[Layout]] = {}
        self._seen: set[str] = set()  # parts that were written: a hostile file shows one many times
        self._part = ""  # the name of the slide that is being written

    def slide(self, number: int, name: str) -> None:
        """Write a slide."""
        root = self._first_time(name)
        if root is None:
            self.warnings.append(f"slide {number} is missing in the file, or is there twice")
            return
        found = list(shapes(root, self._layouts(name)))
        if root.get("show") in ("0", "false"):
            title = next((self._title(shape) for shape in found if shape.place in TITLES), "")
            self.left_out.append(f"hidden slide {number}" + (f": {title}" if title else ""))
            return
        self._part = name
        for one in self._package.related(name, "comments"):
            self.told["comments"] += _n_children(self._first_time(one))
        self.writer.begin_page(number)
        if not any(shape.place in TITLES and self._title(shape) for shape in found):
            found = self._with_title(found)
        for shape in found:
            self._shape(shape)
        self._notes()

    def _first_time(self, name: str) -> Element | None:
        """Return the tree of a part, but only once."""
        if name in self._seen:
            return None
        self._seen.add(name)
        return self._package.tree(name)

    def _layouts(self, slide: str) -> list[Layout]:
        """Return a slide's layout and its master, which many slides share."""
        name = next(iter(self._package.related(slide, "slideLayout")), "")
        if name not in self._known:
            layout = self._package.tree(name)
            master = self._package.tree(next(iter(self._package.related(name, "slideMaster")), "")) if name else None
            self._known[name] = [Layout(layout)] if layout is not None else []
            self._known[name] += [Layout(master, is_master=True)] if master is not None else []
        return self._known[name]

    def _title(self, shape: Shape) -> str:
        return " ".join(" ".join(one.text for one in self._paragraphs(shape)).split())

    def _with_title(self, found: list[Shape]) -> list[Shape]:
        """Return the shapes with the first one as a title, if it looks like one and is followed by others."""
        index = next((index for index, shape in enumerate(found) if self._paragraphs(shape)), -1)
        if index < 0 or len(found) < 2 or found[index].place:
            return found
        first, *more = self._paragraphs(found[index])
        if more or first.marker or len(first.text) > _LONGEST_TITLE or first.size < _TITLE_SIZE:
            return found
        return [Shape(found[index].element, TITLES[0]), *found[:index], *found[index + 1 :]]

    def _paragraphs(self, shape: Shape) -> list[Paragraph]:
        body = find(shape.element, "p:txBody")
        return [] if body is None or shape.place in _MARGINS else paragraphs(body, _styles(shape))

    def _shape(self, shape: Shape) -> None:
        if shape.place in _MARGINS:
            self.told[_MARGINS[shape.place]] += 1
            return
        if shape.place in TITLES:
            title = self._title(shape)
            self.title = self.title or title
            self.writer.block("heading", title, level=1, label=title)
        else:
            self._text(self._paragraphs(shape))
        self.links += links(shape.element, self._package.relations(self._part))
        self._graphic(find(shape.element, "a:graphic/a:graphicData"))
        pictured = description(shape.properties)
        self.told["pictures without a description"] += tag(shape.element) == "p:pic" and not pictured
        self.writer.block("figure", pictured)

    def _text(self, found: Sequence[Paragraph]) -> None:
        for one in found:
            if one.marker:
                key = BULLET if one.marker == BULLET else "number"
                self._lists.item(f"{one.marker} {one.text}", depth=one.level, key=key)
            elif one.level and self._lists:
                self._lists.also(one.text)
            else:
                self._lists.end()
                self.writer.block("paragraph", one.text)
        self._lists.end()

    def _graphic(self, graphic: Element | None) -> None:
        """Write a table, a chart as a table, or a diagram as a list."""
        if (table := find(graphic, "a:tbl")) is not None:
            found = _grid(table)
            if found.rows:
                self.writer.table(found.rows, n_header=found.n_header)
        chart = self._related(value(graphic, "c:chart", "r:id"), "chart")
        if chart is not None:
            self.writer.block("paragraph", chart_title(chart))
            if rows := chart_rows(chart):
                self.writer.table(rows, n_header=1)
        diagram = self._related(value(graphic, "dgm:relIds", "r:dm"), "diagramData")
        if diagram is not None:
            for depth, text in diagram_items(diagram):
                self._lists.item(f"{BULLET} {text}", depth=depth)
            self._lists.end()

    def _related(self, id: str, kind: str) -> Element | None:
        relation = self._package.relations(self._part).get(id)
        is_known = relation is not None and relation.kind == kind and not relation.external
        return self._first_time(relation.target) if relation is not None and is_known else None

    def _notes(self) -> None:
        for name in self._package.related(self._part, "notesSlide"):
            root = self._first_time(name)
            for shape in [] if root is None else shapes(root, ()):
                if shape.place == "body":
                    text = "\n".join(f"{one.marker} {one.text}".strip() for one in self._paragraphs(shape))
                    self.writer.block("paragraph", f"Notes: {text}" if text else "")


def _n_children(root: Element | None) -> int:
    return 0 if root is None else sum(1 for _ in root)


def _styles(shape: Shape) -> list[Element]:
    """Return the styles of a shape's levels, the nearest first: those of its place, then the master's."""
    found = [style for model in shape.models if (style := find(model, "p:txBody/a:lstStyle")) is not None]
    if shape.place in ("body", "obj", "subTitle") and shape.master is not None:
        style = find(shape.master, "p:txStyles/p:bodyStyle")
        found += [] if style is None else [style]
    return found


def _grid(table: Element) -> Grid:
    """Return the rows of a table: what is merged downward stands in each row, what is merged to the right once."""
    rows: list[dict[int, str]] = []
    for row in table.findall(clark("a:tr")):
        above = rows[-1] if rows else {}
        rows.append(
            {column: _cell(cell, above.get(column, "")) for column, cell in enumerate(row.findall(clark("a:tc")))}
        )
    first_row = value(table, "a:tblPr", "firstRow") in ("1", "true")
    return compact(rows, n_header=int(first_row and len(rows) > 1))


def _cell(cell: Element, above: str) -> str:
    if cell.get("hMerge") in ("1", "true"):
        return ""
    if cell.get("vMerge") in ("1", "true"):
        return above
    body = find(cell, "a:txBody")
    found = [] if body is None else paragraphs(body, ())
    return " ".join(" ".join(f"{one.marker} {one.text}" for one in found).split())
