"""Read Word files (.docx): headings, numbered lists, tables, notes, text boxes, in the order of the document."""

from __future__ import annotations

from collections.abc import Callable

from chunkwise.core.types import Document, Source
from chunkwise.readers.office.docx_blocks import Blocks, Parts
from chunkwise.readers.office.docx_numbering import Numbering
from chunkwise.readers.office.docx_runs import Runs
from chunkwise.readers.office.docx_styles import Styles
from chunkwise.readers.office.package import Element, Package, clark, find, properties, tag
from chunkwise.readers.writer import Writer

# How much of a running head is told, in characters, and of how many of them.
_LONGEST_HEAD, _MOST_HEADS = 60, 5
# How much of a text is looked at to find its script, in characters.
_SAMPLE = 10_000
# The first letter after the Latin blocks of Unicode.
_AFTER_LATIN = "\u0250"


def read_docx(source: Source) -> Document:
    """Read a Word file.

    It has no pages: where they end is decided when it is printed. Notes stand at the end of the section that refers to
    them. Comments, deleted and hidden text, running heads and tables of contents are left out and told in the meta.
    Raises: ReadError.
    """
    package = Package(source)
    name, root = package.main("w:document")
    body = find(root, "w:body")

    def part(kind: str) -> Element | None:
        return next((tree for one in package.related(name, kind) if (tree := package.tree(one)) is not None), None)

    styles = Styles(part("styles"))
    runs = Runs(styles, package.relations(name))
    drawn: set[str] = set()
    parts = Parts(
        lambda relation: _related(package, name, relation, drawn), _notes(part("footnotes"), part("endnotes"))
    )
    writer = Writer()
    blocks = Blocks(writer, styles, Numbering(part("numbering"), styles.list_of), runs, parts)
    if body is not None:
        blocks.write(body)
    blocks.end()
    meta = properties(package)
    if "title" not in meta and blocks.title:
        meta["title"] = blocks.title
    if "language" not in meta and styles.language and _is_latin(writer.text):
        meta["language"] = styles.language
    if runs.links:
        meta["links"] = runs.links
    if left_out := [*_heads(package, name), *_comments(part("comments")), *_told(runs)]:
        meta["left_out"] = left_out
    return writer.document(source, meta)


def _related(package: Package, name: str, id: str, drawn: set[str]) -> Element | None:
    """Return the tree of the chart or the diagram that a relation names, the first time that it is drawn."""
    relation = package.relations(name).get(id)
    known = relation is not None and not relation.external and relation.kind in ("chart", "diagramData")
    if relation is None or not known or relation.target in drawn:
        return None
    drawn.add(relation.target)
    return package.tree(relation.target)


def _notes(footnotes: Element | None, endnotes: Element | None) -> Callable[[str, str], Element | None]:
    """Return a function that finds a note by its kind and its id."""
    known = {
        (kind, note.get(clark("w:id")) or ""): note
        for kind, root in (("footnote", footnotes), ("endnote", endnotes))
        for note in ([] if root is None else root)
    }
    return lambda *note: known.get(note)


def _heads(package: Package, name: str) -> list[str]:
    """Say what the running heads are."""
    found: dict[str, None] = {}
    for kind, title in (("header", "running head"), ("footer", "running foot")):
        for one in package.related(name, kind):
            tree = package.tree(one)
            texts = (part.text or "" for part in tree.iter(clark("w:t"))) if tree is not None else ()
            if text := " ".join("".join(texts).split()):
                found[f"{title}: {text if len(text) <= _LONGEST_HEAD else text[:_LONGEST_HEAD] + '…'}"] = None
    shown = list(found)[:_MOST_HEADS]
    return [*shown, f"{len(found) - len(shown)} more running heads"] if len(found) > len(shown) else shown


def _comments(root: Element | None) -> list[str]:
    count = sum(tag(one) == "w:comment" for one in root) if root is not None else 0
    return [f"comments: {count:,}"] if count else []


def _told(runs: Runs) -> list[str]:
    told = sorted((what, unit, count) for (what, unit), count in runs.told.items() if count)
    return [f"{what}: {count:,} {unit if count > 1 else unit.removesuffix('s')}".rstrip() for what, unit, count in told]


def _is_latin(text: str) -> bool:
    """Tell whether a text is in Latin letters: the language that a file names is only the one of such text."""
    letters = [letter < _AFTER_LATIN for letter in text[:_SAMPLE] if letter.isalpha()]
    return 2 * sum(letters) > len(letters)
