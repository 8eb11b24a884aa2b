"""A cross-encoder that counts the words which a text shares with the question, as an ONNX file."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from chunkwise.text.huggingface import MINILM

# Numbers of the ONNX format: onnx.proto3, operator set 12.
FLOAT, INT64, _INT, _INTS = 1, 7, 2, 7


def cross_encoder_folder(place: Path) -> Path:
    """Lay out the model with the tokenizer of the default encoder."""
    place.mkdir()
    shipped = resources.files("chunkwise.text") / "data" / f"{MINILM}.tokenizer.json"
    (place / "tokenizer.json").write_text(shipped.read_text("utf-8"), "utf-8")
    (place / "model.onnx").write_bytes(overlap_model())
    return place


def overlap_model(output: str = "logits", *, numbers: int = INT64) -> bytes:
    """Return a model whose score is the number of pairs of equal tokens, one of the question and one of the text.

    `numbers` are what it is given, in the numbers of the format.
    """
    nodes = [
        _node("Mul", ["attention_mask", "token_type_ids"], "of_text"),
        _node("Sub", ["attention_mask", "of_text"], "of_question"),
        _node("Unsqueeze", ["input_ids"], "ids_down", axes=[2]),
        _node("Unsqueeze", ["input_ids"], "ids_across", axes=[1]),
        _node("Unsqueeze", ["of_text"], "text_down", axes=[2]),
        _node("Unsqueeze", ["of_question"], "question_across", axes=[1]),
        _node("Equal", ["ids_down", "ids_across"], "same"),
        _node("Cast", ["same"], "same_numbers", to=numbers),
        _node("Mul", ["text_down", "question_across"], "pairs"),
        _node("Mul", ["pairs", "same_numbers"], "shared"),
        _node("Cast", ["shared"], "shared_floats", to=FLOAT),
        _node("ReduceSum", ["shared_floats"], "by_row", axes=[1], keepdims=0),
        _node("ReduceSum", ["by_row"], output, axes=[1], keepdims=1),
    ]
    inputs = [_value(name, numbers, 2) for name in ("input_ids", "attention_mask", "token_type_ids")]
    graph = _messages(1, nodes) + _text(2, "overlap") + _messages(11, inputs) + _bytes(12, _value(output, FLOAT, 2))
    return _number(1, 7) + _bytes(7, graph) + _bytes(8, _number(2, 12))


def _node(kind: str, inputs: Iterable[str], output: str, **attributes: int | list[int]) -> bytes:
    written = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, kind)
    for name, value in attributes.items():
        whole = isinstance(value, int)
        content = _number(3, value) if isinstance(value, int) else b"".join(_number(8, one) for one in value)
        written += _bytes(5, _text(1, name) + content + _number(20, _INT if whole else _INTS))
    return written


def _value(name: str, kind: int, rank: int) -> bytes:
    shape = b"".join(_bytes(1, _text(2, f"{name}_{i}")) for i in range(rank))
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _messages(field: int, values: Iterable[bytes]) -> bytes:
    return b"".join(_bytes(field, value) for value in values)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])
