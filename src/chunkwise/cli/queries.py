"""`chunkwise queries`: make and check sets of queries with known evidence."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chunkwise.cli.corpora import corpus_of
from chunkwise.cli.files import CleanOption, GlobOption, LimitOption, PasswordOption
from chunkwise.cli.hits import Question
from chunkwise.cli.terminal import (
    JsonOption,
    console,
    counted,
    fail,
    one_line,
    say,
    told,
    wants_json,
    write_json,
    written_aside,
)
from chunkwise.text.unicode import printable

if TYPE_CHECKING:
    from chunkwise.core.types import Query
    from chunkwise.evaluate.corpus import Corpus
    from chunkwise.evaluate.drafts import Draft
    from chunkwise.evaluate.passages import Passage
    from chunkwise.evaluate.queries import Checked, Remark

Paths = Annotated[list[str], typer.Argument(help="Files and folders that the queries are about.", metavar="PATH...")]

# How many notes are shown that say the same of several lines.
_MOST_NOTES = 3

queries = typer.Typer(
    help="Make and check sets of queries with known evidence.", no_args_is_help=True, pretty_exceptions_enable=False
)


def check(
    paths: Paths,
    queries: Annotated[Path, typer.Option("--queries", "-q", help="The set: .jsonl, .yaml or .csv.", metavar="FILE")],
    write: Annotated[
        Path | None, typer.Option("--write", help="Write the set with exact spans, as JSON lines.", metavar="FILE")
    ] = None,
    json: JsonOption = False,
    glob: GlobOption = None,
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
) -> None:
    """Find evidence that the documents do not hold, and show what may be meant. Exit code 1 if there is any."""
    from chunkwise.evaluate.queries import check_queries
    from chunkwise.evaluate.query_files import write_queries

    corpus = corpus_of(paths, glob, password, limit, clean, but=queries)
    checked = check_queries(queries, corpus)
    if write is not None and checked.faults and write.exists():
        fail(f"{write} is there, and {counted(len(checked.faults), 'query')} of {queries} are broken; name a new file")
    if wants_json(json):
        write_json([*_remarks(checked.faults, corpus, "fault"), *_remarks(checked.notes, corpus, "note")])
    else:
        _print_checked(checked, corpus)
    if write is not None:
        with written_aside(_jsonl(write)) as stream:
            write_queries(checked.queries, corpus.texts, stream)
        say(f"{write}: {_queries(len(checked.queries))} with exact spans")
    n_slots = sum(len(query.evidence) for query in checked.queries)
    say(
        f"{_queries(len(checked.queries))} sound, with {counted(n_slots, 'piece')} of evidence in "
        f"{counted(len(corpus), 'document')}; {len(checked.faults)} broken"
    )
    if checked.faults:
        raise typer.Exit(1)


def draft(
    paths: Paths,
    n: Annotated[int, typer.Option("-n", help="How many queries.", min=1, max=10_000)] = 50,
    llm: Annotated[
        str | None,
        typer.Option("--llm", help="Who asks, e.g. https://HOST/v1#MODEL; else they are made mechanically."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write, as JSON lines.", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Another number gives other queries.")] = 0,
    glob: GlobOption = None,
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
) -> None:
    """Draft a first set of queries. They are marked as synthetic: read them, and add questions of people."""
    from chunkwise.evaluate.asked import draft_by
    from chunkwise.evaluate.mechanical import draft_mechanically
    from chunkwise.evaluate.query_files import write_queries
    from chunkwise.llm import llm as find_llm

    if output is not None and _jsonl(output).exists():
        fail(f"{output} is there, and may hold work of yours; name a new file")
    asked = find_llm(llm) if llm is not None else None
    corpus = corpus_of(paths, glob, password, limit, clean, but=output)
    texts = corpus.documents
    drafted = draft_by(asked, texts, n=n, seed=seed) if asked else draft_mechanically(texts, n=n, seed=seed)
    if not drafted.queries:
        advice = (
            "; ".join(reasons[:3]) if (reasons := _reasons(drafted)) else "there are no sentences or headings to ask"
        )
        fail(f"no query came of it: {advice}; " + ("see --llm" if asked is None else "try another model"))
    with written_aside(output) if output is not None else nullcontext(sys.stdout) as stream:
        write_queries(drafted.queries, corpus.texts, stream)
    _tell_draft(drafted, n)


def find(
    question: Question,
    paths: Paths,
    n: Annotated[int, typer.Option("-n", help="How many sentences at most.", min=1, max=100)] = 10,
    pick: Annotated[
        str | None,
        typer.Option("--pick", help="Which are evidence: 1,3 for two pieces, 1/3 for either.", metavar="NUMBERS"),
    ] = None,
    add: Annotated[
        Path | None, typer.Option("--add", help="Add the question to this set of JSON lines.", metavar="FILE")
    ] = None,
    answer: Annotated[str, typer.Option("--answer", help="What the answer is, in a few words.")] = "",
    json: JsonOption = False,
    glob: GlobOption = None,
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
) -> None:
    """Propose evidence for a question, by its words: no encoder picks the gold that it is measured with."""
    from chunkwise.evaluate.passages import Passages
    from chunkwise.evaluate.query_files import query_fields
    from chunkwise.text.terms import terms

    known = _known(add, question) if add is not None else ""
    corpus = corpus_of(paths, glob, password, limit, clean, but=add)
    found = Passages(corpus.documents, words=terms).ranked(question, n)
    if not found:
        fail("no sentence shares a word with the question; say it in the documents' own words")
    asks = add is not None and pick is None
    if not wants_json(json):
        _print_passages(found)
    elif asks:
        fail("--add needs --pick NUMBERS where there is no terminal to ask at")
    if asks:
        pick = typer.prompt("Which are evidence (1,3 for two pieces, 1/3 for either)")
    query = _picked(question, answer, found, pick)
    line = query_fields(query, corpus.texts)
    if wants_json(json):
        write_json([line])
    if add is not None:
        with written_aside(add) as stream:
            stream.write(known)
            write_json([line], stream)
        say(f"{add}: {query.id} added, with {counted(len(query.evidence), 'piece')} of evidence")


for verb in (check, draft, find):
    queries.command()(told(verb))


def _remarks(remarks: Iterable[Remark], corpus: Corpus, kind: str) -> Iterator[dict[str, Any]]:
    from chunkwise.evaluate.query_files import evidence_fields

    for remark in remarks:
        texts = corpus.texts if remark.passages else {}
        quoted = [evidence_fields(one.evidence, texts[one.evidence.document_id]) for one in remark.passages]
        told_of = {"file": remark.file, "line": remark.line, "id": remark.id, "problem": remark.problem}
        yield {"kind": kind, **told_of, "remedy": remark.remedy, "passages": quoted}


def _print_checked(checked: Checked, corpus: Corpus) -> None:
    """Print what is broken with evidence to paste, and some of the notes."""
    import json

    from rich.text import Text

    from chunkwise.evaluate.query_files import evidence_fields

    screen = console()
    texts = corpus.texts
    for fault in checked.faults:
        screen.print(Text(one_line(str(fault)), "red"), soft_wrap=True)
        for passage in fault.passages:
            fields = evidence_fields(passage.evidence, texts[passage.evidence.document_id])
            line = json.dumps(fields, ensure_ascii=False)
            screen.print(Text(f"  {passage.score:.0%} alike: {printable(line)}"), soft_wrap=True)  # whole, to be pasted
    for note in checked.notes[:_MOST_NOTES]:
        screen.print(Text(f"note: {one_line(str(note))}", "dim"), soft_wrap=True)
    if len(checked.notes) > _MOST_NOTES:
        screen.print(Text(f"and {len(checked.notes) - _MOST_NOTES:,} more notes; see them with --json", "dim"))


def _print_passages(passages: Sequence[Passage]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    screen = console()
    for number, passage in enumerate(passages, 1):
        span = passage.evidence.span
        place = f"{one_line(passage.evidence.document_id)}:{span.start}-{span.end}"
        screen.print(Text.assemble((f"{number}. ", "bold"), (place, "bold cyan"), (f"  {passage.score:.2f}", "dim")))
        if passage.headings:
            screen.print(Text(f"   {one_line(' > '.join(passage.headings))}", "green"))
        screen.print(Padding(Text(printable(passage.text)), (0, 0, 1, 3)))


def _picked(question: str, answer: str, found: Sequence[Passage], pick: str | None) -> Query:
    """Return the question with the passages that are picked, all where none are: commas part slots, / alternatives."""
    from chunkwise.core.types import Query
    from chunkwise.evaluate.gold import query_id

    text = question.strip()
    written = pick or ",".join(str(number) for number in range(1, len(found) + 1))
    slots = [[part.strip() for part in slot.split("/")] for slot in written.split(",")]
    if wrong := next(
        (one for slot in slots for one in slot if not one.isdecimal() or not 0 < int(one) <= len(found)), None
    ):
        fail(f"--pick {written}: {wrong!r} is no number from 1 to {len(found)}")
    evidence = tuple(tuple(found[int(one) - 1].evidence for one in slot) for slot in slots)
    return Query(query_id(text), text, evidence, answer.strip())


def _known(file: Path, question: str) -> str:
    """Return what a set holds to which a question is added, which must not be in it."""
    from chunkwise.evaluate.gold import id_of, query_id
    from chunkwise.evaluate.query_files import rows

    if not _jsonl(file).exists():
        return ""
    ids = {id_of(row) for row in rows(file)}
    if query_id(question.strip()) in ids:
        fail(f"{file} has this question already; change it there, or ask otherwise")
    text = file.read_text("utf-8")
    return text if not text or text.endswith("\n") else text + "\n"


def _jsonl(file: Path) -> Path:
    if file.suffix.lower() not in (".jsonl", ".ndjson"):
        fail(f"{file}: sets are written as JSON lines; name a file that ends in .jsonl")
    return file


def _tell_draft(drafted: Draft, n: int) -> None:
    kinds = Counter(str(query.meta["synthetic"]) for query in drafted.queries)
    n_documents = len({one.document_id for query in drafted.queries for slot in query.evidence for one in slot})
    for reason in _reasons(drafted):
        say(f"dropped {reason}")
    fewer = f" of {n} that were asked for" if len(drafted.queries) < n else ""
    made = ", ".join(f"{count} by {kind}" for kind, count in kinds.most_common())
    say(f"{_queries(len(drafted.queries))}{fewer} on {counted(n_documents, 'document')}: {made}; all marked synthetic")


def _reasons(drafted: Draft) -> list[str]:
    """Return why drafts were dropped, each reason once, with how many; what is quoted in one does not count."""
    plain = Counter(reason.partition(":")[0] for _, reason in drafted.dropped)
    return [f"{count}: {reason}" for reason, count in plain.most_common(5)]


def _queries(n: int) -> str:
    return f"{n:,} quer" + ("y" if n == 1 else "ies")
