"""The main content of real pages against what people marked as it: floors that must not fall."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from chunkwise.core.types import Source
from chunkwise.readers.html.read import read_html

SHARED = Path(os.environ.get("CHUNKWISE_SHARED", Path(__file__).resolve().parents[3] / "shared"))
DATA = SHARED / "data" / "html"

# The rules were made with these pages in sight.
FLOORS = {"all": 0.955, "one half": 0.955, "the other": 0.955}
_TOKEN = re.compile(r"\w+")


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Return the runs of four tokens. A shorter text is one run."""
    tokens = _TOKEN.findall(text)
    return Counter(tuple(tokens[start : start + 4]) for start in range(max(1, len(tokens) - 3)) if tokens)


@cache
def scores() -> list[tuple[float, float]]:
    """Return the precision and the recall of each page, in the order of their names."""
    truth = json.loads((DATA / "ground-truth.json").read_text("utf-8"))
    found = []
    for name in sorted(truth):
        content = gzip.decompress((DATA / "pages" / f"{name}.html.gz").read_bytes())
        ours = shingles(read_html(Source(name, content, media_type="text/html")).text)
        gold = shingles(truth[name]["articleBody"])
        right = (ours & gold).total()
        found.append((right / ours.total(), right / gold.total()))
    return found


@pytest.mark.parametrize("part", FLOORS)
def test_the_content_of_a_page_is_what_people_marked(part: str) -> None:
    pages = {"all": scores(), "one half": scores()[::2], "the other": scores()[1::2]}[part]
    precision, recall = (sum(values) / len(pages) for values in zip(*pages, strict=True))
    assert 2 * precision * recall / (precision + recall) >= FLOORS[part]
