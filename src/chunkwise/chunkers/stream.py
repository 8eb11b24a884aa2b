"""Cut a text that comes in pieces: every chunk comes out once nothing that follows can change it.

The chunker, unchanged, cuts a view of the text: its end that is still needed. A chunk is decided when all that was
looked at for it lies before the view's end. The reasons are in docs/decisions/0011-streams.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from chunkwise.chunkers.growing_table import GrowingTable
from chunkwise.chunkers.levels import sentence_ends
from chunkwise.core.errors import ChunkwiseError, RecipeError
from chunkwise.core.outline import body
from chunkwise.core.protocols import Chunker, Ruler, Tokenizer
from chunkwise.core.recipes import Pipe, numbered, parameters
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.graphemes import LONGEST, first_ink
from chunkwise.text.growing import Growing
from chunkwise.text.sentences import SAMPLE, guess_language

# The media types of delimited text.
TABLES = ("text/csv", "text/tab-separated-values")

# In characters: how far around a place it may be looked whether a word or a grapheme ends there.
_MARGIN = 4 * LONGEST

# In characters: a longer piece is taken in parts, so that memory stays small.
_MOST_AT_ONCE = 1 << 16


class Stream:
    """Cut a text that comes in pieces; the chunks are those of the whole text, to the last field.

    A chunk comes out about a chunk's length after its end has come. Where the language has to be guessed, the first
    chunks wait for 4,096 characters.
    Memory: a few chunks and paragraphs, and a few bytes for each chunk that was made. White space without ink after it,
    and a word without an end, are kept until they end.
    Of delimited text, whose `media_type` says so, the chunks are those of the document that its reader makes; there
    the first ones wait for 65,536 characters, and the beginning up to a few rows after the header is kept throughout.
    Raises: RecipeError if the recipe or its tokenizer can't decide before the text ends.
    """

    def __init__(self, chunker: Chunker, *, id: str, media_type: str = "text/plain") -> None:
        is_table = media_type in TABLES
        if not (chunker.streams_tables if is_table else chunker.streamable):
            raise RecipeError(
                f"{chunker!r} can't cut a stream{' of a table' if is_table else ''}: what it decides may depend on "
                "text far ahead; read the whole text and use chunk"
            )
        pipe = chunker if isinstance(chunker, Pipe) else Pipe(chunker, ())
        named = (getattr(stage, "language", None) for stage in (pipe.chunker, *pipe.transforms))
        # In a table no sentences are looked for.
        self._languages = [] if is_table else sorted({language for language in named if language is not None})
        self._growing = Growing(chunker.budget.tokenizer)
        self._media_type = media_type
        self._table = GrowingTable(self._growing, media_type=media_type, margin=_MARGIN) if is_table else None
        self._measured = _Measured(chunker.budget.tokenizer)
        self._pipe = _counting(pipe, self._measured)
        self._id = id
        self._start = ""  # of the text: as much as its language is guessed by
        self._guessed = ""
        self._seen: Counter[int] = Counter()
        self._last: Chunk | None = None
        self._position = 0  # up to here, all is cut
        self._ahead = 0  # how far beyond a chunk's start was looked for the last one
        self._due = SAMPLE if "auto" in self._languages else 0  # before so much has come, cutting would be in vain
        self._closed = False

    @property
    def n_kept(self) -> int:
        """How many characters of the text are still needed."""
        return self._growing.received - self._growing.offset

    def feed(self, piece: str) -> list[Chunk]:
        """Take the next piece of the text, and return the chunks that are decided now.

        Cost: linear. In long pieces 1.1 to 1.9 times that of cutting the whole text; where they are shorter than a
        chunk, which is then set up for and tried by itself, 2 to 11 times, the more the faster the tokenizer.
        Raises: ChunkwiseError if it is no string, or the stream is closed.
        """
        if not isinstance(piece, str):
            raise ChunkwiseError("a stream takes strings; decode bytes with codecs.getincrementaldecoder('utf-8')()")
        if self._closed:
            raise ChunkwiseError("the stream is closed; start another one for another text")
        chunks: list[Chunk] = []
        for start in range(0, len(piece), _MOST_AT_ONCE):
            self._take(piece[start : start + _MOST_AT_ONCE])
            if self._growing.received >= self._due:
                chunks += self._decided(final=False)
        return chunks

    def close(self) -> list[Chunk]:
        """End the text, and return the chunks that are left."""
        if self._closed:
            return []
        self._closed = True
        return list(self._decided(final=True))

    def over(self, pieces: Iterable[str]) -> Iterator[Chunk]:
        """Yield the chunks of a text as its pieces come, and close the stream."""
        for piece in pieces:
            yield from self.feed(piece)
        yield from self.close()

    def _take(self, piece: str) -> None:
        self._growing.add(piece)
        if len(self._start) < SAMPLE:
            self._start = (self._start + piece)[:SAMPLE]

    def _decided(self, *, final: bool) -> Iterator[Chunk]:
        """Yield the chunks after the last one that nothing which follows can change; if nothing does, all."""
        growing = self._growing
        gained, table = growing.grow(final=final), self._table
        if final or (gained and (table is None or table.is_known())):
            view = self._view()
            self._measured.take(view.text, growing.ruler())
            yield from numbered(self._cut(view, final=final), self._seen)
            (growing if table is None else table).drop(self._unneeded(view))
        waiting = growing.received - self._position
        self._due = max(self._position + self._ahead, growing.received + waiting // 4 + 1)

    def _view(self) -> Document:
        """Return what is kept of the text, with the language of the whole, told apart from what was kept before."""
        if "auto" in self._languages and not self._guessed:
            self._guessed = guess_language(self._start)
        meta = {"language": self._guessed, "offset": self._growing.offset}
        blocks = self._table.blocks() if self._table is not None else ()
        return Document(self._id, self._growing.text, blocks, self._media_type, meta=meta)

    def _cut(self, view: Document, *, final: bool) -> Iterator[Chunk]:
        offset, pinned, pipe = self._growing.offset, self._growing.n_pinned, self._pipe
        decided = len(view.text) if self._table is None else self._table.sure()
        rest = Span(max(self._position - offset, body(view).start), len(view.text))
        # The transforms go on from the last chunk, so they are given it once more.
        last = [_shifted(self._last, -offset, beyond=pinned)] if self._last is not None else []
        chunks = chain(last, pipe.chunker(view, pipe.reserve(view), [rest]))
        for chunk in islice(pipe.transformed(chunks, view), len(last), None):
            looked = self._looked(view)
            if looked >= decided and not final:
                return
            self._ahead = looked - chunk.body.start
            self._last = _shifted(chunk, offset, beyond=pinned)
            self._position = self._last.body.end
            yield self._last

    def _looked(self, view: Document) -> int:
        """Return how much of a view decided what was cut so far."""
        text, furthest = view.text, self._measured.ruler.looked
        ink = reach = first_ink(text, furthest, len(text))  # up to there, a place for a cut is looked for
        for language in self._languages:
            reach = max(reach, first_ink(text, sentence_ends(view, language).reach(ink), len(text)))
        return reach + _MARGIN

    def _unneeded(self, view: Document) -> int:
        """Return how much of the view's start no cut, no overlap and no sentence that follows depends on."""
        if self._last is None:
            return 0
        offset, room = self._growing.offset, self._pipe.budget.room
        repeated = self._measured.ruler.fit_back(self._position - offset, room + 1)
        start = self._last.start if self._table is None else self._last.body.start  # what rides along is kept
        needed = min(start - offset, repeated) - _MARGIN
        ends = [sentence_ends(view, language) for language in self._languages]
        while needed > 0 and (start := min((each.window(needed) for each in ends), default=needed)) < needed:
            needed = start  # a window of one language may be none of another
        return max(0, needed)


class _Measured:
    """A tokenizer that has measured one text already."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.name, self.n_special = tokenizer.name, tokenizer.n_special
        self.count = tokenizer.count
        self._measure = tokenizer.measure
        self.take("", tokenizer.measure(""))

    def take(self, text: str, ruler: Ruler) -> None:
        """Go on to the next text."""
        self._text, self.ruler = text, _Watch(ruler)

    def measure(self, text: str) -> Ruler:
        """Return the ruler over the text; for any other, a new one."""
        return self.ruler if text is self._text else self._measure(text)


class _Watch:
    """A ruler that knows how far ahead was looked."""

    def __init__(self, ruler: Ruler) -> None:
        self.looked = 0
        self.count, self.fit_back, self._fit = ruler.count, ruler.fit_back, ruler.fit

    def fit(self, start: int, budget: int) -> int:
        """Return where `budget` tokens from `start` end."""
        end = self._fit(start, budget)
        self.looked = max(self.looked, end)
        return end


def _counting(pipe: Pipe, tokenizer: Tokenizer) -> Pipe:
    """Return the same recipe counting with `tokenizer`, whatever unit it names."""
    unit = {"unit": "tokens"} if "unit" in parameters(type(pipe.chunker)) else {}
    return replace(pipe, chunker=replace(pipe.chunker, tokenizer=tokenizer, **unit))  # type: ignore[type-var]


def _shifted(chunk: Chunk, by: int, *, beyond: int) -> Chunk:
    """Move the spans of a chunk that start at `beyond` or after it."""
    spans = (Span(start + by, end + by) if start >= beyond else Span(start, end) for start, end in chunk.spans)
    return replace(chunk, spans=tuple(spans))
