"""The file of a config as a person finds it.

After a change that is meant, run `CHUNKWISE_UPDATE_GOLDEN=1 make test` and read the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chunkwise.configs import format_config
from chunkwise.core.config import Config

FILES = Path(__file__).parent / "files"
NOTES = [
    "2026-11-30: 1,380 questions about 98 documents, those not chosen on: 690.",
    "Recall at 800 tokens 85.5 [83.0, 88.0]; of recursive(size=200), which was the best of the usual ones,\n"
    "81.2 [78.4, 84.0].",
    "",
    "Repeat: chunkwise tune docs --queries questions.jsonl",
]
CONFIGS = {
    "recipe": Config("structural(size=200) | context(headings=True)", evidence="assemble"),
    "route": Config(
        "route(prose=structural(size=120), table=rows(size=80)) | context(headings=True)",
        retrieval="hybrid(alpha=0.4) | fold()",
        tokens=1_200,
        encoder="static",
        late=True,
        clean="blobs,hyphens",
    ),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_is_written_for_people(name: str) -> None:
    text = format_config(CONFIGS[name], notes=NOTES)
    golden = FILES / f"config.{name}.toml"
    if os.environ.get("CHUNKWISE_UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
