"""Records of logs: a line that begins with a time or a level, and the lines after it that do not."""

from __future__ import annotations

import re

from chunkwise.text.words import last_line, line_spans

# In characters: how much of a text tells whether it is a log.
_SAMPLE = 4000

_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL|ALERT|EMERG|PANIC)"
_MARKS = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?![\d.-])",  # 2026-11-30, ISO 8601
    r"\d{8}[T ]\d{2}:?\d{2}",  # 20261130 0240
    r"\d{1,2}[-/.](?:\d{1,2}|[A-Z][a-z]{2})[-/.]\d{2,4}[ :T,]{1,2}\d{1,2}:\d{2}",  # 30/Nov/2026:02:40
    r"(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {1,2}\d{1,2} (?:\d{4} )?\d{2}:\d{2}:\d{2}",  # Nov 30 02:40:03, ctime
    r"\d{1,2}:\d{2}:\d{2}(?!\d)",
    r"\d{10}(?:\d{3})?(?:\.\d{1,9})?[\s:|\]]",  # seconds or milliseconds since 1970
    r" {0,6}\d{1,7}\.\d{6}\]",  # the kernel's seconds since the start
    r"[IWEF]\d{4} \d{2}:\d{2}:\d{2}",  # glog
    rf"{_LEVEL}(?![\w'])",
    r"(?i:trace|debug|info|notice|warn|warning|error|critical|fatal)\]",
    r"(?:ts|time|timestamp|level|lvl|severity)=",  # logfmt
    r"\S{1,64} \S{1,64} \S{1,64} \[\d{1,2}/[A-Z][a-z]{2}/\d{4}:",  # the common log format of web servers
)
# Before the mark may stand an opening bracket, and the priority of syslog.
_BEGINS = re.compile(rf"\ufeff?(?:<\d{{1,3}}>(?:1 )?)?[\[(<]?(?:{'|'.join(_MARKS)})")


def is_log(text: str) -> bool:
    """Tell whether at least half of the first lines with text begin as records of a log do."""
    lines = [line for line in line_spans(text, 0, min(len(text), _SAMPLE)) if line.slice(text).strip()]
    return bool(lines) and 2 * sum(begins_record(text, line.start) for line in lines) >= len(lines)


def begins_record(text: str, start: int) -> bool:
    """Tell whether the line that starts here begins with a time or a level."""
    return bool(_BEGINS.match(text, start))


def last_log_record(text: str, lo: int, hi: int) -> int | None:
    """Return the last place in `(lo, hi]` where a record of a log starts."""
    while (place := last_line(text, lo, hi)) is not None and not begins_record(text, place):
        hi = place - 1
    return place
