"""Recipes: strategies and transforms by name, as strings that parse back to what printed them.

`structural(size=400) | overlap(sentences=1)` is a `Pipe` of a chunker and a transform.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from importlib.metadata import entry_points
from typing import Annotated, Any, Literal, TypeGuard, TypeVar, cast, get_args, get_origin, get_type_hints

from chunkwise.core.errors import RecipeError
from chunkwise.core.outline import body, front_matter
from chunkwise.core.protocols import LLM, Budget, Chunker, Reranker, Reserve, Tokenizer, Transform, no_reserve
from chunkwise.core.scoring import Scorer
from chunkwise.core.types import Chunk, Document, Drop, Span

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Range:
    """Annotate a numeric parameter: the tuner searches `low` to `high`; beyond `least` and `most` it is refused."""

    low: float
    high: float
    log: bool = False
    least: float | None = None
    most: float | None = None


STRATEGIES: dict[str, type] = {}
TRANSFORMS: dict[str, type] = {}
SCORERS: dict[str, type] = {}
_named: dict[type, Callable[[str], object]] = {}


def strategy(cls: type[T]) -> type[T]:
    """Register a frozen dataclass as a chunker, named like its class in snake_case.

    It gains checked parameters, a `repr` that is its recipe, `|`, chunks that are told apart by
    `ordinal`, the document's body where no spans are given to cut `within`, and what it does not
    define of `budget`, `leaf_budget`, `dropped`, `outlined`, `cuts_units`, `streamable` and `streams_tables`.
    """
    cut = cls.__call__

    @functools.wraps(cut)
    def call(
        self: Any, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        document = self.outlined(document)
        return numbered(cut(self, document, reserve, within or (body(document),)))

    cls.__call__ = call  # type: ignore[method-assign]
    defaults = {
        "budget": property(_budget),
        "leaf_budget": property(_leaf_budget),
        "dropped": _dropped,
        "outlined": _outlined,
        "cuts_units": False,
        "streamable": False,
        "streams_tables": False,
        "__or__": _pipe,
    }
    for name, value in defaults.items():
        if name not in vars(cls):
            setattr(cls, name, value)
    return register(cls, STRATEGIES)


def transform(cls: type[T]) -> type[T]:
    """Register a frozen dataclass as a transform, named like its class in snake_case.

    It gains checked parameters, a `repr` that is its recipe, and where it does not define `streamable` that it is not.
    """
    if "streamable" not in vars(cls):
        cls.streamable = False  # type: ignore[attr-defined]
    return register(cls, TRANSFORMS)


def scorer(cls: type[T]) -> type[T]:
    """Register a frozen dataclass as a scorer, named like its class in snake_case.

    It gains checked parameters, and a `repr` that is how a recipe names it.
    """
    return register(cls, SCORERS)


def register(cls: type[T], registry: dict[str, type]) -> type[T]:
    """Put a frozen dataclass into a registry, by the name of its class in snake_case.

    It gains checked parameters and a `repr` that is its recipe.
    """
    init = cls.__init__
    signature = inspect.signature(init)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            given = signature.bind(self, *args, **kwargs).arguments
        except TypeError as err:
            raise RecipeError(_misfit(name, cls, args, kwargs, err)) from err
        hints = _hints(type(self))
        init(self, **{key: _checked(name, key, value, hints[key]) for key, value in given.items() if key != "self"})
        if registry is STRATEGIES:
            size = self.budget.size  # one without room for text is refused
            for bound in ("min_size", "least"):
                least = getattr(self, bound, None)
                if least is not None and least >= size:
                    raise RecipeError(
                        f"{name}: {bound}={least} must be less than size={size}; try {bound}={max(1, size // 4)}"
                    )

    cls.__init__ = checked  # type: ignore[method-assign]
    cls.__repr__ = _recipe  # type: ignore[method-assign]
    cls.recipe_name = name  # type: ignore[attr-defined]
    registry[name] = cls
    return cls


@functools.cache
def load_plugins() -> None:
    """Import what installed packages name under the entry point `chunkwise.strategies`, so that it registers itself."""
    for entry_point in entry_points(group="chunkwise.strategies"):
        entry_point.load()


def resolver(kind: type, find: Callable[[str], object]) -> None:
    """Let a parameter of type `kind` be given by name: `find(name)` returns the value."""
    _named[kind] = find


def named(kind: type[T], name: str) -> T:
    """Return what `name` finds of a type whose values a recipe only names.

    Raises: RecipeError if nothing is known of the type.
    """
    if kind not in _named:
        raise RecipeError(
            f"{name!r} can't be found: no {kind.__name__.lower()}s are known yet; cut with chunkwise.chunk or "
            "chunkwise.pipeline.chunker, which know them"
        )
    return cast("T", _named[kind](name))


@dataclass(frozen=True, slots=True, repr=False)
class Pipe:
    """A chunker followed by transforms; itself a chunker.

    Every transform tells the chunker what to leave free, so that the whole stays inside the budget.
    """

    chunker: Chunker
    transforms: tuple[Transform, ...]

    def __post_init__(self) -> None:
        for i, step in enumerate(self.transforms):
            step.check(self.budget)
            if any(type(step) is type(other) for other in self.transforms[:i]):
                raise RecipeError(f"{step!r} comes after another of its kind; join them in one")

    @property
    def budget(self) -> Budget:
        """The budget of the chunker."""
        return self.chunker.budget

    @property
    def leaf_budget(self) -> Budget:
        """The budget of the chunker, which has no levels: what follows one with levels goes into it."""
        return self.budget

    @property
    def cuts_units(self) -> bool:
        """Whether the chunker may cut a row or a line that fits."""
        return self.chunker.cuts_units

    @property
    def streamable(self) -> bool:
        """Whether all its stages are."""
        return self.chunker.streamable and all(step.streamable for step in self.transforms)

    @property
    def streams_tables(self) -> bool:
        """Whether the chunker does, and what follows it is streamable and looks for no sentences."""
        stages = self.transforms
        sentences = any(getattr(step, "language", None) is not None for step in stages)
        return self.chunker.streams_tables and not sentences and all(step.streamable for step in stages)

    def dropped(self, document: Document) -> Sequence[Drop]:
        """Return what the chunker leaves out."""
        return self.chunker.dropped(document)

    def outlined(self, document: Document) -> Document:
        """Return the document with the blocks that the chunker finds."""
        return self.chunker.outlined(document)

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        document = self.outlined(document)
        chunks = self.chunker(document, self.reserve(document, reserve, within), within)
        return numbered(self.transformed(chunks, document, within))

    def reserve(self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()) -> Reserve:
        """Return what the chunker is to leave free for the transforms, beside what it is asked to."""
        budget = self.budget
        wishes = [reserve, *(step.reserve(document, budget, within) for step in self.transforms)]
        most = budget.room - max(1, budget.room // 8)  # a chunk must bring something of its own

        @functools.lru_cache(maxsize=16)  # a packer asks more than once for the same start
        def free(start: int) -> int:
            return min(sum(wish(start) for wish in wishes), most)

        return free

    def transformed(self, chunks: Iterable[Chunk], document: Document, within: Sequence[Span] = ()) -> Iterable[Chunk]:
        """Let the transforms follow on the chunker's chunks."""
        for step in self.transforms:
            chunks = step(chunks, document, self.budget, within)
        return chunks

    def __or__(self, other: Transform) -> Pipe:
        return Pipe(self.chunker, (*self.transforms, other))

    def __repr__(self) -> str:
        return " | ".join(repr(stage) for stage in (self.chunker, *self.transforms))


def numbered(chunks: Iterable[Chunk], seen: Counter[int] | None = None) -> Iterator[Chunk]:
    """Tell equal chunks apart: the first has ordinal 0, the next 1, and so on.

    Keeps a few bytes of each in `seen`, with which the numbering can be gone on with.
    """
    seen = Counter() if seen is None else seen
    for chunk in chunks:
        key = hash((chunk.context, chunk.text))
        ordinal = seen[key]
        seen[key] += 1
        yield chunk if chunk.ordinal == ordinal else replace(chunk, ordinal=ordinal)


def is_chunker(value: object) -> TypeGuard[Chunker]:
    """Tell whether a value can stand in a recipe where a recipe is wanted."""
    return isinstance(value, Pipe) or type(value) in STRATEGIES.values()


def is_scorer(value: object) -> TypeGuard[Scorer]:
    """Tell whether a value can stand in a recipe where a scorer is wanted."""
    return type(value) in SCORERS.values()


def parameters(cls: type) -> Mapping[str, tuple[Any, Any, Range | None]]:
    """Return `{name: (type, default, range)}` of a registered stage."""
    hints = _hints(cls)
    kinds = {field.name: _split(hints[field.name]) for field in fields(cls)}
    return {field.name: (kinds[field.name][0], _default(field), kinds[field.name][1]) for field in fields(cls)}


def _budget(self: Any) -> Budget:
    return Budget(self.size, self.tokenizer)


def _leaf_budget(self: Any) -> Budget:
    budget: Budget = self.budget
    return budget


def _dropped(self: Any, document: Document) -> Sequence[Drop]:
    return front_matter(document)


def _outlined(self: Any, document: Document) -> Document:
    return document


def _pipe(self: Any, other: Transform) -> Pipe:
    return Pipe(self, (other,))


def _recipe(self: Any) -> str:
    """Print the first parameter, and every other one that differs from its default."""
    shown = []
    for i, field in enumerate(fields(self)):
        value = getattr(self, field.name)
        if (i == 0 and value is not None) or value != _default(field):
            shown.append(f"{field.name}={value.name!r}" if _is_named(value) else f"{field.name}={value!r}")
    return f"{self.recipe_name}({', '.join(shown)})"


def _is_named(value: object) -> bool:
    """Tell whether a recipe gives a value by its name."""
    named = isinstance(value, (Tokenizer, LLM, Reranker)) or type(value) in _named
    return named and not hasattr(value, "recipe_name")


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


@functools.cache
def ranges(cls: type[Any]) -> dict[str, Range]:
    """Return where each numeric parameter of a registered dataclass is searched by a tuner."""
    found = {name: _split(hint)[1] for name, hint in _hints(cls).items()}
    return {name: bounds for name, bounds in found.items() if bounds is not None}


def _hints(cls: type[Any]) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def _split(hint: Any) -> tuple[Any, Range | None]:
    if get_origin(hint) is Annotated:
        kind, *notes = get_args(hint)
        return kind, next((note for note in notes if isinstance(note, Range)), None)
    return hint, None


def _checked(stage: str, name: str, value: Any, hint: Any) -> Any:
    """Return the value, a name replaced by what it names; refuse one that the annotation excludes."""
    kind, bounds = _split(hint)
    options = get_args(kind) if get_origin(kind) not in (None, Literal) else (kind,)
    if value is None and type(None) in options:
        return value
    if isinstance(value, str):
        for option in options:
            if option in _named:
                return _named[option](value)
    if get_origin(kind) is tuple:
        (what, example) = {str: ("strings", "['. ']"), int: ("integers", "[800, 200]")}[get_args(kind)[0]]
        if not isinstance(value, (list, tuple)) or any(type(one) is not get_args(kind)[0] for one in value):
            raise RecipeError(f"{stage}: {name}={value!r} must be a list of {what}; try {name}={example}")
        return tuple(value)
    if LLM in options and not isinstance(value, LLM):
        raise RecipeError(
            f"{stage}: {name}={value!r} names no language model here; `chunkwise.chunk`, `Index` and the command line "
            "find it by name, or give an object that answers prompts"
        )
    if Reranker in options and not isinstance(value, Reranker):
        raise RecipeError(f"{stage}: {name}={value!r} is no reranker; try {name}='FOLDER' with a cross-encoder in it")
    if Chunker in options and not is_chunker(value):
        raise RecipeError(f"{stage}: {name}={value!r} must be a recipe; try {name}=recursive(size=200)")
    if Scorer in options and not is_scorer(value):
        raise RecipeError(f"{stage}: {name}={value!r} must be a scorer; try {name}=drop()")
    literals = [choice for option in options if get_origin(option) is Literal for choice in get_args(option)]
    if literals and value not in literals:
        raise RecipeError(
            f"{stage}: {name}={value!r} is not one of {', '.join(map(repr, literals))}{meant(value, literals)}"
        )
    numbers = tuple(option for option in options if option in (int, float))
    if numbers and not literals:
        allowed = (int, float) if float in numbers else (int,)
        if isinstance(value, bool) or not isinstance(value, allowed):
            raise RecipeError(
                f"{stage}: {name}={value!r} must be a{'n integer' if float not in numbers else ' number'}"
            )
    if bool in options and not isinstance(value, bool):
        raise RecipeError(f"{stage}: {name}={value!r} must be True or False")
    if bounds is not None and bounds.least is not None and value < bounds.least:
        raise RecipeError(f"{stage}: {name}={value} must be at least {bounds.least:g}; try {name}={bounds.low:g}")
    if bounds is not None and bounds.most is not None and value > bounds.most:
        raise RecipeError(f"{stage}: {name}={value} must be at most {bounds.most:g}; try {name}={bounds.low:g}")
    if options == (str,) and not isinstance(value, str):
        raise RecipeError(f"{stage}: {name}={value!r} must be a string")
    return value


def _misfit(name: str, cls: type, args: Sequence[Any], kwargs: Mapping[str, Any], err: TypeError) -> str:
    known = [field.name for field in fields(cls)]
    for key in kwargs:
        if key not in known:
            return f"{name} has no parameter {key!r}{meant(key, known)}; it takes {', '.join(known)}"
    if len(args) > len(known):
        return f"{name} takes {len(known)} parameters ({', '.join(known)}), {len(args)} given"
    return f"{name}: {err}"


def meant(word: object, known: Iterable[object]) -> str:
    """Return what to add to a message where one of the known words is like the wrong one."""
    close = difflib.get_close_matches(str(word), [str(name) for name in known], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
