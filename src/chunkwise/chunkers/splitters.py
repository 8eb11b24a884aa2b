"""Splitters of other libraries: found by an import path that a person typed, or by a name that was given to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from typing import Any, NamedTuple

from chunkwise.core.errors import RecipeError
from chunkwise.core.recipes import resolver

# How a text is given to a splitter that is no function, the first that it has: LangChain, and LlamaIndex's splitters
# of text; chonkie; semantic-text-splitter.
_METHODS = ("split_text", "chunk", "chunks", "get_nodes")
# LlamaIndex's other parsers take documents of their own.
_OF_DOCUMENTS = "get_nodes_from_documents"

_known: dict[str, Splitter] = {}
_loaded: set[str] = set()
_typed: ContextVar[bool] = ContextVar("typed", default=True)


class Piece(NamedTuple):
    """A string that a splitter made, and where it says that it starts; None where it does not say."""

    text: str
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Splitter:
    """What cuts a text into strings. Two splitters of the same name are equal."""

    name: str
    splitter: object = field(compare=False, repr=False)

    def __call__(self, text: str) -> list[Piece]:
        """Return the pieces of a text, in the order in which they are made."""
        return [_piece(one) for one in _call(self.splitter)(text)]

    def __reduce__(self) -> tuple[Callable[[str], Splitter], tuple[str]]:
        return find_splitter, (self.name,)


def find_splitter(name: str) -> Splitter:
    """Return a splitter by the name that it was given, or import it: MODULE:NAME.

    Nothing is imported for what is stored rather than typed, see `stored`.
    Raises: RecipeError.
    """
    if name in _known:
        return _known[name]
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise RecipeError(
            f"no splitter {name!r}; name one as 'MODULE:NAME', or in Python give it a name with custom_splitter"
        )
    if not (_typed.get() or module in _loaded):
        raise RecipeError(
            f"nothing is imported for the sake of an index or a file that names the splitter {name!r}; give the recipe "
            f"yourself if you trust it, or: chunkwise --load {module}"
        )
    return custom_splitter(name, _imported(name, module, attribute))


def custom_splitter(name: str, splitter: object) -> Splitter:
    """Let recipes name a splitter of your own. A name that is given again means the new one.

    It is an object of LangChain, LlamaIndex, chonkie or semantic-text-splitter, or a function of a text that returns
    strings, as semchunk's is.
    Raises: RecipeError for something else.
    """
    _call(splitter)
    _known[name] = Splitter(name, splitter)
    return _known[name]


def named_splitter(splitter: object) -> Splitter:
    """Return a splitter under a name: the path by which it can be imported again, else one for this process only.

    Raises: RecipeError for what is no splitter.
    """
    if isinstance(splitter, Splitter):
        return splitter
    module = getattr(splitter, "__module__", None)
    own = getattr(splitter, "__qualname__", None) or type(splitter).__name__
    path = f"{module}:{own}"
    try:
        if attrgetter(own)(import_module(str(module))) is splitter:
            return custom_splitter(path, splitter)
    except (ImportError, AttributeError):  # made inside a function, or an object
        pass
    known = next((one for one in _known.values() if one.splitter is splitter), None)
    names = (own if number == 1 else f"{own} {number}" for number in range(1, len(_known) + 2))
    return known or custom_splitter(next(name for name in names if name not in _known), splitter)


def allow(module: str) -> None:
    """Let splitters of a module be found also where a stored recipe names them: a person has asked for it."""
    _loaded.add(module)


@contextmanager
def stored() -> Iterator[None]:
    """Import nothing while a recipe is read that no one has typed: it comes with a folder or a file of a stranger's."""
    token = _typed.set(False)
    try:
        yield
    finally:
        _typed.reset(token)


def _imported(name: str, module: str, attribute: str) -> object:
    try:
        return attrgetter(attribute)(import_module(module))
    except Exception as err:  # whatever a user's module raises is his to mend
        raise RecipeError(
            f"the splitter {name!r} can't be imported: {type(err).__name__}: {err}; name it as 'MODULE:NAME', and a "
            f"file that is not installed with: chunkwise --load {module}.py"
        ) from err


def _call(splitter: object) -> Callable[[str], Any]:
    """Return how to give a splitter a text."""
    if isinstance(splitter, type):
        raise RecipeError(
            f"{splitter.__name__} is a class; make a splitter of it, as in splitter = {splitter.__name__}(...), and "
            "name that"
        )
    for method in _METHODS:
        if callable(found := getattr(splitter, method, None)):
            return found  # type: ignore[no-any-return]  # whatever another library has
    if callable(getattr(splitter, _OF_DOCUMENTS, None)):
        return lambda text: getattr(splitter, _OF_DOCUMENTS)([_llama_document(text)])
    if callable(splitter):
        return splitter
    raise RecipeError(
        f"{splitter!r} is no splitter: it has none of {', '.join(_METHODS)}, and is no function of a text"
    )


def _llama_document(text: str) -> object:
    return import_module("llama_index.core.schema").Document(text=text)


def _piece(found: Any) -> Piece:
    """Return what was made as text and place: a string, or an object of one of the libraries."""
    if isinstance(found, str):
        return Piece(found)
    text = next((value for name in ("text", "page_content", "content") if (value := getattr(found, name, None))), "")
    metadata = getattr(found, "metadata", None)
    said = metadata.get("start_index") if isinstance(metadata, dict) else None
    places = (getattr(found, "start_index", None), getattr(found, "start_char_idx", None), said)
    start = next((place for place in places if isinstance(place, int)), None)
    if not isinstance(text, str):
        raise RecipeError(f"a splitter returned {found!r}, which has no text")
    return Piece(text, start)


resolver(Splitter, find_splitter)
