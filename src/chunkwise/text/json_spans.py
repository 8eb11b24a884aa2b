"""Where the members and elements of a JSON text are. Nothing is built, nothing recurses, and no text is too broken.

Source: RFC 8259 for the grammar; several texts in a row are JSON Lines; comments and commas too many are let pass.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right

_STRING = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"?+'
_COMMENT = r"//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+"
_TOKEN = re.compile(rf'{_STRING}|[{{}}\[\],:]|{_COMMENT}|[^\s"{{}}\[\],:/]++|/')
_SCALAR = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*+"|-?\d[\d.eE+-]*+|true|false|null|NaN|-?Infinity')

# In characters: how much of a text tells whether it is JSON; and how long a name may be to be in a path.
_SAMPLE = 4000
_LONGEST_NAME = 100
_BARE_NAME = re.compile(r"[^\W\d]\w*")


class Members:
    """The members of objects, elements of arrays, and texts in a row, in the order in which they start.

    A member begins with its name and ends with the comma after it. `parents[i]` is the member whose value holds
    member `i`, or -1. `after[i]` is the next member that is not inside it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.starts, self.ends, self.values = array("q"), array("q"), array("q")
        self.closings, self.parents, self.after = array("q"), array("q"), array("q")
        self._numbers = array("q")  # an element's place in its array, or -1 for what has a name
        self._edges, self._holders = array("q"), array("q")  # after each bracket, the member whose value is open
        self._scan()

    def at(self, offset: int) -> int:
        """Return the innermost member that holds an offset, or -1."""
        around = bisect_right(self._edges, offset) - 1
        holder = self._holders[around] if around >= 0 else -1
        index = bisect_right(self.starts, offset) - 1
        inside = index >= 0 and self.parents[index] == holder and offset < self.ends[index]
        return index if inside else holder

    def step(self, index: int) -> str:
        """Return how a path leads into a member from the one around it, as RFC 9535 writes it.

        A name that is too long for that is a wildcard; a text on its own needs no step.
        """
        if self.parents[index] < 0:
            return ""
        if self._numbers[index] >= 0:
            return f"[{self._numbers[index]}]"
        colon = self._text.rfind(":", self.starts[index], self.values[index])
        quoted = self._text[self.starts[index] : min(colon, self.starts[index] + 6 * _LONGEST_NAME)].rstrip()
        name = _unquoted(quoted)
        step = f".{name}" if _BARE_NAME.fullmatch(name) else f"['{_escaped(name)}']"
        return step if len(step) <= _LONGEST_NAME else "[*]"

    def _scan(self) -> None:
        text = self._text
        around = [-1]  # the members whose values are open; -1 is the text
        counts, lasts = [0], [-1]  # of each: how many members it has so far, and the last of them
        scalar = -1  # the one before, if nothing but white space is between
        name: int | None = None  # where a name starts that a colon follows
        for match in _TOKEN.finditer(text):
            start, end = match.span()
            char = text[start]
            if char == "/" and end - start > 1:
                continue
            if char == ":" and scalar >= 0:
                name, lasts[-1] = self._take_back(counts), -1
            elif char == "," and lasts[-1] >= 0:
                self.ends[lasts[-1]] = end
            elif char in "}]" and len(around) > 1:
                self._close(around.pop(), start, end)
                counts.pop()
                lasts.pop()
                self._note(end, around[-1])
            elif char in "}],:":
                pass  # of no use
            elif char not in "{[" and scalar >= 0 and (len(around) > 1 or "\n" not in text[self.ends[scalar] : start]):
                self._close(scalar, end, end)  # words in a row, which no JSON has, are one scalar
                continue
            else:
                lasts[-1] = self._open(start, name, around[-1], counts)
                if char in "{[":
                    around.append(lasts[-1])
                    counts.append(0)
                    lasts.append(-1)
                    self._note(end, around[-1])
                else:
                    self._close(lasts[-1], end, end)
                    scalar, name = lasts[-1], None
                    continue
                name = None
            scalar = -1
        for index in around[1:]:
            self._close(index, len(text), len(text))

    def _open(self, start: int, name: int | None, parent: int, counts: list[int]) -> int:
        self.starts.append(start if name is None else name)
        self.values.append(start)
        self.parents.append(parent)
        self._numbers.append(counts[-1] if name is None else -1)
        counts[-1] += 1
        for ends in (self.ends, self.closings, self.after):
            ends.append(len(self._text))
        return len(self.starts) - 1

    def _close(self, index: int, closing: int, end: int) -> None:
        self.closings[index], self.ends[index], self.after[index] = closing, end, len(self.starts)

    def _note(self, edge: int, holder: int) -> None:
        self._edges.append(edge)
        self._holders.append(holder)

    def _take_back(self, counts: list[int]) -> int:
        """Take back the last scalar, which is a name, and return where it starts."""
        counts[-1] -= 1
        for one in (self.ends, self.values, self.closings, self.parents, self.after, self._numbers):
            one.pop()
        return self.starts.pop()


def looks_like_json(text: str) -> bool:
    """Tell whether a text begins as an object or an array does, and goes on as JSON for as far as is looked."""
    depth, expects_value, is_open = 0, True, False
    for match in _TOKEN.finditer(text, int(text.startswith("\ufeff")), min(len(text), _SAMPLE)):
        token = match[0]
        if match.end() == _SAMPLE:  # the last one may be cut off
            break
        if token in ("{", "["):
            if not expects_value:
                return False
            depth, is_open = depth + 1, True
        elif depth == 0 and not token.startswith(("//", "/*")):
            return False
        elif token in ("}", "]"):
            depth -= 1
            expects_value = depth == 0  # another text in a row
        elif token in (",", ":"):
            expects_value = True
        elif not token.startswith(("//", "/*")):
            if not expects_value or not _SCALAR.fullmatch(token):
                return False
            expects_value = False
    return is_open


def _unquoted(name: str) -> str:
    if "\\" not in name:
        return name.strip('"')
    try:
        return str(json.loads(name, strict=False))
    except ValueError:
        return name.strip('"')


def _escaped(name: str) -> str:
    """Escape a name for single quotes, as the normalized paths of RFC 9535 (section 2.7) do."""
    short = {"'": "\\'", "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    plain = (short.get(char, char if char.isprintable() or char > "\uffff" else f"\\u{ord(char):04x}") for char in name)
    return "".join(plain)
