"""`chunkwise strategies`: what recipes can be made of, which presets there are, and why auto chooses what it does."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkwise.cli.terminal import JsonOption, RecipeOption, console, fail, one_line, say, wants_json, write_json

if TYPE_CHECKING:
    from rich.table import Table

    from chunkwise.chunkers.kinds import Part
    from chunkwise.core.protocols import Chunker
    from chunkwise.core.types import Document


def strategies(
    explain: Annotated[
        Path | None, typer.Option("--explain", help="Say what auto takes this file for, and why.", metavar="FILE")
    ] = None,
    recipe: RecipeOption = None,
    json: JsonOption = False,
) -> None:
    """List strategies, transforms and presets; or with --explain, say what is chosen for a file."""
    if explain is not None:
        _explain(explain, recipe or "auto()", json=wants_json(json))
        return
    if recipe is not None:
        fail("--recipe is about --explain: name a file with it")
    _list(json=wants_json(json))


def _list(*, json: bool) -> None:
    import chunkwise.pipeline  # noqa: F401 - registers them
    from chunkwise.core.recipes import SCORERS, STRATEGIES, TRANSFORMS, load_plugins
    from chunkwise.core.retrievals import FINDERS, STEPS
    from chunkwise.presets import PRESETS

    load_plugins()
    cutting = (("strategy", STRATEGIES), ("transform", TRANSFORMS), ("scorer", SCORERS))
    finding = (("finder", FINDERS), ("step", STEPS))
    rows, searches = (
        [_row(kind, name, stage) for kind, stages in registries for name, stage in sorted(stages.items())]
        for registries in (cutting, finding)
    )
    presets = [
        {"kind": "preset", "name": name, "sentence": one.about, "recipe": one.recipe, "source": one.source}
        for name, one in PRESETS.items()
    ]
    if json:
        write_json([*rows, *searches, *presets])
        return
    from rich.table import Table

    screen = console()
    screen.print(_table(rows))
    screen.print("\nA recipe: structural(size=400) | overlap(sentences=1) | context(headings=True)")
    screen.print(
        "What can stream cuts a text as it comes: chunkwise chunk -. All but nest and route take a tokenizer.\n"
    )
    screen.print(_table(searches))
    screen.print("\nTo search: chunkwise search QUESTION --retrieve 'hybrid(alpha=0.4) | fold() | edges()'\n")
    table = Table("--preset", "for", "recipe", box=None)
    for preset in presets:
        table.add_row(f"[bold]{preset['name']}[/]", preset["sentence"], preset["recipe"].replace("[", r"\["))
    screen.print(table)


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return stages as a table, each named as a recipe writes it."""
    from rich.table import Table

    table = Table("", "", "what it does", "parameters", box=None)
    for row in rows:
        shown = ", ".join(f"{key}={value}" for key, value in row["parameters"].items() if key != "tokenizer")
        before = {"transform": "| ", "step": "| ", "scorer": "scorer="}.get(row["kind"], "")
        mark = "stream" if row["streamable"] else ""
        table.add_row(f"[bold]{before}{row['name']}[/]", f"[dim]{mark}[/]", row["sentence"], shown.replace("[", r"\["))
    return table


def _row(kind: str, name: str, stage: type) -> dict[str, Any]:
    from chunkwise.core.protocols import Tokenizer
    from chunkwise.core.recipes import is_chunker, is_scorer, parameters

    def shown(default: object) -> object:
        return repr(default) if is_chunker(default) or is_scorer(default) else default

    values = {
        key: default.name if isinstance(default, Tokenizer) else shown(default)
        for key, (_, default, _) in parameters(stage).items()
    }
    described = inspect.getmodule(stage) if kind in ("strategy", "transform") else stage  # the others share modules
    sentence = (inspect.getdoc(described) or "").partition("\n")[0]
    streamable = kind == "strategy" and bool(stage().streamable)
    return {"kind": kind, "name": name, "sentence": sentence, "parameters": values, "streamable": streamable}


def _explain(path: Path, recipe: str, *, json: bool) -> None:
    """Print the parts of a document, with the strategy that is chosen for each and the reason."""
    from chunkwise.pipeline import chunker
    from chunkwise.readers.read import read

    cut = chunker(recipe)
    plan = getattr(cut, "plan", None) or getattr(getattr(cut, "chunker", None), "plan", None)
    if plan is None:
        fail(f"{cut!r} chooses nothing; explain auto() or a route(...)")
    document = read(path)
    rows = _parts(document, plan(document), cut)
    say(f"{one_line(document.id)}: {len(rows)} parts by {cut!r}")
    if json:
        write_json(rows)
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("lines", "kind", "strategy", "chunks", "why", box=None)
    for row in rows:
        lines = f"{row['first_line']}-{row['last_line']}"
        cells = (lines, row["kind"], row["strategy"], str(row["chunks"]), row["reason"])
        table.add_row(*(Text(one_line(cell)) for cell in cells))
    console().print(table)


def _parts(document: Document, parts: Sequence[Part], cut: Chunker) -> list[dict[str, Any]]:
    from chunkwise.text.graphemes import first_ink, last_ink

    chunks, rows = list(cut(document)), []
    for part in parts:
        inside = [chunk for chunk in chunks if part.span.start <= chunk.own.start < part.span.end]
        start = first_ink(document.text, *part.span)
        first = document.text.count("\n", 0, start) + 1
        rows.append(
            {
                "start": start,
                "end": last_ink(document.text, *part.span),
                "first_line": first,
                "last_line": first + document.text[start : part.span.end].rstrip().count("\n"),
                "kind": part.kind,
                "strategy": str(inside[0].meta["strategy"]) if inside else "",
                "chunks": len(inside),
                "reason": part.reason,
            }
        )
    return rows
