"""Encoders behind a URL: a key that shows nowhere, and settings that make no sense."""

from __future__ import annotations

import json
import pickle
import traceback
from dataclasses import fields

import pytest

from chunkwise import net
from chunkwise.core.errors import EncodeError
from chunkwise.embed import HttpEncoder
from unit.endpoints import KEY, patient
from unit.fake_server import Asked, FakeServer, Reply

pytestmark = pytest.mark.usefixtures("clean_environment")


def authorizations(server: FakeServer) -> list[str | None]:
    return [asked.headers.get("Authorization") for asked in server.asked]


def test_the_key_for_openai_is_sent_to_no_other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as server:
        encode = patient(server.url)
        encode(["a"], role="query")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
        encode(["a"], role="query")
        monkeypatch.setenv("CHUNKWISE_API_KEY", f" {KEY}\n")
        encode(["a"], role="query")
    assert authorizations(server) == [None, None, f"Bearer {KEY}"]
    monkeypatch.delenv("CHUNKWISE_API_KEY")
    assert net._key("https://api.openai.com/v1") == ("OPENAI_API_KEY", "sk-openai")
    assert net._key("https://api.openai.com.example.org/v1") == ("", "")
    assert net._key("https://notopenai.com/v1") == ("", "")


def echo(asked: Asked) -> str:
    return f"bad key {asked.headers['Authorization']}: " + KEY.replace("/", "\\/") + " " * 10 + KEY * 20


@pytest.mark.parametrize(
    "reply",
    [
        Reply(401, echo, {"X-Echo": KEY}),
        Reply(500, echo),
        Reply(429, echo),
        Reply(200, echo),
        Reply(200, lambda asked: json.dumps([echo(asked)])),
        Reply(413, echo),
        Reply(400, lambda asked: json.dumps({"error": {"message": echo(asked)}})),
        Reply(400, lambda asked: json.dumps({"detail": [echo(asked)]})),
        Reply(302, "", {"Location": f"http://{KEY}@127.0.0.1:1/{KEY}?key={KEY}"}),
        Reply(act="drop"),
    ],
)
def test_the_key_shows_in_no_error_no_repr_and_no_log(
    reply: Reply, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHUNKWISE_API_KEY", KEY)
    caplog.set_level(0)
    with FakeServer(*[reply] * 5) as server:
        encode = patient(server.url)
        with pytest.raises(EncodeError) as caught:
            encode(["a"], role="query")
    assert authorizations(server)[0] == f"Bearer {KEY}"
    out, err = capfd.readouterr()
    trace = "".join(traceback.format_exception(caught.value))
    kept = str([getattr(encode, field.name) for field in fields(encode)])
    shown = " ".join([str(caught.value), trace, repr(encode), kept, caplog.text, out, err])
    for secret in (KEY, KEY.replace("/", "\\/"), KEY[:12]):
        assert secret not in shown
    assert KEY.encode() not in pickle.dumps(encode)


@pytest.mark.parametrize("key", ["sk-one\ntwo", "sk-schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHUNKWISE_API_KEY", key)
    with FakeServer() as server, pytest.raises(EncodeError, match="CHUNKWISE_API_KEY") as caught:
        patient(server.url)(["a"], role="query")
    assert "sk-" not in "".join(traceback.format_exception(caught.value))
    assert server.asked == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_reported_and_carries_the_key_nowhere(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHUNKWISE_API_KEY", KEY)
    with FakeServer() as other:
        message = f"HTTP {status}; it redirects to {other.url}/embeddings"
        reply = Reply(status, "", {"Location": f"{other.url}/embeddings"})
        with FakeServer(reply) as server, pytest.raises(EncodeError, match=message):
            patient(server.url)(["a"], role="query")
    assert len(server.asked) == 1
    assert other.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "host/v1",
        "http://",
        "http://host:port/v1",
        "http://[::1/v1",
        "http://ho st/v1",
        "http://hörst/v1",
        "http://host/v1\r\nX: y",
        f"http://user:{KEY}@host/v1",
        f"http://host/v1?key={KEY}",
        f"http://host/v1#{KEY}",
    ],
)
def test_a_url_that_can_not_be_asked_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(EncodeError, match="https://HOST/v1") as caught:
        HttpEncoder(url, "m")
    assert KEY not in "".join(traceback.format_exception(caught.value))
