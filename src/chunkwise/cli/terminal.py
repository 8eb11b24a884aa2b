"""What all verbs share: errors as one line, data to stdout, messages and progress to stderr."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec

import typer

from chunkwise.core.errors import ChunkwiseError
from chunkwise.core.types import NOTED
from chunkwise.text.unicode import printable

if TYPE_CHECKING:
    from rich.console import Console

    from chunkwise.core.types import Chunk, Document

P = ParamSpec("P")

# Options that several verbs take.
RecipeOption = Annotated[
    str | None, typer.Option("--recipe", "-r", help="How to cut, e.g. 'structural(size=400) | overlap(sentences=1)'.")
]
PresetOption = Annotated[
    str | None, typer.Option("--preset", "-p", help="Cut as is usual for a kind: article, manual, code, legal, ...")
]
TokenizerOption = Annotated[
    str | None,
    typer.Option("--tokenizer", "-t", help="What to count with where the recipe does not say: a name or a path."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON lines, also to a terminal.")]


def told(verb: Callable[P, None]) -> Callable[P, None]:
    """Turn errors that are the user's to mend into one line on stderr and exit code 2."""

    @functools.wraps(verb)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            verb(*args, **kwargs)
        except ChunkwiseError as err:
            fail(str(err))
        except OSError as err:
            if isinstance(err, BrokenPipeError):  # the reader of a pipe has seen enough
                sys.stderr.close()
                raise typer.Exit(0) from None
            fail(str(err))
        except KeyboardInterrupt:
            sys.stderr.write("\ninterrupted\n")
            raise typer.Exit(130) from None

    return run


def fail(message: str) -> NoReturn:
    """Say what is wrong, and end with exit code 2."""
    sys.stderr.write(f"error: {one_line(message)}\n")
    raise typer.Exit(2)


def say(message: str) -> None:
    """Write a message to stderr."""
    sys.stderr.write(f"{one_line(message)}\n")


def print_text(text: str) -> None:
    """Write lines to stdout as they are, but for what a terminal would obey."""
    sys.stdout.write("\n".join(map(printable, text.split("\n"))) + "\n")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which it puts in the plural."""
    return f"{number:,} {noun}" + ("s" if number != 1 else "")


def wants_json(json_option: bool) -> bool:
    """Tell whether data goes out as JSON lines: when asked for, or when stdout is no terminal."""
    if sys.stdout is None:
        fail("there is no standard output to write to")
    return json_option or not sys.stdout.isatty()


def chosen(recipe: str | None, preset: str | None) -> str | None:
    """Return the recipe that is given, or the one that a preset stands for, which is told with its source."""
    if preset is None:
        return recipe
    if recipe is not None:
        fail("--preset stands for a recipe: give one of the two")
    from chunkwise.presets import preset as find

    found = find(preset)
    say(f"preset {preset}: {found.recipe}")
    say(f"  for {found.about}; source: {found.source}")
    return found.recipe


def repeated() -> str:
    """Return the command that is running, to be written down: without what opens encrypted files."""
    words: list[str] = []
    for word in sys.argv[1:]:
        name, given, _ = word.partition("=")
        if words and words[-1] == "--password":
            words.append("...")
        else:
            words.append(f"{name}=..." if name == "--password" and given else word)
    return shlex.join(["chunkwise", *words])


def load_module(name: str) -> None:
    """Import a module by name, or a file that ends in .py, for what it registers, and for its splitters."""
    from chunkwise.chunkers.splitters import allow

    sys.path.insert(0, os.getcwd())
    path = Path(name)
    allow(path.stem if path.suffix == ".py" else name)
    if path.suffix != ".py":
        try:
            importlib.import_module(name)
        except ImportError as err:
            fail(f"--load {name}: {err}")
        return
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.exists():
        fail(f"--load {name}: no such file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # so that its classes can be pickled
    try:
        spec.loader.exec_module(module)
    except Exception as err:  # whatever a user's file raises is his to mend
        line = traceback.extract_tb(err.__traceback__)[-1].lineno if not isinstance(err, SyntaxError) else err.lineno
        fail(f"--load {name}, line {line}: {type(err).__name__}: {err}")


def console() -> Console:
    """Return a console on stdout."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def write_json(values: Iterable[Mapping[str, Any]], out: Any = None) -> None:
    """Write one JSON object a line."""
    stream = out or sys.stdout
    for value in values:
        stream.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
    stream.flush()


def chunk_fields(chunk: Chunk, index: int) -> dict[str, Any]:
    """Return what is written of a chunk."""
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "index": index,
        "start": chunk.start,
        "end": chunk.end,
        "spans": [list(span) for span in chunk.spans],
        "text": chunk.text,
        "context": chunk.context,
        "token_count": chunk.token_count,
        "headings": list(chunk.headings),
        "pages": list(chunk.pages),
        "meta": {key: value for key, value in chunk.meta.items() if key != NOTED},
    }


def source_fields(chunk: Chunk, document: Document) -> dict[str, Any]:
    """Return where in the raw file a chunk is, if cleaning has moved it."""
    if not document.origin:
        return {}
    return {"source_spans": [list(document.origin.source(*span)) for span in chunk.spans]}


def one_line(text: str) -> str:
    """Return a name or a message that can't pass for two: line breaks and tabs are made visible, too."""
    return printable(text).replace("\n", "\u240a").replace("\t", "\u2409")


@contextmanager
def written_aside(path: Path) -> Iterator[IO[str]]:
    """Open a file to write, and put it in place only when all is written, so that a failed run destroys nothing."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("w", encoding="utf-8", errors="surrogatepass") as stream:
            yield stream
        os.replace(aside, path)
    except OSError as err:
        fail(f"{path}: can't be written: {err.strerror}")
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int, str], None] | None]:
    """Show a bar on stderr while a long job runs, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, name: bar.update(task, completed=done, total=total, description=one_line(name)[-40:])
