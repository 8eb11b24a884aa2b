"""`chunkwise assemble`: the evidence for a question, as much as a budget of tokens pays for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from chunkwise.cli.hits import DocumentOption, Question, WhereOption, carrying, open_index, write_hits
from chunkwise.cli.index import IndexOption
from chunkwise.cli.terminal import JsonOption, say


class LadderName(StrEnum):
    """The scales at which sentences are scored."""

    default = "default"
    fine = "fine"
    coarse = "coarse"


def assemble(
    question: Question,
    index: IndexOption = "index",
    tokens: Annotated[int, typer.Option("--tokens", help="How many tokens the evidence may have.", min=1)] = 800,
    ladder: Annotated[
        LadderName, typer.Option("--ladder", "-l", help="fine for single facts, coarse for long answers.")
    ] = LadderName.default,
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
    hits = opened.assemble(question, tokens=tokens, ladder=ladder.value, tokenizer=tokenizer, where=carried)
    write_hits(hits, json=json)
    if not hits:
        other = "nothing that is found carries what --where and --document ask for, or " if carried else ""
        say(f"{other}no sentence fits in {tokens} tokens; raise --tokens{' or ask for less' if carried else ''}")
