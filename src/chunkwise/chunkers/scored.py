"""Cut where the meaning changes, as a scorer finds it in the vectors of the sentences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Annotated

from chunkwise.chunkers import cluster, marked, scorers  # noqa: F401 - registers them
from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import among, between, outside, page_ends, paragraphs, solid_blocks, unit_ends, units
from chunkwise.chunkers.pack import packer
from chunkwise.chunkers.riding import Riders, header_riders, row_at
from chunkwise.chunkers.scorers import Drop
from chunkwise.chunkers.sections import merged, sections
from chunkwise.core.protocols import Budget, Encoder, Floats2d, Reserve, Ruler, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, named, strategy
from chunkwise.core.scoring import Passage, Scorer
from chunkwise.core.spans import pieces
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.huggingface import MINILM
from chunkwise.text.tokens import DEFAULT_TOKENIZER

# In characters a token: no more of a long sentence is looked at.
_LONGEST_TOKEN = 16


@strategy
@dataclass(frozen=True, slots=True)
class Scored:
    """Cut at the places that `scorer` finds, and where a section starts. Tables and code have no such places.

    A group over `size` is cut at paragraphs, sentences, rows or lines; one below `min_size` tokens, by default a
    quarter of the size, joins its neighbour, within its section if it can. `encoder` is a name, as an index takes it.
    Cost: the encoder sees every text about `window` times before the chunks are embedded.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    min_size: Annotated[int | None, Range(0, 100, least=0)] = None
    scorer: Scorer = field(default_factory=Drop)
    encoder: str = MINILM
    language: str = "auto"
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        text, budget = document.text, Budget(self.size, self.tokenizer)
        ruler = self.tokenizer.measure(text)
        encode = partial(_encoded, named(Encoder, self.encoder))  # type: ignore[type-abstract]  # a key
        floor = self.size // 4 if self.min_size is None else self.min_size
        ends, places, groups = _ends(document, self.language), list[int](), list[Span]()
        for part in within:
            sentences = between(text, ends, part)
            if not sentences:
                continue
            lengths = [ruler.count(*sentence) for sentence in sentences]
            found = self.scorer(Passage(text, sentences, lengths, budget.room, encode))
            starts = [sentences[number].start for number in found]
            groups += _groups(document, part, starts, partial(_is_small, ruler, floor))
            places += starts
        riders = Riders(header_riders(document), ruler, budget, reserve, row_at(document))
        engine = packer(
            document,
            budget,
            ruler=ruler,
            whole=[*among(page_ends(document)), *among(places), paragraphs(document), units(document, self.language)],
            reserve=riders.reserve,
            min_size=floor,
        )
        cut = cutter(document, budget)
        spans, together = list(engine.each(groups)), _together(document, within)
        for span in merged(spans, ruler, budget.room, floor, riders.reserve, belong=together):
            yield riders.chunk(cut, span)


def _ends(document: Document, language: str) -> list[int]:
    """Return where sentences end; a table or a block of code counts as one."""
    return outside(unit_ends(document, language), [block.span for block in solid_blocks(document)])


def _groups(document: Document, part: Span, places: Sequence[int], is_small: Callable[[Span], bool]) -> list[Span]:
    """Return the groups that the places and the starts of sections make, small ones joined to a neighbour.

    It is the one before, unless that is of another section and this one is not the last.
    """
    parted = {section.start for section in pieces(sections(document), part)}
    edges = sorted({part.start, *places, *parted, part.end})
    groups: list[Span] = []
    for start, end in pairwise(edges):
        small_before = bool(groups) and is_small(groups[-1])
        alone = start not in parted and (end in parted or end == part.end) and is_small(Span(start, end))
        if groups and (small_before or alone):
            groups[-1] = Span(groups[-1].start, end)
        else:
            groups.append(Span(start, end))
    if len(groups) > 1 and is_small(groups[-1]):
        groups[-2:] = [Span(groups[-2].start, groups[-1].end)]
    return groups


def _together(document: Document, within: Sequence[Span]) -> Callable[[Span, Span], bool]:
    """Return a function that tells whether two spans start in one section, and in one of the spans `within`."""
    starts = [section.start for part in within for section in pieces(sections(document), part)]
    return lambda one, other: bisect_right(starts, one.start) == bisect_right(starts, other.start)


def _is_small(ruler: Ruler, floor: int, group: Span) -> bool:
    return ruler.count(*group) < floor


def _encoded(encoder: Encoder, texts: Sequence[str]) -> Floats2d:
    """Encode texts, of long ones the beginning."""
    tokenizer, most = encoder.tokenizer, encoder.max_tokens  # which some encoders look up in their folder
    return encoder([_beginning(text, tokenizer, most) for text in texts], role="passage")


def _beginning(text: str, tokenizer: Tokenizer, most: int) -> str:
    """Return as much of a text as has at most so many tokens."""
    text = text[: _LONGEST_TOKEN * most]
    if len(text.encode("utf-8", "replace")) + tokenizer.n_special <= most:  # a token has a byte at least
        return text
    while (count := tokenizer.count(text)) > most:
        text = text[: max(1, len(text) * most // (count + 1))]
    return text
