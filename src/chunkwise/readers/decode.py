"""Bytes to text, with the encoding that was used; mojibake is an error, never a guess kept quiet."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain

import regex
from charset_normalizer import from_bytes

from chunkwise.core.errors import ReadError
from chunkwise.core.types import Meta, Source

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Enough for the detector to tell encodings apart, little enough to be quick.
_SAMPLE = 64 * 1024

# In bytes: where a page declares its encoding. Source: HTML Living Standard, 4.2.5.4, which has it in the first 1024;
# many pages come later with it.
_HEAD = 4096
_DECLARED = re.compile(
    rb"""<(?:meta\b[^<>]{0,200}?\bcharset\s*=|\?xml\b[^<>]{0,100}?\bencoding\s*=)\s*["']?\s*([A-Za-z][\w.:-]{1,30})""",
    re.IGNORECASE,
)
_MARKUP = ("text/html", "application/xhtml+xml", "application/xml", "text/xml")
# What a declared encoding stands for, as pages use its name. Source: Encoding Standard, 4.2 (names and labels).
_LABELS = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "x-gbk": "gb18030",
    "x-sjis": "cp932",
}
# Python's names of encodings that pages are written in. UTF-16 is not among them: whoever can read the declaration
# does not read UTF-16, and UTF-8 was tried.
_OF_PAGES = ("big5", "cp", "euc", "gb", "hz", "iso", "koi8", "mac", "ptcp", "shift_jis")
# Encodings whose text is ASCII by its bytes, so that it is UTF-8, too, and means something else.
_ESCAPING = ("iso2022", "hz")

# Code pages of DOS for Latin letters: what looks like one of them is hardly ever one today.
_DOS = {"cp437", "cp720", "cp775", "cp850", "cp852", "cp857", "cp858", "cp860", "cp861", "cp863", "cp865"}

# A text whose share of control characters is larger is no text.
_MOST_CONTROLS = 0.02
_HIGH = bytes(range(0x80, 0x100))
# The beginning of a character in UTF-8 whose last bytes are missing.
_CUT_OFF = re.compile(rb"[\xe0-\xf4][\x80-\xbf]{1,2}\Z")
_LATIN = regex.compile(r"[A-Za-z]")
_FOREIGN_WORD = regex.compile(r"\w*[^\W\d_\p{Latin}]\w*+")
_CONTROLS = bytes({*range(32)} - {*b"\t\n\v\f\r\x1b"})


def decode(source: Source) -> tuple[str, Meta]:
    """Return the text and `{"encoding": name}`, with `"encoding_guessed": True` where a detector chose it.

    A declared encoding is taken at its word. Else a byte order mark decides and is not part of the
    text; then strict UTF-8; then what the head of HTML or XML declares, if all bytes fit; then a detector.
    Raises: ReadError for a binary file, or where no encoding fits.
    """
    content = source.content
    if source.encoding:
        return _strict(source, source.encoding), {}
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return _strict(source, encoding), {"encoding": encoding}
    refuse_binary(source)
    declared = _declared(content[:_HEAD]) if source.media_type in _MARKUP else ""
    if declared.startswith(_ESCAPING) and (text := _fitting(content, declared)) is not None:
        return text, {"encoding": declared}
    try:
        return content.decode("utf-8"), {"encoding": "utf-8"}
    except UnicodeDecodeError as err:
        position = err.start
    if declared and (text := _fitting(content, declared)) is not None:
        return text, {"encoding": declared}
    guessed = None if _is_nearly_utf8(content) else _detect(content)
    if guessed is None:
        raise ReadError(
            f"{source.id}, line {_line(content, position)}: byte 0x{content[position]:02x} at {position} is no UTF-8, "
            "and no other encoding fits; convert the file to UTF-8"
        )
    return _strict(source, guessed), {"encoding": guessed, "encoding_guessed": True}


def is_utf8(head: bytes) -> bool:
    """Tell whether a text that begins with these bytes is one for `decode_pieces`, as far as they go."""
    if any(head.startswith(mark) for mark, _ in _BOMS):
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
        refuse_binary(Source("", head))
    except (UnicodeDecodeError, ReadError):
        return False
    return True


def decode_pieces(pieces: Iterable[bytes], *, id: str) -> Iterator[str]:
    """Yield the text of bytes as they come: UTF-8, or what a byte order mark says, which is not part of the text.

    Raises: ReadError for a byte that does not fit, with its place; the pieces before have been yielded.
    """
    coming, head = iter(pieces), b""
    while len(head) < len(codecs.BOM_UTF32_LE) and (piece := next(coming, None)) is not None:
        head += piece
    encoding = next((found for mark, found in _BOMS if head.startswith(mark)), "utf-8")
    decoder = codecs.getincrementaldecoder(encoding)()
    n_read = line = 0
    ended = (b"", True)
    for piece, final in chain([(head, False)], ((piece, False) for piece in coming), [ended]):
        n_read += len(piece)
        try:
            text = decoder.decode(piece, final)
        except UnicodeDecodeError as err:
            raise ReadError(
                f"{id}, line {line + _line(err.object, err.start)}: byte 0x{err.object[err.start]:02x} at "
                f"{n_read - len(err.object) + err.start} is no {encoding.removesuffix('-sig').upper()}; "
                "convert the text to UTF-8 first"
            ) from err
        line += text.count("\n")
        yield text


def _declared(head: bytes) -> str:
    """Return Python's name of the encoding that the head of HTML or XML declares, or of the one that it means by it."""
    match = _DECLARED.search(head)
    if match is None:
        return ""
    label = match[1].decode("ascii").lower()
    try:
        name = codecs.lookup(_LABELS.get(label, label)).name
    except LookupError:
        return ""
    name = _LABELS.get(name, name)
    return name if name.startswith(_OF_PAGES) else ""


def _fitting(content: bytes, encoding: str) -> str | None:
    """Return the text, if every byte fits the encoding."""
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_nearly_utf8(content: bytes) -> bool:
    """Tell whether a few broken bytes stand in what is otherwise UTF-8, or a character is cut off at the end."""
    high = len(content) - len(content.translate(None, _HIGH))
    broken = content.decode("utf-8", "replace").count("\ufffd")
    cut_off = _CUT_OFF.search(content)
    return high - broken > 20 * broken or (cut_off is not None and high == len(cut_off[0]))


def _line(content: bytes, position: int) -> int:
    return content.count(b"\n", 0, position) + 1


def refuse_binary(source: Source) -> None:
    """Raise ReadError if the first bytes are those of no text in an encoding that has no byte order mark."""
    head = source.content[:_SAMPLE]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > _MOST_CONTROLS * len(head) and not _is_utf8_text(head):
        raise ReadError(f"{source.id}: a binary file, not text; exclude it, or convert it to a text format")


def _is_utf8_text(head: bytes) -> bool:
    """Tell whether a few stray NULs stand in what is otherwise UTF-8."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return sum(char.isprintable() or char.isspace() for char in text) >= 0.7 * len(text)


def _detect(content: bytes) -> str | None:
    sample = content[:_SAMPLE]
    if len(content) > _SAMPLE:  # a cut inside a character misleads the detector
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    found = list(from_bytes(sample))
    likely = [match for match in found if match.encoding not in _DOS] or found
    if not likely:
        return None
    best = likely[0]
    if not best.multi_byte_usage and _mixes_scripts(str(best)):
        return "cp1252"
    level = {
        name
        for match in likely
        if (match.chaos, match.coherence) == (best.chaos, best.coherence)
        for name in match.could_be_from_charset
    }
    # Where the detector sees no difference, the encoding of Western Windows is by far the likeliest.
    return "cp1252" if "cp1252" in level else best.encoding


def _mixes_scripts(text: str) -> bool:
    """Tell whether most words with letters of another script have Latin ones, too: such words there are not."""
    foreign = _FOREIGN_WORD.findall(text)
    mixed = sum(_LATIN.search(word) is not None for word in foreign)
    return 2 * mixed > len(foreign)


def _strict(source: Source, encoding: str) -> str:
    try:
        return source.content.decode(encoding, "surrogatepass" if source.encoding else "strict")
    except UnicodeDecodeError as err:
        raise ReadError(
            f"{source.id}, line {_line(source.content, err.start)}: looked like {encoding}, but the bytes at "
            f"{err.start} are not; convert the file to UTF-8"
        ) from err
