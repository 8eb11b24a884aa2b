"""Cut documents by a recipe: as a whole, or as they come."""

from __future__ import annotations

import chunkwise.chunkers  # registers the strategies
import chunkwise.embed  # lets recipes name encoders
import chunkwise.llm  # lets recipes name language models
import chunkwise.transforms  # noqa: F401 - registers the transforms
from chunkwise.chunkers.stream import Stream
from chunkwise.core.errors import ChunkwiseError, RecipeError
from chunkwise.core.parsing import parse, with_tokenizer
from chunkwise.core.protocols import Chunker, Tokenizer
from chunkwise.core.types import Chunk, Document
from chunkwise.text.tokens import tokenizer as find_tokenizer

DEFAULT_RECIPE = "structural(size=200) | context(headings=True)"


def chunker(recipe: str | Chunker = DEFAULT_RECIPE, *, tokenizer: str | Tokenizer | None = None) -> Chunker:
    """Return the chunker of a recipe, counting with `tokenizer` where the recipe names none.

    Raises: RecipeError.
    """
    counter = find_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    if counter is not None and not isinstance(counter, Tokenizer):
        raise RecipeError(f"{counter!r} is no tokenizer; make one of a function with custom_tokenizer(name, function)")
    if isinstance(recipe, str):
        return parse(recipe, tokenizer=counter)
    return with_tokenizer(recipe, counter) if counter is not None else recipe


def chunk(
    document: Document, recipe: str | Chunker = DEFAULT_RECIPE, *, tokenizer: str | Tokenizer | None = None
) -> list[Chunk]:
    """Cut a document by a recipe.

    Raises: RecipeError.

    >>> [chunk.text for chunk in chunk(Document.from_text("One. Two.", id="x"), "sentences(max_sentences=1)")]
    ['One.', 'Two.']
    """
    if not isinstance(document, Document):
        raise ChunkwiseError("chunk takes a Document; make one with read(path), read_text(text) or Document.from_text")
    return list(chunker(recipe, tokenizer=tokenizer)(document))


def stream(
    recipe: str | Chunker = DEFAULT_RECIPE,
    *,
    tokenizer: str | Tokenizer | None = None,
    id: str = "stream",
    media_type: str = "text/plain",
) -> Stream:
    """Cut a plain text, or delimited text, that comes in pieces; the chunks are those that `chunk` makes of the whole.

    `media_type` is that of plain text, else text/csv or text/tab-separated-values, which `rows` can cut.

    Raises: RecipeError, also if the recipe can't decide before the text ends.

    >>> pieces = ["One. T", "wo. Three is", " longer."]
    >>> [chunk.text for chunk in stream("sentences(size=12)", tokenizer="characters").over(pieces)]
    ['One. Two.', 'Three is', 'longer.']
    """
    return Stream(chunker(recipe, tokenizer=tokenizer), id=id, media_type=media_type)
