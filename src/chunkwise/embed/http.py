"""Encode with any server that speaks OpenAI's `POST {url}/embeddings`."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Floats2d, Role, Tokenizer
from chunkwise.embed.batches import Numbers2d, check_lengths, check_texts, encode_batches, n_added
from chunkwise.net import Failure, flaw, jitter, post, quote
from chunkwise.text.bytepairs import BytePairs
from chunkwise.text.unicode import encodable

# Source: OpenAI's API reference, embeddings: 8,192 tokens a text, 300,000 a request.
_MAX_TOKENS = 8191
_TOKENIZER = BytePairs("cl100k_base")
_REQUEST_TOKENS = 250_000
# Servers that take fewer texts at once say so in a 413, or in words: "batch size 64 > maximum allowed batch size 32",
# "batch size is invalid, it should not be larger than 10".
_BATCH_SIZE = re.compile(r"batch[ _]?size", re.IGNORECASE)
# How often an answer that is no JSON is asked for.
_TRIES = 3
_REMEDIES = {
    400: "check the model's name, its max_tokens, and that no text is empty; or try a smaller batch_size",
    404: "check the model's name, and that the URL is the part before /embeddings",
    413: "try a smaller batch_size",
    422: "try a smaller batch_size, or check max_tokens",
}


@dataclass(frozen=True, slots=True)
class HttpEncoder:
    """Ask a server for vectors. A key comes from CHUNKWISE_API_KEY, or for OpenAI's own host from OPENAI_API_KEY.

    `max_tokens` is what the server takes of one text, counted with `tokenizer`, less the longer prefix.
    `query_prefix` and `passage_prefix` go before every text of their role, for models that were trained so.
    A server that takes fewer texts at once than `batch_size` is sent fewer. `timeout` is in seconds without a sign of
    life. The first answer tells `dim`.
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
    _smaller: list[int] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if wrong := flaw(self.url):
            raise EncodeError(wrong)
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
        extra = n_added(self.tokenizer, prefix)
        check_lengths(texts, [n - extra for n in lengths], limit=self.max_tokens, name=self.name, role=role)
        return encode_batches(
            lengths,
            lambda batch: self._ask([inputs[index] for index in batch]),
            name=self.name,
            most_tokens=_REQUEST_TOKENS,
            most_texts=self.batch_size,
        )

    def _ask(self, inputs: list[str]) -> Numbers2d:
        """Send one batch, in parts if the server takes no more, and return its vectors in its order."""
        most = self._smaller[-1] if self._smaller else self.batch_size
        if len(inputs) > most:
            return np.concatenate([self._ask(inputs[:most]), self._ask(inputs[most:])])
        url = self.url.rstrip("/") + "/embeddings"
        answer = self._post(url, inputs)
        if isinstance(answer, Failure) and len(inputs) > 1 and _is_too_large(answer):
            self._smaller.append(len(inputs) // 2)
            return self._ask(inputs)
        if isinstance(answer, Failure):
            raise EncodeError(f"{url}: {answer}")
        try:
            vectors = _vectors(answer, len(inputs))
        except ValueError as err:
            raise EncodeError(
                f"{url}: HTTP 200, but {err}: {quote(answer)!r}; "
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

    def _post(self, url: str, inputs: list[str]) -> bytes | Failure:
        """Send texts, again if the answer was cut off on the way, or is the page of a gateway."""
        content = json.dumps({"model": self.model, "input": inputs}).encode()
        for tried in range(1, _TRIES + 1):
            answer = post(url, content, timeout=self.timeout, sleep=self.sleep, remedies=_REMEDIES)
            if isinstance(answer, Failure) or _is_json(answer):
                break
            if tried < _TRIES:
                self.sleep(jitter(tried))
        return answer


def _is_too_large(failure: Failure) -> bool:
    return failure.status == 413 or (failure.status in (400, 422) and bool(_BATCH_SIZE.search(failure.reason)))


def _is_json(answer: bytes) -> bool:
    try:
        json.loads(answer)
    except ValueError:
        return False
    return True


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
