"""Archives are looked at before they are unpacked."""

from __future__ import annotations

import io
from dataclasses import replace
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Limits, Source
from chunkwise.readers.archive import unpacked


def packed(size: int) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * size)
    return buffer.getvalue()


def test_an_archive_that_grows_too_large_is_refused_before_it_is_unpacked() -> None:
    source = Source("bomb.docx", packed(5000), limits=Limits(expanded=4999))
    with pytest.raises(ReadError, match=r"bomb\.docx: would grow from \d+ to 5,000 bytes, over the limit of 4,999"):
        unpacked(source)
    assert unpacked(replace(source, limits=Limits(expanded=5000))).read("word/document.xml") == b"0" * 5000


def test_a_damaged_archive_is_told() -> None:
    for content in (b"", b"PK\x03\x04", packed(100)[:-30]):
        with pytest.raises(ReadError, match="x: a damaged archive"):
            unpacked(Source("x", content))


def test_an_encrypted_archive_is_told() -> None:
    content = bytearray(packed(10))
    directory = content.index(b"PK\x01\x02")
    content[directory + 8] |= 1
    with pytest.raises(ReadError, match="x: an encrypted archive"):
        unpacked(Source("x", bytes(content)))
