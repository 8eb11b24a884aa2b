"""Encoders behind a URL: what they send, and servers that misbehave."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chunkwise import net
from chunkwise.core.errors import EncodeError
from chunkwise.embed import HttpEncoder, http
from chunkwise.text.tokens import Characters
from unit.endpoints import KEY, patient
from unit.fake_server import DIM, Asked, FakeServer, Reply, answer, embed
from unit.models import TEXTS

pytestmark = pytest.mark.usefixtures("clean_environment")


def expected(texts: Sequence[str]) -> NDArray[np.float64]:
    vectors = np.array([embed(text) for text in texts], np.float64)
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def test_a_server_is_asked_in_batches_and_answers_in_order() -> None:
    texts = [f"text number {n} " + "more " * (n % 7) for n in range(150)]
    with FakeServer() as server:
        encode = HttpEncoder(server.url, "fake-model")
        vectors = encode(texts, role="passage")
        assert encode.name == f"fake-model@{server.url.split('/')[2]}"
        assert encode.dim == DIM
    assert [len(asked.content["input"]) for asked in server.asked] == [64, 64, 22]
    assert {(asked.path, asked.content["model"]) for asked in server.asked} == {("/v1/embeddings", "fake-model")}
    assert vectors.dtype == np.float32
    assert np.abs(vectors - expected(texts)).max() < 1e-6


def test_vectors_are_put_in_the_order_of_their_index() -> None:
    shuffled = Reply(body=lambda asked: answer(asked.content["input"], order=[2, 0, 1]))
    with FakeServer(shuffled) as server:
        got = patient(server.url)(TEXTS[:3], role="passage")
    assert np.abs(got - expected(TEXTS[:3])).max() < 1e-6


def test_the_first_answer_tells_the_dimension() -> None:
    with FakeServer() as server:
        encode = patient(server.url)
        assert encode([], role="passage").shape == (0, DIM)
        assert encode.dim == DIM
    assert len(server.asked) == 1


def test_too_many_requests_waits_as_long_as_the_server_asks() -> None:
    waits: list[float] = []
    with FakeServer(Reply(429, "slow down", {"Retry-After": "7"})) as server:
        got = patient(server.url, waits)(TEXTS[:1], role="query")
    assert len(waits) == 1
    assert 7 <= waits[0] <= 8
    assert len(server.asked) == 2
    assert np.abs(got - expected(TEXTS[:1])).max() < 1e-6


def test_milliseconds_go_before_seconds() -> None:
    waits: list[float] = []
    with FakeServer(Reply(429, "slow down", {"Retry-After-Ms": "300", "Retry-After": "30"})) as server:
        patient(server.url, waits)(TEXTS[:1], role="query")
    assert 0.3 <= waits[0] <= 1.3


def test_those_who_are_told_the_same_wait_do_not_come_back_at_once() -> None:
    waits: list[float] = []
    for _ in range(8):
        with FakeServer(Reply(429, "slow down", {"Retry-After": "7"})) as server:
            patient(server.url, waits)(TEXTS[:1], role="query")
    assert max(waits) - min(waits) > 0.1


def test_too_many_requests_without_a_wait_are_tried_into_the_next_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net._jitter, "uniform", lambda low, high: high)
    waits: list[float] = []
    with FakeServer(*[Reply(429)] * 4) as server:
        patient(server.url, waits)(TEXTS[:1], role="query")
    assert sum(waits) > 60


def test_an_account_without_quota_is_reported_at_once() -> None:
    said = json.dumps({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}})
    with FakeServer(Reply(429, said)) as server, pytest.raises(EncodeError, match="current quota; check the quota"):
        patient(server.url)(TEXTS[:1], role="query")
    assert len(server.asked) == 1


def test_an_answer_that_was_cut_off_is_asked_for_again() -> None:
    whole = answer(TEXTS[:2])
    shorter_than_told = Reply(body=whole[:100], headers={"Content-Length": str(len(whole))})
    without_length = Reply(body=whole[:100])
    gateway = Reply(body="<html>please wait</html>")
    for failure in (shorter_than_told, without_length, gateway):
        with FakeServer(failure, failure) as server:
            got = patient(server.url)(TEXTS[:2], role="passage")
        assert len(server.asked) == 3
        assert np.abs(got - expected(TEXTS[:2])).max() < 1e-6


@pytest.mark.parametrize(
    "status_and_words",
    [
        (413, "batch size 64 > maximum allowed batch size 10"),
        (413, ""),
        (400, "Value error, batch size is invalid, it should not be larger than 10"),
        (422, "`batch_size` is too large"),
    ],
)
def test_a_batch_that_is_too_large_is_sent_in_parts_and_so_are_those_after_it(
    status_and_words: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"text number {n}" for n in range(150)]
    taken: list[int] = []

    def next_reply(asked: Asked) -> Reply:
        n_texts = len(asked.content["input"])
        taken.append(n_texts if n_texts <= 10 else -n_texts)
        return Reply() if n_texts <= 10 else Reply(*status_and_words)

    with FakeServer() as server:
        monkeypatch.setattr(server, "next_reply", next_reply)
        got = patient(server.url)(texts, role="passage")
    assert [n for n in taken if n < 0] == [-64, -32, -16]
    assert sum(n for n in taken if n > 0) == 150
    assert np.abs(got - expected(texts)).max() < 1e-6


def test_one_text_that_is_too_large_is_reported() -> None:
    with FakeServer(Reply(413), Reply(413)) as server, pytest.raises(EncodeError, match="HTTP 413"):
        patient(server.url)(TEXTS[:2], role="passage")
    assert len(server.asked) == 2


def test_a_date_in_retry_after_is_understood() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < net._retry_after(later) <= 30
    assert net._retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert [net._retry_after(value) for value in ("", "soon", "-5", "nan", "²")] == [0, 0, 0, 0, 0]


def test_a_wait_of_an_hour_is_reported_not_taken() -> None:
    waits: list[float] = []
    message = "HTTP 429: quota; it asks to wait 3600 s"
    reply = Reply(429, "quota", {"Retry-After": "3600"})
    with FakeServer(reply) as server, pytest.raises(EncodeError, match=message):
        patient(server.url, waits)(TEXTS[:1], role="query")
    assert waits == []


@pytest.mark.parametrize("failure", [Reply(500), Reply(503, "busy"), Reply(529), Reply(act="drop")])
def test_a_server_that_recovers_is_asked_again(failure: Reply) -> None:
    waits: list[float] = []
    with FakeServer(failure, failure) as server:
        got = patient(server.url, waits)(TEXTS[:2], role="passage")
    assert len(server.asked) == 3
    assert len(waits) == 2
    assert waits[0] <= 1
    assert waits[1] <= 2
    assert np.abs(got - expected(TEXTS[:2])).max() < 1e-6


def test_a_server_that_stays_broken_is_given_up_after_five_tries() -> None:
    waits: list[float] = []
    broken = Reply(500, json.dumps({"error": {"message": "out of memory"}}))
    with FakeServer(*[broken] * 9) as server, pytest.raises(EncodeError) as caught:
        patient(server.url, waits)(TEXTS[:1], role="passage")
    assert len(server.asked) == 5
    assert len(waits) == 4
    assert str(caught.value).startswith(f"{server.url}/embeddings: HTTP 500: out of memory (tried 5 times)")


def test_a_silent_server_times_out_and_is_asked_again() -> None:
    with FakeServer(Reply(act="hang")) as server:
        got = patient(server.url, timeout=0.3)(TEXTS[:1], role="passage")
    assert len(server.asked) == 2
    assert got.shape == (1, DIM)


def test_a_server_that_is_always_silent_is_reported() -> None:
    message = r"no answer within 0.05 s \(tried 5 times\)"
    with FakeServer(*[Reply(act="hang")] * 5) as server, pytest.raises(EncodeError, match=message):
        patient(server.url, timeout=0.05)(TEXTS[:1], role="passage")


def test_a_server_that_is_not_there_is_reported_with_its_url() -> None:
    with FakeServer() as server:
        url = server.url
    with pytest.raises(EncodeError, match=rf"{url}/embeddings: no answer: .*\(tried 5 times\); check the URL"):
        patient(url)(TEXTS[:1], role="passage")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refusal_is_not_repeated(status: int) -> None:
    waits: list[float] = []
    reply = Reply(status, json.dumps({"error": "no " * 200}))
    with FakeServer(reply) as server, pytest.raises(EncodeError) as caught:
        patient(server.url, waits)(TEXTS[:1], role="passage")
    assert len(server.asked) == 1
    assert waits == []
    assert f"HTTP {status}: no no" in str(caught.value)
    assert str(caught.value).count("no ") < 70
    assert str(caught.value).rpartition("; ")[2]


def test_a_refused_key_names_the_variable_that_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, remedy in [
        (None, "put a key in CHUNKWISE_API_KEY"),
        ("CHUNKWISE_API_KEY", "the key in CHUNKWISE_API_KEY"),
    ]:
        if variable:
            monkeypatch.setenv(variable, KEY)
        message = rf"HTTP 401: who are you\?; .*{remedy}"
        with FakeServer(Reply(401, "who are you?")) as server, pytest.raises(EncodeError, match=message):
            patient(server.url)(TEXTS[:1], role="passage")


WRONG_ANSWERS = {
    "error": ('{"error": "model not loaded"}', "no list `data`.*model not loaded"),
    "a list": ("[]", "no list `data`"),
    "strings": ('{"data": ["a", "b"]}', "no list `data`"),
    "too few": (answer(["a"]), "1 vectors for 2 texts"),
    "too many": (answer(["a", "b", "c"]), "3 vectors for 2 texts"),
    "twice": (answer(["a", "b"], order=[0, 0]), "`index`"),
    "from one": (answer(["a", "b", "c"], order=[1, 2]), "`index`"),
    "no index": ('{"data": [{"embedding": [1]}, {"embedding": [1]}]}', "`index`"),
    "odd index": ('{"data": [{"index": [0]}, {"index": {}}]}', "`index`"),
    "base64": (
        '{"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]}',
        "no list of numbers",
    ),
    "nested": ('{"data": [{"index": 0, "embedding": [[1]]}, {"index": 1, "embedding": [[1]]}]}', "no list of numbers"),
    "null": ('{"data": [{"index": 0, "embedding": [null]}, {"index": 1, "embedding": [1]}]}', "no list of numbers"),
    "empty": ('{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}', "no list of numbers"),
    "lengths": ('{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}', "differ in length"),
    "zeros": ('{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [0]}]}', r"zeros.*texts\[1\]"),
    "nan": ('{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}', r"numbers.*texts\[0\]"),
}


@pytest.mark.parametrize("body", ["<html>hello</html>", '{"data": [{"index": 0, "embed', "\udcff"])
def test_an_answer_that_is_never_json_is_given_up(body: str) -> None:
    with FakeServer(*[Reply(body=body)] * 5) as server, pytest.raises(EncodeError, match="no JSON: "):
        patient(server.url)(["a", "b"], role="passage")
    assert len(server.asked) == 3


@pytest.mark.parametrize("kind", WRONG_ANSWERS)
def test_an_answer_that_is_wrong_is_never_taken_for_vectors(kind: str) -> None:
    body, message = WRONG_ANSWERS[kind]
    with FakeServer(Reply(body=body)) as server, pytest.raises(EncodeError, match=message):
        patient(server.url)(["a", "b"], role="passage")
    assert len(server.asked) == 1


def test_a_change_of_dimension_between_answers_is_refused() -> None:
    message = f"vectors of 2 numbers after vectors of {DIM}"
    other = Reply(body='{"data": [{"index": 0, "embedding": [1, 2]}]}')
    with FakeServer(Reply(), other) as server, pytest.raises(EncodeError, match=message):
        patient(server.url, batch_size=1)(["a", "b"], role="passage")


def test_a_text_that_is_too_long_for_a_server_is_never_sent() -> None:
    with FakeServer() as server:
        encode = HttpEncoder(server.url, "m", max_tokens=5, tokenizer=Characters())
        with pytest.raises(EncodeError, match=r"texts\[1\] of 2 has 6 tokens, m@.* takes at most 5"):
            encode(["12345", "123456"], role="passage")
    assert server.asked == []


def test_a_request_stays_below_the_servers_limit_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_REQUEST_TOKENS", 10)
    with FakeServer() as server:
        HttpEncoder(server.url, "m", tokenizer=Characters())(["12345"] * 5, role="passage")
    assert [len(asked.content["input"]) for asked in server.asked] == [2, 2, 1]


def test_prefixes_go_before_the_texts_of_their_role() -> None:
    with FakeServer() as server:
        encode = HttpEncoder(server.url, "m", max_tokens=6, tokenizer=Characters(), query_prefix="q: ")
        encode(["123456"], role="query")
        encode(["123456"], role="passage")
    assert [asked.content["input"] for asked in server.asked] == [["q: 123456"], ["123456"]]
    assert encode.fingerprint != replace(encode, query_prefix="").fingerprint


def test_lone_surrogates_are_sent_as_replacement_characters() -> None:
    with FakeServer() as server:
        patient(server.url)(["a\ud800b"], role="passage")
    assert server.asked[0].content["input"] == ["a\ufffdb"]


def test_pauses_leave_the_callers_random_numbers_alone() -> None:
    random.seed(7)
    first = random.random()
    random.seed(7)
    with FakeServer(Reply(500)) as server:
        patient(server.url)(["a"], role="query")
    assert random.random() == first


@pytest.mark.parametrize("name", ["max_tokens", "batch_size", "timeout"])
def test_numbers_that_make_no_sense_are_refused(name: str) -> None:
    options: dict[str, Any] = {name: 0}
    with pytest.raises(EncodeError, match=f"{name}=0 must be more than 0"):
        HttpEncoder("http://host/v1", "m", **options)


def test_pauses_are_taken_with_time_sleep_unless_told_otherwise() -> None:
    assert HttpEncoder("http://host/v1", "m").sleep is time.sleep
