"""Rerankers: a model in a folder, a language model that misbehaves, a function; and what a step makes of them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from chunkwise.core.errors import AnswerError, EncodeError, MissingExtraError, RecipeError, RerankError
from chunkwise.core.types import Document, Hit
from chunkwise.llm import Answers, Chat, custom_llm
from chunkwise.pipeline import Index, retriever
from chunkwise.readers.read import read_text
from chunkwise.retrieve import cross_encoder as module
from chunkwise.retrieve import custom_reranker, reranker
from chunkwise.retrieve.rerankers import Listwise
from unit.cross_encoders import FLOAT, cross_encoder_folder, overlap_model
from unit.fake_server import Asked, FakeServer, Reply, prompt_of, said
from unit.hashing import HashingEncoder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return cross_encoder_folder(tmp_path / "model")


@pytest.fixture
def index() -> Index:
    made = Index("memory:", encoder=HashingEncoder())
    texts = ["pump pump pump", "the pump leaks", "the pump leaks oil today", "a valve"]
    made.add_documents([Document.from_text(text, id=f"d{i}") for i, text in enumerate(texts)])
    return made


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.document_id for hit in hits]


def test_a_folder_judges_each_text_together_with_the_question(folder: Path) -> None:
    judge = reranker(str(folder))
    texts = ["a valve", "the pump leaks oil", "leaks", "word " * 700, ""]
    scores = judge("Which pump leaks?", texts)
    # One for [SEP], which question and text both have, and one for each word that they share.
    assert scores == [1, 3, 2, 1, 1]
    assert [judge("Which pump leaks?", [text])[0] for text in texts] == scores
    assert judge("anything", []) == []


def test_texts_of_many_lengths_come_back_in_their_order(folder: Path) -> None:
    texts = ["pump " * (i * 37 % 41 + 1) for i in range(90)]
    assert reranker(str(folder))("pump", texts) == [1 + text.count("pump") for text in texts]


def test_special_tokens_in_a_text_are_ordinary_text(folder: Path) -> None:
    assert reranker(str(folder))("zzz", ["[SEP] [SEP] [SEP] [CLS]"]) == [1]


def test_a_folder_that_holds_no_cross_encoder_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EncodeError, match=r"needs tokenizer\.json and model\.onnx"):
        reranker(str(tmp_path / "empty"))("q", ["a"])
    (folder / "model.onnx").write_bytes(b"no model")
    module._load.cache_clear()
    with pytest.raises(EncodeError, match="can't be loaded"):
        reranker(str(folder))("q", ["a"])
    (folder / "model.onnx").write_bytes(overlap_model().replace(b"token_type_ids", b"position_ids__"))
    module._load.cache_clear()
    with pytest.raises(EncodeError, match="declares the inputs input_ids, attention_mask, position_ids__"):
        reranker(str(folder))("q", ["a"])
    (folder / "model.onnx").write_bytes(overlap_model(numbers=FLOAT))
    module._load.cache_clear()
    with pytest.raises(EncodeError, match="int64 or int32; export the model for the task text-classification"):
        reranker(str(folder))("q", ["a"])


def test_a_cross_encoder_that_fails_on_texts_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object) -> list[Any]:
        raise ArithmeticError("index out of bounds")

    model = replace(module._load(folder), run=run, errors=(ArithmeticError,))
    monkeypatch.setattr(module, "_load", lambda _: model)
    with pytest.raises(EncodeError, match=r"model can't judge 2 texts of up to \d+ tokens: index out of bounds"):
        reranker(str(folder))("pump", ["a pump", "a valve"])


def test_two_labels_are_one_score_and_more_are_refused() -> None:
    assert module._flat(np.array([[1.0, 3.0], [2.0, 0.0]]), "m").tolist() == [2, -2]
    with pytest.raises(EncodeError, match=r"shape \(1, 3\)"):
        module._flat(np.zeros((1, 3)), "m")


def test_a_model_of_sentence_transformers_is_asked_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class CrossEncoder:
        def __init__(self, path: str, **options: object) -> None:
            if path == "broken":
                raise OSError("no model")
            asked.append((path, options))

        def predict(self, pairs: Sequence[tuple[str, str]], **options: object) -> Any:
            return np.array([float(len(text)) for _, text in pairs], np.float32)

    package = ModuleType("sentence_transformers")
    package.CrossEncoder = CrossEncoder  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", package)
    module._load_package.cache_clear()
    judge = reranker("sentence-transformers:here")
    assert judge.name == "sentence-transformers:here"
    assert judge("q", ["one", "three"]) == [3, 5]
    assert asked == [("here", {"local_files_only": True})]
    with pytest.raises(EncodeError, match="broken can't be loaded"):
        reranker("sentence-transformers:broken")("q", ["a"])
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    module._load_package.cache_clear()
    with pytest.raises(MissingExtraError, match=r"chunkwise\[sentence-transformers\]"):
        reranker("sentence-transformers:here")("q", ["a"])


def test_a_rerank_orders_the_best_and_leaves_the_rest_behind_them(index: Index, folder: Path) -> None:
    before = index.search("pump leaks oil", k=4, mode="lexical")
    hits = index.search("pump leaks oil", k=4, retrieval=f"lexical() | rerank(model={str(folder)!r}, depth=2)")
    assert ids(hits) == ids(before)
    assert hits[0].via == ("lexical", "rerank")
    assert hits[-1].via == ("lexical",)
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    custom_reranker("shortest", lambda _query, texts: [-len(text) for text in texts])
    hits = index.search("pump leaks oil", k=2, retrieval="lexical() | rerank(model='shortest')")
    assert ids(hits) == ["d1", "d0"]  # of one length, so in the order before
    assert [hit.score for hit in hits] == [-14, -14]


def test_a_reranker_reads_the_context_of_a_chunk() -> None:
    seen: list[str] = []
    custom_reranker("spy", lambda _query, texts: [seen.append(text) or 0.0 for text in texts])  # type: ignore[func-returns-value]
    index = Index("memory:", encoder=HashingEncoder())
    text = "# Pumps\n\nThey run. They hum.\n"
    document = read_text(text, id="a", media_type="text/markdown")
    index.add_documents([document], recipe="sentences(max_sentences=1) | context()")
    index.search("pumps", retrieval="lexical() | rerank('spy')")
    assert "Pumps\nThey hum." in seen


@pytest.mark.parametrize("scores", [[1.0], [1.0, float("nan"), 2.0], []])
def test_scores_that_are_not_one_number_for_each_text_are_refused(index: Index, scores: list[float]) -> None:
    custom_reranker("wrong", lambda _query, _texts: scores)
    with pytest.raises(RerankError, match=r"wrong gave .* for 3 texts"):
        index.search("pump", retrieval="lexical() | rerank('wrong')")


def test_a_rerank_prints_as_it_parses_and_pickles(folder: Path) -> None:
    for spec in (str(folder), "sentence-transformers:x", "llm:http://h/v1#m"):
        how = retriever(f"hybrid() | rerank(model={spec!r}, depth=20)")
        assert repr(how) == f"hybrid(alpha=0.4) | rerank(model={spec!r}, depth=20)"
        assert retriever(repr(how)) == pickle.loads(pickle.dumps(how)) == how
        assert hash(retriever(repr(how))) == hash(how)


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("hybrid() | rerank()", "no default model; try model='FOLDER'"),
        ("hybrid() | rerank('nowhere')", "no reranker 'nowhere'; .*sentence-transformers:PATH"),
        ("hybrid() | rerank(model=3)", "is no reranker"),
        ("hybrid() | rerank('llm:nothing')", "no language model 'nothing'"),
    ],
)
def test_a_reranker_that_is_not_there_is_told(recipe: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        retriever(recipe)


def listed(asked: Asked) -> str:
    """Order passages by their length, the longest first."""
    passages = [line for line in prompt_of(asked).splitlines() if line.startswith("[")]
    order = sorted(range(1, len(passages) + 1), key=lambda i: -len(passages[i - 1].partition("] ")[2]))
    return said(json.dumps({"order": order}))


def test_a_language_model_orders_numbered_passages(tmp_path: Path) -> None:
    with FakeServer(Reply(body=listed)) as server:
        answers = Answers(str(tmp_path / "answers.sqlite"))
        judge = Listwise(Chat(server.url, "fake", answers=answers, sleep=lambda _: None))
        assert judge("q", ["a", "ccc", "bb"]) == pytest.approx([1 / 3, 1, 2 / 3])
        assert judge("q", ["a", "ccc", "bb"]) == pytest.approx([1 / 3, 1, 2 / 3])
        prompt = prompt_of(server.asked[0])
    assert len(server.asked) == 1  # the second time the answer was kept
    assert "[1] a\n[2] ccc\n[3] bb\n\nQuestion: q" in prompt
    assert judge("q", ["alone"]) == [1]


def test_many_passages_are_ordered_from_the_last_ones_up() -> None:
    texts = ["x" * (i + 1) for i in range(45)]
    with FakeServer(*[Reply(body=listed)] * 4) as server:
        scores = Listwise(Chat(server.url, "fake", sleep=lambda _: None))("q", texts)
        assert len(server.asked) == 4  # of 20: those from 25, 15, 5 and 0 on
    assert max(range(45), key=lambda i: scores[i]) == 44  # the best has come up all the way
    assert sorted(scores) == pytest.approx([(i + 1) / 45 for i in range(45)])


@pytest.mark.parametrize(
    ("said_text", "reason"),
    [
        ("I'd rather not order", "no JSON"),
        ('{"order": []}', "no list `order`"),
        ("[3, 1]", "no list `order`"),
        ('{"order": [1, 4]}', "none of 1 to 3"),
        ('{"order": ["1", "2"]}', "none of 1 to 3"),
        ('{"order": [1, 1, 2]}', "twice"),
        ("I'm sorry, I can't do that.", "the model refuses"),
    ],
)
def test_an_answer_that_fails_is_told_and_the_order_stays(index: Index, said_text: str, reason: str) -> None:
    before = index.search("pump leaks oil", mode="lexical")
    with FakeServer(Reply(body=said(said_text))) as server:
        hits = index.search("pump leaks oil", retrieval=f"lexical() | rerank('llm:{server.url}#fake')")
    assert ids(hits) == ids(before)
    assert [hit.score for hit in hits] == [hit.score for hit in before]
    assert all(reason in str(hit.chunk.meta["rerank_failed"]) for hit in hits)


def test_a_failure_is_told_of_widened_hits_too(index: Index) -> None:
    custom_llm("mute", lambda _prompt: "")
    hits = index.search("pump", retrieval="lexical() | rerank('llm:mute') | window()")
    assert hits
    assert all(hit.chunk.meta["rerank_failed"] == "the answer is empty" for hit in hits)


def test_an_order_is_read_from_behind_a_fence() -> None:
    custom_llm("fenced", lambda _prompt: '```json\n{"order": [3, 1, 2]}\n```')
    assert reranker("llm:fenced")("q", ["a", "b", "c"]) == pytest.approx([2 / 3, 1 / 3, 1])


def test_passages_that_an_answer_leaves_out_follow_as_they_were() -> None:
    custom_llm("lazy", lambda _prompt: '{"order": [3]}')
    assert reranker("llm:lazy")("q", ["a", "b", "c"]) == pytest.approx([2 / 3, 1 / 3, 1])


def test_a_model_that_can_not_be_asked_stops_the_search(index: Index) -> None:
    with FakeServer(Reply(401, "no")) as server, pytest.raises(AnswerError, match="401"):
        index.search("pump", retrieval=f"lexical() | rerank('llm:{server.url}#fake')")
