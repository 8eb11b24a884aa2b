"""Vectors that are kept: nothing is embedded twice, whether a process is killed or a file is full, damaged, foreign."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import chunkwise as cw
from chunkwise.core.protocols import Encoder, Floats2d, Role
from chunkwise.embed import Cached, HttpEncoder, StaticEncoder, cached, engines, minilm
from chunkwise.embed import cache as cache_module
from chunkwise.embed.static import TABLE
from chunkwise.llm.answers import default_answers
from chunkwise.pipeline import Index
from unit.fake_server import FakeServer
from unit.hashing import HashingEncoder
from unit.models import TEXTS
from unit.processes import run

WORDS = [f"valve {number} is closed" for number in range(700)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors.sqlite"


class Recording(HashingEncoder):
    """Note every call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Role, list[str]]] = []

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        self.calls.append((role, list(texts)))
        return super().__call__(texts, role=role)


def test_only_what_is_missing_is_embedded_and_vectors_are_the_encoders_own(file: Path) -> None:
    inner = Recording()
    first = Cached(inner, file)(WORDS[:10], role="passage")
    mixed = [WORDS[11], WORDS[3], WORDS[11], WORDS[10], WORDS[3]]
    second = Cached(inner, file)(mixed, role="passage")
    assert inner.calls == [("passage", WORDS[:10]), ("passage", [WORDS[11], WORDS[10]])]
    assert np.array_equal(first, HashingEncoder()(WORDS[:10], role="passage"))
    assert np.array_equal(second, HashingEncoder()(mixed, role="passage"))
    assert second.dtype == np.float32
    assert second.flags.writeable


def test_texts_of_every_kind_are_told_apart(file: Path) -> None:
    kinds = [*TEXTS, "a\ud801b", "a\ufffdb", "The cat sat on the mat. ", "\0", "\0\0"]

    class Numbering(Recording):
        def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
            self.calls.append((role, list(texts)))
            return np.eye(len(kinds), self.dim, dtype=np.float32)[[kinds.index(text) for text in texts]]

    inner = Numbering()
    encode = Cached(inner, file)
    assert np.array_equal(encode(kinds, role="passage"), np.eye(len(kinds), inner.dim))
    assert np.array_equal(encode(kinds, role="passage"), np.eye(len(kinds), inner.dim))
    assert [len(asked) for _, asked in inner.calls] == [len(kinds)]


def test_many_texts_are_embedded_in_groups_of_like_length(file: Path) -> None:
    texts = [f"{i} " * (1 + 37 * i % 600) for i in range(600)]
    inner = Recording()
    assert np.array_equal(Cached(inner, file)(texts, role="passage"), HashingEncoder()(texts, role="passage"))
    lengths = [[len(text) for text in asked] for _, asked in inner.calls]
    assert len(lengths) > 1
    assert all(max(one) <= min(other) for one, other in pairwise(lengths))


def test_roles_names_and_versions_have_vectors_of_their_own(file: Path) -> None:
    inner = Recording()
    Cached(inner, file)(["text"], role="passage")
    Cached(inner, file)(["text"], role="query")
    inner.fingerprint = "2"
    Cached(inner, file)(["text"], role="query")
    inner.name = "another"
    Cached(inner, file)(["text"], role="query")
    assert len(inner.calls) == 4


def test_it_shows_the_encoder_that_it_wraps(file: Path) -> None:
    encode: Encoder = Cached(minilm(), file)
    assert encode.name == minilm().name
    assert encode.fingerprint == minilm().fingerprint
    assert (encode.dim, encode.max_tokens, encode.tokenizer) == (384, 256, minilm().tokenizer)
    assert pickle.loads(pickle.dumps(encode)) == encode
    assert not file.exists(), "nothing is written before it is needed"
    assert encode([], role="passage").shape == (0, 384)


def test_a_single_string_is_no_list_of_texts(file: Path) -> None:
    with pytest.raises(cw.EncodeError, match=r"write \[text\]"):
        Cached(minilm(), file)("hello", role="query")
    with pytest.raises(cw.EncodeError, match="max_bytes=0 must be more than 0"):
        Cached(minilm(), file, max_bytes=0)


def test_the_texts_themselves_are_not_kept(file: Path) -> None:
    Cached(HashingEncoder(), file)(["a very secret sentence"], role="passage")
    assert all(b"secret" not in path.read_bytes() for path in file.parent.iterdir())


def test_what_was_used_longest_ago_goes_when_the_file_is_full(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner, clock = Recording(), [0.0]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    encode = Cached(inner, file, max_bytes=100_000)
    for start in range(0, 700, 100):
        clock[0] += 10_000
        encode(WORDS[:50], role="passage")  # used again and again
        encode(WORDS[start : start + 100], role="passage")
    assert sum(path.stat().st_size for path in file.parent.iterdir()) < 150_000
    inner.calls.clear()
    encode(WORDS[:50] + WORDS[600:], role="passage")
    assert inner.calls == []
    encode(WORDS[100:150], role="passage")
    assert inner.calls == [("passage", WORDS[100:150])]


def test_a_lower_limit_makes_room_for_what_is_new(file: Path) -> None:
    Cached(HashingEncoder(), file)(WORDS, role="passage")
    inner = Recording()
    encode = Cached(inner, file, max_bytes=50_000)
    encode(["new"], role="passage")
    encode(["new"], role="passage")
    assert inner.calls == [("passage", ["new"])]
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*) FROM vectors").fetchone()[0] < 200
    connection.close()


FILL = """
from pathlib import Path
from unit.hashing import HashingEncoder
from chunkwise.embed import Cached
{before}
first = int(sys.argv[2])
for start in range(first, first + 600, 50):
    texts = [f"valve {{number}} is closed" for number in range(start, start + 100)]
    Cached(HashingEncoder(), Path(sys.argv[1]))(texts, role="passage")
"""
KILL = """
import os, signal, threading
from chunkwise.embed import cache
write = cache._checksum
def dies(*args):
    kill = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has only the latter, which nothing can catch there
    threading.Timer(int(sys.argv[3]) / 1000, os.kill, (os.getpid(), kill)).start()
    cache._checksum = write
    return write(*args)
cache._checksum = dies
"""


def test_several_processes_share_a_file(file: Path) -> None:
    processes = [run(FILL.format(before=""), str(file), str(first)) for first in (0, 0, 25, 50)]
    for process in processes:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    inner = Recording()
    got = Cached(inner, file)(WORDS[:690], role="passage")
    assert inner.calls == []
    assert np.array_equal(got, HashingEncoder()(WORDS[:690], role="passage"))


@pytest.mark.parametrize("delay", [0, 1, 3, 10])
def test_a_kill_loses_no_more_than_what_was_being_written(file: Path, delay: int) -> None:
    process = run(FILL.format(before=KILL), str(file), "0", str(delay))
    process.communicate(timeout=60)
    inner = Recording()
    got = Cached(inner, file)(WORDS[:600], role="passage")
    assert np.array_equal(got, HashingEncoder()(WORDS[:600], role="passage"))
    inner.calls.clear()
    Cached(inner, file)(WORDS[:600], role="passage")
    assert inner.calls == []


def test_what_was_embedded_before_an_error_is_kept(file: Path) -> None:
    class Failing(Recording):
        def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
            if len(self.calls) == 2:
                raise cw.EncodeError("the server is gone")
            return super().__call__(texts, role=role)

    with pytest.raises(cw.EncodeError, match="the server is gone"):
        Cached(Failing(), file)(WORDS, role="passage")
    inner = Recording()
    Cached(inner, file)(WORDS, role="passage")
    assert [len(texts) for _, texts in inner.calls] == [len(WORDS) - 2 * cache_module._GROUP]


def damaged(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    file.write_bytes(content)


def changed(file: Path) -> None:
    content = file.read_bytes()
    vector = HashingEncoder()(WORDS[:1], role="passage").tobytes()
    assert vector in content
    file.write_bytes(content.replace(vector, vector[:-1] + bytes([vector[-1] ^ 1])))


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


@pytest.mark.parametrize("harm", [damaged, changed, cut_off, lambda file: file.write_text("hello " * 99)])
def test_a_damaged_file_is_one_clear_error(harm: object, file: Path) -> None:
    encode = Cached(HashingEncoder(), file)
    encode(WORDS[:300], role="passage")
    assert callable(harm)
    harm(file)
    with pytest.raises(cw.EncodeError, match=r"embedding cache .*vectors\.sqlite.*; delete it"):
        encode(WORDS[:300], role="passage")
    for path in file.parent.iterdir():
        path.unlink()
    assert len(encode(WORDS[:300], role="passage")) == 300


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "theirs.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE vectors (key)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(cw.EncodeError, match="database of another program; name another file"):
        Cached(HashingEncoder(), file)(["text"], role="passage")
    assert file.read_bytes() == before


def test_a_file_of_another_version_is_told(file: Path) -> None:
    Cached(HashingEncoder(), file)(["text"], role="passage")
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version=9")
    connection.close()
    with pytest.raises(cw.EncodeError, match="is of version 9, this is for version 1; delete it"):
        Cached(HashingEncoder(), file)(["text"], role="passage")


def test_a_place_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(cw.EncodeError, match=r"cache .*file.*; name another file, or go without"):
        Cached(HashingEncoder(), tmp_path / "file" / "vectors.sqlite")(["text"], role="passage")
    with pytest.raises(cw.EncodeError, match="unable to open database file; name another file, or go without"):
        Cached(HashingEncoder(), tmp_path)(["text"], role="passage")


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {"CHUNKWISE_CACHE": "/c"}, "/c"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/chunkwise"),
        ("linux", {}, "/home/me/.cache/chunkwise"),
        ("darwin", {"XDG_CACHE_HOME": "/x"}, "/home/me/Library/Caches/chunkwise"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/chunkwise"),
    ],
)
def test_the_users_file_is_where_the_system_keeps_caches(
    system: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CHUNKWISE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/me"))
    assert cached(minilm()).path == Path(expected) / "embeddings.sqlite"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    sections = [f"## Valve {n}\n\nValve {n} is checked on day {n}.\n\nIts seal is number {n + 7}." for n in range(20)]
    long = "## Seals\n\n" + " ".join(f"Seal {n} is wet." for n in range(20))
    (docs / "valves.md").write_text("# Valves\n\n" + "\n\n".join([*sections, long]))
    return docs


def test_another_recipe_embeds_only_what_it_cuts_otherwise(folder: Path, file: Path, tmp_path: Path) -> None:
    inner = HashingEncoder()
    Index(tmp_path / "a", encoder=inner, cache=file).add(folder, recipe="structural(size=40)")
    seen = set(inner.seen)
    inner.seen.clear()
    index = Index(tmp_path / "b", encoder=inner, cache=file)
    index.add(folder, recipe="structural(size=50)")
    texts = {chunk.embed_text for chunk in index.chunks("valves.md")}
    assert set(inner.seen) == texts - seen
    assert 0 < len(inner.seen) < len(texts) / 2
    inner.seen.clear()
    again = Index("memory:", encoder=inner, cache=file)
    again.add(folder, recipe="structural(size=40)")
    assert inner.seen == []
    assert again.search("When is valve 7 checked?", k=1)[0].chunk.document_id == "valves.md"


def test_an_encoder_object_is_cached_only_where_the_caller_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_CACHE", str(folder.parent / "user"))
    for _ in range(2):
        inner = HashingEncoder()
        Index("memory:", encoder=inner).add(folder)
        assert inner.seen
    assert not (folder.parent / "user").exists()


def test_a_server_whose_vectors_are_kept_is_not_asked_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_CACHE", str(folder.parent / "user"))
    with FakeServer() as server:
        for _ in range(2):
            Index("memory:", encoder=f"{server.url}#m").add(folder)
        n_asked = len(server.asked)
        assert n_asked == 1
        Index("memory:", encoder=f"{server.url}#m", cache=None).add(folder)
        assert len(server.asked) == 2
    assert HttpEncoder(server.url, "m").fingerprint == HttpEncoder(server.url + "/", "m").fingerprint


def test_without_a_folder_for_caches_an_index_is_made_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_CACHE", str(folder / "valves.md" / "user"))
    result = Index("memory:", encoder="static").add(folder)
    assert result.added == ("valves.md",)
    assert any("vectors are not kept for another time" in note and "Not a directory" in note for note in result.notes)


def test_the_command_line_keeps_vectors_where_it_is_told(folder: Path, tmp_path: Path) -> None:
    def index(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "chunkwise", "index", str(folder), "--encoder", "static", "--json", *options]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    assert json.loads(index("--index", "a", "--cache", "kept.sqlite").stdout)["chunks"]
    assert (tmp_path / "kept.sqlite").exists()
    assert json.loads(index("--index", "b", "--no-cache").stdout)["chunks"]
    both = index("--cache", "kept.sqlite", "--no-cache")
    assert (both.returncode, both.stderr) == (
        2,
        "error: --cache names a file, --no-cache wants none: give one of the two\n",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="folders there have no such mode")
@pytest.mark.parametrize("first", ["vectors", "answers", "verdicts"])
def test_the_users_folder_is_the_users_alone_whatever_is_kept_first(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_CACHE", str(tmp_path / "home" / "user"))
    monkeypatch.delenv("CHUNKWISE_ANSWERS", raising=False)
    if first == "vectors":
        cached(StaticEncoder())(["A pump."], role="passage")
    elif first == "verdicts":
        engines.keep(TABLE, engines.Verdict(taken=False))
    elif (answers := default_answers()) is not None:
        answers.keep(b"key", "A pump.")
    made = [path for path in (tmp_path / "home").rglob("*") if path.is_dir()]
    assert tmp_path / "home" / "user" in made
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "home", *made)} == {0o700}
