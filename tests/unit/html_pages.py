"""Web pages, and what is read of them, for the tests of the reader."""

from __future__ import annotations

from chunkwise.core.types import Document
from chunkwise.readers.read import read_text


def page(body: str, head: str = "") -> Document:
    return read_text(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>", media_type="text/html")


def fragment(html: str) -> Document:
    return read_text(html, media_type="text/html")


def named(document: Document, *kinds: str) -> list[tuple[str, str]]:
    return [(b.label, b.span.slice(document.text)) for b in document.blocks if b.kind in kinds]


def links(document: Document) -> list[tuple[str, str]]:
    found = document.meta.get("links", [])
    assert isinstance(found, list)
    return [(document.text[link["start"] : link["end"]], link["url"]) for link in found]


RUNNING = "The pump is checked every week, and its seal is changed once a year by someone who knows how. "
ARTICLE = f"<p>{RUNNING * 2}</p><p>{RUNNING * 2}</p><p>{RUNNING * 2}</p>"
