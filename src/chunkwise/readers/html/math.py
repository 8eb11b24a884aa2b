"""Formulas in a page, as the TeX that they were made from, and what is raised above its line."""

from __future__ import annotations

from chunkwise.readers.html.dom import Node, attribute
from chunkwise.text.numerals import raised

_TEX = ("application/x-tex", "TeX", "LaTeX", "text/x-tex")
_DISPLAYED = r"{\displaystyle"


def tex(node: Node) -> str:
    """Return the TeX of a `math` element or a script of MathJax; of a formula without it, its signs."""
    if node.tag == "script":
        return node.text().strip() if attribute(node, "type").startswith("math/tex") else ""
    noted = [one for one in node.css("annotation") if attribute(one, "encoding") in _TEX]
    written = (noted[0].text() if noted else attribute(node, "alttext")).strip()
    if written.startswith(_DISPLAYED) and written.endswith("}"):
        written = written.removeprefix(_DISPLAYED).removesuffix("}").strip()
    if written:
        return " ".join(written.split())
    return " ".join(node.text(separator=" ").split())


def superscript(node: Node) -> str:
    """Return what a `sup` element says, so that it runs into no number before it; nothing if it is but letters.

    A number that leads to a note stands in brackets.
    """
    text = "".join(node.text().split())
    if text.isdecimal() and node.css_first("a") is not None:
        return f"[{text}]"
    written = raised(text)
    return written if written != text else ""


def is_display(node: Node) -> bool:
    """Tell whether a formula stands on a line of its own."""
    kind = attribute(node, "type") if node.tag == "script" else attribute(node, "display")
    return kind == "block" or "mode=display" in kind
