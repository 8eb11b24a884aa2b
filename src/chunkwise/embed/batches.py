"""Encode many texts in batches of like length, and check what goes in and what comes out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Encoder, Floats2d, Role, Tokenizer

Numbers2d: TypeAlias = NDArray[np.floating[Any]]


# What an error quotes of a text, in characters.
_QUOTED = 40


def encode_batches(
    lengths: Sequence[int],
    encode: Callable[[list[int]], Numbers2d],
    *,
    name: str,
    most_tokens: int,
    most_texts: int = sys.maxsize,
) -> Floats2d:
    """Call `encode` with the indices of one batch after the other; return unit vectors in the order of `lengths`.

    Needs at least one text. Cost: one sort, and one copy of the vectors.
    Raises: EncodeError if a vector has no direction.
    """
    order: list[int] = []
    parts: list[Floats2d] = []
    for batch in batches(lengths, most_tokens=most_tokens, most_texts=most_texts):
        parts.append(unit(encode(batch), batch, name))
        order.extend(batch)
    sorted_vectors = np.concatenate(parts)
    vectors = np.empty_like(sorted_vectors)
    vectors[order] = sorted_vectors
    return vectors


def batches(lengths: Sequence[int], *, most_tokens: int, most_texts: int = sys.maxsize) -> Iterator[list[int]]:
    """Group the indices of texts, longest first, so that no batch has more than `most_tokens` once it is padded.

    A text that is longer than that is a batch alone.

    >>> list(batches([3, 9, 4, 2], most_tokens=9))
    [[1], [2, 0], [3]]
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)
    start = 0
    while start < len(order):
        longest = max(lengths[order[start]], 1)
        end = start + min(max(most_tokens // longest, 1), most_texts)
        yield order[start:end]
        start = end


def measured(texts: Sequence[str], encoder: Encoder, *, role: Role) -> list[int]:
    """Return the tokens of each text, special ones included.

    Raises: EncodeError if one is longer than the encoder takes.
    """
    tokenizer = encoder.tokenizer  # which some encoders look up in their folder
    lengths = [tokenizer.count(text) for text in texts]
    check_lengths(texts, lengths, limit=encoder.max_tokens, name=encoder.name, role=role)
    return lengths


def n_added(tokenizer: Tokenizer, *prefixes: str) -> int:
    """Return the tokens that the longest of the prefixes adds to a text."""
    return max(tokenizer.count(prefix) - tokenizer.n_special if prefix else 0 for prefix in prefixes)


def check_lengths(texts: Sequence[str], lengths: Sequence[int], *, limit: int, name: str, role: Role) -> None:
    """Refuse texts that are longer than an encoder takes: a cut-off text would be found by its beginning only.

    Raises: EncodeError, which names the first such text.
    """
    long = [index for index, length in enumerate(lengths) if length > limit]
    if not long:
        return
    first = long[0]
    more = f" ({len(long) - 1} more are too long as well)" if len(long) > 1 else ""
    remedy = "shorten the question" if role == "query" else f"cut with size={limit} or less in tokens of this encoder"
    raise EncodeError(
        f"texts[{first}] of {len(texts)} has {lengths[first]} tokens, {name} takes at most {limit}{more}; {remedy}. "
        f"It begins with {texts[first][:_QUOTED]!r}"
    )


def check_texts(texts: Sequence[str]) -> None:
    """Refuse a single string, which would be encoded letter by letter.

    Raises: EncodeError.
    """
    if isinstance(texts, str):
        raise EncodeError(f"an encoder takes a list of texts; write [text] for {texts[:_QUOTED]!r}")


def unit(vectors: Numbers2d, indices: Sequence[int], name: str) -> Floats2d:
    """Scale vectors to length 1. An error names one by its index.

    Raises: EncodeError if a vector has no direction.
    """
    # In float64: squares of small float32 values would vanish.
    wide = vectors.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(wide, axis=1)
    wrong = np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))
    if len(wrong):
        raise EncodeError(
            f"{name} gave a vector of zeros or of no numbers for texts[{indices[int(wrong[0])]}]; "
            "leave that text out, or use another model"
        )
    unit: Floats2d = (wide / norms[:, None]).astype(np.float32)
    return unit
