"""The documents that a set of queries is about, read for the verbs that measure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chunkwise.cli.files import documents, reading, tell_skips
from chunkwise.cli.terminal import progress

if TYPE_CHECKING:
    from chunkwise.core.types import Document
    from chunkwise.evaluate.corpus import Corpus


def corpus_of(
    paths: Sequence[str],
    globs: list[str] | None,
    password: str,
    limits: list[str] | None,
    clean: str | None,
    *,
    but: Path | None,
) -> Corpus:
    """Read the documents, without the set itself, which quotes them."""
    from chunkwise.core.types import Document
    from chunkwise.evaluate.corpus import Corpus

    with progress("reading") as show:
        results = list(documents(paths, globs or [], show, reading=reading(password, limits, clean)))
    tell_skips(result for result in results if not isinstance(result, Document))
    read = [result for result in results if isinstance(result, Document)]
    return Corpus(one for one in read if but is None or not _is(one, but))


def _is(document: Document, file: Path) -> bool:
    """Tell whether a document was read of a file."""
    return bool(document.source) and Path(document.source).resolve() == file.resolve()
