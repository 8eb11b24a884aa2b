"""A local server that speaks OpenAI's embeddings and chat completions, and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

DIM = 32


@dataclass(frozen=True)
class Asked:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    content: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One scripted answer. Without a `body` the texts are embedded, or the prompt is answered."""

    status: int = 200
    body: str | Callable[[Asked], str] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    # Or "hang": say nothing until the server closes; "drop": close the connection; "cut": do so within the answer.
    act: str = "answer"


def embed(text: str) -> list[float]:
    """Count the words of a text into buckets: texts that share words are near each other."""
    vector = [0.01] * DIM
    for word in text.lower().split():
        vector[zlib.crc32(word.encode()) % DIM] += 1.0
    return vector


def answer(texts: Sequence[str], *, order: Sequence[int] | None = None) -> str:
    """Write the answer of a healthy server, with its items in any order."""
    order = range(len(texts)) if order is None else order
    items = [{"object": "embedding", "index": index, "embedding": embed(texts[index])} for index in order]
    return json.dumps({"object": "list", "data": items, "model": "fake"})


def said(text: str | None, *, reason: str = "stop", refusal: str | None = None) -> str:
    """Write the answer of a healthy chat model."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage})


def prompt_of(asked: Asked) -> str:
    """Return the prompt of a request for a completion."""
    content = asked.content["messages"][-1]["content"]
    assert isinstance(content, str)
    return content


class FakeServer:
    """Serve on a free port of the loopback: first the scripted replies, then healthy ones."""

    def __init__(self, *replies: Reply) -> None:
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        self._replies = list(replies)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def next_reply(self, asked: Asked) -> Reply:
        """Record a request, and take the next reply from the script."""
        with self._lock:
            self.asked.append(asked)
            return self._replies.pop(0) if self._replies else Reply()


def _handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = Asked(self.path, dict(self.headers), content)
            reply = fake.next_reply(asked)
            if reply.act == "hang":
                fake.closing.wait(10)
            if reply.act not in ("answer", "cut"):
                return
            body = _body(reply, asked)
            if reply.act == "cut":
                self._send(replace(reply, headers={"Content-Length": str(len(body) + 9)}), body)
                self.close_connection = True
                return
            self._send(reply, body)

        def do_GET(self) -> None:
            fake.next_reply(Asked(self.path, dict(self.headers), {}))
            self._send(Reply(405), "")

        def _send(self, reply: Reply, body: str) -> None:
            content = body.encode("utf-8", "surrogateescape")
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _body(reply: Reply, asked: Asked) -> str:
    if callable(reply.body):
        return reply.body(asked)
    if reply.body is not None:
        return reply.body
    if asked.path.endswith("/chat/completions"):
        return said(f"Said of {len(prompt_of(asked))} characters.")
    return answer(asked.content["input"])
