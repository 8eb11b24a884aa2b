"""What the verbs that read files share: the options about reading, the documents, and a list of what was skipped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from chunkwise.cli.terminal import fail, say
from chunkwise.core.types import Limits

if TYPE_CHECKING:
    from chunkwise.core.types import Document
    from chunkwise.pipeline import Progress
    from chunkwise.readers.batch import OnError
    from chunkwise.readers.read import Reading, Skip

GlobOption = Annotated[
    list[str] | None, typer.Option("--glob", "-g", help="Take only files that match, e.g. '*.md'. May be given again.")
]
OnErrorOption = Annotated[
    str, typer.Option("--on-error", help="A file that can't be read: skip it and tell, or fail.", metavar="skip|fail")
]
PasswordOption = Annotated[
    str, typer.Option("--password", help="What opens encrypted PDFs.", envvar="CHUNKWISE_PASSWORD", show_envvar=True)
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--limit", help="Raise or lower a limit on one file, e.g. seconds=300 or size=2GB; may be given again."
    ),
]
CleanOption = Annotated[
    str | None,
    typer.Option(
        "--clean",
        help="What to take out, e.g. blobs,spaces. There are controls, unicode, blobs, hyphens, navigation, repeated, "
        "spaces; all; none. Default: blobs, or what the index was made with.",
        metavar="STEPS",
    ),
]

# The most skipped files that are named one by one.
_MOST_SKIPS = 20
_AMOUNT = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmgKMG]?)[iI]?[bB]?")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def reading(password: str, limits: Sequence[str] | None, clean: str | None) -> Reading:
    """Return how files are to be read, from options."""
    from chunkwise.readers.read import Reading

    return Reading(limited(limits or ()), password, clean)


def limited(written: Sequence[str]) -> Limits:
    """Return the limits with those that are written as `name=value`."""
    limits, names = Limits(), [field.name for field in fields(Limits)]
    for entry in written:
        name, _, value = entry.partition("=")
        if name not in names:
            close = get_close_matches(name, names, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
            fail(f"--limit {entry}: no limit is called {name!r}; {hint}")
        amount = _AMOUNT.fullmatch(value.strip())
        if amount is None or not float(amount["number"]):
            fail(f"--limit {entry}: write a number above 0, as in {name}=300 or size=2GB")
        number = float(amount["number"]) * _UNITS[amount["unit"].lower()]
        limits = Limits(**{**asdict(limits), name: number if name == "seconds" else int(number)})
    return limits


def documents(
    paths: Sequence[str], globs: Sequence[str], show: Progress | None, *, reading: Reading, on_error: str = "skip"
) -> Iterator[Document | Skip]:
    """Read files and folders, telling how far it is and what is doubtful. A missing path is told at once."""
    from chunkwise.readers.batch import read_files
    from chunkwise.readers.read import Skip, doubts, find_files

    wanted = error_mode(on_error)
    files = [file for path in paths for file in find_files(path, globs=globs)]
    for done, result in enumerate(read_files(files, reading=reading, on_error=wanted), 1):
        if show is not None:
            show(done, len(files), result.id)
        for doubt in () if isinstance(result, Skip) else doubts(result):
            say(f"note: {doubt}")
        yield result


def error_mode(written: str) -> OnError:
    """Return what is to be done about a file that can't be read."""
    if written not in ("skip", "fail"):
        fail(f"--on-error {written}: write skip or fail")
    return "fail" if written == "fail" else "skip"


def tell_skips(skips: Iterable[Skip]) -> None:
    """List the files that were passed over, with reasons; of many, those that failed first, and the rest by reason."""
    told_of = sorted(skips, key=lambda skip: not skip.failed)
    for skip in told_of[:_MOST_SKIPS]:
        # A read error names the file already.
        say(f"skipped {skip.reason}" if skip.reason.startswith(skip.id) else f"skipped {skip.id}: {skip.reason}")
    rest = told_of[_MOST_SKIPS:]
    if rest:
        reasons = Counter(skip.reason.removeprefix(f"{skip.id}: ") for skip in rest)
        say(f"skipped {len(rest)} more: " + "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(5)))
