"""Encoders of other packages: with the packages where they are installed, else with what behaves like them."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from chunkwise.core.errors import EncodeError, MissingExtraError
from chunkwise.core.protocols import Encoder
from chunkwise.embed import FastembedEncoder, encoder, fastembed, minilm, model2vec, sentence_transformers
from chunkwise.embed.folders import content_hash
from chunkwise.pipeline import Index
from chunkwise.text.huggingface import MINILM, huggingface
from unit.models import TEXTS, model_folder

SPECS = ["sentence-transformers", "model2vec", "fastembed"]
MODULES = {"sentence-transformers": sentence_transformers, "model2vec": model2vec, "fastembed": fastembed}
LIMIT = 256


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = model_folder(tmp_path / "model")
    (place / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "query: "}}))
    (place / "tokenizer_config.json").write_text(json.dumps({"model_max_length": LIMIT, "pad_token": "[PAD]"}))
    (place / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    return place


class Model:
    """Do what the three packages have in common: run the default encoder, and cut off what is too long."""

    max_seq_length = LIMIT
    dim = embedding_size = 384
    embedding = np.ones((3, 384), np.float32)

    def __init__(self, place: object) -> None:
        self.asked: list[tuple[str, dict[str, object]]] = []
        tokenizer = SimpleNamespace(truncation={"max_length": LIMIT})
        self.model = SimpleNamespace(tokenizer=tokenizer, _model_dir=str(place))

    def _vectors(self, name: str, texts: Sequence[str], options: dict[str, object]) -> Any:
        self.asked.append((name, options))
        cut = [" ".join(text.split()[:200]) for text in texts]
        return 3 * minilm()(cut, role="passage")

    def encode(self, texts: Sequence[str], **options: object) -> Any:
        return self._vectors("encode", texts, options) * np.array([[bool(text.strip())] for text in texts])

    def encode_query(self, texts: Sequence[str], **options: object) -> Any:
        return self._vectors("encode_query", ["query: " + text for text in texts], options)

    def encode_document(self, texts: Sequence[str], **options: object) -> Any:
        return self._vectors("encode_document", texts, options)

    def query_embed(self, texts: Sequence[str]) -> Iterator[Any]:
        yield from self._vectors("query_embed", texts, {})

    def passage_embed(self, texts: Sequence[str]) -> Iterator[Any]:
        yield from self._vectors("passage_embed", texts, {})


@pytest.fixture
def loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Put a module like each package in its place; return how models were loaded, and the model."""
    seen: dict[str, Any] = {}

    def load(path: str, **options: object) -> Model:
        if "broken" in path:
            raise ValueError("no such model")
        seen.update(path=path, options=options, model=Model(folder))
        return seen["model"]  # type: ignore[no-any-return]

    fakes: dict[str, tuple[str, object]] = {
        "sentence_transformers": ("SentenceTransformer", load),
        "model2vec": ("StaticModel", SimpleNamespace(from_pretrained=load)),
        "fastembed": ("TextEmbedding", load),
    }
    for name, (attribute, value) in fakes.items():
        module = ModuleType(name)
        setattr(module, attribute, value)
        monkeypatch.setitem(sys.modules, name, module)
    clear()
    return seen


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    clear()


def clear() -> None:
    for module in MODULES.values():
        module._load.cache_clear()


def found(spec: str, folder: Path) -> Encoder:
    return encoder(f"{spec}:{'some/model' if spec == 'fastembed' else folder}")


@pytest.mark.parametrize("spec", SPECS)
def test_an_encoder_of_a_package_keeps_the_promises_of_all(spec: str, folder: Path, loaded: dict[str, Any]) -> None:
    encode = found(spec, folder)
    assert encode.name.startswith(f"{spec}:")
    assert encoder(encode.name) == pickle.loads(pickle.dumps(encode)) == encode
    assert loaded == {}, "it is loaded by the first use"
    vectors = encode(TEXTS, role="passage")
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), encode.dim)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    assert encode([], role="query").shape == (0, 384)
    assert encode.tokenizer.count("one two") == 4
    with pytest.raises(EncodeError, match=r"write \[text\]"):
        encode("hello", role="query")


@pytest.mark.parametrize("spec", SPECS)
def test_nothing_is_downloaded(spec: str, folder: Path, loaded: dict[str, Any]) -> None:
    found(spec, folder)(["a"], role="passage")
    if spec == "model2vec":
        assert loaded["path"] == str(folder)
        with pytest.raises(EncodeError, match="is no folder"):
            encoder("model2vec:minishlab/potion-base-8M")(["a"], role="passage")
    else:
        assert loaded["options"]["local_files_only"] is True


@pytest.mark.parametrize("spec", ["sentence-transformers", "fastembed"])
def test_a_text_that_would_be_cut_off_is_refused(spec: str, folder: Path, loaded: dict[str, Any]) -> None:
    encode = found(spec, folder)
    room = LIMIT - (2 if spec == "sentence-transformers" else 0)  # `query: ` has two tokens
    assert encode.max_tokens == room
    with pytest.raises(EncodeError, match=f"takes at most {room}"):
        encode(["word " * 255], role="passage")
    assert loaded["model"].asked == []


def test_sentence_transformers_adds_the_prompt_of_a_role(folder: Path, loaded: dict[str, Any]) -> None:
    encode = found("sentence-transformers", folder)
    query, passage = encode(["a cat"], role="query"), encode(["query: a cat"], role="passage")
    assert [name for name, _ in loaded["model"].asked] == ["encode_query", "encode_document"]
    assert np.abs(query - passage).max() < 1e-6


def test_model2vec_takes_texts_whole_and_unknown_ones_as_the_mean(folder: Path, loaded: dict[str, Any]) -> None:
    encode = found("model2vec", folder)
    vectors = encode(["word " * 2000, "  "], role="passage")
    assert loaded["model"].asked[0][1]["max_length"] is None
    assert np.abs(vectors[1] - 384**-0.5).max() < 1e-6


def test_fastembed_is_given_texts_of_like_length_together(folder: Path, loaded: dict[str, Any]) -> None:
    texts = ["word " * (200 if n % 2 else 2) for n in range(60)]
    got = FastembedEncoder("some/model")(texts, role="query")
    assert np.abs(got - minilm()(texts, role="query")).max() < 1e-5
    assert {name for name, _ in loaded["model"].asked} == {"query_embed"}
    assert len(loaded["model"].asked) > 1


def test_fastembed_leaves_room_for_prefixes(folder: Path, loaded: dict[str, Any]) -> None:
    encode = FastembedEncoder("some/model", folder=str(folder), query_prefix="query: ")
    assert encode.max_tokens == LIMIT - 2
    assert loaded["options"]["specific_model_path"] == str(folder)
    assert np.abs(encode(["a cat"], role="query") - encode(["query: a cat"], role="passage")).max() < 1e-6
    assert encode.fingerprint != FastembedEncoder("some/model", folder=str(folder)).fingerprint


@pytest.mark.parametrize("spec", SPECS)
def test_a_model_that_can_not_be_loaded_is_told(spec: str, tmp_path: Path, loaded: dict[str, Any]) -> None:
    place = model_folder(tmp_path / "broken")
    with pytest.raises(EncodeError, match=r"broken.*no such model"):
        encoder(f"{spec}:{place}")(["a"], role="passage")


@pytest.mark.parametrize("spec", SPECS)
def test_a_package_that_is_missing_names_its_extra(spec: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, spec.replace("-", "_"), None)
    with pytest.raises(MissingExtraError, match=rf"chunkwise\[{spec}\]"):
        found(spec, folder)(["a"], role="passage")


@pytest.mark.parametrize("spec", SPECS)
def test_a_specification_without_a_model_is_unknown(spec: str) -> None:
    with pytest.raises(EncodeError, match=r"known: .*'model2vec:PATH'"):
        encoder(f"{spec}:")


def test_the_fingerprint_is_that_of_the_files_that_a_vector_depends_on(folder: Path) -> None:
    before = content_hash(folder)
    (folder / "README.md").write_text("hello")
    assert content_hash(folder) == before
    (folder / "modules.json").write_text("[]")
    assert content_hash(folder) != before
    with pytest.raises(EncodeError, match="holds no model"):
        content_hash(folder / "nowhere")


def test_a_folder_without_a_fast_tokenizer_is_told(folder: Path, loaded: dict[str, Any]) -> None:
    (folder / "tokenizer.json").unlink()
    for spec in SPECS[:2]:
        with pytest.raises(EncodeError, match=r"no tokenizer\.json; save the model again"):
            _ = found(spec, folder).tokenizer.name


def saved_static(place: Path) -> Encoder:
    package = pytest.importorskip("model2vec", reason="the extra model2vec is not installed")
    vectors = np.random.default_rng(7).normal(size=(huggingface(MINILM).get_vocab_size(), 16)).astype(np.float32)
    package.StaticModel(vectors, huggingface(MINILM)).save_pretrained(place)
    return encoder(f"model2vec:{place}")


def known_to_fastembed(place: Path) -> Encoder:
    package = pytest.importorskip("fastembed", reason="the extra fastembed is not installed")
    described = pytest.importorskip("fastembed.common.model_description")
    model_folder(place)
    for name, content in {"tokenizer_config": {"model_max_length": 256, "pad_token": "[PAD]"}, "config": {}}.items():
        (place / f"{name}.json").write_text(json.dumps({"pad_token_id": 0, **content}))
    name = f"here/{place.parent.name}"
    package.TextEmbedding.add_custom_model(
        model=name,
        pooling=described.PoolingType.MEAN,
        normalization=True,
        sources=described.ModelSource(hf=name),
        dim=384,
        model_file="model.onnx",
    )
    return FastembedEncoder(name, folder=str(place))


@pytest.mark.parametrize("made", [saved_static, known_to_fastembed])
def test_the_package_itself_does_what_is_said_here(made: Callable[[Path], Encoder], tmp_path: Path) -> None:
    encode = made(tmp_path / "model")
    texts = ["pumps and valves", "valves and pumps", "", "word " * 250, "a\ud800b", "\U000f0000"]
    vectors = encode(texts, role="passage")
    assert vectors.shape == (len(texts), encode.dim)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    again = encode(texts[3:4], role="query")
    assert np.abs(again - vectors[3]).max() < 1e-5
    if encode.max_tokens < 10**6:
        assert encode.max_tokens == 256
        assert np.abs(vectors - minilm()(texts, role="passage")).max() < 1e-3
    else:
        assert np.abs(vectors[0] - vectors[1]).max() < 1e-5
        long = encode(["pump " * 3000 + "valve " * 3000, "valve " * 9], role="passage")
        assert long[0] @ long[1] > 0.5, "its end counts as well"
    assert len(encode.fingerprint) == 64
    index = Index(tmp_path / "index", encoder=encode)
    (tmp_path / "pumps.md").write_text("The pump has a seal.")
    index.add(tmp_path / "pumps.md")
    assert index.search("seal", k=1)
