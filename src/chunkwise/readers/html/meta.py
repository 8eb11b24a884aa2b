"""What a page tells of itself: its title, language, address, date, author and description."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chunkwise.readers.html.dom import Node, Tree, attribute

# Where each is told, the best place first: Open Graph, HTML's own names, Dublin Core, schema.org, news publishers.
_NAMES = {
    "title": ("og:title", "twitter:title", "dc.title", "citation_title"),
    "url": ("og:url",),
    "date": (
        "article:published_time",
        "og:article:published_time",
        "datepublished",
        "date",
        "dc.date",
        "dc.date.issued",
        "dcterms.created",
        "citation_publication_date",
        "parsely-pub-date",
        "pubdate",
        "publishdate",
        "sailthru.date",
    ),
    "author": ("author", "article:author", "dc.creator", "citation_author", "parsely-author", "sailthru.author"),
    "description": ("description", "og:description", "twitter:description", "dc.description"),
    "language": ("content-language", "dc.language", "og:locale"),
}
_DATE = re.compile(r"\s*(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(Z|[-+]\d\d:?\d\d)?)?")
_JSON_DATE = re.compile(r'"datePublished"\s*:\s*"([^"\\]{8,40})"')
_JSON_AUTHOR = re.compile(r'"author"\s*:\s*[\[{\s]*(?:"@type"\s*:\s*"Person"\s*,\s*)?"name"\s*:\s*"([^"\\]{2,100})"')
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
# In characters: what is longer is cut, and data of a program is not looked into beyond.
_LONGEST = 1000
_LONGEST_DATA = 1 << 18


def described(tree: Tree) -> dict[str, str]:
    """Return what a page tells of itself as plain strings; the date as ISO 8601 has it."""
    told = _told(tree)
    linked = [attribute(node, "href") for node in tree.css("link[rel=canonical]")]
    data = [node.text()[:_LONGEST_DATA] for node in tree.css("script[type='application/ld+json']")]
    dates = [*told["date"], *_matches(_JSON_DATE, data), *_dated(tree)]
    root = tree.css_first("html")
    languages = [attribute(root, "lang") if root is not None else "", *told["language"]]
    found = {
        "title": _first([*told["title"], *_texts(tree, "title"), *_texts(tree, "h1")]),
        "language": next((tag for tag in map(str.strip, languages) if _LANGUAGE.fullmatch(tag)), "").replace("_", "-"),
        "url": next((url for url in [*linked, *told["url"]] if url.startswith(("http://", "https://"))), ""),
        "date": next((date for value in dates if (date := _iso(value))), ""),
        "author": _first([name for name in told["author"] if "://" not in name] + _matches(_JSON_AUTHOR, data)),
        "description": _first(told["description"]),
    }
    return {name: value[:_LONGEST] for name, value in found.items() if value}


def base_of(tree: Tree, url: str) -> str:
    """Return what the links of a page start from: its `base` element, else its own address."""
    node = tree.css_first("base[href]")
    target = attribute(node, "href") if node is not None else ""
    return target if target.startswith(("http://", "https://")) else url


def _told(tree: Tree) -> dict[str, list[str]]:
    """Return the contents of `meta` elements under our names, those of the best places first."""
    contents: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
        contents.setdefault((name or attributes.get("http-equiv") or "").lower(), attributes.get("content") or "")
    return {ours: [contents[name] for name in names if name in contents] for ours, names in _NAMES.items()}


def _dated(tree: Tree) -> list[str]:
    nodes: Iterable[Node] = tree.css("time[pubdate],time[itemprop=datePublished],[itemprop=datePublished],article time")
    return [attribute(node, "datetime") or attribute(node, "content") for node in nodes]


def _iso(text: str) -> str:
    match = _DATE.match(text)
    if match is None or not ("01" <= match[2] <= "12" and "01" <= match[3] <= "31"):
        return ""
    return f"{match[1]}-{match[2]}-{match[3]}" + (f"T{match[4]}{match[5] or ''}" if match[4] else "")


def _matches(pattern: re.Pattern[str], texts: Iterable[str]) -> list[str]:
    return [match[1] for text in texts if (match := pattern.search(text))]


def _texts(tree: Tree, tag: str) -> list[str]:
    node = tree.css_first(tag)
    return [node.text()] if node is not None else []


def _first(values: Iterable[str]) -> str:
    return next((plain for value in values if (plain := " ".join(value.split()))), "")
