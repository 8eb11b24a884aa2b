"""Encode with any server that speaks OpenAI's `POST {url}/embeddings`."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import lru_cache
from http.client import HTTPException
from typing import IO
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Floats2d, Role, Tokenizer
from chunkwise.embed.batches import Numbers2d, check_lengths, check_texts, encode_batches
from chunkwise.text.bytepairs import BytePairs
from chunkwise.text.unicode import encodable

# Where a key is looked for, the first that is set. It is read for each request and kept nowhere.
# The second is meant for one company, so it is sent to no other host.
KEY_VARIABLES = ("CHUNKWISE_API_KEY", "OPENAI_API_KEY")
OPENAI_HOST = "openai.com"

# Source: OpenAI's API reference, embeddings: 8,192 tokens a text, 300,000 a request.
_MAX_TOKENS = 8191
_TOKENIZER = BytePairs("cl100k_base")
_REQUEST_TOKENS = 250_000
_TRIES = 5
# Seconds: before the second try at most the first, doubled for each further one.
# Source: Brooker 2015, "Exponential backoff and jitter" (AWS Architecture Blog), full jitter.
_BACKOFF = 1.0
# A server that asks for more patience than this is reported instead.
_LONGEST_WAIT = 60.0
# What an error quotes of a server's answer, in characters.
_QUOTED = 200
# Of its own, so that a caller's seeded `random` is left alone.
_jitter = random.Random()

_REMEDIES = {
    400: "check the model's name, its max_tokens, and that no text is empty; or try a smaller batch_size",
    404: "check the model's name, and that the URL is the part before /embeddings",
    413: "try a smaller batch_size",
    422: "try a smaller batch_size, or check max_tokens",
    429: "try again later, or check the quota of the key",
}


@dataclass(frozen=True, slots=True)
class HttpEncoder:
    """Ask a server for vectors. A key comes from CHUNKWISE_API_KEY, or for OpenAI's own host from OPENAI_API_KEY.

    `max_tokens` is what the server takes of one text, counted with `tokenizer`, less the longer prefix.
    `query_prefix` and `passage_prefix` go before every text of their role, for models that were trained so.
    `timeout` is in seconds without a sign of life. The first answer tells `dim`.
    """

    url: str
    model: str
    _: KW_ONLY
    max_tokens: int = _MAX_TOKENS
    tokenizer: Tokenizer = _TOKENIZER
    query_prefix: str = ""
    passage_prefix: str = ""
    batch_size: int = 64
    timeout: float = 60.0
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)
    _dims: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_url(self.url)
        for name in ("max_tokens", "batch_size", "timeout"):
            if getattr(self, name) <= 0:
                raise EncodeError(f"{name}={getattr(self, name)} must be more than 0")

    @property
    def name(self) -> str:
        """The model and its host."""
        return f"{self.model}@{urlsplit(self.url).netloc}"

    @property
    def fingerprint(self) -> str:
        """A hash of the server, the model and the prefixes. A model that changes behind its name goes unseen."""
        settings = ["http-1", self.url.rstrip("/"), self.model, self.query_prefix, self.passage_prefix]
        return hashlib.sha256(json.dumps(settings).encode()).hexdigest()

    @property
    def dim(self) -> int:
        """The length of a vector. Asks the server once if nothing has been encoded yet."""
        if not self._dims:
            self(["dim"], role="passage")
        return self._dims[0]

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        """Encode texts as unit vectors [n_texts, dim].

        Raises: EncodeError if a text is too long, before anything is sent; if the server refuses, stays
        silent, or answers with something other than one vector for each text.
        """
        check_texts(texts)
        if not texts:
            return np.empty((0, self.dim), np.float32)
        prefix = self.query_prefix if role == "query" else self.passage_prefix
        inputs = [encodable(prefix + text) for text in texts]
        lengths = [self.tokenizer.count(text) for text in inputs]
        extra = self.tokenizer.count(prefix) - self.tokenizer.n_special if prefix else 0
        check_lengths(texts, [n - extra for n in lengths], limit=self.max_tokens, name=self.name, role=role)
        return encode_batches(
            lengths,
            lambda batch: self._ask([inputs[index] for index in batch]),
            name=self.name,
            most_tokens=_REQUEST_TOKENS,
            most_texts=self.batch_size,
        )

    def _ask(self, inputs: list[str]) -> Numbers2d:
        """Send one batch, and return its vectors in its order."""
        url = self.url.rstrip("/") + "/embeddings"
        content = json.dumps({"model": self.model, "input": inputs}).encode()
        answer = post(url, content, timeout=self.timeout, sleep=self.sleep)
        try:
            vectors = _vectors(answer, len(inputs))
        except ValueError as err:
            raise EncodeError(
                f"{url}: HTTP 200, but {err}: {_quote(answer)!r}; "
                f"check that {self.model} is an embedding model and that the server speaks OpenAI's protocol"
            ) from err
        if not self._dims:
            self._dims.append(vectors.shape[1])
        if vectors.shape[1] != self._dims[0]:
            raise EncodeError(
                f"{url}: vectors of {vectors.shape[1]} numbers after vectors of {self._dims[0]}; "
                f"the server seems to have changed {self.model}: make the encoder and the index again"
            )
        return vectors


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a try gave no answer, what to do, and how many seconds the server asks to wait."""

    reason: str
    remedy: str
    transient: bool
    wait: float = 0.0


def post(url: str, content: bytes, *, timeout: float, sleep: Callable[[float], None]) -> bytes:
    """Post JSON; try again with growing pauses when that may help.

    Raises: EncodeError, which says what the server said. It is not chained: the exceptions of urllib carry
    headers, and a server can echo the key in them.
    """
    tried = 0
    while True:
        tried += 1
        answer = _try(url, content, timeout)
        if isinstance(answer, bytes):
            return answer
        if not answer.transient or tried == _TRIES:
            after = f" (tried {tried} times)" if tried > 1 else ""
            raise EncodeError(f"{url}: {answer.reason}{after}; {answer.remedy}")
        sleep(max(answer.wait, _jitter.uniform(0, _BACKOFF * 2 ** (tried - 1))))


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


def _try(url: str, content: bytes, timeout: float) -> bytes | _Failure:
    request = _request(url, content)
    try:
        with _opener().open(request, timeout=timeout) as response:
            answer: bytes = response.read()
            return answer
    except HTTPError as err:
        with err:
            return _refusal(url, err)
    except (OSError, HTTPException) as err:
        cause = getattr(err, "reason", err)
        silent = isinstance(cause, TimeoutError)
        reason = f"no answer within {timeout:g} s" if silent else f"no answer: {_quote(str(cause) or repr(cause))}"
        return _Failure(reason, "check the URL and that the server is up", transient=True)


def _request(url: str, content: bytes) -> Request:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "chunkwise"}
    _, key = _key(url)
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return Request(url, content, headers, method="POST")


def _refusal(url: str, err: HTTPError) -> _Failure:
    """Say what an HTTP status means."""
    reason = f"HTTP {err.code}: {_message(err)}".rstrip(": ")
    if 300 <= err.code < 400:
        target = urlsplit(urljoin(url, err.headers.get("Location", "")))
        place = _quote(f"{target.scheme}://{target.netloc.rpartition('@')[2]}{target.path}")
        return _Failure(f"HTTP {err.code}", f"it redirects to {place}; give that URL if you trust it", transient=False)
    if err.code in (401, 403):
        variable, key = _key(url)
        remedy = f"check the key in {variable}" if key else f"put a key in {KEY_VARIABLES[0]}"
        return _Failure(reason, remedy, transient=False)
    transient = err.code == 429 or err.code >= 500
    remedy = _REMEDIES.get(err.code, "look into the server's log" if transient else "check the URL and the model")
    wait = _retry_after(err.headers.get("Retry-After", "")) if transient else 0.0
    if wait > _LONGEST_WAIT:
        return _Failure(reason, f"it asks to wait {wait:.0f} s: try again then", transient=False)
    return _Failure(reason, remedy, transient, wait)


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


def _message(err: HTTPError) -> str:
    """Return what the server says is wrong, from OpenAI's form of an error or from any other."""
    try:
        content = err.read()
    except (OSError, HTTPException):
        return ""
    try:
        answer = json.loads(content)
    except ValueError:
        return _quote(content)
    for key in ("error", "message", "detail"):
        if isinstance(answer, dict) and answer.get(key):
            answer = answer[key]
    return _quote(answer if isinstance(answer, str) else content)


def _quote(answer: str | bytes) -> str:
    """Return the beginning of what a server says, on one line and without the key that it may echo."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    for key in filter(None, (os.environ.get(variable, "").strip() for variable in KEY_VARIABLES)):
        # In JSON any of its characters may be escaped.
        text = re.sub(r"\\*".join(map(re.escape, key)), "[key]", text)
    line = " ".join(text.split())
    return "".join(char if char.isprintable() else "?" for char in line[:_QUOTED])


def _vectors(answer: bytes, n_texts: int) -> NDArray[np.float64]:
    """Read vectors in the order of their index.

    Raises: ValueError, which says what is wrong with the answer.
    """
    try:
        content = json.loads(answer)
    except ValueError as err:
        raise ValueError("the answer is no JSON") from err
    items = content.get("data") if isinstance(content, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise ValueError("the answer has no list `data`")
    if len(items) != n_texts:
        raise ValueError(f"the answer has {len(items)} vectors for {n_texts} texts")
    if not all(isinstance(item.get("index"), int) for item in items):
        raise ValueError("a vector has no `index`")
    by_index = {item["index"]: item.get("embedding") for item in items}
    if set(by_index) != set(range(n_texts)):
        raise ValueError(f"`index` does not count the vectors from 0 to {n_texts - 1}")
    rows = [_row(by_index[index]) for index in range(n_texts)]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("the vectors differ in length")
    return np.stack(rows)


def _row(embedding: object) -> NDArray[np.float64]:
    if not isinstance(embedding, list) or not embedding or not all(type(one) in (int, float) for one in embedding):
        raise ValueError("an `embedding` is no list of numbers")
    return np.array(embedding, np.float64)


def _key(url: str) -> tuple[str, str]:
    """Return the variable that holds a key for this host, and the key; two empty strings if there is none.

    Raises: EncodeError if no header can carry it. The key is not shown.
    """
    host = urlsplit(url).hostname or ""
    openai = host == OPENAI_HOST or host.endswith("." + OPENAI_HOST)
    for variable in KEY_VARIABLES if openai else KEY_VARIABLES[:1]:
        key = os.environ.get(variable, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise EncodeError(f"the key in {variable} holds characters that no HTTP header can carry; set it again")
        if key:
            return variable, key
    return "", ""


def _check_url(url: str) -> None:
    """Refuse URLs that can't be asked, or that hold secrets: those belong into the environment.

    Raises: EncodeError, which does not show credentials.
    """
    form = "give it as https://HOST/v1"
    if not (url.isascii() and url.isprintable() and " " not in url):
        raise EncodeError(f"the URL holds spaces or characters that have to be percent-encoded; {form}")
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as err:
        raise EncodeError(f"the URL has no valid host and port; {form}") from err
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise EncodeError(
            f"a URL with credentials, ? or # can't be used; {form}, and put the key in {KEY_VARIABLES[0]}"
        )
    if not known:
        raise EncodeError(f"{url!r} is no URL of a server; {form}")
