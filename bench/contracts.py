"""What splitters break, found by encoding and placing every piece again.

Over the limit: more tokens than was asked for. Miscounted: the reported count is not the true one. Misplaced: the
reported offsets do not slice the text to the piece. Altered: the piece stands nowhere in the text. Lost: characters
that are no whitespace and are in no piece.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field

from corpora import text_of
from cost import cell
from peers import PEERS
from splitters import TABLES, Entry, Piece, count, ours

_LIMITS = (32, 128, 512)
_SIZE = 150_000  # bytes
_TABLES = ("recursive", "windows", "sentences", "markdown", "code")


@dataclass(slots=True)
class Faults:
    """What is wrong with the pieces of one cut. None where there was nothing to judge by."""

    n_pieces: int
    over: int
    most: int
    miscounted: int | None
    misplaced: int | None
    altered: int
    lost: int | None


@dataclass(slots=True)
class Record:
    """All cuts of one entry: corpus and limit -> its faults, or what was raised."""

    cuts: dict[tuple[str, int], Faults] = field(default_factory=dict)
    raised: list[str] = field(default_factory=list)


def page(*, quick: bool) -> Iterator[str]:
    """Yield the table of sums, and a list of where each fault was seen."""
    yield "## What is broken"
    yield ""
    yield (
        f"Every piece is encoded and placed again: {_SIZE // 1000} KB of each corpus at limits of "
        f"{', '.join(map(str, _LIMITS))} tokens. *Over*: more tokens than the limit. *Miscounted*: the reported count "
        "is wrong. *Misplaced*: the reported offsets do not give the piece. *Altered*: the piece is not in the text. "
        "*Lost*: characters, not whitespace, in no piece. A dash: nothing is reported, or it can't be measured."
    )
    yield ""
    yield "| | pieces | over | miscounted | misplaced | altered | lost |"
    yield "|---|---|---|---|---|---|---|"
    tables = [table for table in TABLES if table.name in _TABLES]
    entries = [*ours(tables), *(entry for entry in PEERS if entry.table in _TABLES and not quick)]
    records = {id(entry): _record(entry) for entry in entries}
    for entry in entries:
        record = records[id(entry)]
        cuts = list(record.cuts.values())
        sums = [_sum([getattr(cut, name) for cut in cuts]) for name in ("miscounted", "misplaced", "altered", "lost")]
        cells = [f"{sum(cut.n_pieces for cut in cuts):,}", _sum([cut.over for cut in cuts]), *sums]
        yield f"| {_name(entry)} | " + " | ".join(cells) + " |"
    yield ""
    yield "Where:"
    yield ""
    for entry in entries:
        seen = list(_seen(records[id(entry)]))
        if seen:
            yield f"- {_name(entry)}: {'; '.join(seen)}"
    yield ""


def faults(text: str, pieces: Sequence[Piece], limit: int, *, overlapping: bool) -> Faults:
    """Judge every piece of a cut."""
    counts = [count(piece.text) for piece in pieces]
    counted = [n == piece.n_tokens for n, piece in zip(counts, pieces, strict=True) if piece.n_tokens is not None]
    placed = [_slices(text, piece) for piece in pieces if piece.start is not None]
    altered = sum(piece.text not in text for piece in pieces)
    return Faults(
        n_pieces=len(pieces),
        over=sum(n > limit for n in counts),
        most=max(counts, default=0),
        miscounted=counted.count(False) if counted else None,
        misplaced=placed.count(False) if placed else None,
        altered=altered,
        lost=_lost(text, pieces, overlapping=overlapping),
    )


def _record(entry: Entry) -> Record:
    record = Record()
    for corpus in entry.corpora:
        text = text_of(corpus)
        if not text:
            continue
        start = len(text) // 3
        part = text[start : start + int(_SIZE * len(text) / len(text.encode()))]
        for limit in _LIMITS:
            try:
                with redirect_stdout(io.StringIO()):  # llama-index prints advice
                    pieces = entry.build(limit).pieces(part)
            except Exception as err:  # whatever a peer raises is its result
                record.raised.append(f"{corpus} at {limit}: raised {type(err).__name__}")
                continue
            overlapping = entry.table == "windows"
            record.cuts[corpus, limit] = faults(part, pieces, limit, overlapping=overlapping)
    return record


def _slices(text: str, piece: Piece) -> bool:
    inside = piece.start is not None and piece.start >= 0
    return inside and text[piece.start : piece.end] == piece.text


def _lost(text: str, pieces: Sequence[Piece], *, overlapping: bool) -> int | None:
    """Return how much ink is in no piece, or None if that can't be said.

    Reported offsets are not used. Pieces that overlap can prove that nothing is lost, but no loss: in a text that
    repeats itself they may be placed too early.
    """
    if not overlapping and _ink("".join(piece.text for piece in pieces)) == _ink(text):
        return 0
    covered = bytearray(len(text))
    earliest = end = 0
    for piece in pieces:
        start = text.rfind(piece.text, earliest, end + len(piece.text)) if overlapping else -1
        if start < 0:
            start = text.find(piece.text, earliest)
        if start < 0:
            return None
        end = start + len(piece.text)
        covered[start:end] = b"\x01" * len(piece.text)
        earliest = start + 1 if overlapping else end
    lost = sum(not seen and not character.isspace() for seen, character in zip(covered, text, strict=True))
    return None if lost and overlapping else lost


def _ink(text: str) -> str:
    return "".join(text.split())


def _sum(values: Sequence[int | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    unknown = len(values) - len(known)
    return f"{sum(known):,}" + (f" ({unknown} of {len(values)} cuts not measurable)" if unknown else "")


def _seen(record: Record) -> Iterator[str]:
    """Yield where something is wrong, in words."""
    yield from record.raised
    for (corpus, limit), cut in record.cuts.items():
        parts = [f"{cut.over} of {cut.n_pieces} over, up to {cut.most}"] if cut.over else []
        numbers = {name: getattr(cut, name) for name in ("miscounted", "misplaced", "altered")}
        parts += [f"{number} of {cut.n_pieces} {name}" for name, number in numbers.items() if number]
        parts += [f"{cut.lost} characters lost"] if cut.lost else []
        if parts:
            yield f"{corpus} at {limit}: {', '.join(parts)}"


def _name(entry: Entry) -> str:
    return f"{cell(entry.name)} ({entry.table})"
