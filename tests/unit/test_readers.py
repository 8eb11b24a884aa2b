"""Readers: exact blocks, honest decoding, and a list of what was skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Document
from chunkwise.readers import READERS
from chunkwise.readers.batch import read_folder
from chunkwise.readers.decode import decode_pieces
from chunkwise.readers.markdown import markdown_blocks
from chunkwise.readers.read import Found, Skip, find_files, read, read_text
from laws.strategies import texts


def blocks(document: Document, kind: str) -> list[str]:
    return [block.span.slice(document.text) for block in document.blocks if block.kind == kind]


MARKDOWN = """\
---
title: Guide
---
# Real #

Setext two
lines
===

- a
  - bé

\t- tab

1. one

   ```sh
   # no heading
   ```

| x | y |
|---|---|
| 1 | 2 |

````md
```
# inside
````
> quote
> more

<div>
hi
</div>

***
[^1]: note
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_markdown_blocks_have_exact_spans_with_any_line_break(newline: str) -> None:
    document = read_text(MARKDOWN.replace("\n", newline))

    def found(kind: str) -> list[str]:
        return [piece.replace(newline, "\n") for piece in blocks(document, kind)]

    assert found("front_matter") == ["---\ntitle: Guide\n---\n"]
    assert found("heading") == ["# Real #", "Setext two\nlines\n==="]
    assert [block.label for block in document.blocks if block.kind == "heading"] == ["Real", "Setext two lines"]
    assert found("header") == ["| x | y |\n|---|---|\n"]
    assert found("row") == ["| 1 | 2 |"]
    assert found("code") == ["   ```sh\n   # no heading\n   ```", "````md\n```\n# inside\n````\n"]
    assert found("quote") == ["> quote\n> more"]
    assert found("html") == ["<div>\nhi\n</div>\n"]
    assert found("rule") == ["***"]
    assert found("footnote") == ["[^1]: note"]
    assert len(found("item")) == 4
    assert document.meta["title"] == "Guide"


@given(texts)
def test_markdown_blocks_nest_and_lie_in_the_text(text: str) -> None:
    found = markdown_blocks(text)
    for block in found:
        assert 0 <= block.span.start <= block.span.end <= len(text)
        if block.parent >= 0:
            outer = found[block.parent].span
            assert outer.start <= block.span.start <= block.span.end <= outer.end
    starts = [block.span.start for block in found]
    assert starts == sorted(starts)


@given(texts)
def test_reading_a_string_leaves_it_as_it_is(text: str) -> None:
    for media_type in ("text/plain", "text/markdown", "text/x-python"):
        assert read_text(text, media_type=media_type).text == text


def test_a_byte_order_mark_hides_no_heading() -> None:
    (heading,) = (block for block in read_text("\ufeff# Alpha\n\nbody\n").blocks if block.kind == "heading")
    assert (heading.label, heading.span.start) == ("Alpha", 0)


def test_a_rule_further_down_is_no_front_matter() -> None:
    document = read_text("Text.\n\n---\ntitle: x\n---\n")
    assert blocks(document, "front_matter") == []
    assert "title" not in document.meta


@pytest.mark.parametrize(
    ("content", "text", "encoding"),
    [
        ("naïve 水".encode(), "naïve 水", "utf-8"),
        ("naïve".encode("utf-8-sig"), "naïve", "utf-8-sig"),
        ("naïve 水".encode("utf-16"), "naïve 水", "utf-16"),
        ("naïve 水".encode("utf-32"), "naïve 水", "utf-32"),
        ("Les élèves naïfs lisent à l'école près de la forêt. ".encode("cp1252") * 8, None, "cp1252"),
        ("Many thanks to François Pinard, who wrote the manual page of the editor.\n".encode("cp1252"), None, "cp1252"),
        ('id;naam\r\n1;"Café De Zon";één\r\n'.encode("cp1252") * 20, None, "cp1252"),  # no Hebrew inside Latin words
        ("Насос Pump-7 работает. Model X.\n".encode("cp1251") * 10, None, "cp1251"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy. Dělník řekl, že půjde domů.".encode("cp1250"), None, "cp1250"),
        ("Привет, мир! Как дела сегодня? ".encode("cp1251") * 8, None, "cp1251"),
        ("水泵每周检查一次。阀门必须关闭。".encode("gb18030") * 8, None, "gb18030"),
        ("第一文です。第二文です。".encode("shift_jis") * 8, None, None),
    ],
)
def test_text_in_any_encoding_is_read_and_the_encoding_told(
    tmp_path: Path, content: bytes, text: str | None, encoding: str | None
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    document = read(path)
    if encoding is not None:
        assert document.meta["encoding"] == encoding
    assert bool(document.meta.get("encoding_guessed")) == (not str(document.meta["encoding"]).startswith("utf"))
    assert document.text == (text if text is not None else content.decode(encoding or "shift_jis"))


def test_line_breaks_stay_as_they_are_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\r\nb\rc\n")
    assert read(tmp_path / "a.txt").text == "a\r\nb\rc\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (bytes(range(256)) * 20, "a binary file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(2000), "a binary file"),
        (b"good\n" + bytes(range(128, 256)) * 3, "line 2: byte 0x80"),
    ],
)
def test_what_is_no_text_is_refused_with_the_place(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ReadError, match=words) as caught:
        read(tmp_path / "a.txt")
    assert str(caught.value).startswith("a.txt")


def test_a_missing_path_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        read(tmp_path / "none.md")
    with pytest.raises(ReadError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(ReadError, match="no such file or folder"):
        list(find_files(tmp_path / "none"))


def test_a_folder_is_walked_in_order_and_tells_what_it_skipped(tmp_path: Path) -> None:
    for name, content in {
        "b.md": b"# B\n",
        "a/one.txt": b"one",
        "a/.hidden.txt": b"no",
        ".git/config": b"no",
        "node_modules/x.js": b"no",
        "photo.jpg": b"\xff\xd8",
        "fake.txt": bytes(500),
        "empty.md": b" \n",
        "LICENSE": b"MIT",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    results = list(read_folder(tmp_path))
    assert [result.id for result in results if isinstance(result, Document)] == ["LICENSE", "a/one.txt", "b.md"]
    reasons = {result.id: result.reason for result in results if isinstance(result, Skip)}
    assert set(reasons) == {".git", "a/.hidden.txt", "node_modules", "photo.jpg", "fake.txt", "empty.md"}
    assert reasons[".git"] == reasons["a/.hidden.txt"] == "hidden"
    assert "no reader for .jpg" in reasons["photo.jpg"]
    assert "binary" in reasons["fake.txt"]
    assert reasons["empty.md"] == "empty"


def test_globs_choose_by_name_and_by_path(tmp_path: Path) -> None:
    for name in ("a.md", "sub/b.md", "sub/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [found.id for found in find_files(tmp_path, globs=["*.md"])] == ["a.md", "sub/b.md"]
    assert [found.id for found in find_files(tmp_path, globs=["sub/*"])] == ["sub/b.md", "sub/c.txt"]


def test_a_name_that_is_not_utf8_an_index_and_a_link_are_told_and_left(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "index" / "chunks.lance").mkdir(parents=True)
    (tmp_path / "index" / "index.json").write_text("{}")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / os.fsdecode(b"bad\xff.md")).write_text("x")
    reasons = {result.id: result.reason for result in read_folder(tmp_path) if isinstance(result, Skip)}
    assert set(reasons) == {"index", "gone", "pipe.md", "bad\\udcff.md"}
    assert "an index" in reasons["index"]
    with pytest.raises(ReadError, match="not a file"):
        read(tmp_path / "pipe.md")


@pytest.mark.parametrize("path", ["", "a" * 5000, "a\0b"])
def test_a_path_that_can_be_none_is_told(path: str) -> None:
    with pytest.raises(ReadError, match=r"no such file|is empty"):
        read(path)
    with pytest.raises(ReadError, match=r"no such file|is empty"):
        list(find_files(path))


def test_globs_are_a_list_and_two_stars_match_no_folder_too(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    assert [found.id for found in find_files(tmp_path, globs=["**/*.md"])] == ["a.md"]
    assert [found.id for found in find_files(tmp_path, globs=["./a.md"])] == ["a.md"]
    with pytest.raises(ReadError, match="list of patterns"):
        list(find_files(tmp_path, globs="*.md"))


@pytest.mark.parametrize(
    "text",
    [
        "---\nWelcome. The notice period is three months.\n\n# Chapter\n\nLots.\n\n---\n\nEnd.\n",
        "---\n\nkey: value\n---\nx\n",
        "---\nNote: all is well. Really\nplain prose goes on here.\n---\nx\n",
    ],
)
def test_text_between_two_rules_is_no_front_matter_unless_it_looks_like_yaml(text: str) -> None:
    assert blocks(read_text(text), "front_matter") == []


def test_front_matter_keeps_plain_values_only() -> None:
    document = read_text("---\ntitle: 'A guide'\ntags: [a, b]\nlist:\n  - x\n# note\ntext: >\n  folded\n---\nBody.\n")
    assert {key: document.meta[key] for key in document.meta if key != "encoding"} == {"title": "A guide"}


def test_a_paragraph_with_a_rule_under_it_is_no_heading() -> None:
    prose = "The quick brown fox jumps over the lazy dog and runs away. " * 8
    assert blocks(read_text(prose + "\n---\n\nbody\n"), "heading") == []


def test_a_short_text_that_ends_in_an_accent_is_no_broken_utf8(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Le thé est prêt au café".encode("cp1252"))
    assert read(tmp_path / "a.txt").text == "Le thé est prêt au café"


@pytest.mark.parametrize("content", ["naïve Text über Öl. ".encode() * 50 + b"\xff tail\n", b"hello \xe2\x80"])
def test_one_stray_byte_makes_no_other_encoding(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ReadError, match=r"a\.txt, line 1: byte 0x"):
        read(tmp_path / "a.txt")


def test_a_link_to_a_folder_above_does_not_loop(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert [found.id for found in find_files(tmp_path) if isinstance(found, Found)] == ["a.md"]
    assert any("a link to a folder" in found.reason for found in find_files(tmp_path) if isinstance(found, Skip))


def test_an_unreadable_file_is_a_listed_skip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("x")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root, as whom tests may run, reads every file
    (skip,) = read_folder(tmp_path)
    assert isinstance(skip, Skip)
    assert "can't be read" in skip.reason


def test_form_feeds_part_pages() -> None:
    document = read_text("one\ftwo\fthree", media_type="text/plain")
    assert [(block.level, block.span.slice(document.text)) for block in document.blocks] == [
        (1, "one\f"),
        (2, "two\f"),
        (3, "three"),
    ]


def test_code_is_one_block_that_names_its_language(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (block,) = read(tmp_path / "a.py").blocks
    assert (block.kind, block.label) == ("code", "python")


def test_an_unknown_media_type_names_the_known_ones() -> None:
    with pytest.raises(ReadError, match="text/markdown"):
        read_text("x", media_type="application/x-none")


def test_every_suffix_is_lower_case_with_its_dot() -> None:
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in READERS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_bytes_that_come_in_pieces_are_decoded_as_they_come(encoding: str, size: int) -> None:
    content = "naïve 水泵\n\U0001f469".encode(encoding)
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    assert "".join(decode_pieces(pieces, id="x")) == "naïve 水泵\n\U0001f469"


def test_a_byte_that_does_not_fit_is_told_with_its_place() -> None:
    with pytest.raises(ReadError, match=r"x, line 3: byte 0xff at 7 is no UTF-8; convert"):
        list(decode_pieces([b"a\n", b"b\xc3", b"", b"\xa9\n", b"c\xff"], id="x"))
