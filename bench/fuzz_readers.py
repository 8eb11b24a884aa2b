"""Damage files of every format in many ways, and read them in batches: no crash, no hang, no fault of a reader.

Run: .venv/bin/python bench/fuzz_readers.py --files 5000 --seed 1 [FOLDER with files to damage ...]
Exit code 1 if a reader fails otherwise than by a reason for the user, takes over 10 s, or over 1 GB of memory; or if a
block of a document that is read lies outside its text.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import chunkwise as cw
from chunkwise.readers import READERS

ROOT = Path(__file__).resolve().parent.parent
OURS = ROOT / "tests" / "golden" / "files"
SHARED = ROOT.parent / "shared" / "data"
LARGEST = 400_000  # in bytes: larger files would make it a test of patience
BATCH = 250
READING = cw.Reading(cw.Limits(seconds=10))
# What a skip's reason says if it is our fault; all other reasons are the file's.
FAULTS = ("a fault of ours", "took longer", "crashed its parser", "took more memory")
BITS = (b"<div>", b"<table><tr><td>", b"[" * 50, b"\x00", b"\xff\xfe", b"&#x110000;", b"<!--", b"]]>", b"\r", b'"')


def main() -> None:
    """Damage and read until enough files are read, and print the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the files at which a reader failed")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    sources = files([*options.folders, OURS, SHARED / "pdf"])
    totals: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    while sum(kinds.values()) < options.files:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(min(BATCH, options.files - sum(kinds.values()))):
                kind = chance.choice(sorted(sources))
                kinds[kind] += 1
                damage(chance, chance.choice(sources[kind]), Path(folder, f"{number:04}"))
            for id, fault in faults(Path(folder), totals):
                print(fault, file=sys.stderr)
                if options.keep:
                    options.keep.mkdir(exist_ok=True)
                    shutil.copy(Path(folder, id), options.keep)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
    print(", ".join(f"{count} {name}" for name, count in totals.most_common()) + f"; peak of a reader {peak:,.0f} MB")
    sys.exit(totals["faults"] > 0 or peak > 1024)


def files(folders: Sequence[Path]) -> dict[str, list[Path]]:
    """Return the files that are not too large, by suffix; code is one kind."""
    found: dict[str, list[Path]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            suffix = path.suffix.lower()
            if path.is_file() and suffix in READERS and path.stat().st_size <= LARGEST:
                is_code = READERS[suffix].media_type.startswith("text/x-")
                found.setdefault("code" if is_code else suffix, []).append(path)
    return found


def damage(chance: random.Random, source: Path, stem: Path) -> None:
    """Write a damaged copy of a file, sometimes under the suffix of another format."""
    content, suffix = source.read_bytes(), source.suffix
    if content.startswith(b"PK\x03\x04") and chance.random() < 0.6:
        content = repacked(chance, content)
    else:
        content = mutated(chance, content)
    if chance.random() < 0.1:
        suffix = chance.choice(sorted(READERS))
    stem.with_suffix(suffix).write_bytes(content)


def repacked(chance: random.Random, content: bytes) -> bytes:
    """Return an archive with one of its parts damaged, or left out."""
    buffer = io.BytesIO()
    try:
        with ZipFile(io.BytesIO(content)) as old, ZipFile(buffer, "w", ZIP_DEFLATED) as new:
            names = old.namelist()
            victim, gone = chance.choice(names), chance.random() < 0.2
            for name in names:
                if name == victim and gone:
                    continue
                new.writestr(name, mutated(chance, old.read(name)) if name == victim else old.read(name))
    except BadZipFile:
        return mutated(chance, content)
    return buffer.getvalue()


def mutated(chance: random.Random, content: bytes) -> bytes:
    """Return bytes with some flipped, cut off, moved, repeated or put in."""
    kind = chance.randrange(7)
    place, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + content[end:]
    if kind == 2:
        return content[:end] + content[place:end] * chance.randrange(1, 5) + content[end:]
    if kind == 3:
        return content[:place] + chance.choice(BITS) * chance.choice((1, 10, 2000)) + content[place:]
    if kind == 4:
        return content[end:] + content[:place]
    if kind == 5 and chance.random() < 0.1:
        return b""
    damaged = bytearray(content)
    for _ in range(chance.choice((1, 5, 50)) if damaged else 0):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def faults(folder: Path, totals: Counter[str]) -> Iterator[tuple[str, str]]:
    """Read a folder of damaged files, and yield what should not have happened, with the file's name."""
    for result in cw.read_folder(folder, reading=READING):
        if isinstance(result, cw.Document):
            totals["read"] += 1
            if any(not 0 <= block.span.start <= block.span.end <= len(result.text) for block in result.blocks):
                totals["faults"] += 1
                yield result.id, f"{result.id}: a block outside the text"
        else:
            totals["told"] += 1
            if any(fault in result.reason for fault in FAULTS):
                totals["faults"] += 1
                yield result.id, result.reason


if __name__ == "__main__":
    main()
