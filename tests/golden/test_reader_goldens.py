"""What readers make of files, for a person to read: every block on a line of its own, with its text under it.

A file in files/readers is a case. After a change that is meant, run `CHUNKWISE_UPDATE_GOLDEN=1 make test` and read
the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkwise.core.outline import outline
from chunkwise.core.types import Block, Document
from chunkwise.readers.read import read

FILES = Path(__file__).parent / "files" / "readers"
SUFFIX = ".blocks.txt"
CASES = sorted(path.name for path in FILES.iterdir() if not path.name.endswith(SUFFIX))


def written(document: Document) -> str:
    meta = "".join(f"{key} = {value!r}\n" for key, value in sorted(document.meta.items()))
    return f"{meta}\n" + "".join(_block(document, index) for index in range(len(document.blocks)))


def _block(document: Document, index: int) -> str:
    block = document.blocks[index]
    indent = "    " * _depth(document.blocks, index)
    pages = ", ".join(map(str, outline(document).pages(block.span)))
    label = f" {block.label!r}" if block.label else ""
    head = f"{block.kind} {block.level}{label} | {block.span.start}-{block.span.end} | pages {pages or 'none'}"
    inner = [other.span.start for other in document.blocks[index + 1 :] if other.parent == index]
    if block.kind == "page":  # what it holds is told below, as what other blocks hold is after their own first words
        return f"{indent}{head}\n"
    text = document.text[block.span.start : min(inner, default=block.span.end)].rstrip()
    lines = "".join(f"{indent}    {line}".rstrip() + "\n" for line in text.split("\n") if text)
    return f"{indent}{head}\n{lines}"


def _depth(blocks: tuple[Block, ...], index: int) -> int:
    depth = 0
    while (index := blocks[index].parent) >= 0:
        depth += 1
    return depth


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_as_written(name: str) -> None:
    text = written(read(FILES / name))
    golden = FILES / (name + SUFFIX)
    if os.environ.get("CHUNKWISE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_every_golden_has_its_file() -> None:
    assert {path.name.removesuffix(SUFFIX) for path in FILES.glob("*" + SUFFIX)} == set(CASES)
