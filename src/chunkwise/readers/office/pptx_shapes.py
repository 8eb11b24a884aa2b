"""Put the shapes of a slide in the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chunkwise.readers.office.package import Element, branch, clark, find, integer, tag, value

TITLES = ("title", "ctrTitle")
# How far the tops of shapes in one row may be apart, in EMU (360,000 to a centimetre), and as a share of their height.
_ROW, _ROW_SHARE = 360_000, 0.5
# Where the properties of each kind of shape are, and its place.
_PROPERTIES = {
    "p:sp": ("p:nvSpPr", "p:spPr/a:xfrm"),
    "p:pic": ("p:nvPicPr", "p:spPr/a:xfrm"),
    "p:graphicFrame": ("p:nvGraphicFramePr", "p:xfrm"),
    "p:grpSp": ("p:nvGrpSpPr", "p:grpSpPr/a:xfrm"),
}
_PLACE = "p:nvSpPr/p:nvPr/p:ph"


class Box(NamedTuple):
    """Where a shape is, in the units of what it is in."""

    left: int
    top: int
    height: int


class Layout:
    """What a layout or a master places on slides: shapes by their numbers, which masters give no meaning, and kinds."""

    def __init__(self, root: Element, *, is_master: bool = False) -> None:
        self.root = root
        # Of two columns, each with a heading: its shapes are in the order in which they are read.
        self.is_comparison = root.get("type") == "twoTxTwoObj"
        self._by_number: dict[str, Element] = {}
        self._by_kind: dict[str, Element] = {}
        for shape in root.iter(clark("p:sp")):
            if find(shape, _PLACE) is not None:
                kind, number = _place(shape, _PLACE)
                self._by_kind.setdefault(_kind(kind), shape)
                if not is_master and number != "0":
                    self._by_number.setdefault(number, shape)

    def model(self, kind: str, number: str) -> Element | None:
        """Return the shape that holds a place: the one of this number, else the first of this kind."""
        found = self._by_number.get(number)
        return found if found is not None else self._by_kind.get(_kind(kind))


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape, and what kind of place it takes on its slide's layout; empty if none.

    `models` are the shapes of the layout and of the master that hold this place.
    """

    element: Element
    place: str = ""
    models: tuple[Element, ...] = ()
    master: Element | None = None

    @property
    def properties(self) -> Element | None:
        """The properties that name it and describe what is to be seen."""
        return find(self.element, f"{_PROPERTIES[tag(self.element)][0]}/p:cNvPr")


def shapes(slide: Element, layouts: Sequence[Layout]) -> Iterator[Shape]:
    """Yield the shapes of a slide that are no groups: the title, then row by row; those of a group together.

    `layouts` are the slide's layout and its master.
    """
    tree = find(slide, "p:cSld/p:spTree")
    top = [] if tree is None else _children(tree, layouts)
    titles = [shape for shape in top if shape.place in TITLES]
    rest = [shape for shape in top if shape.place not in TITLES]
    if not layouts or not layouts[0].is_comparison:
        rest = _ordered(rest)
    waiting = [*reversed(rest), *reversed(titles)]
    while waiting:
        shape = waiting.pop()
        if tag(shape.element) == "p:grpSp":
            waiting += reversed(_ordered(_children(shape.element, layouts)))
        else:
            yield shape


def _children(group: Element, layouts: Sequence[Layout]) -> list[Shape]:
    found: list[Shape] = []
    waiting = list(reversed(list(group)))
    while waiting:
        element = waiting.pop()
        name = tag(element)
        if name in _PROPERTIES:
            found.append(_shape(element, layouts))
        elif name == "mc:AlternateContent":
            waiting += reversed(branch(element))
    return found


def _shape(element: Element, layouts: Sequence[Layout]) -> Shape:
    path = f"{_PROPERTIES[tag(element)][0]}/p:nvPr/p:ph"
    if find(element, path) is None:
        return Shape(element)
    kind, number = _place(element, path)
    models = (model for layout in layouts if (model := layout.model(kind, number)) is not None)
    return Shape(element, kind, tuple(models), layouts[-1].root if layouts else None)


def _place(shape: Element, path: str) -> tuple[str, str]:
    """Return the kind and the number of the place that a shape takes."""
    return value(shape, path, "type") or "obj", value(shape, path, "idx") or "0"


def _kind(place: str) -> str:
    """Return the kind of place that a master has for one of a layout: it knows a title and a body."""
    if place in TITLES:
        return "title"
    return place if place in ("dt", "ftr", "sldNum", "hdr") else "body"


def _ordered(found: list[Shape]) -> list[Shape]:
    """Return shapes row by row, each row from left to right; those without a place keep theirs, at the end."""
    placed = sorted(
        ((box, index) for index, shape in enumerate(found) if (box := _box(shape)) is not None),
        key=lambda one: (one[0].top, one[0].left),
    )
    rows: list[list[tuple[Box, int]]] = []
    for box, index in placed:
        first = rows[-1][0][0] if rows else box
        if not rows or box.top - first.top > min(_ROW, _ROW_SHARE * min(first.height, box.height)):
            rows.append([])
        rows[-1].append((box, index))
    order = [index for row in rows for _, index in sorted(row, key=lambda one: one[0].left)]
    return [found[index] for index in [*order, *sorted({*range(len(found))} - {*order})]]


def _box(shape: Shape) -> Box | None:
    """Return where a shape is, or where its layout places it."""
    path = _PROPERTIES[tag(shape.element)][1]
    place = find(shape.element, path)
    for model in shape.models:
        place = place if place is not None else find(model, "p:spPr/a:xfrm")
    if place is None:
        return None
    left, top = (integer(value(place, "a:off", name)) for name in "xy")
    return Box(left, top, integer(value(place, "a:ext", "cy")))
