"""`chunkwise check`: the laws on one's own files, and the health of their chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkwise.cli.files import CleanOption, GlobOption, LimitOption, PasswordOption, documents, reading, tell_skips
from chunkwise.cli.index import EncoderOption
from chunkwise.cli.terminal import (
    JsonOption,
    PresetOption,
    TokenizerOption,
    chosen,
    console,
    counted,
    fail,
    one_line,
    progress,
    say,
    wants_json,
    write_json,
)

if TYPE_CHECKING:
    from rich.text import Text

    from chunkwise.health import Example, Finding, Report

# What a row says, and how bad it is to find any: red breaks a promise or loses an answer, yellow is worth a look.
_ROWS = {
    "over_budget": ("Chunks over the size", "red"),
    "over_limit": ("Chunks the encoder would cut off", "red"),
    "tiny": ("Tiny chunks (under 10% of size)", "yellow"),
    "sentences_cut": ("Cuts inside a sentence", "yellow"),
    "tables_cut": ("Tables in several chunks", ""),
    "rows_cut": ("Table rows cut that would fit", "red"),
    "headless": ("Pieces of tables without header", "yellow"),
    "code_cut": ("Code blocks in several chunks", ""),
    "code_cut_needlessly": ("Code blocks cut that would fit", "yellow"),
    "orphan_headings": ("Headings parted from their text", "yellow"),
    "bare_headings": ("Chunks of headings alone", "yellow"),
    "pointing_back": ("Openings that point back *", "yellow"),
    "equal": ("Chunks equal to an earlier one", "yellow"),
    "alike": ("Chunks much like an earlier one", "yellow"),
}
# Above this share, what is yellow is red.
_MUCH = 0.2
_BARS = "▁▂▃▄▅▆▇█"


def check(
    paths: Annotated[list[str], typer.Argument(help="Files and folders.", metavar="PATH...")],
    recipe: Annotated[
        list[str] | None, typer.Option("--recipe", "-r", help="How to cut. Given again, recipes are compared.")
    ] = None,
    preset: PresetOption = None,
    tokenizer: TokenizerOption = None,
    encoder: EncoderOption = None,
    glob: GlobOption = None,
    json: JsonOption = False,
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
) -> None:
    """Check the laws on your files, and show the health of the chunks. Exit code 1 if a law is broken."""
    from chunkwise.health import compare
    from chunkwise.pipeline import DEFAULT_RECIPE, chunker

    named = [*(recipe or ()), *filter(None, [chosen(None, preset)])]
    cuts = [chunker(one, tokenizer=tokenizer) for one in named or [DEFAULT_RECIPE]]
    with progress("checking") as show:
        found = documents(paths, glob or [], show, reading=reading(password, limit, clean))
        reports = compare(found, cuts, encoder=encoder)
    tell_skips(reports[0].skipped)
    if not reports[0].n_documents:
        fail(f"no documents in {', '.join(paths)}; see: chunkwise doctor, for the formats that are read")
    if wants_json(json):
        write_json(map(report_fields, reports))
    else:
        print_reports(reports)
    broken = [finding.name for report in reports for finding in report.laws]
    n_chunks = sum(report.sizes.n_chunks for report in reports)
    say(
        f"{counted(reports[0].n_documents, 'document')}, {counted(n_chunks, 'chunk')}; "
        + (f"broken: {', '.join(dict.fromkeys(broken))}" if broken else "every law holds")
    )
    if broken:
        raise typer.Exit(1)


def report_fields(report: Report) -> dict[str, Any]:
    """Return what is written of a report."""
    least, first, median, third, most = report.sizes.quartiles
    tokens = {"least": least, "first_quartile": first, "median": median, "third_quartile": third, "most": most}
    return {
        "recipe": report.recipe,
        "size": report.size,
        "documents": report.n_documents,
        "chunks": report.sizes.n_chunks,
        "tokens": {**tokens, "mean": round(report.sizes.mean, 1)},
        "histogram": list(report.sizes.bins),
        "laws": {law.name: {"found": law.found, "examples": list(map(asdict, law.examples))} for law in report.laws},
        "findings": {finding.name: _finding_fields(finding) for finding in report.findings},
        "left_out": dict(report.left_out),
        "cohesion": None if report.cohesion is None else {**asdict(report.cohesion), "difference": _cohesion(report)},
        "duplicates_full": report.duplicates_full,
        "skipped": [{"id": skip.id, "reason": skip.reason} for skip in report.skipped],
    }


def print_reports(reports: Sequence[Report]) -> None:
    """Print one table, a column a recipe; for a single recipe with places to look up."""
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    screen = console()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), title_justify="left", show_edge=False)
    table.add_column(counted(reports[0].n_documents, "document"), no_wrap=True)
    for report in reports:
        table.add_column(Text(one_line(report.recipe)), overflow="fold")
    for label, cells in table_rows(reports):
        table.add_row(Text(label), *cells)
    screen.print()
    screen.print(table)
    screen.print(Padding(Text("\n".join(_notes(reports)), "dim"), (1, 1, 0, 1)))
    for report in reports:
        shown = [(finding.name, "red", finding) for finding in report.laws]
        if len(reports) == 1:
            coloured = [(_ROWS[finding.name][0], _colour(finding), finding) for finding in report.findings]
            shown += [row for row in coloured if row[1]]
        for label, colour, finding in shown:
            if finding.examples:
                screen.print(Padding(Text(label.rstrip(" *"), f"bold {colour}"), (1, 1, 0, 1)))
            for example in finding.examples:
                screen.print(Padding(_shown(example), (0, 1, 0, 3)), no_wrap=True, overflow="ellipsis", crop=True)
    screen.print()


def table_rows(reports: Sequence[Report]) -> Iterator[tuple[str, list[Text]]]:
    """Yield the rows of the table; without those of which there is nothing in the documents."""
    from rich.text import Text

    yield "Laws L1 to L10", [_laws(report) for report in reports]
    yield "Chunks", [Text(f"{report.sizes.n_chunks:,}") for report in reports]
    quartiles = [" ".join(map(str, report.sizes.quartiles)) for report in reports]
    yield "Tokens: least ¼ median ¾ most", [Text(line) for line in quartiles]
    yield "Tokens: mean", [Text(f"{report.sizes.mean:.1f}") for report in reports]
    yield "Chunks by tenths of the size", [Text(_spark(report.sizes.bins), "cyan") for report in reports]
    for name, (label, _) in _ROWS.items():
        findings = [finding for report in reports for finding in report.findings if finding.name == name]
        if any(finding.of for finding in findings):
            yield label, [_count(finding) for finding in findings]
    for reason in sorted({reason for report in reports for reason in report.left_out}):
        counts = [report.left_out.get(reason, 0) for report in reports]
        yield f"Characters left out: {reason}", [Text(f"{count:,}") for count in counts]
    if any(report.cohesion for report in reports):
        yield "Cohesion of sentences **", [Text(_told(report)) for report in reports]


def _notes(reports: Sequence[Report]) -> Iterator[str]:
    yield "* A heuristic: chunks whose first word is It, These, However ... and that start under no heading."
    if any(report.cohesion for report in reports):
        yield "** Mean cosine of neighbouring sentences (5,000 at most) inside chunks, less that across cuts."
    if any(report.duplicates_full for report in reports):
        yield "There are more chunks than are compared with each other; later duplicates may be missing."


def _laws(report: Report) -> Text:
    from rich.text import Text

    if not report.laws:
        return Text("all hold", "green")
    return Text(", ".join(f"{law.name} broken {law.found:,} times" for law in report.laws), "bold red")


def _count(finding: Finding) -> Text:
    from rich.text import Text

    if not finding.found:
        return Text("none" if finding.of else "-", "green" if finding.of else "dim")
    return Text(f"{finding.found:,} of {finding.of:,} ({finding.share:.1%})", _colour(finding))


def _colour(finding: Finding) -> str:
    colour = _ROWS[finding.name][1] if finding.found else ""
    return "red" if colour and finding.share > _MUCH else colour


def _spark(bins: Sequence[int]) -> str:
    """Draw counts as bars; what is there at all is seen."""
    most = max(bins) or 1
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in bins)


def _cohesion(report: Report) -> float | None:
    difference = report.cohesion.difference if report.cohesion else None
    return None if difference is None else round(difference, 4)


def _told(report: Report) -> str:
    difference = _cohesion(report)
    return "too few" if difference is None else f"{difference:+.4f}"


def _shown(example: Example) -> Text:
    """Return one line: where, and the text around; a cut as a bar between what it parts."""
    from rich.text import Text

    line = Text()
    if example.document_id:
        line.append(f"{one_line(example.document_id)}:{example.line}", "cyan").append(f" @{example.start}", "dim")
    if example.note:
        line.append(f"  {one_line(example.note)}")
    before, after = (" ".join(one_line(part).replace("␊", " ").split()) for part in (example.before, example.after))
    if example.start == example.end:
        line.append(f"  …{before}", "dim").append(" ┃ ", "bold red").append(after)
    elif after:
        line.append(f"  {after}", "dim")
    return line


def _finding_fields(finding: Finding) -> dict[str, Any]:
    fields = asdict(finding)
    del fields["name"]
    return {**fields, "share": round(finding.share, 4)}
