"""Reported bugs about HTML, and siblings of them: what is asked of the chunks of a page."""

from __future__ import annotations

import re
from collections.abc import Callable

from cases import reported
from chunkwise.core.types import Block
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read_text

_ENCODED = re.compile(r"[A-Za-z0-9+/]{40}")


def cut(html: str, size: int) -> reported.Run:
    """Read a page and cut it along its structure, counted in characters. The run's text is what was read."""
    document = read_text(html, id="case", media_type="text/html")
    recipe = chunker(f"structural(size={size})", tokenizer="characters")
    return reported.Run(document.text, document, recipe, list(recipe(document)))


def holds(*checks: reported.Check) -> reported.Test:
    """Return the test that these checks hold for the page of a case."""

    def test(case: reported.Case) -> None:
        laws = (reported.exact, reported.covered, reported.within)
        reported.verify(cut(case.text, case.params["size"]), (*laws, *checks), case.expect)

    return test


def sibling(html: str, size: int, *checks: reported.Check) -> Callable[[], None]:
    """Return the test that these checks hold for a page of our own."""
    laws = (reported.exact, reported.covered, reported.within)
    return lambda: reported.verify(cut(html, size), (*laws, *checks), "as in the cases of its kind")


def reads(text: str) -> reported.Check:
    """Return the check that this is the whole text of the page."""
    return lambda run: run.text == text


def rows(*texts: str) -> reported.Check:
    """Return the check that the tables of the page have these rows, those of headers with them."""
    return lambda run: [block.span.slice(run.text).rstrip("\n") for block in _rows(run)] == list(texts)


def _rows(run: reported.Run) -> list[Block]:
    return [block for block in run.document.blocks if block.kind in ("header", "row")]


def pieces_keep_their_header(*header: str) -> reported.Check:
    """Return the check that a table was cut, each piece beginning with its header and going on with whole rows."""

    def check(run: reported.Run) -> bool:
        spans = [block.span for block in run.document.blocks if block.kind == "row"]
        edges = {place for span in spans for place in (span.start, len(run.text[: span.end].rstrip()))}
        bodies = [run.text[chunk.body.start : chunk.body.end].strip() for chunk in run.chunks]
        head = "\n".join(header)
        whole = all(chunk.body.end in edges for chunk in run.chunks)
        return len(bodies) > 1 and whole and all(text.startswith(head) for text in run.texts)

    return check


def no_blob(run: reported.Run) -> bool:
    return not any(_ENCODED.search(text) for text in run.texts)


def once(part: str) -> reported.Check:
    return lambda run: run.text.count(part) == 1


_PRE = "a\n  b\n    c"
TESTS: dict[str, reported.Test] = {
    "B079": holds(reads("- Open the main valve.\n  Then wait.\n  Close it slowly.")),
    "B108": holds(pieces_keep_their_header("A")),
    "B109": holds(rows("outer a | inner 1; inner 2", "outer b | x"), once("inner 1"), once("inner 2")),
    "B110": holds(reads("T\n\nSet the main valve to half now.")),
    "B112": holds(reported.headings_of("Body.", "One", "Two")),
    "B113": holds(lambda run: any(_PRE in text for text in run.texts)),
    "B115": holds(no_blob, reads("Before\n\npump\n\nAfter")),
}
SIBLINGS: dict[str, Callable[[], None]] = {
    "html-paragraphs-in-a-definition": sibling(
        "<dl><dt>Valve<dd><p>Opens <b>left</b>.</p>Slowly.<p>Closes.</dl>",
        99,
        reads("Valve\n  Opens left.\n  Slowly.\n  Closes."),
    ),
    "html-lines-in-an-item": sibling(
        "<ol start=9><li>One<br>two<div>three</div>four<ul><li>five</ul>six</ol>",
        99,
        reads("9. One\n  two\n  three\n  four\n  - five\n  six"),
    ),
    "html-table-with-a-header-of-two-rows": sibling(
        "<table><thead><tr><th rowspan=2>Part<th colspan=2>Torque</tr><tr><th>min<th>max</tr></thead>"
        + "<tr><td>bolt<td>4<td>6</tr>" * 9
        + "</table>",
        70,
        pieces_keep_their_header("Part | Torque |", "Part | min | max"),
    ),
    "html-table-whose-header-is-not-marked-as-such": sibling(
        "<table><tr><th>Part</th><th>No</th></tr>" + "<tr><th>bolt</th><td>3</td></tr>" * 9 + "</table>",
        40,
        pieces_keep_their_header("Part | No"),
    ),
    "html-table-in-a-table-in-a-table": sibling(
        "<table><tr><td>a<td><table><tr><td>b<td><table><tr><td>c</table></table><tr><td>d<td>e</table>",
        99,
        rows("a | b; c", "d | e"),
    ),
    "html-list-in-a-table": sibling(
        "<table><tr><th>Tool<th>For</tr><tr><td>key<td><ul><li>nuts<li>bolts</ul></table>",
        99,
        rows("Tool | For", "key | nuts; bolts"),
    ),
    "html-inline-tags-across-words": sibling(
        "<p><i>Un</i>screw<em> the</em>\n<code>M8</code><!-- x --> nut<sup>2</sup>, <a href='/x'>then <b>lift</b></a>.",
        99,
        reads("Unscrew the M8 nut², then lift."),
    ),
    "html-text-around-blocks": sibling(
        "<div>before<p>in</p>after<span>wards</span><div>end</div></div>",
        99,
        reads("before\n\nin\n\nafterwards\n\nend"),
    ),
    "html-headings-in-divisions-and-headers": sibling(
        "<div><header><h1>A <small>1</small></h1></header><div><h2><a href='#b'>B</a></h2><div>Text.</div></div></div>",
        99,
        reported.headings_of("Text.", "A 1", "B"),
    ),
    "html-headings-that-skip-a-level": sibling(
        "<main><h1>A</h1><h4>B</h4><p>One.</p><h2>C</h2><p>Two.</p></main>",
        9,
        reported.headings_of("One.", "A", "B"),
        reported.headings_of("Two.", "A", "C"),
    ),
    "html-code-in-an-item": sibling(
        "<ul><li>Run:<pre><code>make\n\n\tall</code></pre>then wait</ul>", 99, reported.has("make\n\n\tall\n")
    ),
    "html-code-of-highlighted-spans": sibling(
        "<div class='highlight-python'><table><tr><td class=linenos><pre>1\n2</pre><td><pre><span>def</span> f():\n"
        "    <span>pass</span></pre></table></div>",
        99,
        reads("def f():\n    pass\n"),
    ),
    "html-images-without-a-text": sibling(
        f"<p>See<img src='data:image/gif;base64,{'R0lGOD' * 99}'> it.<svg><text>{'Ab9+' * 99}</text></svg></p>",
        99,
        reads("See it."),
    ),
    "html-images-and-styles-of-data": sibling(
        f"<style>a{{b:url(data:x;base64,{'AAAA' * 99})}}</style><figure><img alt=seal srcset='data:{'BBBB' * 99}'>"
        f"<figcaption>The seal</figcaption></figure><a href='data:text/plain;base64,{'CCCC' * 99}'>file</a>",
        99,
        reads("The seal\n\nfile"),
        no_blob,
        lambda run: "links" not in run.document.meta,
    ),
}
