"""Recipes to start from, for kinds of documents. Where a rule of thumb is all there is, that is said.

They are starting points: which recipe is best is what you measure on your own questions.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from chunkwise.core.errors import RecipeError

_THUMB = "a rule of thumb of the field, not a measurement"


@dataclass(frozen=True, slots=True)
class Preset:
    """A recipe, what it is for, and where its numbers come from."""

    recipe: str
    about: str
    source: str


PRESETS: dict[str, Preset] = {
    "article": Preset(
        "structural(size=250, min_size=60) | overlap(sentences=1) | context(headings=True)",
        "articles, news, blogs: 150 to 300 tokens, a sentence repeated",
        f"{_THUMB}; about 200 tokens were the best trade of recall for tokens among the recursive cuts of Chroma 2024, "
        "Evaluating Chunking Strategies for Retrieval",
    ),
    "manual": Preset(
        "nest(1800, 450, base=structural(min_size=100)) | context(headings=True)",
        "manuals and documentation: 300 to 600 tokens, inside larger chunks that a reader is given",
        f"{_THUMB}; chunks of falling sizes, merged where several are found, are LlamaIndex's HierarchicalNodeParser",
    ),
    "ladder": Preset(
        "nest(200, base=structural(), sentences=True)",
        "to assemble evidence of: sentences inside chunks of 200 tokens, for `chunkwise assemble`",
        "docs/methods/assemble.md: ahead of chunks of 200 at every budget on each public set",
    ),
    "code": Preset(
        "code(size=400)",
        "source code: whole functions and classes, with the signatures around a piece",
        "Zhang et al. 2025, cAST (arXiv:2506.15655), for the way of cutting; the size is a rule of thumb",
    ),
    "legal": Preset(
        "clauses(size=500, min_size=40) | context(headings=True)",
        "contracts, statutes, standards: a clause at a time, under the path of its numbers",
        _THUMB,
    ),
    "table": Preset(
        "rows(size=250)",
        "CSV files and tables: whole rows, each chunk with the header",
        f"{_THUMB}; no row without its header, which a model could not read",
    ),
    "log": Preset("rows(size=200)", "logs: whole records, stack traces with the line that they belong to", _THUMB),
    "json": Preset("json(size=250)", "JSON: whole objects and arrays, under their path", _THUMB),
    "transcript": Preset(
        "turns(size=300) | overlap(sentences=1)",
        "meetings, interviews, chats: whole turns, the speaker's name with every piece of a long one",
        _THUMB,
    ),
    "stream": Preset(
        "sentences(size=200) | overlap(tokens=60)",
        "text that comes in pieces: 100 to 300 tokens, 50 to 100 of them repeated",
        _THUMB,
    ),
    "mixed": Preset(
        "auto(size=250) | context(headings=True)",
        "folders of many kinds: the strategy by what a text is, also within a document",
        f"{_THUMB}; choosing by document beat every single strategy in Adaptive Chunking 2026 (arXiv:2603.25333)",
    ),
}


def preset(name: str) -> Preset:
    """Return a preset by name.

    Raises: RecipeError, with what may have been meant.
    """
    if name not in PRESETS:
        close = difflib.get_close_matches(name, PRESETS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise RecipeError(f"no preset {name!r}{hint}; known: {', '.join(PRESETS)}")
    return PRESETS[name]
