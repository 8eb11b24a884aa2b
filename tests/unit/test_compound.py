"""Compound files: a chain of sectors that leads back to itself is told, not followed."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest
import xlwt

from chunkwise.core.errors import ReadError
from chunkwise.readers.compound import check_chains


def workbook() -> bytes:
    book, out = xlwt.Workbook(), io.BytesIO()
    sheet = book.add_sheet("Orders")
    for row in range(400):
        sheet.write(row, 0, f"order {row}")
    book.save(out)
    return out.getvalue()


def with_entry(content: bytes, sector: int, following: int) -> bytes:
    """Let a sector be followed by another, in the FAT of a small file."""
    (fat,) = struct.unpack_from("<I", content, 76)
    changed = bytearray(content)
    struct.pack_into("<I", changed, 512 * (fat + 1) + 4 * sector, following)
    return bytes(changed)


def test_a_sound_file_passes() -> None:
    check_chains(workbook(), "a.xls")
    check_chains((Path(__file__).parents[1] / "golden" / "files" / "readers" / "stock.xls").read_bytes(), "stock.xls")


@pytest.mark.parametrize(("sector", "following"), [(3, 0), (5, 5), (2, 1), (1, 0)])
def test_a_chain_that_leads_back_to_itself_is_told(sector: int, following: int) -> None:
    with pytest.raises(ReadError, match=r"a\.xls: a damaged file: a chain of its sectors leads back to itself"):
        check_chains(with_entry(workbook(), sector, following), "a.xls")


def test_a_table_that_leads_back_to_itself_is_told() -> None:
    changed = bytearray(workbook())
    struct.pack_into("<II", changed, 68, 0, 1)  # the DIFAT goes on in the first sector, which names itself
    struct.pack_into("<I", changed, 512 + 508, 0)
    with pytest.raises(ReadError, match="the list of its tables leads back to itself"):
        check_chains(bytes(changed), "a.xls")


@pytest.mark.parametrize("length", [0, 100, 511])
def test_a_file_that_ends_in_its_header_is_told(length: int) -> None:
    with pytest.raises(ReadError, match="it ends inside its header"):
        check_chains(workbook()[:length], "a.xls")


@pytest.mark.parametrize("kept", [512, 600, 1024, 5000, -700, -300])
def test_a_file_that_is_cut_off_before_its_tables_is_told(kept: int) -> None:
    with pytest.raises(ReadError, match=r"it ends before its (?:tables|directory)"):
        check_chains(workbook()[:kept], "a.xls")
