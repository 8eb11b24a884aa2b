"""Where chunks and vectors are kept. Every store passes the same suite and ranks alike."""

from __future__ import annotations

import re

from chunkwise.core.errors import StoreError
from chunkwise.core.protocols import Store

__all__ = ["open_store"]

MEMORY = "memory:"

_SCHEME = re.compile(r"memory:|[A-Za-z][A-Za-z0-9+.-]+://")


def open_store(url: str) -> Store:
    """Open an index: `memory:`, or a folder that is one, is empty, or does not exist yet.

    Raises: StoreError for a folder that holds something else, and for a store that is not supported.
    """
    from chunkwise.stores.lance import LanceStore
    from chunkwise.stores.memory import MemoryStore

    if url == MEMORY:
        return MemoryStore()
    if not url.strip() or _SCHEME.match(url):
        raise StoreError(f"no store for {url!r}; give {MEMORY!r}, or the path of a folder for LanceDB")
    return LanceStore(url)
