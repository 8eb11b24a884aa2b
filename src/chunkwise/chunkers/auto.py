"""Choose the strategy by what a text is, all at one size, and say why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from chunkwise.chunkers.kinds import Kind, Part, kind_of, plan, routed
from chunkwise.core.outline import body
from chunkwise.core.parsing import parse
from chunkwise.core.protocols import Chunker, Reserve, Tokenizer, no_reserve
from chunkwise.core.recipes import Range, strategy
from chunkwise.core.types import Chunk, Document, Drop, Span
from chunkwise.text.syntax import is_installed
from chunkwise.text.tokens import DEFAULT_TOKENIZER

_STRATEGIES: Mapping[Kind, str] = {
    "prose": "structural",
    "code": "code",
    "table": "rows",
    "json": "json",
    "log": "rows",
    "transcript": "turns",
    "legal": "clauses",
}


@strategy
@dataclass(frozen=True, slots=True)
class Auto:
    """Cut prose with `structural`, code with `code`, tables and logs with `rows`, and so on.

    `route` is the same with recipes of one's own; what is said there holds here. Without the extra `code`, code is
    cut between lines by `structural`.
    """

    size: Annotated[int, Range(64, 1024, log=True, least=1)] = 200
    tokenizer: Tokenizer = DEFAULT_TOKENIZER

    def plan(self, document: Document) -> list[Part]:
        """Return the parts of a document, what kind each is, and why."""
        return self._plan(self.outlined(document), [body(document)])

    def outlined(self, document: Document) -> Document:
        """Return the document with the blocks that the strategy of its kind finds."""
        return self._chunkers()[kind_of(document)[0]].outlined(document)

    def dropped(self, document: Document) -> Sequence[Drop]:
        """Return the front matter."""
        return self._chunkers()["prose"].dropped(document)

    def __call__(
        self, document: Document, reserve: Reserve = no_reserve, within: Sequence[Span] = ()
    ) -> Iterator[Chunk]:
        yield from routed(document, self._plan(document, within), chunkers=self._chunkers(), reserve=reserve)

    def _plan(self, document: Document, within: Sequence[Span]) -> list[Part]:
        parts = plan(document, self._chunkers(), within)
        lines = "" if is_installed() else "; cut between lines, for the extra `code` is not installed"
        return [part._replace(reason=part.reason + lines) if part.kind == "code" else part for part in parts]

    def _chunkers(self) -> Mapping[Kind, Chunker]:
        return _chunkers(self, is_installed())


@lru_cache(maxsize=4)
def _chunkers(auto: Auto, has_syntax: bool) -> Mapping[Kind, Chunker]:
    names = _STRATEGIES if has_syntax else {**_STRATEGIES, "code": "structural"}
    return {kind: parse(f"{name}(size={auto.size})", tokenizer=auto.tokenizer) for kind, name in names.items()}
