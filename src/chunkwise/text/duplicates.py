"""Find texts that are equal, or nearly so, in one pass over any number of them.

Source: Broder 1997, "On the resemblance and containment of documents", doi:10.1109/SEQUEN.1997.666900: the share of
equal minima of two texts' shingles under random permutations estimates their Jaccard index. Candidates are found
by banding (Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", 3.4) and then compared in full.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from chunkwise.text.words import WORD

Place = TypeVar("Place")
Hashes: TypeAlias = NDArray[np.uint32]

# Words of a shingle; texts whose sets of shingles overlap by this Jaccard index are near duplicates.
_SHINGLE, SIMILAR = 3, 0.8

# Permutations, in bands of four: of two texts at 0.8 one of 16 bands is equal with a probability of 0.9998.
_PERMUTATIONS, _BANDS = 64, 16

# How many texts, and how many shingles of them, are remembered; and with how many of the same band one is compared.
MOST_TEXTS, _MOST_SHINGLES, _MOST_RIVALS = 50_000, 20_000_000, 8

# How many shingles are permuted at once.
_AT_ONCE = 4096
_LARGEST = np.uint64(0xFFFFFFFF)

_random = np.random.default_rng(1997)
# Source: Dietzfelbinger et al. 1997, doi:10.1006/jagm.1997.0873: the high half of a * x + b, a odd, hashes universally.
_FACTORS = _random.integers(0, 1 << 63, _PERMUTATIONS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_TERMS = _random.integers(0, 1 << 63, _PERMUTATIONS, dtype=np.uint64)
_PLACES = _random.integers(0, 1 << 63, _SHINGLE, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


@dataclass(frozen=True, slots=True)
class Twin(Generic[Place]):
    """A text that is like an earlier one, where both stand, and their Jaccard index: 1.0 where the words are equal."""

    place: Place
    earlier: Place
    similarity: float


class Duplicates(Generic[Place]):
    """The texts seen so far, each with its place.

    Cost: linear in the texts. Memory is bounded, about 1 kB for a text of 200 words; of more texts than `MOST_TEXTS`,
    the later ones are only compared for equality with those remembered.
    """

    def __init__(self) -> None:
        self._equal: dict[bytes, Place] = {}
        self._texts: list[tuple[Place, Hashes]] = []
        self._bands: list[NDArray[np.uint64]] = []
        self._n_shingles = 0

    @property
    def is_full(self) -> bool:
        """Whether no more texts are remembered."""
        return len(self._texts) >= MOST_TEXTS or self._n_shingles >= _MOST_SHINGLES

    def add(self, text: str, place: Place) -> Twin[Place] | None:
        r"""Return an earlier text of equal words, if there is one; else remember this one. Case makes no difference.

        >>> seen = Duplicates[str]()
        >>> seen.add("The pump runs.", "a"), seen.add("the  pump\nruns.", "b")
        (None, Twin(place='b', earlier='a', similarity=1.0))
        """
        words = WORD.findall(text.casefold())
        digest = hashlib.blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if (equal := self._equal.get(digest)) is not None:
            return Twin(place, equal, 1.0)
        if not self.is_full:
            own = _shingles(words)
            self._equal[digest] = place
            self._texts.append((place, own))
            self._bands.append(_bands(own))
            self._n_shingles += len(own)
        return None

    def near(self) -> Iterator[Twin[Place]]:
        """Yield every text that is much like an earlier one without being equal to it, once."""
        for index, rivals in sorted(self._rivals().items()):
            place, own = self._texts[index]
            for earlier, other in (self._texts[rival] for rival in sorted(rivals)):
                shared = len(np.intersect1d(own, other, assume_unique=True))
                similarity = shared / (len(own) + len(other) - shared)
                if similarity >= SIMILAR:
                    yield Twin(place, earlier, similarity)
                    break

    def _rivals(self) -> dict[int, set[int]]:
        """Return for each text the earlier ones that share a band with it, few of each band."""
        rivals: dict[int, set[int]] = {}
        for band in np.array(self._bands).T:
            order = np.argsort(band, kind="stable")
            edges = np.flatnonzero(np.diff(band[order])) + 1
            for group in np.split(order, edges):
                for index in group[1:].tolist():
                    rivals.setdefault(index, set()).update(n for n in group[:_MOST_RIVALS].tolist() if n < index)
        return rivals


def shingles(text: str) -> Hashes:
    """Return hashes of every three words in a row of a text, each once; of a shorter text one of all its words."""
    return _shingles(WORD.findall(text.casefold()))


def _shingles(words: list[str]) -> Hashes:
    """Return the distinct hashes of every three words in a row; of a shorter text one hash of all."""
    hashes = np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words] or [0], np.uint64)
    if len(hashes) < _SHINGLE:
        hashes = np.pad(hashes, (0, _SHINGLE - len(hashes)))
    runs = np.lib.stride_tricks.sliding_window_view(hashes, _SHINGLE)
    return np.unique(((runs * _PLACES).sum(axis=1, dtype=np.uint64) >> np.uint64(32)).astype(np.uint32))


def _bands(hashes: Hashes) -> NDArray[np.uint64]:
    """Return a hash of each band of a text's signature, uint64 [_BANDS]."""
    wide, signature = hashes.astype(np.uint64)[:, None], np.full(_PERMUTATIONS, _LARGEST)
    for start in range(0, len(wide), _AT_ONCE):
        permuted = (wide[start : start + _AT_ONCE] * _FACTORS + _TERMS) >> np.uint64(32)
        signature = np.minimum(signature, permuted.min(axis=0))
    bands: NDArray[np.uint64] = (signature.reshape(_BANDS, -1) * _FACTORS[: _PERMUTATIONS // _BANDS]).sum(axis=1)
    return bands
