"""Cut each kind of text by the strategy that is given for it, also within one document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial

from chunkwise.chunkers.kinds import Kind, Part, kind_of, plan, routed
from chunkwise.core.errors import RecipeError
from chunkwise.core.outline import body
from chunkwise.core.parsing import parse
from chunkwise.core.protocols import Budget, Chunker, Reserve, Transform, no_reserve
from chunkwise.core.recipes import strategy
from chunkwise.core.types import Chunk, Document, Drop, Span


def _by(recipe: str) -> Callable[[], Chunker]:
    return partial(parse, recipe)


@strategy
@dataclass(frozen=True, slots=True)
class Route:
    """Choose a recipe by what a text is: a document as a whole, and in running text what does not fit a chunk of it.

    That are tables and blocks of code. A chunk's meta tells the `kind`, the `strategy` and the `reason` of the
    choice, which is made of the format, the blocks and the first 8,000 characters. What follows a route in a recipe
    follows each of its recipes.
    """

    prose: Chunker = field(default_factory=_by("structural()"))
    code: Chunker = field(default_factory=_by("code()"))
    table: Chunker = field(default_factory=_by("rows()"))
    json: Chunker = field(default_factory=_by("json()"))
    log: Chunker = field(default_factory=_by("rows()"))
    transcript: Chunker = field(default_factory=_by("turns()"))
    legal: Chunker = field(default_factory=_by("clauses()"))

    def __post_init__(self) -> None:
        for kind, chunker in self._chunkers().items():
            if chunker.leaf_budget != chunker.budget:
                raise RecipeError(f"route: {kind}={chunker!r} has levels; put the route into a nest instead")
            if chunker.budget.tokenizer != self.prose.budget.tokenizer:
                raise RecipeError(
                    f"route: {kind} counts with {chunker.budget.tokenizer.name}, prose with "
                    f"{self.prose.budget.tokenizer.name}; let all count with one tokenizer"
                )

    @property
    def budget(self) -> Budget:
        """What no chunk of any of the recipes exceeds."""
        return max((chunker.budget for chunker in self._chunkers().values()), key=lambda budget: budget.size)

    @property
    def cuts_units(self) -> bool:
        """Whether one of the recipes may cut a row or a line that fits."""
        return any(chunker.cuts_units for chunker in self._chunkers().values())

    def __or__(self, other: Transform) -> Route:
        return replace(self, **{kind: chunker | other for kind, chunker in self._chunkers().items()})

    def plan(self, document: Document) -> list[Part]:
        """Return the parts of a document, what kind each is, and why."""
        return plan(self.outlined(document), self._chunkers(), [body(document)])

    def outlined(self, document: Document) -> Document:
        """Return the document with the blocks that the recipe of its kind finds."""
        return self._chunkers()[kind_of(document)[0]].outlined(document)

    def dropped(self, document: Document) -> Sequence[Drop]:
        """Return what the recipes leave out."""
        kinds: dict[Kind, None] = dict.fromkeys(part.kind for part in self.plan(document)) | {"prose": None}
        drops = [drop for kind in kinds for drop in self._chunkers()[kind].dropped(document)]
        return list(dict.fromkeys(drops))

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        chunkers = self._chunkers()
        yield from routed(document, plan(document, chunkers, within), chunkers=chunkers, reserve=reserve)

    def _chunkers(self) -> dict[Kind, Chunker]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[misc]
