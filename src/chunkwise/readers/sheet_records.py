"""Survey a workbook in one of Excel's binary formats: how far the cells of its sheets reach, before they are laid out.

Source: [MS-XLSB] 2.1.4 for records, 2.5.98 for the cells in them; [MS-XLS] 2.4.90 for what a sheet says of its size.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from typing import BinaryIO, cast
from zipfile import ZipFile

from chunkwise.readers.sheet_xml import DAMAGED, Survey, damaged, targets, unnamed

_ROW = 0  # BrtRowHdr: begins with the number of the row
_CELLS = range(2, 12)  # from BrtCellRk to BrtFmlaError: begin with the number of the column; a blank one is 1
# Dimensions, in which two bytes are nothing; looked for anywhere in a file, as a damaged one has no other order.
_DIMENSIONS = re.compile(rb"\x00\x02\x0e\x00(.{12})\x00\x00", re.DOTALL)
_NO_SHEETS = ("sharedstrings.bin", "styles.bin")


def survey_xls(content: bytes, id: str) -> list[Survey]:
    """Return what the sheets of a workbook of Excel 97 say of their size, which is how they are laid out.

    Raises: ReadError for one that ends before it begins.
    """
    surveys = []
    for number, found in enumerate(_DIMENSIONS.finditer(content), 1):
        top, below, left, right = struct.unpack("<IIHH", found[1])
        survey = Survey(str(number))
        if below < top or right < left:
            raise damaged(id, f"sheet {number}", ValueError(f"it ends in row {below}, before it begins"))
        if below > top and right > left:
            survey.holds(top, left, last_row=below - 1, last_column=right - 1)
            survey.n_values = 0  # how many of them hold one is not said
        surveys.append(survey)
    return surveys


def survey_xlsb(archive: ZipFile, id: str) -> list[Survey]:
    """Return a survey of every part that may be a sheet; it is named like that part.

    Raises: ReadError.
    """
    surveys = []
    named = set(targets(archive, "xl/_rels/workbook.bin.rels", id).values())
    for part in sorted(named | unnamed(archive, named)):
        if part.lower().endswith(".bin") and not part.lower().endswith(_NO_SHEETS):
            survey, row = Survey(part), 0
            for kind, number in _numbers(archive, part, id):
                if kind == _ROW:
                    row = number
                else:
                    survey.holds(row, number)
            surveys.append(survey)
    return surveys


def _numbers(archive: ZipFile, part: str, id: str) -> Iterator[tuple[int, int]]:
    """Yield the kind of each row and cell of a part, with the number that it begins with."""
    try:
        with archive.open(part) as unpacked, io.BufferedReader(cast("io.RawIOBase", unpacked)) as records:
            while head := records.read(1):
                kind = head[0] & 0x7F | (records.read(1)[0] << 7 if head[0] & 0x80 else 0)
                content = records.read(_length(records))
                if kind == _ROW or kind in _CELLS:
                    yield kind, struct.unpack_from("<I", content)[0]
    except (*DAMAGED, IndexError, struct.error) as err:
        raise damaged(id, part, err) from err


def _length(records: BinaryIO) -> int:
    """Read how long a record is: seven bits a byte, in four bytes at most."""
    length = 0
    for shift in (0, 7, 14, 21):
        byte = records.read(1)[0]
        length |= (byte & 0x7F) << shift
        if not byte & 0x80:
            break
    return length
