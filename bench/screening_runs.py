"""The recipes that screening is judged by, and what each finds by every kind of vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.parsing import parse
from chunkwise.core.protocols import Encoder, Floats2d
from chunkwise.core.types import Chunk, Document, Query
from chunkwise.embed import minilm
from chunkwise.embed.late import late
from chunkwise.evaluate.screening import Screen, Surrogate, surrogates
from chunkwise.updating import embedded
from questions import QuestionSet, load
from screening_ranking import Ranked

Cut: TypeAlias = Sequence[tuple[Document, Sequence[Chunk]]]

# Spread over strategies, sizes up to what the encoder takes, overlaps and contexts; any beginning of them is, too.
RECIPES = (
    "recursive(size=200)",
    "recursive(size=100)",
    "structural(size=200) | context(headings=True)",
    "structural(size=200) | context(title=True, neighbours=1)",
    "scored(size=200)",
    "recursive(size=150)",
    "fixed(size=250)",
    "sentences(size=64)",
    "recursive(size=128) | overlap(ratio=0.25)",
    "paragraphs(size=250)",
    "structural(size=90) | context(title=True)",
    "sentences(size=180) | overlap(sentences=1)",
    "fixed(size=64)",
    "recursive(size=250)",
    "recursive(size=100) | context(title=True)",
    "paragraphs(size=128)",
    "fixed(size=200) | overlap(tokens=50)",
    "structural(size=128) | context(headings=True)",
    "sentences(size=250)",
    "recursive(size=100) | overlap(sentences=1)",
    "recursive(size=64)",
    "sentences(size=100) | context(title=True)",
    "structural(size=250) | context(title=True)",
    "fixed(size=128)",
    "paragraphs(size=180) | overlap(sentences=1)",
    "recursive(size=180) | context(title=True)",
    "sentences(size=128)",
    "structural(size=64)",
    "recursive(size=200) | overlap(sentences=1)",
    "recursive(size=250) | overlap(ratio=0.4)",
)

# Of the default encoder.
_N_SPECIAL = minilm().tokenizer.n_special

REAL, PASSAGES, STATIC, SENTENCES, TOKENS = "embedded", "passages", "static", "sentences", "tokens"
WAYS = (REAL, PASSAGES, STATIC, SENTENCES, TOKENS)


@dataclass(frozen=True, slots=True)
class Run:
    """The recall of a recipe by some vectors, [n_budgets, n_questions].

    `n_tokens` are those of its chunks, `screened` those that were embedded to screen it and all recipes before it;
    special ones are not counted.
    """

    set: str
    recipe: str
    way: str
    n_chunks: int
    n_tokens: int
    screened: int
    recall: list[list[float]]

    @property
    def table(self) -> NDArray[np.float64]:
        """The recall as an array."""
        return np.array(self.recall)


def loaded(name: str) -> QuestionSet:
    """Read a set; of "covidqa/3" every third document, and the questions that they answer."""
    whole, _, step = name.partition("/")
    found = load(whole)
    documents = found.documents[:: int(step or 1)]
    ids = {document.id for document in documents}
    questions = [one for one in found.questions if all(it.document_id in ids for slot in one.evidence for it in slot)]
    return QuestionSet(name, documents, questions)


def measured(questions: QuestionSet, encoder: Encoder, folder: Path) -> Iterator[Run]:
    """Yield what is not in the folder yet, one recipe after the other."""
    ways = {one.name: one for one in surrogates(encoder)}
    by_sentence = Screen(encoder, passages="sentences(size=256, max_sentences=1)")
    ways[SENTENCES] = Surrogate(SENTENCES, by_sentence, encoder)
    ways[REAL] = Surrogate(REAL, partial(embedded, encoder), encoder)
    asked = {one.encoder.name: _asked(questions.questions, one.encoder) for one in ways.values()}
    for recipe in RECIPES:
        missing = [way for way in ways if not _path(folder, questions.name, recipe, way).is_file()]
        if not missing:
            continue
        cut = cut_by(recipe, questions.documents, encoder)
        ranked = Ranked(cut, questions.questions)
        for way in missing:
            one = ways[way]
            vectors = one.embed(cut)
            screened = one.embed.n_tokens if isinstance(one.embed, Screen) else 0
            yield _run(questions.name, recipe, way, ranked, ranked.recall(vectors, asked[one.encoder.name]), screened)


def measured_late(questions: QuestionSet, encoder: Encoder, folder: Path) -> Iterator[Run]:
    """Yield what token vectors of one run over long windows find, pooled to the chunks of all recipes at once."""
    if all(_path(folder, questions.name, recipe, TOKENS).is_file() for recipe in RECIPES):
        return
    cuts = [cut_by(recipe, questions.documents, encoder) for recipe in RECIPES]
    parts: list[list[Floats2d]] = [[] for _ in RECIPES]
    for number, document in enumerate(questions.documents):
        own = [cut[number][1] for cut in cuts]
        vectors = late(minilm())(document, [chunk for chunks in own for chunk in chunks])
        for part, rows in zip(parts, np.split(vectors, np.cumsum([len(chunks) for chunks in own])), strict=False):
            part.append(rows)
    asked = _asked(questions.questions, encoder)
    for recipe, cut, part in zip(RECIPES, cuts, parts, strict=True):
        ranked = Ranked(cut, questions.questions)
        yield _run(questions.name, recipe, TOKENS, ranked, ranked.recall(np.concatenate(part), asked), 0)


def cut_by(recipe: str, documents: Sequence[Document], encoder: Encoder) -> Cut:
    """Cut documents as an index does."""
    cut = parse(recipe, tokenizer=encoder.tokenizer)
    return [(document, list(cut(document))) for document in documents]


def keep(folder: Path, run: Run) -> None:
    """Write a run down."""
    path = _path(folder, run.set, run.recipe, run.way)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(asdict(run)), "utf-8")


def stored(folder: Path, name: str) -> Mapping[str, Mapping[str, Run]]:
    """Return the runs of a set by recipe and way, of the recipes that were embedded."""
    found: dict[str, dict[str, Run]] = {}
    for recipe in RECIPES:
        paths = {way: _path(folder, name, recipe, way) for way in WAYS}
        runs = {way: Run(**json.loads(path.read_text("utf-8"))) for way, path in paths.items() if path.is_file()}
        if REAL in runs:
            found[recipe] = runs
    return found


def _run(name: str, recipe: str, way: str, ranked: Ranked, recall: NDArray[np.float64], screened: int) -> Run:
    n_tokens = sum(chunk.token_count - _N_SPECIAL for chunk in ranked.chunks)
    return Run(name, recipe, way, len(ranked.chunks), n_tokens, screened, np.round(recall, 5).tolist())


def _asked(questions: Sequence[Query], encoder: Encoder) -> Floats2d:
    return encoder([question.text for question in questions], role="query")


def _path(folder: Path, name: str, recipe: str, way: str) -> Path:
    return folder / name.replace("/", "-") / way / f"{RECIPES.index(recipe):02}.json"
