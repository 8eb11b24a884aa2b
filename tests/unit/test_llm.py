"""Language models behind a URL: servers that misbehave, answers that are kept, and a key that shows nowhere."""

from __future__ import annotations

import json
import pickle
import sqlite3
import threading
import time
import traceback
from dataclasses import fields
from pathlib import Path

import pytest

from chunkwise import net
from chunkwise.core.errors import AnswerError, RecipeError
from chunkwise.core.protocols import LLM, Answer, Prompt
from chunkwise.llm import Answers, Chat, Estimate, custom_llm, llm
from chunkwise.llm.answers import default_answers
from unit.fake_server import Asked, FakeServer, Reply, prompt_of, said

KEY = "sk-secret/0123456789"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (*net.KEY_VARIABLES, "CHUNKWISE_ANSWERS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def patient(
    url: str,
    waits: list[float] | None = None,
    *,
    timeout: float = 5.0,
    concurrency: int = 4,
    answers: Path | None = None,
) -> Chat:
    """Return a model that notes its pauses instead of taking them."""
    noted: list[float] = [] if waits is None else waits
    kept = Answers(str(answers)) if answers is not None else None
    return Chat(url, "fake", timeout=timeout, concurrency=concurrency, sleep=noted.append, answers=kept)


def ask(model: Chat, text: str = "Why?", *, form: str = "text") -> Answer:
    (answer,) = model([Prompt("", text, form="json" if form == "json" else "text")])
    return answer


def echo(asked: Asked) -> str:
    return said(f"echo {prompt_of(asked)}")


def test_prompts_are_answered_in_their_order_and_equal_ones_asked_once() -> None:
    prompts = [Prompt("Shared. ", f"Question {n % 5}") for n in range(12)]
    with FakeServer(*[Reply(body=echo)] * 5) as server:
        answers = patient(server.url)(prompts)
    assert [answer.text for answer in answers] == [f"echo Shared. Question {n % 5}" for n in range(12)]
    assert len(server.asked) == 5
    assert {(asked.path, asked.content["model"]) for asked in server.asked} == {("/v1/chat/completions", "fake")}


def test_one_prompt_goes_ahead_of_those_that_share_its_beginning() -> None:
    prompts = [Prompt(shared, text) for shared in ("A ", "B ") for text in ("1", "2", "3")]
    with FakeServer() as server:
        patient(server.url)(prompts)
    asked = [prompt_of(one) for one in server.asked]
    assert sorted(asked[:2]) == ["A 1", "B 1"]
    assert sorted(asked[2:]) == ["A 2", "A 3", "B 2", "B 3"]


def test_no_more_prompts_are_out_at_once_than_allowed() -> None:
    out, most, lock = 0, 0, threading.Lock()

    def slow(asked: Asked) -> str:
        nonlocal out, most
        with lock:
            out += 1
            most = max(most, out)
        threading.Event().wait(0.02)
        with lock:
            out -= 1
        return said("Yes.")

    with FakeServer(*[Reply(body=slow)] * 12) as server:
        patient(server.url, concurrency=3)([Prompt("", str(n)) for n in range(12)])
    assert 2 <= most <= 3


def test_json_is_asked_for_where_it_is_wanted() -> None:
    with FakeServer() as server:
        ask(patient(server.url), form="json")
        ask(patient(server.url))
    assert [asked.content.get("response_format") for asked in server.asked] == [{"type": "json_object"}, None]
    assert {asked.content["temperature"] for asked in server.asked} == {0}


def test_fields_that_a_model_refuses_are_left_out_from_then_on() -> None:
    refusals = [
        Reply(400, json.dumps({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported"}})),
        Reply(400, json.dumps({"error": {"message": "'temperature' does not support 0 with this model"}})),
        Reply(422, json.dumps({"detail": "response_format: extra fields not permitted"})),
    ]
    with FakeServer(*refusals) as server:
        model = patient(server.url)
        assert not ask(model, form="json").failure
        assert not ask(model, "Again?", form="json").failure
    assert len(server.asked) == 5
    for asked in server.asked[3:]:
        assert {"max_tokens", "temperature", "response_format"}.isdisjoint(asked.content)
        assert asked.content["max_completion_tokens"] == 256


def test_too_many_requests_waits_as_long_as_the_server_asks() -> None:
    waits: list[float] = []
    with FakeServer(Reply(429, "slow down", {"Retry-After": "7"})) as server:
        assert ask(patient(server.url, waits)).text
    assert len(waits) == 1
    assert 7 <= waits[0] <= 8  # and a little more, at random


@pytest.mark.parametrize("failure", [Reply(500), Reply(503, "busy"), Reply(act="drop"), Reply(act="cut")])
def test_a_server_that_recovers_is_asked_again(failure: Reply) -> None:
    with FakeServer(failure, failure) as server:
        assert ask(patient(server.url)).text
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([Reply(500, "out of memory")] * 4, "HTTP 500: out of memory (tried 4 times)"),
        ([Reply(act="hang")] * 4, "no answer within 0.1 s (tried 4 times)"),
        ([Reply(act="cut")] * 4, "no answer: IncompleteRead"),
        ([Reply(400, "context length exceeded")], "HTTP 400: context length exceeded"),
        ([Reply(body="<html>")], "no answer in OpenAI's form: '<html>'"),
        ([Reply(body='{"choices": [{"mess')], "no answer in OpenAI's form"),
        ([Reply(body='{"choices": []}')], "no answer in OpenAI's form"),
        ([Reply(body="[1]")], "no answer in OpenAI's form"),
        ([Reply(body=json.dumps({"choices": [{"message": {"content": [1]}}]}))], "the content is no text"),
        ([Reply(body=said(None))], "the answer is empty"),
        ([Reply(body=said(" \n"))], "the answer is empty"),
        ([Reply(body=said("", refusal="Not that."))], "the model refuses: 'Not that.'"),
        ([Reply(body=said("So ", reason="content_filter"))], "the model refuses"),
        ([Reply(body=said("I'm sorry, but I can't help with that."))], "the model refuses"),
        ([Reply(body=said("I cannot assist with this request."))], "the model refuses"),
        ([Reply(body=said("", reason="length"))], "cut off after 256 tokens"),
    ],
)
def test_a_prompt_without_an_answer_is_told_and_stops_no_other(
    replies: list[Reply], reason: str, tmp_path: Path
) -> None:
    with FakeServer(*replies) as server:
        model = patient(server.url, timeout=0.1, concurrency=1, answers=tmp_path / "kept")
        first, second = model([Prompt("", "one"), Prompt("", "two")])
        assert reason in first.failure
        assert first.text == ""
        assert second.text
        before = len(server.asked)
        assert not ask(model, "one").failure  # a failure is not kept
        assert len(server.asked) == before + 1


def test_json_that_is_cut_off_is_a_failure_and_text_is_not() -> None:
    with FakeServer(*[Reply(body=said("A long", reason="length"))] * 2) as server:
        assert "cut off" in ask(patient(server.url), form="json").failure
        assert ask(patient(server.url)).text == "A long"


def test_what_a_model_thinks_aloud_is_no_answer() -> None:
    with FakeServer(Reply(body=said("<think>\nHm. I'm sorry.\n</think>\n\nA pump."))) as server:
        assert ask(patient(server.url)).text == "A pump."


@pytest.mark.parametrize("status", [401, 403, 404, 302, 429, 503])
def test_a_server_that_can_answer_nothing_stops_the_run(status: int, tmp_path: Path) -> None:
    replies = [Reply(body=said("Yes.")), *[Reply(status, "no")] * 4]
    with FakeServer(*replies) as server:
        model = patient(server.url, concurrency=1, answers=tmp_path / "kept")
        with pytest.raises(AnswerError, match=rf"{server.url}/chat/completions: HTTP {status}"):
            model([Prompt("", str(n)) for n in range(50)])
        assert len(server.asked) == len(replies) if status in (429, 503) else len(server.asked) == 2
        assert ask(model, "0").text == "Yes."  # what was answered is kept


def test_an_answer_that_is_on_its_way_when_the_run_stops_is_kept(tmp_path: Path) -> None:
    refused = threading.Event()

    def late(_asked: Asked) -> str:
        refused.wait(5)
        time.sleep(0.2)  # so that the run has stopped by then
        return said("Yes.")

    def refuse(_asked: Asked) -> str:
        refused.set()
        return "no"

    prompts = [Prompt(f"D{n} ", "Why?") for n in range(2)]
    with FakeServer(Reply(body=late), Reply(401, body=refuse)) as server:
        model = patient(server.url, concurrency=2, answers=tmp_path / "kept")
        with pytest.raises(AnswerError, match="HTTP 401"):
            model(prompts)
    assert list(model.kept([model.key(prompt) for prompt in prompts]).values()) == ["Yes."]


def test_a_server_that_is_not_there_stops_the_run() -> None:
    with FakeServer() as server:
        url = server.url
    with pytest.raises(AnswerError, match=r"no answer: .*\(tried 4 times\); check the URL"):
        ask(patient(url))


def test_a_second_run_asks_nothing_that_was_answered(tmp_path: Path) -> None:
    prompts = [Prompt("D ", str(n)) for n in range(9)]
    path = tmp_path / "deep" / "answers.sqlite"
    with FakeServer(*[Reply(body=echo)] * 9) as server:
        first = patient(server.url, answers=path)(prompts[:6])
        again = patient(server.url, answers=path)(prompts)
        assert again[:6] == first
        assert sorted(prompt_of(asked) for asked in server.asked) == [f"D {n}" for n in range(9)]
    assert path.stat().st_mode & 0o077 == 0


def test_an_answer_is_kept_by_all_that_it_depends_on() -> None:
    model = Chat("http://host/v1", "a")
    prompt = Prompt("s", "t")
    others = [Prompt("st", ""), Prompt("s", "u"), Prompt("s", "t", max_tokens=9), Prompt("s", "t", form="json")]
    keys = {
        model.key(prompt),
        Chat("http://host/v1", "b").key(prompt),
        Chat("http://other/v1", "a").key(prompt),
        *map(model.key, others),
    }
    assert len(keys) == 7
    assert model.key(prompt) == Chat("http://host/v1/", "a").key(prompt)


def test_a_file_that_is_not_ours_is_named_and_left_alone(tmp_path: Path) -> None:
    damaged, foreign = tmp_path / "damaged", tmp_path / "foreign"
    damaged.write_bytes(b"no database at all, but long enough to be one" * 9)
    with sqlite3.connect(foreign) as file:
        file.execute("CREATE TABLE theirs (a)")
    file.close()
    for path in (damaged, foreign, tmp_path):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(AnswerError, match=f"{path}.*CHUNKWISE_ANSWERS"):
            Answers(str(path)).known([b"k"])
        assert path == tmp_path or path.read_bytes() == before


def test_several_processes_may_share_a_file(tmp_path: Path) -> None:
    answers = Answers(str(tmp_path / "shared"))
    threads = [threading.Thread(target=answers.keep, args=(bytes([n]), str(n))) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.known([bytes([n]) for n in range(20)]) == {bytes([n]): str(n) for n in range(16)}


def test_where_answers_are_kept_is_said_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHUNKWISE_CACHE", str(tmp_path))
    assert default_answers() == Answers(str(tmp_path / "answers.sqlite"))
    monkeypatch.setenv("CHUNKWISE_ANSWERS", str(tmp_path / "mine"))
    assert default_answers() == Answers(str(tmp_path / "mine"))
    monkeypatch.setenv("CHUNKWISE_ANSWERS", "off")
    assert default_answers() is None


def test_a_dry_run_counts_what_would_be_asked_and_asks_nothing(tmp_path: Path) -> None:
    with FakeServer() as server:
        model = patient(server.url, answers=tmp_path / "kept")
        model([Prompt("one two three ", "answered")])
        dry = Estimate(model, price_in=2.0, price_out=10.0)
        told = dry([Prompt("one two three ", word) for word in ("answered", "four", "five", "four")])
        assert len(server.asked) == 1
    assert [bool(answer.failure) for answer in told] == [False, True, True, True]
    assert (dry.n_calls, dry.answer_tokens) == (2, 512)
    assert 6 <= dry.prompt_tokens <= 10
    assert dry.shared_tokens == dry.tokenizer.count("one two three ")
    assert dry.cost == pytest.approx((dry.prompt_tokens * 2 + 512 * 10) / 1e6)
    assert str(dry).startswith("2 calls of fake: ")


def test_a_name_finds_a_model() -> None:
    found = llm("https://host/v1#some/model:8b")
    assert isinstance(found, LLM)
    assert found.name == "https://host/v1#some/model:8b"
    assert found == llm("https://host/v1#some/model:8b") == pickle.loads(pickle.dumps(found))
    assert hash(found) == hash(llm(found.name))
    mine = custom_llm("mine", lambda prompt: prompt.upper())
    assert llm("mine") is mine
    assert mine([Prompt("a", "b"), Prompt("", " ")]) == [Answer("AB"), Answer(failure="the answer is empty")]


@pytest.mark.parametrize("spec", ["", "gpt", "https://host/v1", "https://host/v1#", "ftp://host#m"])
def test_a_name_of_nothing_is_refused(spec: str) -> None:
    with pytest.raises(RecipeError, match="https://HOST/v1#MODEL"):
        llm(spec)


@pytest.mark.parametrize("url", ["host/v1", f"http://user:{KEY}@host/v1", f"http://host/v1?key={KEY}"])
def test_a_url_that_can_not_be_asked_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(AnswerError, match="https://HOST/v1") as caught:
        Chat(url, "m")
    assert KEY not in "".join(traceback.format_exception(caught.value))


def echo_key(asked: Asked) -> str:
    return f"bad key {asked.headers['Authorization']}: " + KEY.replace("/", "\\/")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(401, echo_key, {"X-Echo": KEY}),
        Reply(500, echo_key),
        Reply(429, echo_key),
        Reply(200, echo_key),
        Reply(200, said(f"Your key is {KEY}.")),
        Reply(200, said("", refusal=f"No, {KEY}.")),
        Reply(302, "", {"Location": f"http://{KEY}@127.0.0.1:1/{KEY}?key={KEY}"}),
    ],
)
def test_the_key_shows_in_no_answer_no_error_no_file_and_no_log(
    reply: Reply, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv("CHUNKWISE_API_KEY", KEY)
    caplog.set_level(0)
    shown = ""
    with FakeServer(*[reply] * 4) as server:
        model = patient(server.url, answers=tmp_path / "kept")
        try:
            shown = repr(ask(model))
        except AnswerError as err:
            shown = "".join(traceback.format_exception(err))
    assert server.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    shown += repr(model) + str([getattr(model, field.name) for field in fields(model)]) + caplog.text
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (KEY, KEY.replace("/", "\\/"), KEY[:12]):
        assert secret not in shown
        assert secret.encode() not in stored
    assert KEY.encode() not in pickle.dumps(model)
