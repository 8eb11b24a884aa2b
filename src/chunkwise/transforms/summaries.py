"""Say what each section is about by its own sentences, as derived chunks for a coarse first search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from chunkwise.chunkers.cut import cutter
from chunkwise.chunkers.levels import between, sentence_ends, solid_blocks
from chunkwise.chunkers.sections import sections
from chunkwise.core.protocols import Budget
from chunkwise.core.recipes import numbered
from chunkwise.core.spans import gaps, join
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.text.graphemes import first_ink, inked
from chunkwise.text.terms import terms

# A shorter sentence names too little to be found by, whatever its words weigh.
_FEWEST_TERMS = 4


def summaries(document: Document, *, budget: Budget) -> list[Chunk]:
    """Return a derived chunk for every section: its key sentences, verbatim and in order, up to the budget.

    Key sentences are those whose terms are frequent in the section and rare in the others; the first sentence is
    always one. `meta["derived"]` is "summary"; `meta["section"]` is where the section starts and ends. A section
    without sentences, as one of a table alone, has none. Cost: the terms of the document, once.
    Source: Radev et al. 2004, doi:10.1016/j.ipm.2003.10.006 (centroids), with Nenkova 2005 for the first sentence.
    """
    parted = [(section, _sentences(document, section)) for section in sections(document)]
    bags = [[Counter(terms(span.slice(document.text))) for span in spans] for _, spans in parted]
    n_sections = Counter(term for section in bags for term in set().union(*section))
    cut = cutter(document, budget)
    found: list[Chunk] = []
    for (section, spans), sentences in zip(parted, bags, strict=True):
        kept: list[Span] = []
        for index in _ranked(sentences, n_sections, len(bags)):
            more = sorted([*kept, spans[index]])
            if budget.tokenizer.count(join(document.text, _trimmed(document, more))) <= budget.size:
                kept = more
        if kept:
            found.append(cut(*_trimmed(document, kept), meta={"derived": "summary", "section": [*section]}))
    return list(numbered(found))


def _sentences(document: Document, section: Span) -> list[Span]:
    """Return the sentences of a section's running text, white space with the sentence before it."""
    ends = sentence_ends(document, "auto").all()
    solid = [block.span for block in solid_blocks(document)]
    found: list[Span] = []
    for start, stop in gaps(solid, section):
        found += between(document.text, ends, Span(first_ink(document.text, start, stop), stop))
    return found


def _trimmed(document: Document, spans: Sequence[Span]) -> list[Span]:
    """Return the spans without the white space after the last."""
    return [*spans[:-1], inked(document.text, spans[-1])]


def _ranked(sentences: Sequence[Counter[str]], n_sections: Mapping[str, int], n_all: int) -> list[int]:
    """Return the sentences of a section, the first one first, then by what their terms weigh together."""
    in_section: Counter[str] = sum(sentences, Counter())
    weight = {term: count * math.log(1 + n_all / n_sections[term]) for term, count in in_section.items()}

    def worth(index: int) -> float:
        own = sentences[index]
        # By the root of their number: long sentences say more, but not so much more as they are longer.
        return sum(weight[term] for term in own) / math.sqrt(len(own)) if len(own) >= _FEWEST_TERMS else 0.0

    return sorted(range(len(sentences)), key=lambda index: (index > 0, -worth(index), index))
