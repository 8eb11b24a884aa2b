"""Look at how a compound file is put together, before a parser follows its chains of sectors.

Source: [MS-CFB] 2.2 (header), 2.3 (FAT), 2.4 (mini FAT), 2.5 (DIFAT).
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import ReadError

# Entries from here on are no sectors: the end of a chain, a free sector, a sector of the FAT.
_MOST_SECTORS = 0xFFFFFFFA
_IN_HEADER = 109  # sectors of the FAT that the header itself names


def check_chains(content: bytes, id: str) -> None:
    """Refuse a compound file in which a chain of sectors leads back to itself: a parser would follow it without end.

    Cost: linear in the sectors, times the logarithm of their number.
    Raises: ReadError.
    """
    if len(content) < 512:
        raise _damaged(id, "it ends inside its header")
    (shift,), (n_fat,) = struct.unpack_from("<H", content, 30), struct.unpack_from("<I", content, 44)
    if shift not in (9, 12):
        raise _damaged(id, f"its sectors have 2^{shift} bytes")
    size = 1 << shift
    sectors = np.frombuffer(content, np.uint8)[size:]
    table = sectors[: len(sectors) // size * size].view("<u4").reshape(-1, size // 4)
    fat = _rows(table, _sectors_of_fat(content, table, n_fat, id)).ravel()
    if _has_circle(fat[: len(table)]):
        raise _damaged(id, "a chain of its sectors leads back to itself")
    if struct.unpack_from("<I", content, 48)[0] >= len(table):
        raise _damaged(id, "it ends before its directory")
    first_mini, n_mini = struct.unpack_from("<II", content, 60)
    if n_mini and _has_circle(_rows(table, _chain(fat, first_mini, len(table))).ravel()):
        raise _damaged(id, "a chain of its small sectors leads back to itself")


def _sectors_of_fat(content: bytes, table: NDArray[np.uint32], n_fat: int, id: str) -> list[int]:
    """Return the sectors that hold the FAT: those that the header names, and those of the DIFAT."""
    found = list(struct.unpack_from(f"<{_IN_HEADER}I", content, 76))
    sector, seen = struct.unpack_from("<I", content, 68)[0], set[int]()
    while sector < len(table):
        if sector in seen:
            raise _damaged(id, "the list of its tables leads back to itself")
        seen.add(sector)
        *named, sector = table[sector].tolist()
        found += named
    sectors = [number for number in found if number < _MOST_SECTORS][:n_fat]
    if len(sectors) < n_fat or max(sectors, default=0) >= len(table):
        raise _damaged(id, "it ends before its tables")  # what a parser would take for zeros leads in circles
    return sectors


def _chain(fat: NDArray[np.uint32], sector: int, n_sectors: int) -> list[int]:
    """Return the sectors of a chain; the FAT has no circles."""
    found = list[int]()
    while sector < n_sectors:
        found.append(sector)
        sector = int(fat[sector]) if sector < len(fat) else n_sectors
    return found


def _rows(table: NDArray[np.uint32], numbers: list[int]) -> NDArray[np.uint32]:
    return table[np.array(numbers, np.int64)]


def _has_circle(following: NDArray[np.uint32]) -> bool:
    """Tell whether some chain never ends, by going twice as far at every step."""
    n_sectors = len(following)
    reached = np.append(np.where(following < n_sectors, following, n_sectors), n_sectors).astype(np.int64)
    for _ in range(n_sectors.bit_length()):
        reached = reached[reached]
    return bool((reached < n_sectors).any())


def _damaged(id: str, fault: str) -> ReadError:
    return ReadError(f"{id}: a damaged file: {fault}; open it in its program and save it anew")
