"""The format of a file: its name says it, but how it begins is right."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from chunkwise.core.errors import ReadError
from chunkwise.readers import READERS
from chunkwise.readers.detect import HEAD, format_of

OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100)
PAGE = b"<!-- saved -->\n<!DOCTYPE html><html><p>x"


def archive(*, packed: bool = False, **parts: bytes) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED if packed else ZIP_STORED) as target:
        for name, content in parts.items():
            target.writestr(name.replace("__", "/").replace("_xml", ".xml").replace("_bin", ".bin"), content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "suffix"),
    [
        ("a.txt", b"%PDF-1.7", ".pdf"),
        ("a", b"%PDF-1.7", ".pdf"),
        ("a.pdf", b"\r\n\r\n%PDF-1.4", ".pdf"),
        ("a.md", b"How to make a %PDF-1.4 file", ".md"),
        ("a.bin", archive(word__document_xml=b""), ".docx"),
        ("a.docx", archive(ppt__presentation_xml=b""), ".pptx"),
        ("a.zip", archive(xl__workbook_xml=b""), ".xlsx"),
        ("a.xlsx", archive(xl__workbook_bin=b""), ".xlsb"),
        ("a.xlsx", archive(mimetype=b"application/vnd.oasis.opendocument.spreadsheet"), ".ods"),
        ("a.docx", b"PK\x03\x04 damaged", ".docx"),
        ("a.docx", OLE2, ".docx"),
        ("a.xls", OLE2, ".xls"),
        ("a.xls", PAGE, ".html"),
        ("a.pdf", PAGE, ".html"),
        ("page", PAGE, ".html"),
        ("a.md", PAGE, ".md"),
        ("a.html", b"<p>no doctype", ".html"),
        ("notes", b"notes", ".txt"),
        ("a.unknown", b"notes", ".txt"),
        ("A.MD", b"# x", ".md"),
    ],
)
def test_how_a_file_begins_tells_its_format(tmp_path: Path, name: str, content: bytes, suffix: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert format_of(path, content[:HEAD], id=name) == READERS[suffix]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.zip", archive(readme=b"x"), "a.zip: an archive; unpack it first"),
        ("a", OLE2, "an old Office file, or an encrypted one"),
        ("a.pdf", b"plain words", "no PDF file, whatever its name says: it begins with b'plain words'"),
        ("a.docx", b"", "a.docx: empty"),
    ],
)
def test_what_no_reader_takes_is_told(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ReadError, match=reason):
        format_of(path, content[:HEAD], id=name)


def test_a_damaged_declaration_is_left_to_the_reader(tmp_path: Path) -> None:
    content = bytearray(archive(mimetype=b"application/vnd.oasis.opendocument.spreadsheet", packed=True))
    start = content.index(b"mimetype") + len(b"mimetype")
    content[start : start + 8] = b"\xff" * 8
    path = tmp_path / "a.ods"
    path.write_bytes(content)
    assert format_of(path, bytes(content[:HEAD]), id="a.ods") == READERS[".ods"]
