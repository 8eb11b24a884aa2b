"""Read what Word and PowerPoint draw: charts, diagrams, and what is said of pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, zip_longest

from chunkwise.readers.office.package import Element, clark, find, integer, tag

# Names that programs give on their own, which say nothing of the picture.
_FILE_NAME = re.compile(
    r"[\w .()\[\]-]{0,120}\.(?:png|jpe?g|gif|bmp|emf|wmf|svg|tiff?|webp|heic)|"
    r"(?:picture|image|graphic|grafik|bild)\s*\d*",
    re.IGNORECASE,
)
# What Office appends to descriptions that it made.
_MADE = re.compile(r"(?:Description automatically generated.*|AI-generated content may be incorrect\.)", re.DOTALL)
# How many points of a chart, and how many levels of a diagram, are written.
_MOST_POINTS, _DEEPEST = 1000, 20
# How many series a chart of Excel has at most, and how many digits of a number tell anything.
_MOST_SERIES, _DIGITS = 255, 12


def described(text: str | None) -> str:
    """Return what a person wrote about a picture, in one line; empty where it is only a file's name."""
    line = " ".join(_MADE.sub("", text or "").split())
    return "" if _FILE_NAME.fullmatch(line) else line


def description(properties: Element | None) -> str:
    """Return the description in a drawing's properties; empty if it is marked as decorative."""
    if properties is None or any(one.get("val") in ("1", "true") for one in properties.iter(clark("adec:decorative"))):
        return ""
    return described(properties.get("descr"))


def chart_title(root: Element) -> str:
    """Return the title of a chart."""
    title = find(root, "c:chart/c:title")
    return "" if title is None else " ".join("".join(one.text or "" for one in title.iter(clark("a:t"))).split())


def chart_rows(root: Element) -> list[list[str]]:
    """Return the numbers of a chart: the names of its series, then a row for each category."""
    series = list(islice(root.iter(clark("c:ser")), _MOST_SERIES))
    names = [next(iter(_points(find(one, "c:tx")).values()), "") for one in series]
    categories: dict[int, str] = {}
    columns: list[dict[int, str]] = []
    for one in series:
        of_series = find(one, "c:cat")
        for index, text in _points(of_series if of_series is not None else find(one, "c:xVal")).items():
            categories.setdefault(index, text)
        values = find(one, "c:val")
        columns.append(_points(values if values is not None else find(one, "c:yVal")))
    indexes = sorted({*categories, *(index for column in columns for index in column)})[:_MOST_POINTS]
    rows = [[categories.get(index, ""), *(column.get(index, "") for column in columns)] for index in indexes]
    return [["", *names], *rows] if rows else []


def diagram_items(root: Element) -> list[tuple[int, str]]:
    """Return the texts of a diagram (SmartArt) with their depths, as the tree of its points has them."""
    texts: dict[str, str] = {}
    roots: list[str] = []
    for point in root.iter(clark("dgm:pt")):
        kind, id = point.get("type") or "node", point.get("modelId") or ""
        if kind == "doc":
            roots.append(id)
        if kind in ("node", "asst", "doc"):
            texts[id] = " ".join(" ".join(_paragraph_texts(point)).split())
    below: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter(clark("dgm:cxn")):
        if (link.get("type") or "parOf") == "parOf":
            order = integer(link.get("srcOrd"))
            below.setdefault(link.get("srcId") or "", []).append((order, link.get("destId") or ""))
    found: list[tuple[int, str]] = []
    waiting = [(0, id) for id in reversed(roots)]
    while waiting:
        depth, id = waiting.pop()
        text = texts.pop(id, None)  # each once: a damaged file may hold a circle
        if text:
            found.append((min(depth, _DEEPEST), text))
        if text is not None:
            waiting += [(depth + 1, child) for _, child in sorted(below.get(id, ()), reverse=True)]
    return [*found, *((1, text) for text in texts.values() if text)]


def _paragraph_texts(element: Element) -> Iterator[str]:
    """Yield the text of each paragraph of DrawingML below an element."""
    for paragraph in element.iter(clark("a:p")):
        yield "".join(
            " " if tag(part) == "a:br" else part.text or "" for part in paragraph.iter(clark("a:t"), clark("a:br"))
        )


def _points(element: Element | None) -> dict[int, str]:
    """Return the cached texts or numbers of a part of a series, by their places."""
    if element is None:
        return {}
    levels = element.findall(f".//{clark('c:lvl')}")
    if len(levels) > 1:  # the innermost level is first; those outside name a group at its first category
        return _grouped([_level(level) for level in reversed(levels)])
    found = _level(element)
    return found or ({0: text} if (text := _value_text(find(element, "c:v"))) else {})


def _level(element: Element) -> dict[int, str]:
    points = element.iter(clark("c:pt"))
    return {integer(point.get("idx")): _value_text(find(point, "c:v")) for point in points}


def _grouped(levels: list[dict[int, str]]) -> dict[int, str]:
    """Return the categories with the names of the groups that they are in."""
    last = [""] * (len(levels) - 1)
    found: dict[int, str] = {}
    for index in sorted(levels[-1]):
        last = [level.get(index, before) for level, before in zip_longest(levels[:-1], last)]
        found[index] = " ".join(filter(None, [*last, levels[-1][index]]))
    return found


def _value_text(element: Element | None) -> str:
    """Return a cached text, or a number as a person would write it: 0.3, not 0.30000000000000004."""
    text = (element.text or "").strip() if element is not None else ""
    if len(text) <= _DIGITS:
        return text
    try:
        number = float(text)
    except ValueError:
        return text
    return text if "_" in text else f"{number:.{_DIGITS}g}"
