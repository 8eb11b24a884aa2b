"""`chunkwise evaluate`: measure which recipe answers your questions best."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chunkwise.cli.answering import Answering
from chunkwise.cli.corpora import corpus_of
from chunkwise.cli.files import CleanOption, GlobOption, LimitOption, PasswordOption
from chunkwise.cli.index import CacheOption, EncoderOption, LateOption, NoCacheOption, SummariesOption, kept_at
from chunkwise.cli.terminal import counted, fail, one_line, print_text, progress, repeated, say, written_aside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chunkwise.core.config import Config, EvidenceKind
    from chunkwise.core.types import Document
    from chunkwise.evaluate.gate import Gated
    from chunkwise.evaluate.results import Evaluation

QueriesOption = Annotated[
    Path, typer.Option("--queries", "-q", help="The questions: .jsonl, .yaml or .csv.", metavar="FILE")
]

BudgetTokenizerOption = Annotated[
    str | None,
    typer.Option("--tokenizer", "-t", help="What the budget is counted with: your model's. By default cl100k_base."),
]

# What is measured where no recipe is named: the default, and what most start with.
_USUAL = ("structural(size=200) | context(headings=True)", "recursive(size=200)", "fixed(size=200)")

# Of the questions that broke so many are named.
_MOST_BROKEN = 10


def evaluate(
    paths: Annotated[list[str], typer.Argument(help="Files and folders that the questions are about.", metavar="PATH")],
    queries: QueriesOption,
    recipe: Annotated[
        list[str] | None, typer.Option("--recipe", "-r", help="How to cut. May be given again, to compare.")
    ] = None,
    retrieve: Annotated[
        list[str] | None, typer.Option("--retrieve", "-R", help="How to find. May be given again.", metavar="RECIPE")
    ] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence",
            "-E",
            help="What to answer with: chunks, assemble, assemble-fine or assemble-coarse. May be given again.",
        ),
    ] = None,
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", help="A chunkwise.toml to measure. May be given again.", metavar="FILE"),
    ] = None,
    tokens: Annotated[int, typer.Option("--tokens", help="The budget of evidence for a question.", min=1)] = 800,
    tokenizer: BudgetTokenizerOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="What to measure beside recall, e.g. 'nDCG @ 10'. May be given again."),
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write all results to this file.", metavar="FILE")] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a report to read, one HTML file.", metavar="FILE")
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Results of an earlier run: exit code 1 if they were better.", metavar="FILE"),
    ] = None,
    blame: Annotated[
        str, typer.Option("--blame", help="Say why evidence is missed of: chosen, all or none.", metavar="WHICH")
    ] = "chosen",
    answers: Annotated[
        bool,
        typer.Option("--answers", help="Judge answers, too: those of --llm, of --given, or that the questions have."),
    ] = False,
    llm: Annotated[
        str | None, typer.Option("--llm", help="Who answers from what is found, e.g. https://HOST/v1#MODEL.")
    ] = None,
    given: Annotated[
        Path | None, typer.Option("--given", help="Answers that you have: lines of id and answer.", metavar="FILE")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="Who judges, e.g. https://HOST/v1#MODEL. Without, a heuristic does, and says so."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", help="What people say of answers, to calibrate the judge by.", metavar="FILE"),
    ] = None,
    encoder: EncoderOption = None,
    cache: CacheOption = None,
    no_cache: NoCacheOption = False,
    late: LateOption = None,
    summaries: SummariesOption = None,
    glob: GlobOption = None,
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
) -> None:
    """Compare recipes on your questions: what each finds for the same tokens, at what cost, and what it misses why."""
    from dataclasses import replace

    from chunkwise.configs import read_config
    from chunkwise.core.config import Config
    from chunkwise.evaluate.measures import parse_metric
    from chunkwise.evaluate.queries import read_queries
    from chunkwise.evaluate.result_files import read_baseline
    from chunkwise.evaluating import Setting, blamed
    from chunkwise.evaluating import evaluate as measure

    if blame not in ("chosen", "all", "none"):
        fail(f"--blame {blame}: write chosen, all or none")
    earlier = read_baseline(baseline) if baseline is not None else None  # what is wrong with it is told at once
    setting = replace(
        Setting.of(tokens, tokenizer=tokenizer or "", metrics=[parse_metric(one) for one in metric or ()]),
        cache=kept_at(cache, no_cache),
    )
    base = Config("", encoder=encoder or "", late=bool(late), summaries=bool(summaries))
    configs = [read_config(file) for file in config or ()]
    cuts = recipe or (() if configs else _USUAL)
    configs += _configs(base, cuts, retrieve or ("hybrid()",), evidence or ("chunks",))
    corpus = corpus_of(paths, glob, password, limit, clean, but=queries)
    texts, asked = corpus.documents, read_queries(queries, corpus)
    with setting.keeping() as kept:
        with progress("evaluating") as show:
            found = measure(texts, asked, configs, setting=kept, progress=show)
        if blame != "none":
            named = [found.comparison.choice] if blame == "chosen" else [one.config.label for one in found.outcomes]
            found = blamed(found, texts, named, setting=kept)
    found = replace(found, repeat=repeated())
    if answers or llm or given or judge or labels:
        told = Answering(llm, given, judge, labels)
        found = told.judged(found, texts)
    _print(found)
    if labels is not None:
        print_text(f"\n{told.calibration(found, texts)}")
    write_results(found, texts, json, report)
    if earlier is not None:
        from chunkwise.evaluate.gate import gate

        _judge(gate(found, earlier))


def _configs(base: Config, recipes: Sequence[str], retrievals: Sequence[str], kinds: Sequence[str]) -> Sequence[Config]:
    """Return every recipe with every kind of evidence; chunks with every retrieval."""
    from dataclasses import replace

    wanted: dict[Config, None] = {}
    for cut, kind in product(recipes, kinds):
        for retrieval in retrievals if kind == "chunks" else retrievals[:1]:
            known: EvidenceKind = kind  # type: ignore[assignment]  # the config refuses what is none
            how = retrieval if kind == "chunks" else base.retrieval
            wanted[replace(base, recipe=cut, retrieval=how, evidence=known)] = None
    return list(wanted)


def _print(found: Evaluation) -> None:
    """Print what was measured, the table of configs, what can be said of them, and why evidence was missed."""
    from chunkwise.evaluate import judgements
    from chunkwise.evaluate.misses import table
    from chunkwise.evaluate.summary import config_table, measured

    say(measured(found))
    for note in dict.fromkeys(note for outcome in found.outcomes for note in outcome.notes):
        labels = [outcome.config.label for outcome in found.outcomes if note in outcome.notes]
        say(f"note: {note}" if len(labels) == len(found.outcomes) else f"note: {', '.join(labels)}: {note}")
    print_text(config_table(found))
    print_text(f"\n{found.comparison.verdict}")
    if blames := [outcome.blame for outcome in found.outcomes if outcome.blame is not None]:
        print_text(f"\nWhy evidence was missed, in points of recall:\n{table(blames)}")
    if answered := {one.config.label: one.answers for one in found.outcomes if one.answers is not None}:
        print_text(f"\nAnswers:\n{judgements.table(answered)}")


def write_results(found: Evaluation, texts: Sequence[Document], json: Path | None, report: Path | None) -> None:
    """Write the files that are asked for."""
    from json import dump

    from chunkwise.evaluate.result_files import result_fields

    if json is not None:
        with written_aside(json) as stream:
            dump(result_fields(found), stream, ensure_ascii=False)
        say(f"{json}: all results")
    if report is not None:
        from chunkwise.report.evaluation import drawn

        with written_aside(report) as stream:
            stream.write(drawn(found, {document.id: document.text for document in texts}))
        say(f"{report}: the report")


def _judge(gated: Sequence[Gated]) -> None:
    """Say what is better or worse than before, and end with exit code 1 where something is worse beyond noise."""
    for one in gated:
        print_text(f"\n{one.verdict}")
        for change in one.broken[:_MOST_BROKEN]:
            print_text(f"  {change.id}: {100 * change.before:.0f} -> {100 * change.now:.0f}  {one_line(change.text)}")
        if (more := len(one.broken) - _MOST_BROKEN) > 0:
            print_text(f"  and {counted(more, 'question')} more")
    if any(one.is_regression for one in gated):
        say("regression: recall is less than in the baseline, by more than chance")
        raise typer.Exit(1)
