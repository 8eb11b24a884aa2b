"""Post JSON to a server: tries, pauses, and a key that shows nowhere. Encoders and language models share it."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http.client import HTTPException
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

# Where a key is looked for, the first that is set. It is read for each request and kept nowhere.
# The second is meant for one company, so it is sent to no other host.
KEY_VARIABLES = ("CHUNKWISE_API_KEY", "OPENAI_API_KEY")
OPENAI_HOST = "openai.com"

_TRIES = 5
# Seconds: before the second try at most the first, doubled for each further one.
# Source: Brooker 2015, "Exponential backoff and jitter" (AWS Architecture Blog), full jitter.
_BACKOFF = 1.0
# The same where a server has had too many requests and does not say until when. Limits are counted by the minute, so
# the tries have to reach into the next one.
_RATE_BACKOFF = 8.0
# A server that asks for more patience than this is reported instead.
_LONGEST_WAIT = 60.0
# What OpenAI calls an account without money: no waiting helps.
_NO_QUOTA = b"insufficient_quota"
# What an error quotes of a server's answer, in characters.
_QUOTED = 200
# Of its own, so that a caller's seeded `random` is left alone.
_jitter = random.Random()

_REMEDIES = {429: "try again later, or check the quota of the key"}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a server gave no answer, and what to do. `status` is that of HTTP, or 0 where there was none.

    `reached` tells whether there is a server at all. `wait` is what it asks for, in seconds.
    """

    reason: str
    remedy: str
    status: int = 0
    transient: bool = False
    reached: bool = True
    wait: float = 0.0
    backoff: float = _BACKOFF  # how many seconds more, at most, before the second try

    def __str__(self) -> str:
        return f"{self.reason}; {self.remedy}"


def post(
    url: str,
    content: bytes,
    *,
    timeout: float,
    sleep: Callable[[float], None],
    remedies: Mapping[int, str],
    tries: int = _TRIES,
) -> bytes | Failure:
    """Post JSON; try again with growing pauses when that may help.

    Raises nothing of urllib: its exceptions carry headers, and a server can echo the key in them.
    """
    tried = 0
    while True:
        tried += 1
        answer = _try(url, content, timeout, remedies)
        if isinstance(answer, bytes):
            return answer
        if not answer.transient or tried >= tries:
            after = f" (tried {tried} times)" if tried > 1 else ""
            return replace(answer, reason=answer.reason + after)
        sleep(answer.wait + jitter(tried, answer.backoff))


def jitter(tried: int, backoff: float = _BACKOFF) -> float:
    """Return the seconds to wait after so many tries, at random: those who failed together come back one by one."""
    return _jitter.uniform(0, backoff * 2 ** (tried - 1))


def flaw(url: str) -> str:
    """Say why a URL can't be asked, or may not be, for it holds secrets; nothing if it is sound.

    Credentials belong into the environment, and are not shown.
    """
    form = "give it as https://HOST/v1"
    if not (url.isascii() and url.isprintable() and " " not in url):
        return f"the URL holds spaces or characters that have to be percent-encoded; {form}"
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return f"the URL has no valid host and port; {form}"
    if "@" in parts.netloc or parts.query or parts.fragment:
        return f"a URL with credentials, ? or # can't be used; {form}, and put the key in {KEY_VARIABLES[0]}"
    return "" if known else f"{url!r} is no URL of a server; {form}"


def quote(answer: str | bytes) -> str:
    """Return the beginning of what a server says, on one line and without the key that it may echo."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    line = " ".join(without_keys(text).split())
    return "".join(char if char.isprintable() else "?" for char in line[:_QUOTED])


def without_keys(text: str) -> str:
    """Return the text with every key that is set put out of sight."""
    for key in filter(None, (os.environ.get(variable, "").strip() for variable in KEY_VARIABLES)):
        # In JSON any of its characters may be escaped.
        text = re.sub(r"\\*".join(map(re.escape, key)), "[key]", text)
    return text


class _NoRedirects(HTTPRedirectHandler):
    """Follow no redirect: urllib would send the key to wherever it points."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        return None


# Loading the system's certificates takes a while.
@lru_cache(maxsize=1)
def _opener() -> OpenerDirector:
    return build_opener(_NoRedirects)


def _try(url: str, content: bytes, timeout: float, remedies: Mapping[int, str]) -> bytes | Failure:
    variable, key = _key(url)
    if not (key.isascii() and (key.isprintable() or not key)):
        reason = f"the key in {variable} holds characters that no HTTP header can carry"
        return Failure(reason, "set it again", reached=False)
    try:
        with _opener().open(_request(url, content, key), timeout=timeout) as response:
            answer: bytes = response.read()
            return answer
    except HTTPError as err:
        with err:
            return _refusal(url, err, remedies)
    except (OSError, HTTPException) as err:
        cause = getattr(err, "reason", err)
        silent = isinstance(cause, TimeoutError)
        reason = f"no answer within {timeout:g} s" if silent else f"no answer: {quote(str(cause) or repr(cause))}"
        reached = not isinstance(err, URLError)  # urllib wraps what goes wrong before the request is sent
        return Failure(reason, "check the URL and that the server is up", transient=True, reached=reached)


def _request(url: str, content: bytes, key: str) -> Request:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "chunkwise"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return Request(url, content, headers, method="POST")


def _refusal(url: str, err: HTTPError, remedies: Mapping[int, str]) -> Failure:
    """Say what an HTTP status means."""
    content = _content(err)
    reason = f"HTTP {err.code}: {_message(content)}".rstrip(": ")
    if 300 <= err.code < 400:
        target = urlsplit(urljoin(url, err.headers.get("Location", "")))
        place = quote(f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}")
        return Failure(f"HTTP {err.code}", f"it redirects to {place}; give that URL if you trust it", err.code)
    if err.code in (401, 403):
        variable, key = _key(url)
        return Failure(reason, f"check the key in {variable}" if key else f"put a key in {KEY_VARIABLES[0]}", err.code)
    if err.code == 429 and _NO_QUOTA in content:
        return Failure(reason, "check the quota of the key", err.code)
    transient = err.code in (408, 429) or err.code >= 500
    fallback = "look into the server's log" if transient else "check the URL and the model"
    remedy = remedies.get(err.code) or _REMEDIES.get(err.code, fallback)
    wait = _asked_wait(err.headers) if transient else 0.0
    if wait > _LONGEST_WAIT:
        return Failure(reason, f"it asks to wait {wait:.0f} s: try again then", err.code)
    backoff = _RATE_BACKOFF if err.code == 429 and not wait else _BACKOFF
    return Failure(reason, remedy, err.code, transient=transient, wait=wait, backoff=backoff)


def _asked_wait(headers: Message) -> float:
    """Return the seconds that a server asks to wait. OpenAI and Azure say it in milliseconds, too, which is finer."""
    milliseconds = headers.get("Retry-After-Ms", "").strip()
    return int(milliseconds) / 1000 if milliseconds.isdecimal() else _retry_after(headers.get("Retry-After", ""))


def _retry_after(value: str) -> float:
    """Return the seconds that a Retry-After header asks for: a number or a date (RFC 9110, 10.2.3)."""
    value = value.strip()
    if value.isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max((when.replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds(), 0.0)


def _content(err: HTTPError) -> bytes:
    try:
        return err.read()
    except (OSError, HTTPException):
        return b""


def _message(content: bytes) -> str:
    """Return what the server says is wrong, from OpenAI's form of an error or from any other."""
    try:
        answer = json.loads(content)
    except ValueError:
        return quote(content)
    for key in ("error", "message", "detail"):
        if isinstance(answer, dict) and answer.get(key):
            answer = answer[key]
    return quote(answer if isinstance(answer, str) else content)


def _key(url: str) -> tuple[str, str]:
    """Return the variable that holds a key for this host, and the key; two empty strings if there is none."""
    host = urlsplit(url).hostname or ""
    openai = host == OPENAI_HOST or host.endswith("." + OPENAI_HOST)
    for variable in KEY_VARIABLES if openai else KEY_VARIABLES[:1]:
        if key := os.environ.get(variable, "").strip():
            return variable, key
    return "", ""
