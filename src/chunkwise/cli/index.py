"""`chunkwise index`: read, cut, embed and store files, or bring an index up to date."""

from __future__ import annotations

from typing import Annotated

import typer

from chunkwise.cli.configs import ConfigOption, NoConfigOption, config_of
from chunkwise.cli.files import (
    CleanOption,
    GlobOption,
    LimitOption,
    OnErrorOption,
    PasswordOption,
    error_mode,
    reading,
    tell_skips,
)
from chunkwise.cli.terminal import (
    JsonOption,
    PresetOption,
    RecipeOption,
    chosen,
    counted,
    fail,
    progress,
    say,
    write_json,
)

IndexOption = Annotated[str, typer.Option("--index", "-i", help="The folder of the index.", envvar="CHUNKWISE_INDEX")]

EncoderOption = Annotated[
    str | None,
    typer.Option(
        "--encoder", "-e", help="A name, a folder with an ONNX model, or an endpoint as http://host/v1#model."
    ),
]

CacheOption = Annotated[
    str | None,
    typer.Option(
        "--cache",
        help="The file that keeps vectors, so that no text is embedded twice. By default in the user's cache folder.",
    ),
]
NoCacheOption = Annotated[bool, typer.Option("--no-cache", help="Embed all that is new, and keep nothing of it.")]
LateOption = Annotated[
    bool | None,
    typer.Option(
        "--late/--no-late", help="Embed chunks as parts of their document (late chunking).", show_default=False
    ),
]
SummariesOption = Annotated[
    bool | None,
    typer.Option("--summaries/--no-summaries", help="Keep the key sentences of each section, too.", show_default=False),
]


def kept_at(cache: str | None, no_cache: bool) -> str | None:
    """Return where vectors are kept, by the two options about it: a file, the user's, or nowhere."""
    from chunkwise.embed.cache import USER_CACHE

    if cache and no_cache:
        fail("--cache names a file, --no-cache wants none: give one of the two")
    return None if no_cache else cache or USER_CACHE


def index(
    paths: Annotated[list[str], typer.Argument(help="Files and folders.", metavar="PATH...")],
    index: IndexOption = "index",
    recipe: RecipeOption = None,
    preset: PresetOption = None,
    encoder: EncoderOption = None,
    cache: CacheOption = None,
    no_cache: NoCacheOption = False,
    late: LateOption = None,
    summaries: SummariesOption = None,
    glob: GlobOption = None,
    json: JsonOption = False,
    on_error: OnErrorOption = "skip",
    password: PasswordOption = "",
    limit: LimitOption = None,
    clean: CleanOption = None,
    config: ConfigOption = None,
    no_config: NoConfigOption = False,
) -> None:
    """Index files for search. Only what is new or changed is embedded."""
    from chunkwise.pipeline import Index

    if index == "memory:":
        fail("an index in memory is gone when the command ends; name a folder with --index")
    vectors = kept_at(cache, no_cache)
    recipe = chosen(recipe, preset)
    made = {"recipe": recipe, "encoder": encoder, "late": late, "summaries": summaries}
    by = config_of(config, off=no_config, options={**made, "clean": clean})
    if by is not None:
        opened, recipe = Index.from_config(by, url=index, cache=vectors), None
    else:
        opened = Index(index, encoder=encoder, cache=vectors, late=late, summaries=summaries)
    with progress("indexing") as show:
        result = opened.add(
            *paths,
            recipe=recipe,
            globs=glob or [],
            reading=reading(password, limit, clean),
            on_error=error_mode(on_error),
            progress=show,
        )
    for note in result.notes:
        say(f"note: {note}")
    tell_skips(result.skipped)
    for id in result.removed:
        say(f"removed {id}: its file is gone, or holds no text any more")
    if not result.added and not result.unchanged and not result.removed:
        fail(f"no documents in {', '.join(paths)}; see: chunkwise doctor, for the formats that are read")
    say(
        f"{counted(len(result.added), 'document')} in {counted(result.n_chunks, 'chunk')} added, "
        f"{len(result.unchanged)} unchanged, {len(result.removed)} removed; "
        f"{index} holds {counted(len(opened), 'chunk')} by {opened.recipe}"
    )
    if json:
        write_json([_summary(result.added, result.unchanged, result.removed, result.n_chunks, len(opened))])


def _summary(
    added: tuple[str, ...], unchanged: tuple[str, ...], removed: tuple[str, ...], n_chunks: int, total: int
) -> dict[str, object]:
    return {"added": added, "unchanged": unchanged, "removed": removed, "chunks_added": n_chunks, "chunks": total}
