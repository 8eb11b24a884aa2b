"""What finds evidence, from the cut to what a model reads: the choice that is measured, kept in a file and shipped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from chunkwise.core.errors import RecipeError
from chunkwise.core.recipes import meant

EvidenceKind: TypeAlias = Literal["chunks", "assemble", "assemble-fine", "assemble-coarse"]
"""What a question is answered with: whole chunks as they rank, or sentences assembled by a ladder."""

EVIDENCE: tuple[EvidenceKind, ...] = get_args(EvidenceKind)


@dataclass(frozen=True, slots=True)
class Config:
    """How documents are cut, embedded and searched, and what of them a question is answered with.

    `tokens` is the budget of an answer's evidence, counted with `tokenizer`: an empty one is that of the encoder. A
    `retrieval` counts where the evidence is chunks only. `encoder`,
    `late` and `summaries` are those of an index, `clean` is what is taken out of files first; an empty `encoder` or
    `clean` is the default one.
    Raises: RecipeError for evidence of no known kind, or a budget of nothing.
    """

    recipe: str
    retrieval: str = "hybrid()"
    evidence: EvidenceKind = "chunks"
    tokens: int = 800
    tokenizer: str = ""
    encoder: str = ""
    late: bool = False
    summaries: bool = False
    clean: str = ""

    def __post_init__(self) -> None:
        if self.evidence not in EVIDENCE:
            hint = meant(str(self.evidence), EVIDENCE)
            raise RecipeError(f"no evidence {self.evidence!r}{hint}; known: {', '.join(EVIDENCE)}")
        if isinstance(self.tokens, bool) or not isinstance(self.tokens, int) or self.tokens < 1:
            raise RecipeError(f"tokens={self.tokens!r} must be a whole number of at least 1; try tokens=800")

    @property
    def ladder(self) -> str | None:
        """The ladder that evidence is assembled by; None where it is chunks."""
        return None if self.evidence == "chunks" else self.evidence.partition("-")[2] or "default"

    @property
    def index(self) -> tuple[str, str, bool, bool, str]:
        """What is indexed, and how. Those that have it in common can share an index."""
        return self.recipe, self.encoder, self.late, self.summaries, self.clean

    @property
    def asked(self) -> str:
        """What a question is answered with, in words for a person."""
        how = self.retrieval if self.evidence == "chunks" else self.evidence.replace("-", " ")
        return f"{how}, {self.tokens:,} tokens"

    @property
    def label(self) -> str:
        """The name in tables: the recipe, and what is not as usual."""
        told = [self.recipe]
        told += [self.retrieval] if self.retrieval != "hybrid()" and self.evidence == "chunks" else []
        told += [self.evidence.replace("-", " ")] if self.evidence != "chunks" else []
        told += [self.encoder] if self.encoder else []
        told += [name for name in ("late", "summaries") if getattr(self, name)]
        told += [f"clean={self.clean}"] if self.clean else []
        return " -> ".join(told)
