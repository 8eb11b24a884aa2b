"""Word files that are damaged, hostile, or too large: read or told, never anything else."""

from __future__ import annotations

import io
import random
from zipfile import ZipFile

import pytest

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Limits
from golden.make_office import cell, manual, row
from ooxml import docx_file, packed, relations, root
from unit.test_docx import found, numbered, read, read_file, table

LAUGHS = (
    '<!DOCTYPE a [<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    + f"]>{root('w:document', '<w:body><w:p><w:r><w:t>&a9;</w:t></w:r></w:p></w:body>').partition('?>')[2]}"
)
OUTSIDE = LAUGHS.replace("&a9;", "&a0;")
DEEP = root("w:document", f"<w:body>{'<w:tbl><w:tr><w:tc>' * 2000}{'</w:tc></w:tr></w:tbl>' * 2000}</w:body>")


@pytest.mark.parametrize(
    ("main", "reason"),
    [
        (LAUGHS, "damaged"),
        (OUTSIDE, "defines entities"),
        (DEEP, "Excessive depth"),
        (root("p:presentation", ""), "holds no document"),
        ("<w:document", "damaged"),
        ("", "damaged"),
    ],
)
def test_a_hostile_or_damaged_part_is_told(main: str, reason: str) -> None:
    parts = {"_rels/.rels": relations({"r": ("officeDocument", "word/document.xml")}), "word/document.xml": main}
    with pytest.raises(ReadError, match=reason) as caught:
        read_file(packed(parts))
    assert "a.docx" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "encrypted or of an old format"),
        (b"", "damaged archive"),
        (packed({}), "holds no document"),
        (
            packed({"_rels/.rels": relations({"r": ("officeDocument", "http://example.com/x.xml")})}),
            "holds no document",
        ),
    ],
)
def test_what_is_no_word_file_is_told(content: bytes, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        read_file(content)


def test_a_file_is_held_to_its_limits() -> None:
    with pytest.raises(ReadError, match="raise the limit: memory"):
        read_file(docx_file("<w:p/>" * 20_000), limits=Limits(memory=1 << 22))
    with pytest.raises(ReadError, match="raise the limit: nesting"):
        read_file(manual(), limits=Limits(nesting=5))


def test_huge_numbers_take_neither_time_nor_memory() -> None:
    wide = row(cell("a", '<w:gridSpan w:val="999999999"/>'), cell("b"))
    far = [row(cell("c"), properties=f'<w:gridBefore w:val="{index}"/>') for index in range(3000)]
    document = read(table(wide) + table(*far) + numbered("x", 2, 999_999_999))
    assert found(document, "row")[0] == "a | b"
    assert len(document.text) < 20_000


def test_any_change_to_a_file_is_read_or_told() -> None:
    seed = random.Random(5)
    outcomes: set[bool | None] = set()
    with ZipFile(io.BytesIO(manual())) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(150):
        name = seed.choice(list(parts))
        content = bytearray(parts[name])
        for _ in range(seed.randrange(1, 5)):
            content[seed.randrange(len(content))] ^= 1 << seed.randrange(8)
        kept = bytes(content) if seed.random() < 0.8 else bytes(content[: seed.randrange(len(content))])
        whole = packed({**parts, name: kept} if seed.random() < 0.9 else {**parts, name: b""})
        try:
            outcomes.add(bool(read_file(whole).text))
        except ReadError:
            outcomes.add(None)
    assert outcomes >= {True, None}


def test_an_archive_whose_directory_was_changed_is_read_or_told() -> None:
    content = manual()
    outcomes: set[bool] = set()
    for bit in range(8 * (len(content) - 22), 8 * len(content)):  # the end of the directory, which finds all the rest
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            outcomes.add(bool(read_file(bytes(changed)).text))
        except ReadError:
            outcomes.add(False)
    assert outcomes == {True, False}
