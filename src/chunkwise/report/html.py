"""What all pages share: one file that loads nothing, and text that stays text whatever a document says."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files

from chunkwise.text.unicode import encodable, printable


def opened(title: str, *styles: str, script: str = "") -> str:
    """Return a page up to the beginning of its body. `styles` are names of sheets here, beside the base of all.

    Nothing is loaded, and of scripts only this one runs, by its hash: it is what `ran` writes at the end of the body.
    """
    sheets = "".join(resource(f"{name}.css") for name in ("base", *styles))
    runs = f"; script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" if script else ""
    policy = f"default-src 'none'; style-src 'unsafe-inline'{runs}; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{safe(title)}</title>\n<style>\n{sheets}</style>\n</head>\n<body>\n"
    )


def ran(script: str) -> str:
    """Return the element of a script of ours, which must not hold its own closing tag."""
    return f"<script>{script}</script>\n"


def table(head: str, rows: Iterable[str], *, label: str, caption: str, can_sort: bool = False) -> Iterator[str]:
    """Yield a table, which scrolls by itself where it is too wide, also by keyboard. `head` are its rows of headers."""
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
    yield f"<table{' class=sorted' * can_sort}><caption>{caption}</caption>\n<thead>{head}</thead>\n<tbody>\n"
    yield from rows
    yield "</tbody></table></div>\n"


def column(title: str, classes: str = "", *, rows: int = 1, columns: int = 1) -> str:
    """Return the header of a column."""
    named = f' class="{classes}"' if classes else ""
    wide = f' rowspan="{rows}"' * (rows > 1) + f' colspan="{columns}"' * (columns > 1)
    return f'<th scope="col"{named}{wide}>{title}</th>'


def resource(name: str) -> str:
    """Return a file that stands beside this one."""
    return files("chunkwise.report").joinpath(name).read_text("utf-8")


def shown(text: str) -> str:
    """Return text as a page shows it: nothing in it steers the reading direction or breaks the encoding.

    Line breaks are those of Unix; signs stand for control characters.
    """
    return encodable(printable(text.replace("\r\n", "\n")))


def safe(text: str) -> str:
    """Return text for a place in a page where no markup is wanted."""
    return escape(shown(text))
