"""`chunkwise tune`: search the recipe that answers your questions best, and write it down for production."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chunkwise.cli.corpora import corpus_of
from chunkwise.cli.evaluate import BudgetTokenizerOption, write_results
from chunkwise.cli.files import CleanOption, GlobOption, LimitOption, PasswordOption
from chunkwise.cli.index import CacheOption, EncoderOption, NoCacheOption, kept_at
from chunkwise.cli.terminal import counted, fail, print_text, progress, repeated, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkwise.core.types import Query
    from chunkwise.evaluate.corpus import Corpus
    from chunkwise.tuning import Tuned

# How many questions are drafted where none are given.
_DRAFTED = 200

# Of what was screened so many are shown.
_MOST_TRIALS = 8

_TIME = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[smh]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def tune(
    paths: Annotated[list[str], typer.Argument(help="Files and folders that the questions are about.", metavar="PATH")],
    queries: Annotated[
        Path | None,
        typer.Option(
            "--queries", "-q", help="The questions: .jsonl, .yaml or .csv. Without, some are drafted.", metavar="FILE"
        ),
    ] = None,
    time: Annotated[str, typer.Option("--time", help="How long to search, e.g. 90s, 10m or 2h.")] = "10m",
    tokens: Annotated[int, typer.Option("--tokens", help="The budget of evidence for a question.", min=1)] = 800,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write what is chosen.", metavar="FILE")
    ] = Path("chunkwise.toml"),
    recipe: Annotated[
        list[str] | None, typer.Option("--recipe", "-r", help="Measure this one, too. May be given again.")
    ] = None,
    strategy: Annotated[
        list[str] | None, typer.Option("--strategy", help="Search only this one. May be given again.")
    ] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option("--evidence", "-E", help="What may be answered with: chunks, assemble, ... By default all."),
    ] = None,
    passes: Annotated[
        float, typer.Option("--passes", help="How often as much as the corpus may be embedded.", min=1)
    ] = 2.0,
    seed: Annotated[int, typer.Option("--seed", help="Another number parts the questions otherwise.")] = 0,
    tokenizer: BudgetTokenizerOption = None,
    json: Annotated[
        Path | None, typer.Option("--json", help="Write the results of the last few to this file.", metavar="FILE")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a report to read, one HTML file.", metavar="FILE")
    ] = None,
    encoder: EncoderOption = None,
    cache: CacheOption = None,
    no_cache: NoCacheOption = False,
    glob: GlobOption = None,
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
) -> None:
    """Find how to cut, search and answer by your own questions, and write it as chunkwise.toml."""
    from chunkwise.configs import write_config
    from chunkwise.core.config import EVIDENCE
    from chunkwise.evaluate.space import PROSE
    from chunkwise.evaluating import Setting, blamed
    from chunkwise.tuning import Search
    from chunkwise.tuning import tune as search

    if unknown := sorted({*(evidence or ())} - {*EVIDENCE}):
        fail(f"--evidence {unknown[0]}: write one of {', '.join(EVIDENCE)}")
    wanted = Search(
        seconds=_seconds(time),
        passes=passes,
        strategies=tuple(strategy or PROSE),
        evidence=tuple(kind for kind in EVIDENCE if kind in (evidence or EVIDENCE)),
        recipes=tuple(recipe or ()),
        seed=seed,
    )
    setting = replace(Setting.of(tokens, tokenizer=tokenizer or ""), cache=kept_at(cache, no_cache))
    corpus = corpus_of(paths, glob, password, limit, clean, but=queries)
    asked = _questions(queries, corpus, seed)
    with setting.keeping() as kept:
        with progress("tuning") as show:
            tuned = search(corpus.documents, asked, setting=kept, encoder=encoder or "", search=wanted, progress=show)
        _print(tuned)
        write_config(replace(tuned.chosen, clean=clean or ""), output, notes=_notes(tuned, asked))
        say(f"{output}: what was chosen; chunkwise index and chunkwise search go by it")
        confirmed = replace(tuned.confirmed, repeat=repeated())
        if report is not None:
            confirmed = blamed(confirmed, corpus.documents, [tuned.chosen.label, tuned.plain.label], setting=kept)
    write_results(confirmed, corpus.documents, json, report)


def _questions(file: Path | None, corpus: Corpus, seed: int) -> Sequence[Query]:
    """Return the questions that are given, or drafted ones."""
    from chunkwise.evaluate.mechanical import draft_mechanically
    from chunkwise.evaluate.queries import read_queries

    if file is not None:
        return read_queries(file, corpus)
    drafted = draft_mechanically(corpus.documents, n=_DRAFTED, seed=seed).queries
    if not drafted:
        fail("no questions are given, and none could be drafted of these documents; write some: see docs/queries.md")
    say(
        f"no questions are given: {counted(len(drafted), 'synthetic question')} are drafted, by which recipes can be "
        "told apart only so far; write your own with: chunkwise queries find"
    )
    return drafted


def _print(tuned: Tuned) -> None:
    """Print what was tried, whether rules of thumb paid, the last few, and what was chosen."""
    from chunkwise.evaluate.summary import config_table, measured
    from chunkwise.evaluate.tables import aligned

    say(measured(tuned.confirmed))
    trials = sorted((one for one in tuned.trials if not one.same_as), key=lambda trial: -trial.recall)
    n_alike = len(tuned.trials) - len(trials)
    alike = f", {n_alike} of which do here as another does" if n_alike else ""
    screened = f"{counted(len(tuned.trials), 'recipe')}{alike}, screened by {trials[0].n_questions}"
    shown = [(f"{100 * one.recall:.1f}", f"{one.vectors:,}", one.recipe) for one in trials[:_MOST_TRIALS]]
    left = f", {tuned.n_left} not for want of time or passes" if tuned.n_left else ""
    print_text(
        f"{screened} of the questions to choose by{left}; the best of them:\n"
        f"{aligned([('recall', 'vectors', 'recipe'), *shown], left=(2,))}"
    )
    for move in tuned.moves:
        won = f"{100 * move.won.mean:+.1f} [{100 * move.won.low:+.1f}, {100 * move.won.high:+.1f}]"
        print_text(f"rule of thumb, {move.rule}: {move.before} to {move.after}: {won}, {move.verdict}")
    print_text(f"\nThe last few, on the questions that nothing was chosen by:\n{config_table(tuned.confirmed)}")
    print_text(f"\n{tuned.verdict}")
    print_text(f"{tuned.seconds:.0f} s, {tuned.passes:.1f} embedding passes of the corpus")


def _notes(tuned: Tuned, asked: Sequence[Query]) -> list[str]:
    """Return what a person who reads the file should know of the choice."""
    synthetic = sum(query.is_synthetic for query in asked)
    told = [f"Chosen by chunkwise tune on {date.today()}: {tuned.verdict}"]
    told += [f"{synthetic} of {len(asked)} questions are synthetic."] if synthetic else []
    return [*told, tuned.confirmed.comparison.verdict]


def _seconds(written: str) -> float:
    found = _TIME.fullmatch(written.strip().lower())
    if found is None or not float(found["number"]):
        fail(f"--time {written}: write seconds, minutes or hours above 0, as in 90s, 10m or 2h")
    return float(found["number"]) * _SECONDS[found["unit"]]
