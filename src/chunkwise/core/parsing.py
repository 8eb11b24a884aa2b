"""Read recipes: with `ast`, never evaluated; what is wrong is named, with what may have been meant."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any, get_origin

from chunkwise.core.errors import RecipeError
from chunkwise.core.protocols import Chunker, Tokenizer
from chunkwise.core.recipes import SCORERS, STRATEGIES, TRANSFORMS, Pipe, is_chunker, load_plugins, meant, parameters
from chunkwise.core.retrievals import FINDERS, STEPS, Finder, Retrieval, is_finder
from chunkwise.core.scoring import Scorer

# What a recipe is made of: the word for it, where it stands in a recipe, and what is known of it.
_REGISTRIES = (
    ("strategy", "it comes first in a recipe", STRATEGIES),
    ("transform", "it comes after a strategy", TRANSFORMS),
    ("scorer", "it is the scorer of a strategy, as in scored(scorer=drop())", SCORERS),
    ("finder", "it comes first in a retrieval", FINDERS),
    ("step", "it comes after a finder in a retrieval", STEPS),
)

EXAMPLE = "structural(size=400) | overlap(sentences=1)"
RETRIEVAL_EXAMPLE = "hybrid(alpha=0.4) | fold()"


def parse(recipe: str, *, tokenizer: Tokenizer | None = None) -> Chunker:
    """Read a recipe; count with `tokenizer` where it names none.

    Raises: RecipeError, which names the part that is wrong and what may have been meant.
    """
    return _chunker(_tree(recipe, EXAMPLE), tokenizer)


def parse_retrieval(recipe: str) -> Retrieval:
    """Read how to retrieve.

    Raises: RecipeError, which names the part that is wrong and what may have been meant.
    """
    first, *rest = _stages(_tree(recipe, RETRIEVAL_EXAMPLE))
    return Retrieval(_build(first, FINDERS, None), tuple(_build(node, STEPS, None) for node in rest))


def retriever(recipe: str | Finder | Retrieval) -> Retrieval:
    """Return how to retrieve by a recipe such as "hybrid() | fold() | edges()".

    Raises: RecipeError.
    """
    if isinstance(recipe, Retrieval):
        return recipe
    if is_finder(recipe):
        return Retrieval(recipe)
    if not isinstance(recipe, str):
        raise RecipeError(f"{recipe!r} is no retrieval; try 'hybrid() | fold()'")
    return parse_retrieval(recipe)


def with_tokenizer(chunker: Chunker, tokenizer: Tokenizer) -> Chunker:
    """Count with `tokenizer` in every stage that was left at its default one, and in the recipes in it."""
    if isinstance(chunker, Pipe):
        return Pipe(with_tokenizer(chunker.chunker, tokenizer), chunker.transforms)
    changed: dict[str, Any] = {}
    for name, (_, default, _) in parameters(type(chunker)).items():
        value = getattr(chunker, name)
        if is_chunker(value):
            changed[name] = with_tokenizer(value, tokenizer)
        elif name == "tokenizer" and value == default:
            changed[name] = tokenizer
    return replace(chunker, **changed) if changed else chunker  # type: ignore[type-var]


def with_size(chunker: Chunker, size: int) -> Chunker:
    """Return the same recipe with another size, also of the recipes in it."""
    return _resized(chunker, lambda _: size)


def capped(chunker: Chunker, most: int) -> Chunker:
    """Return the same recipe with no size of what is embedded over `most`."""
    return _resized(chunker, lambda size: min(size, most))


def _resized(chunker: Chunker, size_of: Callable[[int], int]) -> Chunker:
    if isinstance(chunker, Pipe):
        return Pipe(_resized(chunker.chunker, size_of), chunker.transforms)
    changed: dict[str, Any] = {}
    for name in parameters(type(chunker)):
        value = getattr(chunker, name)
        if name == "size":
            changed[name] = size_of(value)
        elif name == "sizes":  # of levels, whose last is embedded
            least = size_of(value[-1])
            changed[name] = (*(size for size in value if size > least), least)
        elif is_chunker(value) and "sizes" not in parameters(type(chunker)):
            changed[name] = _resized(value, size_of)
    return replace(chunker, **changed)  # type: ignore[type-var]


def _tree(recipe: str, example: str) -> ast.expr:
    try:
        return ast.parse(recipe.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as err:  # the last two: absurdly nested
        reason = getattr(err, "msg", None) or str(err)
        raise RecipeError(f"can't read the recipe {recipe!r}: {reason}; try {example!r}") from err


def _chunker(tree: ast.expr, tokenizer: Tokenizer | None) -> Chunker:
    """Return the chunker of an expression such as `name(...) | name(...)`."""
    first, *rest = _stages(tree)
    chunker: Chunker = _build(first, STRATEGIES, tokenizer)
    for node in rest:
        chunker = chunker | _build(node, TRANSFORMS, None)
    return chunker


def _stages(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return [*_stages(tree.left), tree.right]
    return [tree]


def _build(node: ast.expr, registry: Mapping[str, type], tokenizer: Tokenizer | None) -> Any:
    call = node if isinstance(node, ast.Call) else ast.Call(func=node, args=[], keywords=[])
    if not isinstance(call.func, ast.Name):
        example = RETRIEVAL_EXAMPLE if registry is FINDERS or registry is STEPS else EXAMPLE
        raise RecipeError(f"can't read {ast.unparse(node)!r} as a stage of a recipe; try {example!r}")
    name = call.func.id
    if name not in registry:
        load_plugins()
    if name not in registry:
        kind = next(word for word, _, known in _REGISTRIES if known is registry)
        hint = next((f" ({place})" for _, place, other in _REGISTRIES if name in other), meant(name, registry))
        raise RecipeError(f"no {kind} {name!r}{hint}; known: {', '.join(sorted(registry))}")
    kinds = {key: kind for key, (kind, _, _) in parameters(registry[name]).items()}
    values = [
        _value(arg, name, tokenizer, kind)
        for arg, kind in zip_longest(call.args, list(kinds.values())[: len(call.args)])
    ]
    if any(keyword.arg is None for keyword in call.keywords):
        raise RecipeError(f"{name}: ** is not allowed in a recipe")
    given = {
        str(keyword.arg): _value(keyword.value, name, tokenizer, kinds.get(str(keyword.arg)))
        for keyword in call.keywords
    }
    if len(given) < len(call.keywords):
        raise RecipeError(f"{name}: a parameter is given twice in {ast.unparse(node)!r}")
    if values and _takes_many(registry[name]) and (len(values) > 1 or not isinstance(values[0], (list, tuple))):
        values = [values]
    unset: dict[str, Any] = {}
    if tokenizer is not None:
        for key, (kind, default, _) in list(parameters(registry[name]).items())[len(values) :]:
            if kind is Tokenizer:
                unset[key] = tokenizer
            elif is_chunker(default):
                unset[key] = with_tokenizer(default, tokenizer)
    return registry[name](*values, **{**unset, **given})


def _takes_many(cls: type) -> bool:
    """Tell whether a stage's first parameter is a list, which may be written without brackets."""
    kind = next(iter(parameters(cls).values()), (None,))[0]
    return get_origin(kind) is tuple


def _value(node: ast.expr, stage: str, tokenizer: Tokenizer | None, kind: Any) -> Any:
    """Return a literal, the chunker of a recipe within the recipe, or a scorer where a parameter is of that `kind`."""
    first = _stages(node)[0]
    name = first.func if isinstance(first, ast.Call) else first
    if isinstance(name, ast.Name):
        return _build(node, SCORERS, None) if kind is Scorer else _chunker(node, tokenizer)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError) as err:
        raise RecipeError(
            f"{stage}: {ast.unparse(node)!r} is not a number, a string, a list of them or a recipe"
        ) from err
