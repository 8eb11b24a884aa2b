"""Write a formula of Office as a line of text."""

from __future__ import annotations

from chunkwise.readers.office.package import Element, find, tag, value

# Parts of formulas, and what stands before each.
_PARTS = {"m:num": "", "m:den": "/", "m:sup": "^", "m:sub": "_", "m:lim": "_"}
# What stands before the operand of a root and of a function.
_OPERANDS = {"m:rad": "√", "m:func": " "}


def formula(root: Element) -> str:
    """Return the letters of a formula in their order, with `/`, `^` and `_` before its parts.

    A part that is no single word or number is put in parentheses.
    """
    pieces: list[str] = []
    # An element and what stands before it if it is a part; or the place where a part began, and that; or text.
    waiting: list[tuple[Element | int, str | None] | str] = [(root, None)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        element, before = item
        if isinstance(element, int):
            part = "".join(pieces[element:])
            pieces[element:] = [(before or "") + _grouped(part)] if part else []
            continue
        if before is not None:
            waiting.append((len(pieces), before))
        name = tag(element)
        if name in ("m:t", "w:t", "a:t"):
            pieces.append(element.text or "")
        elif not name.endswith("Pr"):
            opening, closing = _edges(element, name)
            pieces.append(opening)
            waiting.append(closing)
            waiting += [(child, _before(name, tag(child))) for child in reversed(list(element))]
    return " ".join("".join(pieces).split())


def _before(name: str, child: str) -> str | None:
    return _OPERANDS.get(name) if child == "m:e" else _PARTS.get(child)


def _grouped(part: str) -> str:
    return part if len(part) < 2 or part.isalpha() or part.isdigit() else f"({part})"


def _edges(element: Element, name: str) -> tuple[str, str]:
    """Return what opens and closes an element: parentheses, or the sign of a sum or an integral."""
    if name == "m:nary":
        return value(element, "m:naryPr/m:chr", "m:val") or "∫", ""
    if name == "m:d":
        return _bracket(element, "m:dPr/m:begChr", "("), _bracket(element, "m:dPr/m:endChr", ")")
    return "", ""


def _bracket(element: Element, path: str, usual: str) -> str:
    """Return a bracket, which may be none at all."""
    return usual if find(element, path) is None else value(element, path, "m:val")
