"""Tell the chunks of a hierarchy that no other is cut from: they are what is embedded and what notes are of."""

from __future__ import annotations

from collections.abc import Sequence

from chunkwise.core.types import Chunk


def leaves(chunks: Sequence[Chunk]) -> list[int]:
    """Return the positions of the chunks of a document that no other is cut from; derived ones are among them."""
    parents = {chunk.parent for chunk in chunks if chunk.parent and not chunk.is_derived}
    return [i for i, chunk in enumerate(chunks) if not parents or chunk.id not in parents]
