"""Read HTML: the content of a page, without what stands around it."""

from __future__ import annotations

from chunkwise.core.types import Document, Source
from chunkwise.readers.decode import decode
from chunkwise.readers.html.content import choose
from chunkwise.readers.html.dom import parse
from chunkwise.readers.html.meta import base_of, described
from chunkwise.readers.html.walk import Walk


def read_html(source: Source) -> Document:
    """Read a page, or a fragment of one.

    Its metadata holds what the page tells of itself, the links with the spans of their texts, and what was left out.
    """
    text, encoding = decode(source)
    text = text.removeprefix("\ufeff")
    tree = parse(source, text)
    told = described(tree)
    choice = choose(tree, text)
    walk = Walk(left_out=choice.left_out, base=base_of(tree, told.get("url", "")), limits=source.limits)
    for root in choice.roots:
        walk.walk(root)
    meta = {**told, **encoding}
    if walk.links:
        meta["links"] = [link._asdict() for link in walk.links]
    if choice.notes:
        meta["left_out"] = list(choice.notes)
    if choice.warnings:
        meta["warnings"] = list(choice.warnings)
    return walk.writer.document(source, meta)
