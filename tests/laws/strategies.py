"""Texts and documents that break naive splitters, for Hypothesis to draw."""

from __future__ import annotations

import os

from hypothesis import strategies as st

from chunkwise.chunkers.splitters import custom_splitter
from chunkwise.core.parsing import with_size
from chunkwise.core.recipes import STRATEGIES, is_chunker, parameters
from chunkwise.core.types import Document
from chunkwise.embed import custom_encoder
from chunkwise.readers.read import read_text
from chunkwise.text.graphemes import grapheme_spans
from unit.hashing import ForgetfulEncoder

EXAMPLES = int(os.environ.get("CHUNKWISE_LAW_EXAMPLES", "60"))

# What recipes encode with: the default one takes a second for a page.
custom_encoder("hashing", ForgetfulEncoder())

# What another's splitter breaks, `external` tells and does not mend. So the laws hold of it only with a splitter that
# breaks none: the only one that fits every size in every tokenizer cuts out each grapheme.
custom_splitter("graphemes", lambda text: [span.slice(text) for span in grapheme_spans(text)])

# What follows a strategy.
PIPES = [
    "",
    " | overlap(sentences=1)",
    " | overlap(ratio=0.3)",
    " | context(headings=True)",
    " | overlap(tokens=2) | context(headings=True)",
    " | context(headings=True) | overlap(sentences=2)",
    " | context(title=True, summary=True, neighbours=1)",
]

# Overlap in tokens must leave room, so the smallest sizes are drawn without a large one.
sizes = st.one_of(st.integers(5, 12), st.integers(13, 60), st.sampled_from([128, 200]))

# Each is a fault seen in a splitter: CJK, right-to-left, ZWJ emoji, flags, combining marks, CRLF, lone CR,
# NUL, form feed, no-break and zero-width spaces, separators that str.splitlines knows and no editor does.
_HARD = [
    "水泵每周检查一次。阀门必须关闭！",
    "第一文です．第二文です。",
    "점검은 매주 한다. 밸브를 닫는다.",
    "คนงานตรวจปั๊มน้ำทุกวัน",
    "بِسْمِ اللَّهِ مَرْحَبًا. نعم؟ ",
    "שלום עולם. ",
    "हिन्दी में वाक्य। दूसरा वाक्य। ",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",
    "\U0001f1eb\U0001f1f7\U0001f1e9\U0001f1ea",
    "e\u0301\u0323o\u0308",
    " \u0301",
    "\t\u200d",
    "\u200d\U0001f467",
    "z" + "\u0335" * 40,
    "\r\n",
    "\r",
    "\n\n",
    "\x00",
    "\f",
    "\u00a0",
    "\u200b",
    "\u2028",
    "\ufeff",
    "<|endoftext|>",
    "[SEP] [CLS]",
    "Dr. Okafor paid 3.14 at 5 p.m. in the U.S. today. ",
    "supercalifragilisticexpialidocious",
    "a" * 300,
    "https://example.org/a/b?c=d&e=f#g",
    "    ",
    "\t",
]
_MARKDOWN = [
    "# Title\n\n",
    "## 24/7 Support\n\n",
    "Setext\n======\n\n",
    "- item one\n- item two\n  - nested\n\n",
    "1. first\n\n   continued\n\n2. second\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n| x. y | z |\n\n",
    "```py\n# not a heading\n\ndef f():\n    return 1\n```\n\n",
    "~~~\nopen\n",
    "> quote\n> more\n\n",
    "---\ntitle: T\n---\n",
    "<div>\n<p>x</p>\n</div>\n\n",
    "For example:\n\n",
    "***\n",
    "[^1]: note\n\n",
    "    indented code\n\n",
]

# What other strategies look for: code, sound and broken, tables, JSON, logs, turns of speakers, clauses.
_SHAPES = [
    "@cached\ndef f(x):\n    return x\n\n\n",
    "class A(B):\n    # why\n    def m(self):\n        if self:\n            return 1\n\n    n = 2\n",
    "import a\nfrom b import c\n",
    "function g(x) { return {a: 1}; }\n",
    "def broken(:\n  ]]\n",
    'id,name,note\n1,"a ""b""\nc",x\n2,d,\n',
    '{"a": [1, {"b": null}], "long key": "v, w"}\n',
    "[[[{",
    "2026-11-30 02:40:03 INFO started\n  at main()\n",
    "[ERROR] failed\n",
    "Alice: Yes. I think so.\n",
    "[00:01:02] BOB (CEO): No\n",
    "4.2 Term\nThe term is a year.\n",
    "(a) first; and\n(b) second.\n",
    "Article 7\nSee 4.2 above.\n",
]

_words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
_prose = st.lists(st.sampled_from(["The pump runs.", "Valve 7 is shut", "and", "no, never;", "why?"]), max_size=12)
_pieces = st.one_of(
    st.sampled_from(_HARD),
    st.sampled_from(_MARKDOWN),
    st.sampled_from(_SHAPES),
    _words,
    _prose.map(" ".join),
    st.sampled_from([" ", "\n", "\n\n", ". ", "  \n"]),
)

texts = st.lists(_pieces, max_size=24).map("".join)

media_types = st.sampled_from(
    ["text/plain", "text/markdown", "text/x-python", "text/x-javascript", "text/csv", "text/x-json"]
)


def written(name: str, size: int) -> str:
    """Return a strategy whose chunks, or those that are embedded, have at most so many tokens."""
    known = parameters(STRATEGIES[name])
    given = {"size": size, "sizes": [2 * size, size], "least": size // 2, "encoder": "hashing", "splitter": "graphemes"}
    inner = {key: with_size(default, size) for key, (_, default, _) in known.items() if is_chunker(default)}
    arguments = {key: value for key, value in (given | inner).items() if key in known and "sizes" not in known}
    shown = arguments or {"sizes": given["sizes"]}
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in shown.items())})"


def document(text: str, media_type: str = "text/plain") -> Document:
    """Read a text as a document."""
    return read_text(text, id="doc", media_type=media_type)


documents = st.builds(document, texts, media_types)
