"""Check a recipe on one's own documents: the laws, and the health of the chunks."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from chunkwise.core.protocols import Chunker, Encoder, Floats2d, Tokenizer
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.embed import encoder as find_encoder
from chunkwise.evaluate.cohesion import MOST_SENTENCES, Cohesion, cohesion, embedded_sentences
from chunkwise.evaluate.intrinsic import FINDINGS, Sizes, deepest, left_out, over_limit, sizes
from chunkwise.pipeline import DEFAULT_RECIPE, chunker
from chunkwise.readers.read import Skip
from chunkwise.testing import Violation, examine, examine_value
from chunkwise.text.duplicates import Duplicates, Twin

__all__ = ["Example", "Finding", "Report", "check", "compare"]

# How many examples a finding has, and how many characters around its place are quoted.
_MOST_EXAMPLES, _BEFORE, _AFTER = 3, 40, 60


@dataclass(frozen=True, slots=True)
class Example:
    """A place to look up: offsets count code points, lines from 1. A cut has `start == end`."""

    document_id: str
    start: int
    end: int
    line: int
    before: str
    after: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """How often something was found, of how many that were looked at, with a few examples."""

    name: str
    found: int
    of: int
    examples: tuple[Example, ...] = ()

    @property
    def share(self) -> float:
        """What was found, as a share of what was looked at."""
        return self.found / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """What a check of one recipe found.

    `laws` holds only the laws that are broken. `left_out` counts the characters that are in no chunk on purpose, by
    reason. `duplicates_full` tells that there were more chunks than are compared with each other.
    """

    recipe: str
    size: int
    n_documents: int
    sizes: Sizes
    laws: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    left_out: Mapping[str, int]
    cohesion: Cohesion | None
    duplicates_full: bool
    skipped: tuple[Skip, ...]

    def __getitem__(self, name: str) -> Finding:
        """Return a finding by name; raises KeyError."""
        return {finding.name: finding for finding in self.findings}[name]


def check(
    documents: Iterable[Document | Skip],
    recipe: str | Chunker = DEFAULT_RECIPE,
    *,
    tokenizer: str | Tokenizer | None = None,
    encoder: str | Encoder | None = None,
) -> Report:
    """Check the laws on documents, such as those of `read_folder`, and measure the health of their chunks.

    With an encoder, also whether it takes every chunk, and how far sentences belong together inside chunks.
    Cost: two runs of the chunker a document. Memory: 4 bytes a chunk, and about 120 MB at most to find duplicates.
    Raises: RecipeError, EncodeError.
    """
    (report,) = compare(documents, [chunker(recipe, tokenizer=tokenizer)], encoder=encoder)
    return report


def compare(
    documents: Iterable[Document | Skip], chunkers: Sequence[Chunker], *, encoder: str | Encoder | None = None
) -> tuple[Report, ...]:
    """Check several recipes on the same documents, which are read once; one report for each."""
    model = find_encoder(encoder) if isinstance(encoder, str) else encoder
    runs = [_Run(cut, model) for cut in chunkers]
    skipped, n_sentences = list[Skip](), 0
    for document in documents:
        if isinstance(document, Skip):
            skipped.append(document)
            continue
        sentences = None
        if model is not None and n_sentences < MOST_SENTENCES:
            sentences = embedded_sentences(document, model, most=MOST_SENTENCES - n_sentences)
            n_sentences += len(sentences[0])
        for run in runs:
            run.take(document, sentences)
    return tuple(replace(run.report(), skipped=tuple(skipped)) for run in runs)


class _Tally:
    """A finding that grows."""

    def __init__(self) -> None:
        self.found = self.of = 0
        self.examples: list[Example] = []

    def add(self, found: Sequence[Span], of: int, document: Document, note: str = "") -> None:
        self.found += len(found)
        self.of += of
        for span in found[: _MOST_EXAMPLES - len(self.examples)]:
            self.examples.append(_example(document, span, note))

    def add_one(self, example: Example) -> None:
        self.found += 1
        if len(self.examples) < _MOST_EXAMPLES:
            self.examples.append(example)

    def finding(self, name: str) -> Finding:
        return Finding(name, self.found, self.of, tuple(self.examples))


class _Run:
    """What one recipe has shown so far."""

    def __init__(self, cut: Chunker, encoder: Encoder | None) -> None:
        self._cut, self._encoder = cut, encoder
        self._n_documents = 0
        self._counts = array("i")
        self._laws: dict[str, _Tally] = {}
        self._findings = {name: _Tally() for name in FINDINGS}
        self._limit, self._equal = _Tally(), _Tally()
        self._texts = Duplicates[Example]()
        self._left_out: Counter[str] = Counter()
        self._cohesion = Cohesion()
        for violation in examine_value(cut):
            self._law(violation).add_one(Example("", 0, 0, 0, "", "", violation.message))

    def take(self, document: Document, sentences: tuple[Sequence[Span], Floats2d] | None) -> None:
        """Cut a document and judge its chunks."""
        self._n_documents += 1
        chunks, violations = examine(self._cut, document)
        for violation in violations:
            self._law(violation).add([violation.span], 1, document, violation.message)
        chunks = [chunk for chunk in chunks if chunk.spans and 0 <= chunk.start < chunk.end <= len(document.text)]
        document = self._cut.outlined(document)  # with the headings that only this chunker finds
        self._counts.extend(chunk.token_count for chunk in chunks)
        for name, judge in FINDINGS.items():
            faults = judge(chunks, document, self._cut.budget)
            self._findings[name].add(faults.spans, faults.of, document)
        if self._encoder is not None:
            faults = over_limit(chunks, self._encoder)
            self._limit.add(faults.spans, faults.of, document)
        self._left_out += left_out(chunks, document, self._cut.dropped(document))
        self._compare_texts(deepest(chunks), document)
        if sentences is not None:
            self._cohesion += cohesion(chunks, *sentences)

    def report(self) -> Report:
        """Sum up."""
        alike = _Tally()
        for twin in self._texts.near():
            alike.add_one(_noted(twin))
        alike.of = self._equal.of
        findings = [tally.finding(name) for name, tally in self._findings.items()]
        findings += [self._equal.finding("equal"), alike.finding("alike")]
        if self._encoder is not None:
            findings.insert(1, self._limit.finding("over_limit"))
        return Report(
            recipe=repr(self._cut),
            size=self._cut.budget.size,
            n_documents=self._n_documents,
            sizes=sizes(self._counts, self._cut.budget.size),
            laws=tuple(self._laws[law].finding(law) for law in sorted(self._laws, key=lambda law: int(law[1:]))),
            findings=tuple(findings),
            left_out=dict(self._left_out),
            cohesion=self._cohesion if self._encoder is not None else None,
            duplicates_full=self._texts.is_full,
            skipped=(),
        )

    def _law(self, violation: Violation) -> _Tally:
        return self._laws.setdefault(violation.law, _Tally())

    def _compare_texts(self, chunks: Sequence[Chunk], document: Document) -> None:
        """Look each text up among all before it. Lines are counted along the way, for a text may have many chunks."""
        line, counted = 1, 0
        for chunk in chunks:
            line += document.text.count("\n", counted, chunk.body.start)
            counted = max(counted, chunk.body.start)
            head = document.text[chunk.body.start : min(chunk.body.end, chunk.body.start + _AFTER)]
            twin = self._texts.add(chunk.text, Example(document.id, *chunk.body, line, "", head))
            if twin is not None:
                self._equal.add_one(_noted(twin))
        self._equal.of += len(chunks)


def _example(document: Document, span: Span, note: str = "") -> Example:
    text = document.text
    start = min(max(span.start, 0), len(text))
    end = min(max(span.end, start), len(text))
    stop = start + _AFTER if start == end else min(end, start + _AFTER)
    line = text.count("\n", 0, start) + 1
    return Example(document.id, start, end, line, text[max(0, start - _BEFORE) : start], text[start:stop], note)


def _noted(twin: Twin[Example]) -> Example:
    earlier = twin.earlier
    place = f"{earlier.document_id}:{earlier.line}" if earlier.document_id != twin.place.document_id else ""
    return replace(twin.place, note=f"{twin.similarity:.0%} as in {place or f'line {earlier.line}'}")
