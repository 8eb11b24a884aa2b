"""`chunkwise strategies`: what a recipe may be made of."""

from __future__ import annotations

import inspect
from typing import Any

from chunkwise.cli.terminal import JsonOption, console, wants_json, write_json


def strategies(json: JsonOption = False) -> None:
    """List strategies and transforms with their parameters."""
    import chunkwise.pipeline  # noqa: F401 - registers them
    from chunkwise.core.recipes import STRATEGIES, TRANSFORMS

    rows = [
        _row(kind, name, stage)
        for kind, stages in (("strategy", STRATEGIES), ("transform", TRANSFORMS))
        for name, stage in sorted(stages.items())
    ]
    if wants_json(json):
        write_json(rows)
        return
    from rich.table import Table

    table = Table("kind", "name", "what it does", "parameters", box=None)
    for row in rows:
        parameters = ", ".join(f"{name}={value}" for name, value in row["parameters"].items())
        table.add_row(row["kind"], f"[bold]{row['name']}[/]", row["sentence"], parameters.replace("[", r"\["))
    console().print(table)
    console().print("\nA recipe: structural(size=400) | overlap(sentences=1) | context(headings=True)")


def _row(kind: str, name: str, stage: type) -> dict[str, Any]:
    from chunkwise.core.protocols import Tokenizer
    from chunkwise.core.recipes import parameters

    values = {
        key: default.name if isinstance(default, Tokenizer) else default
        for key, (_, default, _) in parameters(stage).items()
    }
    module = inspect.getmodule(stage)
    sentence = (inspect.getdoc(module) or "").partition("\n")[0]
    return {"kind": kind, "name": name, "sentence": sentence, "parameters": values}
