"""`chunkwise assemble`: the evidence for a question, as much as a budget of tokens pays for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from chunkwise.cli.hits import DocumentOption, Question, WhereOption, carrying, open_index, write_evidence
from chunkwise.cli.index import IndexOption
from chunkwise.cli.terminal import JsonOption

# How many tokens, where neither an option nor a config says.
_TOKENS = 800


class LadderName(StrEnum):
    """The scales at which sentences are scored."""

    default = "default"
    fine = "fine"
    coarse = "coarse"


def assemble(
    question: Question,
    index: IndexOption = "index",
    tokens: Annotated[
        int | None,
        typer.Option(
            "--tokens",
            help="How many tokens the evidence may have: by default what the index's config says, or 800.",
            min=1,
        ),
    ] = None,
    ladder: Annotated[
        LadderName | None,
        typer.Option(
            "--ladder",
            "-l",
            help="fine for single facts, coarse for long answers; by default the config's, or default.",
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option("--tokenizer", "-t", help="What tokens are counted with: your model's. By default the encoder's."),
    ] = None,
    where: WhereOption = None,
    document: DocumentOption = None,
    json: JsonOption = False,
) -> None:
    """Write the passages that answer a question, sentence by sentence, in the order of the text."""
    opened = open_index(index)
    carried = carrying(opened, where or [], document or [])
    config = opened.config
    tokens = tokens or (config.tokens if config is not None else _TOKENS)
    named = ladder.value if ladder is not None else None
    hits = opened.assemble(question, tokens=tokens, ladder=named, tokenizer=tokenizer, where=carried)
    write_evidence(hits, json=json, tokens=tokens, filtered=bool(carried))
