"""Compare Chunkwise with its peers, and write RESULTS.md beside this file.

`make bench` runs everything (about twenty minutes). One part alone, printed and not written:
    .venv-bench/bin/python bench/run.py --only cost
`--quick` measures Chunkwise and bare passes only, in few rounds.
"""

from __future__ import annotations

import argparse
import datetime
import logging
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import asking
import contracts
import corpora
import cost
import growth
import hostile
import indexing
import peers
import reading
import retrieval

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"
PARTS = {
    "reading": reading.page,
    "cost": cost.page,
    "growth": growth.page,
    "hostile": hostile.page,
    "contracts": contracts.page,
    "retrieval": retrieval.page,
    "indexing": indexing.page,
    "asking": asking.page,
}
_OWN = ("chunkwise", "tiktoken", "tokenizers", "numpy", "onnxruntime", "bm25s")


def main() -> None:
    """Measure, print, and write the page if it is whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, action="append", help="a part, printed and not written")
    parser.add_argument("--quick", action="store_true", help="ours and bare passes only, in few rounds")
    options = parser.parse_args()
    peers.prepare()
    logging.getLogger("langchain_text_splitters").setLevel(logging.ERROR)  # it warns of every piece over the limit
    corpora.build()
    lines = list(head())
    for name in options.only or PARTS:
        started = time.monotonic()
        lines += PARTS[name](quick=options.quick)
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    print("\n".join(lines))
    if not options.only and not options.quick:
        RESULTS.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def head() -> list[str]:
    """Return the title, the versions and the texts."""
    packages = ", ".join(f"{name} {version(name)}" for name in (*_OWN, *peers.PACKAGES))
    texts = [
        f"- {name}, {corpora.path_of(name).stat().st_size / 1e6:.1f} MB: {', '.join(origins)}."
        for name, origins in corpora.origins().items()
        if origins
    ]
    missing = [name for name in corpora.CORPORA if not corpora.text_of(name)]
    return [
        "# Results",
        "",
        f"Made by `make bench` on {datetime.date.today()}: Python {platform.python_version()}, "
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors; {packages}.",
        "",
        "The texts are taken from packages, their files in random order:",
        "",
        *texts,
        *(["", f"Not measured here, for want of apt or npm: {', '.join(missing)}."] if missing else []),
        "",
    ]


if __name__ == "__main__":
    main()
