"""Put texts before a language model as material: numbered, and between marks that no text can imitate."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from chunkwise.core.protocols import Tokenizer
from chunkwise.core.types import Hit
from chunkwise.text.bytepairs import BytePairs

# Models count with encodings of their own; this one is near to most of them.
_TOKENIZER: Tokenizer = BytePairs("o200k_base")

# Tokens of the marks around a text.
_MARKS = 40


def passage(hit: Hit) -> str:
    """Return what a reader is given of a hit: the headings it stands under, and its text, each span on a line."""
    parts = (text.strip() for _, text in hit.chunk.parts)
    return "\n".join(filter(None, (" > ".join(hit.chunk.headings), *parts)))


def numbered(texts: Sequence[str], *, kind: str, first: int = 1) -> str:
    """Return texts as they stand in a prompt, each between a tag of its number and the same one closed.

    The tags hold a hash of all texts, 64 bits of it. Nobody writes a text that has its own, so none can end before its
    end, or pass for another. The same texts give the same tags: an answer is found again, and a server's prefix holds.

    >>> numbered(["Cats purr."], kind="passage").splitlines()[1]
    'Cats purr.'
    """
    mark = _mark(texts)
    return "\n".join(_between(f"{kind} {number} {mark}", text) for number, text in enumerate(texts, first))


def tagged(text: str, *, kind: str) -> str:
    """Return a single text between tags, without a number."""
    return _between(f"{kind} {_mark([text])}", text)


def within_window(texts: Iterable[str], window: int) -> list[list[str]]:
    """Part texts, in their order, into runs of at most `window` tokens; one that is longer is a run of its own."""
    runs: list[list[str]] = []
    room = 0
    for text in texts:
        cost = _TOKENIZER.count(text) + _MARKS
        if not runs or cost > room:
            runs.append([])
            room = window
        runs[-1].append(text)
        room -= cost
    return runs


def _mark(texts: Sequence[str]) -> str:
    return hashlib.blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _between(tag: str, text: str) -> str:
    return f"<{tag}>\n{text}\n</{tag}>"
