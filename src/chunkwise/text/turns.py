"""Turns of speakers in transcripts, each known by its own line and the times right before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import regex

from chunkwise.core.types import Span

# A word of a name: a capital, a number or an initial; between them what joins the parts of a name.
_WORD = r"(?:[\p{Lu}\p{Lt}][\p{L}\p{M}\p{N}.'\u2019_&#/-]{0,24}+|\p{N}{1,4})"
_PARTICLE = r"(?:of|the|and|for|de|da|del|della|der|di|do|du|la|le|van|von|bin|al|y|e|zu|&|-|\u2013)"
_NAME = (
    rf"(?:[\p{{Lu}}\p{{Lt}}][\p{{L}}\p{{M}}\p{{N}}.'\u2019_&#/-]{{0,24}}+(?:[ ](?:{_PARTICLE}[ ]){{0,2}}{_WORD}){{0,4}}"
    r"|[\p{Lo}][\p{Lo}\p{M}\p{N}\u00b7 ]{0,11}"  # scripts without capitals
    r"|(?:speaker|spk|user|guest|participant|person|voice)[ _-]?\p{N}{1,3}"
    r"|user|assistant|system|human|bot|agent|customer|caller|interviewer|interviewee|moderator|host|operator)"
)
_TIME = r"(?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,3})?(?:[ ]?[AaPp]\.?[Mm]\.?)?"
_STAMP = rf"(?:\[{_TIME}\]|\({_TIME}\)|{_TIME})"
_ROLE = r"(?:[ ]?(?:\((?:[^()\r\n]|\([^()\r\n]{0,80}+\)){1,200}+\)|\[[^\[\]\r\n]{1,60}+\]))"
_LINE = r"(?:(?<=[\r\n])|\A)\ufeff?[ \t]{0,8}+"

# `Alice: ...`, `[00:01:02] ALICE (CEO): ...`, `**Alice:** ...`; `<v Alice>...`; and `Alice  00:01:02` as a whole line.
_TURN = regex.compile(
    rf"{_LINE}(?:{_STAMP}[ \t]{{0,4}}(?:[-\u2013|][ \t]?)?|>>[ ]?)?"
    rf"(?:(?P<label>(?P<mark>\*\*|__|\*)?(?P<name>{_NAME})(?P=mark)?{_ROLE}?+(?:[ ]{_STAMP})?+[ ]?[:\uff1a](?P=mark)?"
    rf"(?:[ \t]*+[\r\n]{{1,4}}+|[ \t]++|\Z|(?<=\uff1a)))"
    rf"|(?P<label><v(?:\.[\w.-]{{1,40}})?[ ](?P<name>[^<>\r\n]{{1,60}})>)"
    rf"|(?P<label>(?P<mark>\*\*|__)?(?P<name>{_NAME})(?P=mark)?{_ROLE}?+[ \t]{{1,8}}{_STAMP}[ \t]{{0,8}}+"
    r"(?:[\r\n]{1,4}+|\Z)))"
)
# The time of what follows, alone in its line, and the number of a subtitle before it.
_TIMES = re.compile(
    r"(?:(?<=[\r\n])|\A)(?:\d{1,6}[ \t]*+(?:\r\n|\n|\r))?"
    r"[ \t]*+[\[(]?(?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,3})?[\])]?"
    r"(?:[ \t]*+-->[ \t]*+(?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,3})?[^\r\n]{0,80}+)?[ \t]*+(?:\r\n|\n|\r)\Z"
)
# In characters: how far before a turn its time may stand.
_BEFORE = 200

# What begins a line like a speaker, and is none.
_NO_SPEAKER = re.compile(
    r"absent|abstract|action|actions|added|address|agenda|apologies|appendix|architecture|args|arguments|"
    r"attendance|attendees|attention|author|authors|background|bcc|caution|cc|changed|chapter|chart|"
    r"commandline|comment|conclusion|conclusions|cons|copyright|date|day|decision|decisions|definition|"
    r"definitions|depends|deprecated|description|duration|e-mail|edit|editor|email|end-date|error|example|"
    r"examples|exception|expected|fax|feature|fig|figure|file|files|fixed|fixme|format|from|ftp|fwd|given|hint|"
    r"homepage|http|https|important|input|install|item|keywords|lemma|licence|license|location|maintainer|n\.b|"
    r"name|nb|note|notes|output|p\.s|package|parameters|part|participants|phone|place|present|price|priority|"
    r"proof|pros|ps|question|raises|re|recording|reference|references|regrets|remark|remove|removed|requires|"
    r"result|results|returns|scenario|section|security|see|sent|size|source|sources|start-date|status|step|"
    r"subject|summary|table|tel|then|theorem|time|tip|title|to|todo|topic|total|traceback|transcript|update|"
    r"upgrade|url|usage|venue|version|warning|when|yields"
)


class Turn(NamedTuple):
    """What one speaker says at a time: where it starts, its label with what follows up to the words, who speaks."""

    start: int
    label: Span
    speaker: str


def turns(text: str) -> Iterator[Turn]:
    """Yield the turns of a text in order. Linear in the text."""
    for match in _TURN.finditer(text):
        speaker = " ".join(match["name"].split()).strip("_")
        if _NO_SPEAKER.fullmatch(speaker.split(" ")[0].lower().rstrip(".")) and not match["label"].startswith("<v"):
            continue
        start = _with_times(text, match.start())
        yield Turn(start, Span(*match.span("label")), speaker)


def _with_times(text: str, start: int) -> int:
    """Return where the time stands that is alone in the line before, if one does."""
    found = _TIMES.search(text, max(0, start - _BEFORE), start)
    return found.start() if found else start
