"""Choose the part of a page that is its content, and what is left out of it.

The text of a page lies in one part of its tree; what stands around it says little outside of links. So the choice
starts at the element that is marked as the content, or at the body, and goes down as long as one child holds most of
the running text. Parts whose tag, role or name tells that they are no content do not count, nor do lists of links.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chunkwise.readers.html.dom import Node, Tree
from chunkwise.readers.html.parts import Part, Survey

_HIDDEN = (
    "[hidden],[style*='display:none' i],[style*='display: none' i],[style*='visibility:hidden' i],.sr-only,"
    ".visually-hidden,.visuallyhidden,.screen-reader-text,.mw-editsection,.mwe-math-fallback-image-inline,"
    ".mwe-math-fallback-image-display,i[aria-hidden=true],img[aria-hidden=true],span[aria-hidden=true]"
)
# Numbers beside the lines of code, as highlighters write them.
_LINE_NUMBERS = ".linenos,.lineno,.linenodiv,.line-numbers-rows,.gutter,.blob-num"
_MARKED = ("[itemprop=articleBody]", "article,[role=article]", "main,[role=main]")
_WHOLE_PAGE = re.compile(r"<(?:!doctype|html|head|body)[\s>]", re.IGNORECASE)

# In characters: where a page that is no fragment says so.
_HEAD = 5000
# In characters. A text of fewer may be a label; a page of fewer is read whole.
_RUNNING = 50
_SHORT = 250
# What share of the running text a part must hold, else it is no content whatever it is called; chosen, as all shares
# here, with the pages of tests/quality/test_html.py in sight.
_MAIN_SHARE = 0.4
# What share the element that is marked as the content must hold, and a child so that the choice goes down to it.
_MARKED_SHARE = 0.25
_DOWN_SHARE = 0.6
# Text beside a part, of its own kind or a paragraph, counts as its peer from this share of the running text on.
_PEER = 0.02
# What share of the running text of a `main` may be left out beside the part that holds most of it.
_BESIDE = 0.05
# A part with less than this share of all text is a remark on a page of links.
_INDEX_SHARE = 0.3
# A part with so large a share of its text in links, and hardly any of the running text, is a list of links.
_LINKED = 0.8
_LITTLE = 0.1
# So many times as much running text as text in links makes an aside a box of the text, as in handbooks.
_BOX = 4
_LISTS = {"div", "dl", "figure", "ol", "p", "section", "ul"}
_VALUES = {"dd", "dt", "td", "th"}
# Parts that are never the whole content: the choice stays with what is around them.
_LEAVES = {"blockquote", "dd", "dl", "li", "ol", "p", "pre", "table", "tbody", "td", "tr", "ul", "h1", "h2", "h3"}


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a page is read: the elements in order, what is left out inside them by id, and notes for a person."""

    roots: tuple[Node, ...]
    left_out: Mapping[int, str]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def choose(tree: Tree, text: str) -> Choice:
    """Choose what of a page is read. A fragment, or a page of few words, is read whole."""
    body = tree.body
    if body is None:
        return Choice((), {})
    out = {node.mem_id: "hidden" for node in tree.css(_HIDDEN) if node.css_first("math") is None}
    out |= {node.mem_id: "line numbers" for node in tree.css(_LINE_NUMBERS)}
    notes = _counted(out.values())
    if _WHOLE_PAGE.search(text[:_HEAD]) is None:
        return Choice((body,), out, notes)
    parts = Survey(body, out).parts
    if sum(part.own + part.linked for part in parts) < _SHORT:
        return Choice((body,), out, notes)
    running = [_running(part) for part in parts]
    dropped = _no_content(parts, running)
    totals = _sums(parts, [0 if index in dropped else value for index, value in enumerate(running)])
    sizes = _sums(parts, [0 if i in dropped else part.own + part.linked for i, part in enumerate(parts)])
    ends = _ends(parts)
    root = _down(parts, ends, totals, sizes, _marked(tree, parts, totals))
    end = ends[root]
    tops = {index: reason for index, reason in dropped.items() if parts[index].parent not in dropped}
    if totals[0]:
        tops |= _lists_of_links(parts, ends, totals, dropped, range(root + 1, end))
    elif 0 in tops or not _is_text_left(parts, dropped):
        tops = {}
    out |= {parts[index].node.mem_id: reason for index, reason in tops.items() if root < index < end}
    title = _title(parts, root, end)
    roots = (parts[root].node,) if title is None else (title, parts[root].node)
    warnings = () if totals[0] else ("no main content was found; the whole page was read",)
    return Choice(roots, out, (*notes, *_notes(parts, tops, range(root, end))), warnings)


def _running(part: Part) -> int:
    """Return how many characters of running text, values or code stand right in a part."""
    if part.tag == "pre":
        return part.own + part.linked
    return part.own if (part.own >= _RUNNING or part.tag in _VALUES) and part.linked <= part.own else 0


def _sums(parts: Sequence[Part], values: Iterable[int]) -> list[int]:
    """Return, for each part, the values of it and of all in it."""
    totals = list(values)
    for index in range(len(parts) - 1, 0, -1):
        totals[parts[index].parent] += totals[index]
    return totals


def _ends(parts: Sequence[Part]) -> list[int]:
    """Return, for each part, the index after the last part that is in it."""
    ends = list(range(1, len(parts) + 1))
    for index in range(len(parts) - 1, 0, -1):
        ends[parts[index].parent] = max(ends[parts[index].parent], ends[index])
    return ends


def _no_content(parts: Sequence[Part], running: Sequence[int]) -> dict[int, str]:
    """Return the parts that are no content by what they are called, and all in them, each with the reason.

    An aside among paragraphs that says more than it links to is a box that belongs to them, and what has running text
    where buttons to share would be is a post that is quoted.
    """
    totals = _sums(parts, running)
    linked = _sums(parts, (part.linked for part in parts))
    flows = {part.parent for index, part in enumerate(parts) if running[index] and not part.reason}
    dropped: dict[int, str] = {}
    for index, part in enumerate(parts):
        reason = dropped.get(part.parent) or (part.reason if totals[index] <= _MAIN_SHARE * totals[0] else "")
        is_box = reason == "aside" and part.parent in flows and totals[index] > _BOX * linked[index]
        is_post = reason == "buttons to share" and totals[index] > 0
        if reason and (part.parent in dropped or not (is_box or is_post)):
            dropped[index] = reason
    return dropped


def _is_text_left(parts: Sequence[Part], dropped: Mapping[int, str]) -> bool:
    return any(part.own + part.linked for index, part in enumerate(parts) if index not in dropped)


def _marked(tree: Tree, parts: Sequence[Part], totals: Sequence[int]) -> int:
    """Return the element that is marked as the content, if it holds enough of the running text, else the body."""
    places = {part.node.mem_id: index for index, part in enumerate(parts)}
    for query in _MARKED:
        found = [index for node in tree.css(query) if (index := places.get(node.mem_id)) is not None]
        enough = [index for index in found if totals[index] > _MARKED_SHARE * totals[0]]
        if enough:
            return max(enough, key=lambda index: (totals[index], -index))
    return 0


def _down(parts: Sequence[Part], ends: Sequence[int], totals: Sequence[int], sizes: Sequence[int], root: int) -> int:
    """Return the innermost part in `root` that holds most of its running text, but is none of several like it."""
    below: dict[int, list[int]] = {}
    for index in range(root + 1, ends[root]):
        below.setdefault(parts[index].parent, []).append(index)
    # By HTML's own words a page's `main` is its content and nothing else; an `article` may hold what is only related.
    is_main = parts[root].tag == "main"
    chosen = root
    while children := below.get(root):
        best = max(children, key=lambda index: (totals[index], -index))
        enough = totals[best] > _DOWN_SHARE * totals[root] and sizes[best] > _INDEX_SHARE * sizes[0]
        if not enough or any(
            _is_peer(parts[best], parts[other], totals[other], totals[root])
            or (parts[best].tag == parts[other].tag == "section" and sizes[other] > 0)
            for other in children
            if other != best
        ):
            break
        beside = totals[root] - totals[best]
        if is_main and beside > _BESIDE * totals[root]:
            break
        much = _PEER * totals[root]
        if beside > much and _prose_beside(parts, ends, totals, best, root) > much:
            break
        root = best
        if parts[root].tag not in _LEAVES:
            chosen = root
    return chosen


def _is_peer(part: Part, other: Part, running: int, total: int) -> bool:
    """Tell whether another part is text beside this one: a paragraph, or a section of the same kind."""
    return running > _PEER * total and (other.tag in _LEAVES or (other.tag == part.tag and _kind(other) == _kind(part)))


def _prose_beside(parts: Sequence[Part], ends: Sequence[int], totals: Sequence[int], best: int, root: int) -> int:
    """Return how much running text beside a part is in elements like those of its own text.

    DocBook writes paragraphs as `<div class="para">`, and a section's first ones beside the section inside it.
    """
    end = ends[best]
    own = {_form(part) for index, part in enumerate(parts[best:end], best) if totals[index] and _running(part)}
    beside = (*range(root + 1, best), *range(end, ends[root]))
    return sum(_running(parts[index]) for index in beside if totals[index] and _form(parts[index]) in own - {None})


def _form(part: Part) -> tuple[str, str] | None:
    """Return the tag and the class of code, or of a division with a class; None for what any part of a page holds."""
    if part.tag == "pre":
        return ("pre", "")
    kind = _kind(part)
    return (part.tag, kind) if part.tag == "div" and kind else None


def _kind(part: Part) -> str:
    return " ".join((part.node.attributes.get("class") or "").split()[:1])


def _lists_of_links(
    parts: Sequence[Part], ends: Sequence[int], totals: Sequence[int], dropped: Mapping[int, str], inside: range
) -> dict[int, str]:
    """Return the parts that are little else than links; none where the page itself is a list of them."""
    kept = [index not in dropped for index in range(len(parts))]
    own = _sums(parts, (part.own * keep for part, keep in zip(parts, kept, strict=True)))
    linked = _sums(parts, (part.linked * keep for part, keep in zip(parts, kept, strict=True)))
    running = totals[inside.start - 1]
    found: dict[int, str] = {}
    floor = 0
    for index in inside:
        if index < floor or not kept[index] or parts[index].tag not in _LISTS:
            continue
        if linked[index] > _LINKED * (own[index] + linked[index]) and totals[index] < _LITTLE * running:
            if parts[index].tag == "div" and parts[index].node.css_first("code") is not None:
                continue  # an index of names
            found[index] = "links to other pages"
            floor = ends[index]
    return found if sum(linked[index] for index in found) < running else {}


def _title(parts: Sequence[Part], root: int, end: int) -> Node | None:
    """Return the page's own title where it stands before the content: the last top heading there is."""
    inside = {part.node.mem_id for part in parts[root:end] if part.tag == "h1"}
    if inside:
        return None
    before = [part.node for part in parts[:root] if part.tag == "h1" and part.node.text().strip()]
    return before[-1] if before else None


def _notes(parts: Sequence[Part], tops: Mapping[int, str], inside: range) -> tuple[str, ...]:
    """Say for a person what was left out: by what it is, how many parts and how much text."""
    sizes = _sums(parts, (part.own + part.linked for part in parts))
    counts: Counter[str] = Counter(tops.values())
    characters: Counter[str] = Counter()
    for index, reason in tops.items():
        characters[reason] += sizes[index]
    around = sizes[0] - sizes[inside.start] - sum(sizes[index] for index in tops if index not in inside)
    notes = [f"{reason}, {_plural(counts[reason])}, {characters[reason]} characters" for reason in counts]
    return (*notes, *([f"around the content, {around} characters"] if around > 0 else []))


def _counted(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{reason}, {_plural(count)}" for reason, count in Counter(reasons).items())


def _plural(count: int) -> str:
    return f"{count} part" if count == 1 else f"{count} parts"
