"""Files made to bring a reader down: each is read, or told in one line, within its limits; none harms the others."""

from __future__ import annotations

import io
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from chunkwise.core.types import Document, Limits
from chunkwise.readers.batch import read_folder
from chunkwise.readers.read import Reading, Skip

DEPTH = 10_000
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol0 "lol">'
    + b"".join(b'<!ENTITY lol%d "%s">' % (i, b"&lol%d;" % (i - 1) * 10) for i in range(1, 10))
    + b"]><html><body><p>&lol9;</p></body></html>"
)
OUTSIDE = b'<!DOCTYPE x [<!ENTITY secret SYSTEM "file:///etc/passwd">]><html><body><p>&secret;</p></body></html>'


def archive(**parts: bytes) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as target:
        for name, content in parts.items():
            target.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return buffer.getvalue()


FILES = {
    **{f"brackets.{suffix}": b"[" * 100_000 for suffix in ("md", "txt", "json", "html", "csv")},
    **{f"line.{suffix}": b"word word, x; " * 700_000 for suffix in ("md", "txt", "json", "html", "csv")},
    "quotes.md": b">" * 10_000 + b" x",
    "items.md": b"".join(b"  " * depth + b"- x\n" for depth in range(500)),
    "ticks.md": b"`".join(b"`" * length for length in range(600)),
    "pipes.md": b"|a" * 50_000 + b"|\n" + b"|-" * 50_000 + b"|\n",
    "div.html": b"<html><body>" + b"<div>" * DEPTH + b"text",
    "table.html": b"<html><body>" + b"<table><tr><td>" * DEPTH + b"text",
    "bold.html": b"<html><body>" + b"<b>" * DEPTH + b"text",
    "laughs.html": LAUGHS,
    "outside.html": OUTSIDE,
    "laughs.docx": archive(word__document_xml=LAUGHS),
    "outside.docx": archive(word__document_xml=OUTSIDE),
    "laughs.pptx": archive(ppt__presentation_xml=LAUGHS),
    "laughs.xlsx": archive(xl__workbook_xml=LAUGHS, xl__worksheets__sheet1_xml=LAUGHS),
    "laughs.ods": archive(mimetype=b"application/vnd.oasis.opendocument.spreadsheet", content_xml=LAUGHS),
    "bomb.docx": archive(word__document_xml=b"0" * 60_000_000),
    "bomb.xlsx": archive(xl__workbook_xml=b"0" * 60_000_000),
    "short.pdf": b"%PDF-1.7\n",
    "empty.pdf": b"",
    "words.docx": b"no archive at all",
}
REFUSED = {
    *("laughs.docx", "outside.docx", "laughs.pptx", "laughs.xlsx", "laughs.ods", "bomb.docx", "bomb.xlsx"),
    *("short.pdf", "empty.pdf", "words.docx"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document | Skip]:
    """Read all files as one batch."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    reading = Reading(Limits(seconds=30, expanded=50_000_000))
    return {result.id: result for result in read_folder(folder, reading=reading)}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_read_or_told_and_never_our_fault(results: dict[str, Document | Skip], name: str) -> None:
    result = results[name]
    if name not in REFUSED:
        assert isinstance(result, Document)
        assert len(result.text) < 4 * len(FILES[name])
        assert "root:" not in result.text
        return
    assert isinstance(result, Skip)
    assert result.failed
    assert result.reason.startswith(name)
    assert not any(fault in result.reason for fault in ("a fault of ours", "took longer", "crashed"))
