"""The running text of one block: white space collapsed as browsers do, and where its links are."""

from __future__ import annotations

import re
from typing import NamedTuple

from chunkwise.readers.html.dom import collapsed

# Browsers put no blank where a line of the source ends between two characters of Chinese or Japanese.
# Source: CSS Text 3, 4.1.3, segment break transformation.
_WIDE = r"[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]"
_WIDE_BREAK = re.compile(rf"(?<={_WIDE})[ \t\r\f]*\n[ \t\r\n\f]*(?={_WIDE})")
# A blank that does not break is a blank for whoever searches; places for a hyphen, a zero character are nothing.
_PLAIN = {0x00: None, 0xAD: None, 0xA0: " ", 0x202F: " "}
# What parts the parts of one line, the weakest first.
_STRENGTH = ("", " ", ", ", "; ")


class Link(NamedTuple):
    """A part of a text that leads somewhere."""

    start: int
    end: int
    url: str


class Inline:
    """Text that grows until its block ends."""

    def __init__(self, url: str = "") -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._last = ""  # the character that the text ends with
        self._parting = ""
        self._links: list[Link] = []
        self._url, self._from = url, 0

    @property
    def blank(self) -> bool:
        """Whether there is no text yet."""
        return not self._length

    def add(self, text: str) -> None:
        """Add text of the page."""
        if not text.isascii() or "\0" in text:
            text = text.translate(_PLAIN)
            if "\n" in text:
                text = _WIDE_BREAK.sub("", text)
        text = collapsed(text)
        if self._parting and text.strip(" "):
            parting, self._parting = self._parting, ""
            self._trim()
            self._append(parting if self._length else "")
        self._append(text.removeprefix(" ") if self._last in ("", " ", "\n") else text)

    def part(self, mark: str) -> None:
        """Part what is written from what comes next, once, by the strongest of the marks that are asked for."""
        self._parting = max(self._parting, mark, key=_STRENGTH.index)

    def end_line(self) -> bool:
        """Begin a new line; tell whether the line before it is empty, so that a paragraph ends."""
        if self._last == "\n":
            return True
        if self._length:
            self._trim()
            self._append("\n")
        return False

    def begin_link(self, url: str) -> None:
        """Let what follows lead to `url`, until the link ends."""
        self._url, self._from = url, self._length

    def end_link(self) -> None:
        """End the link that was begun."""
        if self._url and self._length > self._from:
            self._links.append(Link(self._from, self._length, self._url))
        self._url = ""

    def done(self) -> tuple[str, list[Link]]:
        """Return the text, and the links in it without the white space at their ends."""
        self.end_link()
        text = "".join(self._pieces).rstrip(" \n")  # it never begins with white space
        return text, [link for link in (_trimmed(link, text) for link in self._links) if link.end > link.start]

    def _trim(self) -> None:
        """Take back the blank at the end, if there is one."""
        if self._last == " ":
            self._pieces[-1] = self._pieces[-1][:-1]
            self._length -= 1
            self._last = ""

    def _append(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._length += len(text)
            self._last = text[-1]


def _trimmed(link: Link, text: str) -> Link:
    inner = text[link.start : link.end]
    start = link.start + len(inner) - len(inner.lstrip())
    return Link(start, start + len(inner.strip()), link.url)
