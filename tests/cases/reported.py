"""Read the reported bugs, write their parameters as recipes, and name what is asked of the chunks."""

from __future__ import annotations

import ast
import json
import os
import sys
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

import pytest

from chunkwise.core.parsing import parse
from chunkwise.core.protocols import Chunker, Ruler, Tokenizer
from chunkwise.core.recipes import Pipe
from chunkwise.core.spans import gaps, join
from chunkwise.core.types import Chunk, Document, Span
from chunkwise.pipeline import chunker
from chunkwise.readers.read import read_text
from chunkwise.text.huggingface import MINILM
from chunkwise.text.rulers import TokenRuler

ROOT = Path(__file__).parents[2]
_FILE = Path("cases", "public-bugs.jsonl")

# The cases' neutral words, and ours.
_STRATEGIES = {
    "code": "code",
    "fixed": "fixed",
    "json": "json",
    "markdown": "structural",
    "paragraph": "paragraphs",
    "recursive": "recursive",
    "sentence": "sentences",
    "table": "rows",
    "token": "fixed",
    "word": "fixed",
}
_UNITS = {"char": "characters", "word": "words", "token": "tokens"}
_MEDIA_TYPES = {"markdown": "text/markdown", "code": "text/x-python", "json": "text/x-json", "table": "text/markdown"}
_TOKENIZERS = {
    "cl100k_base": "cl100k_base",
    "bert-uncased wordpiece (or stub that lower-cases)": MINILM,
}

_UNSAID = {  # parameters that a recipe need not say, and why
    "calls": "the test calls more than once",
    "doc_meta": "the test gives it to the document",
    "docs": "the test cuts several documents",
    "language": "the media type says it",
    "max_chunks": "refused; the test checks that",
    "offsets": "chunks always have them",
    "page_sep": "a form feed parts pages",
    "strip_headings": "headings are never stripped",
    "timeout_s": "the work is counted, not timed",
}

Test: TypeAlias = "Callable[[Case], None]"
Check: TypeAlias = "Callable[[Run], bool]"


@dataclass(frozen=True, slots=True)
class Case:
    """A bug that a user of another library reported."""

    id: str
    inputs: tuple[str, ...]
    params: Mapping[str, Any]
    expect: str

    @property
    def text(self) -> str:
        """The input of a case that has one."""
        (text,) = self.inputs
        return text

    @property
    def media_type(self) -> str:
        """What the input is written in."""
        return _MEDIA_TYPES.get(self.params.get("strategy", ""), "text/plain")


@dataclass(frozen=True, slots=True)
class Run:
    """What a recipe made of a text."""

    text: str
    document: Document
    recipe: Chunker
    chunks: list[Chunk]

    @property
    def texts(self) -> list[str]:
        """The chunks' texts in order."""
        return [chunk.text for chunk in self.chunks]

    @property
    def joined(self) -> str:
        """All chunks' texts, one after the other."""
        return "".join(self.texts)

    @property
    def headings(self) -> set[tuple[str, ...]]:
        """Every path of headings that a chunk has."""
        return {chunk.headings for chunk in self.chunks}

    def holding(self, part: str) -> list[Chunk]:
        """Return the chunks whose own text holds `part`."""
        return [chunk for chunk in self.chunks if part in chunk.body.slice(self.text)]


class Counted:
    """A tokenizer that counts the characters it is given to encode, and refuses more than `most`.

    The rulers that it makes encode a slice whenever they count one, characters and words too.
    """

    def __init__(self, inner: Tokenizer, *, most: float = float("inf")) -> None:
        self.name, self.n_special, self.characters = inner.name, inner.n_special, 0
        self._inner, self._most = inner, most
        self._rulers: dict[str, Ruler] = {}

    def count(self, text: str) -> int:
        """Count as the tokenizer does, and note the length of `text`."""
        self.characters += len(text)
        assert self.characters <= self._most, f"{self.characters} characters tokenised, more than {self._most}"
        return self._inner.count(text)

    def measure(self, text: str) -> Ruler:
        """Return a ruler whose every encoding is noted."""
        if text not in self._rulers:
            self.count(text)
            ruler = self._inner.measure(text)
            known = (array("i", range(1, len(text) + 1)), None)
            ends, sync = (ruler._ends, ruler._sync) if isinstance(ruler, TokenRuler) else known
            self._rulers[text] = TokenRuler(
                text, ends=ends, count=lambda piece: self.count(piece) - self.n_special, sync=sync
            )
        return self._rulers[text]


def shared_file() -> Path:
    """Return the file of cases, below CHUNKWISE_SHARED or beside the repository; skip the test if there is none."""
    named = os.environ.get("CHUNKWISE_SHARED")
    places = [Path(folder) / _FILE for folder in (named, ROOT.parent / "shared") if folder]
    for place in places:
        if place.is_file():
            return place
    pytest.skip(f"no cases at {' or '.join(map(str, places))}; name the folder that holds {_FILE} in CHUNKWISE_SHARED")


def load() -> dict[str, Case]:
    """Return the cases by id, in the file's order."""
    return _load(shared_file())


@cache
def _load(file: Path) -> dict[str, Case]:
    records = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    cases = [Case(record["id"], _inputs(record), record["params"], record["expect"]) for record in records]
    assert len({case.id for case in cases}) == len(cases), "two cases have one id"
    return {case.id: case for case in cases}


def _inputs(record: Mapping[str, Any]) -> tuple[str, ...]:
    value = record["input"] if "input" in record else _value(record["input_py"])
    return tuple(map(str, value)) if isinstance(value, list) else (str(value),)


def _value(expression: str) -> object:
    try:
        return ast.literal_eval(expression)
    except ValueError:  # an expression: only tests evaluate one, and only from the cases' own file
        return eval(expression)


def recipe(params: Mapping[str, Any]) -> str:
    """Write a case's neutral parameters as a recipe. A parameter that can't be written is an error."""
    given = {key: value for key, value in params.items() if key not in _UNSAID and value is not None}
    strategy, unit = _STRATEGIES[given.pop("strategy")], _UNITS[given.pop("unit", "token")]
    siblings = {"siblings": True} if strategy == "structural" and "min_size" in given else {}  # that is asked for
    strategy = "clauses" if given.pop("numbered_headings", False) else strategy
    named = {"size": "size", "min_size": "min_size", "max_sentences": "max_sentences", "rows": "max_rows"}
    options: dict[str, Any] = {ours: given.pop(key) for key, ours in named.items() if key in given} | siblings
    if unit != "tokens":
        options["unit" if strategy == "fixed" else "tokenizer"] = unit
    if "tokenizer" in given:
        options["tokenizer"] = _TOKENIZERS[given.pop("tokenizer")]
    if "lang" in given:
        options["language"] = given.pop("lang")
    own = given.pop("separators", None) or ([given.pop("separator")] if "separator" in given else [])
    if own:  # cutting at one's own separators is what `recursive` does
        strategy, options["separators"], options["regex"] = "recursive", own, given.pop("separator_regex", False)
        options["tokenizer"] = options.pop("unit", options.get("tokenizer", MINILM))
    stages = [f"{strategy}({_arguments(options)})"]
    if overlap := given.pop("overlap", 0):
        stages.append(f"overlap({'ratio' if isinstance(overlap, float) else 'tokens'}={overlap})")
    if given.pop("prepend_headings", False):
        stages.append("context(headings=True)")
    assert not given, f"no words for {given}"
    return " | ".join(stages)


def _arguments(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in options.items())


def run(text: str, recipe: str | Chunker, media_type: str = "text/plain") -> Run:
    """Read and cut a text. A recipe that never ends fails instead."""
    cut = chunker(recipe)
    document = read_text(text, id="case", media_type=media_type)
    chunks = list(islice(cut(document), len(text) + 1))
    assert len(chunks) <= len(text), "more chunks than characters: this would never end"
    return Run(text, document, cut, chunks)


def holds(*checks: Check, **changes: object) -> Test:
    """Return the test that these checks hold for the case's own text and parameters, or `changes` of them."""

    def test(case: Case) -> None:
        verify(run(case.text, recipe({**case.params, **changes}), case.media_type), checks, case.expect)

    return test


def verify(result: Run, checks: tuple[Check, ...], expect: str) -> None:
    """Assert that there are chunks and that every check holds for them; say of the first that does not."""
    assert result.chunks, "no chunks"
    for i, check in enumerate(checks):
        assert check(result), (
            f"check {i} ({check.__name__}) fails for {result.recipe!r}; expected: {expect}\n"
            + "\n".join(f"{c.spans} {c.headings} {c.context!r} {c.text[:200]!r}" for c in result.chunks[:20])
        )


def sibling(text: str, recipe: str, *checks: Check, media_type: str = "text/plain") -> Callable[[], None]:
    """Return the test that these checks hold for a text of our own, counted in characters unless the recipe says."""
    expect = "as in the cases of its kind"
    return lambda: verify(run(text, chunker(recipe, tokenizer="characters"), media_type), checks, expect)


def markdown(size: int, text: str, *checks: Check) -> Callable[[], None]:
    """Return the test that these checks hold for Markdown of our own, with context and a little overlap."""
    recipe = f"structural(size={size}) | overlap(tokens=8) | context()"
    return sibling(text, recipe, *checks, media_type="text/markdown")


def exact(run: Run) -> bool:
    """Every chunk of one span is the slice between its offsets; of several, the joined slices."""
    return all(
        chunk.text == (run.text[chunk.start : chunk.end] if len(chunk.spans) == 1 else join(run.text, chunk.spans))
        for chunk in run.chunks
    )


def covered(run: Run) -> bool:
    """Every character that is not white space is in a chunk."""
    missing = gaps([chunk.body for chunk in run.chunks], Span(0, len(run.text)))
    return all(not gap.slice(run.text).strip() for gap in missing)


def whole(run: Run) -> bool:
    """The text can be put together again: no chunk overlaps, and what lies between is white space.

    Asked for where a case wants the joined chunks to equal the text: by design white space at a
    chunk's ends is in no chunk.
    """
    apart = all(one.end <= other.start for one, other in pairwise(run.chunks))
    return apart and exact(run) and covered(run)


def rising(run: Run) -> bool:
    """Every chunk's own text starts after the one before."""
    return all(one.body.start < other.body.start for one, other in pairwise(run.chunks))


def distinct(run: Run) -> bool:
    """No two chunks start at one place, and no two have one id."""
    n_chunks = len(run.chunks)
    return len({chunk.body.start for chunk in run.chunks}) == n_chunks == len({chunk.id for chunk in run.chunks})


def unnested(run: Run) -> bool:
    """No chunk lies inside the one before."""
    return not any(one.start <= other.start and other.end <= one.end for one, other in pairwise(run.chunks))


def within(run: Run) -> bool:
    """What is embedded, context and overlap with it, is within the size, and so is the text alone."""
    count, size = run.recipe.budget.tokenizer.count, run.recipe.budget.size
    return all(count(part) <= size for chunk in run.chunks for part in (chunk.embed_text, chunk.text))


def has(*parts: str) -> Check:
    """Return the check that some chunk holds every one of these."""
    return lambda run: any(all(part in text for part in parts) for text in run.texts)


def under(*headings: str) -> Check:
    """Return the check that every chunk stands under these headings."""
    return lambda run: run.headings == {headings}


def starts_with_no(*heads: str) -> Check:
    return lambda run: not any(text.startswith(heads) for text in run.texts)


def pages_are_touched(run: Run) -> bool:
    """A form feed belongs to the page that it ends."""
    before = [(run.text.count("\f", 0, c.start), run.text.count("\f", 0, c.end - 1)) for c in run.chunks]
    return [c.pages for c in run.chunks] == [tuple(range(first + 1, last + 2)) for first, last in before]


def every_chunk(part: str, *others: str) -> Check:
    return lambda run: all(word in c.embed_text for c in run.chunks for word in (part, *others))


def headings_of(part: str, *headings: str) -> Check:
    return lambda run: {c.headings for c in run.holding(part)} == {headings}


def small_ones_can_not_be_joined(run: Run) -> bool:
    pairs = list(pairwise(run.chunks))
    joinable = [pair for pair in pairs if pair[1].end - pair[0].start <= 400]
    return not any(min(len(one.text), len(other.text)) < 80 for one, other in joinable)


def at_line_ends(run: Run) -> bool:
    edges = {place for c in run.chunks for place in c.body if 0 < place < len(run.text)}
    return all("\n" in run.text[place - 1 : place + 1] for place in edges)


def rows_tile(run: Run) -> bool:
    """The first chunk holds the header; later ones carry it as a span of its own."""
    later = run.chunks[1:]
    carried = all(c.text.startswith("| Part |") and "Part" not in c.body.slice(run.text) for c in later)
    return run.chunks[0].start == 0 and len(later) == 2 and carried and covered(run)


def linear(**changes: object) -> Test:
    """Return the test that the work grows as the case's text does."""
    return lambda case: grows_linearly(case.text, recipe({**case.params, **changes}), case.media_type)


def grows_linearly(text: str, recipe: str, media_type: str = "text/plain", most: float = 6) -> None:
    """Assert that the work on a text is in proportion to its length: a count, because machines differ in time.

    At most `most` characters are tokenised for one of the text; the text takes at most two and a half
    times as many as its second half does, and as many calls of functions.
    """
    _work("One. Two.", recipe, media_type)  # what is loaded once is not counted
    half, full = (_work(part, recipe, media_type) for part in (text[len(text) // 2 :], text))
    assert full[0] <= most * len(text), f"{full[0]} characters tokenised for {len(text)}"
    assert full[0] <= 2.5 * half[0], f"{half[0]} characters tokenised for a half, {full[0]} for the whole"
    assert full[1] <= 2.5 * half[1], f"{half[1]} calls for a half, {full[1]} for the whole"


def _work(text: str, recipe: str, media_type: str) -> tuple[int, int]:
    """Return how many characters are tokenised and how many functions are called to read and cut a text."""
    cut, meter = counted(recipe)
    n_calls = 0

    def note(frame: FrameType, event: str, detail: object) -> None:
        nonlocal n_calls
        n_calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        list(cut(read_text(text, media_type=media_type)))
    finally:
        sys.setprofile(before)
    return meter.characters, n_calls


def ends(*checks: Check) -> Test:
    """Return the test of a text that others hang on: at most thirty characters are tokenised for one of it."""

    def test(case: Case) -> None:
        cut, _ = counted(recipe(case.params), 30 * len(case.text))
        verify(run(case.text, cut, case.media_type), checks, case.expect)

    return test


def counted(recipe: str, most: float = float("inf")) -> tuple[Chunker, Counted]:
    """Return the chunker of a recipe, and the counting tokenizer that it uses in place of its own."""
    cut = parse(recipe)
    meter = Counted(cut.budget.tokenizer, most=most)
    stage: Any = cut.chunker if isinstance(cut, Pipe) else cut
    stage = replace(stage, tokenizer=meter, **({"unit": "tokens"} if hasattr(stage, "unit") else {}))
    return (Pipe(stage, cut.transforms) if isinstance(cut, Pipe) else stage), meter
