"""The records that flow from a reader to a hit.

All are frozen. Offsets are half-open and count Unicode code points of `Document.text`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

from chunkwise.core.origins import Origin

BlockKind = Literal[
    "heading",
    "paragraph",
    "list",
    "item",
    "table",
    "header",
    "row",
    "code",
    "quote",
    "html",
    "math",
    "footnote",
    "rule",
    "figure",
    "front_matter",
    "page",
]

Meta = Mapping[str, object]

NOTED = "noted"
"""The key of a chunk's meta under which an index notes what it needs itself: see chunkwise.core.noted."""

FAULTS = "faults"
"""The key of a chunk's meta under which the faults of a splitter of others are: a number for each kind."""


class Span(NamedTuple):
    """The text from `start` up to, not including, `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """The characters in it. Its `len` is a tuple's: Python asks that of whatever is unpacked."""
        return self.end - self.start

    def slice(self, text: str) -> str:
        """Return the piece of `text` that this span names."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one file is read before it is given up.

    `size` is that of the file and `expanded` what it may grow to when it is unpacked, both in bytes. `pages` counts
    pages, slides and sheets, `nesting` elements inside each other. `seconds` and `memory`, in bytes, bind a file that
    is read in a process of its own, as all but texts are in a batch.
    """

    size: int = 512 << 20
    expanded: int = 1 << 30
    pages: int = 10_000
    nesting: int = 500
    seconds: float = 60.0
    memory: int = 1 << 30


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Source:
    """What a reader reads: bytes, the id that the document will have, and where they came from.

    `encoding` is what the origin declares; left empty, the bytes have to tell.
    """

    id: str
    content: bytes = field(repr=False)
    location: str = ""
    media_type: str = "text/plain"
    encoding: str = ""
    password: str = field(default="", repr=False)
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Block:
    """One structural part of a document.

    `level` is a heading's depth from 1, a page's number, else the depth of nesting from 0.
    `label` is a heading's title, a code block's language, the delimiter of a table of CSV, a page's name where it has
    one (that of a sheet, a Roman number), the range of cells that a row of a sheet fills, else empty.
    `parent` is the index in `Document.blocks` of the block around this one, or -1.
    """

    kind: BlockKind
    span: Span
    level: int = 0
    label: str = ""
    parent: int = -1


@dataclass(frozen=True, slots=True)
class Document:
    """A text that is never rewritten, and the blocks that a reader found in it.

    `blocks` are in document order and nest like a tree, except pages, which may cut through others.
    `origin` tells where the text was in the raw one, if it was that before it was cleaned: see `source_span`.
    """

    id: str
    text: str
    blocks: tuple[Block, ...] = field(default=(), hash=False)  # many: a hash of the text tells enough
    media_type: str = "text/plain"
    source: str = ""
    meta: Meta = field(default_factory=dict, hash=False)
    origin: Origin | None = field(default=None, hash=False, repr=False)

    @classmethod
    def from_text(cls, text: str, *, id: str, meta: Meta | None = None) -> Document:
        """Wrap a plain string. For a string that holds Markdown or code use `chunkwise.read_text`."""
        return cls(id=id, text=text, meta=dict(meta or {}), origin=Origin())

    def source_span(self, span: Span) -> Span | None:
        """Return the smallest span of the raw text that a span of `text` was made of.

        The raw text is that of the file, decoded, in code points after a byte order mark: of plain text, Markdown,
        code, CSV and JSON. Where nothing was cleaned, the span is the same; a placeholder's is what it stands for.
        None where the text is a reader's own, as of PDF, HTML and Office: there pages and cells tell the place.
        Cost: O(log n) of the edits.
        """
        return None if self.origin is None else Span(*self.origin.source(*span))


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document that is embedded and found as one.

    The last of `spans` is the chunk's own text; spans before it ride along (a table's header rows).
    `text` is exactly those spans of the document, one after the other.
    `token_count` counts `embed_text` with the recipe's tokenizer, special tokens included.
    `ordinal` tells apart chunks of one document that are equal in text and context.
    """

    document_id: str
    spans: tuple[Span, ...]
    text: str
    context: str = ""
    token_count: int = 0
    parent: str = ""
    headings: tuple[str, ...] = ()
    pages: tuple[int, ...] = ()
    ordinal: int = 0
    meta: Meta = field(default_factory=dict, hash=False)
    _id: str = field(default="", init=False, repr=False, compare=False)

    @property
    def start(self) -> int:
        """The smallest offset of the chunk's spans."""
        return min(span.start for span in self.spans)

    @property
    def end(self) -> int:
        """The largest offset of the chunk's spans."""
        return max(span.end for span in self.spans)

    @property
    def body(self) -> Span:
        """The span that is the chunk's own, without what rides along."""
        return self.spans[-1]

    @property
    def own(self) -> Span:
        """The body without what an overlap repeats of the text before it."""
        repeated = self.meta.get("overlap", 0)
        return Span(self.body.start + (repeated if isinstance(repeated, int) else 0), self.body.end)

    @property
    def parts(self) -> list[tuple[Span, str]]:
        """The spans, each with its text."""
        starts = accumulate((span.length for span in self.spans), initial=0)
        return [(span, self.text[start : start + span.length]) for span, start in zip(self.spans, starts, strict=False)]

    @property
    def is_derived(self) -> bool:
        """Whether it is made from others, as a summary is: an entry to find text by, no part of the cut."""
        return "derived" in self.meta

    @property
    def gap(self) -> str:
        """The blank text between it and the next chunk of its level, which no chunk has; empty where none was noted."""
        noted = self.meta.get(NOTED)
        return str(noted.get("gap", "")) if isinstance(noted, Mapping) else ""

    @property
    def place(self) -> str:
        """Where in its document it stands, for a person: its pages, or its cells of a sheet; empty for other texts."""
        cells = self.meta.get("cells")
        if isinstance(cells, str):
            return cells
        first, last = (self.pages[0], self.pages[-1]) if self.pages else (0, 0)
        return "" if not self.pages else f"page {first}" if first == last else f"pages {first}-{last}"

    @property
    def embed_text(self) -> str:
        """What an encoder is given: the context, then the text."""
        return self.context + self.text

    @property
    def id(self) -> str:
        """Name the chunk by its content: the same in every process, unique in its document. Made once."""
        if self._id:
            return self._id
        parts = (self.document_id, self.context, self.text, str(self.ordinal))
        # Lengths first, so that no two different tuples join to the same bytes.
        key = "\0".join([*(str(len(part)) for part in parts), *parts])
        name = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        object.__setattr__(self, "_id", name)  # it follows from what does not change
        return name


@dataclass(frozen=True, slots=True)
class Drop:
    """Text that a step leaves out of every chunk, and why."""

    span: Span
    reason: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A span of a document that answers a question."""

    document_id: str
    span: Span


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and the evidence that answers it.

    `evidence` is a tuple of slots; each slot is filled by any one of its alternatives.
    `meta` holds what else a file says of it; under `synthetic`, of one that no person asked, how it was made.
    """

    id: str
    text: str
    evidence: tuple[tuple[Evidence, ...], ...] = ()
    answer: str = ""
    meta: Meta = field(default_factory=dict, hash=False)

    @property
    def is_synthetic(self) -> bool:
        """Whether it was drafted by a machine: what it measures is less than what a person's question does."""
        return bool(self.meta.get("synthetic"))


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a retriever found. Higher scores are better; ranks count from 1.

    `via` names what found it, and what changed it since. `folded` are chunks of nearly the same text, which it stands
    for.
    """

    chunk: Chunk
    score: float
    rank: int
    via: tuple[str, ...]
    folded: tuple[Chunk, ...] = ()
