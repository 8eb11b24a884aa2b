"""A model in memory, whichever engine runs it: what it takes and gives, and how rows of tokens are put before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chunkwise.core.errors import EncodeError
from chunkwise.core.protocols import Floats2d
from chunkwise.embed.batches import Numbers2d
from chunkwise.text.segments import Ints

Pooling: TypeAlias = Literal["mean", "cls"]
Integer: TypeAlias = type[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory: its file, the inputs that it declares, the output that is used, its width or 0.

    Rows are padded to a length that `multiple` divides.
    """

    file: Path
    inputs: Mapping[str, Integer]
    output: str
    dim: int
    run: Callable[[list[str], dict[str, NDArray[Any]]], list[NDArray[Any]]]
    errors: tuple[type[Exception], ...]
    multiple: int = 1


def pooled(model: LoadedModel, rows: Sequence[Ints], padding: int, pooling: Pooling) -> Numbers2d:
    """Run the model, and pool its output to one vector a row."""
    return _pool(*forward(model, rows, padding), pooling)


def forward(model: LoadedModel, rows: Sequence[Ints], padding: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Pad rows of ids to the longest and run the model; return its output, and a mask of what is no padding.

    Raises: EncodeError if the model can't run on so much.
    """
    longest = max(1, *(len(row) for row in rows))
    shape = (len(rows), -(-longest // model.multiple) * model.multiple)
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
            f"{model.file} can't run on {shape[0]} texts of up to {longest} tokens: {err}; "
            "export it with free batch and sequence sizes, and check its max tokens"
        ) from err
    return output.astype(np.float32, copy=False), mask


def known_inputs(
    file: Path, inputs: Mapping[str, Integer | None], *, task: str = "feature-extraction"
) -> Mapping[str, Integer]:
    """Return the inputs of a model, by name.

    Raises: EncodeError if it wants another one, or other numbers than whole ones of 32 or 64 bits.
    """
    known = ("input_ids", "attention_mask", "token_type_ids")
    integers = {name: integer for name, integer in inputs.items() if name in known and integer is not None}
    if "input_ids" not in integers or len(integers) < len(inputs):
        raise EncodeError(
            f"{file} declares the inputs {', '.join(inputs)}; it is given {', '.join(known)} as "
            f"int64 or int32; export the model for the task {task}"
        )
    return integers


def known_output(file: Path, shapes: Mapping[str, Sequence[object]]) -> tuple[str, int]:
    """Choose the output that holds a vector for each token, else one for each text; and its width, 0 if unsaid.

    Raises: EncodeError if there is none.
    """
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


def _pool(output: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> Numbers2d:
    if output.ndim == 2:  # pooled by the model itself
        return output
    if pooling == "cls":
        return output[:, 0]
    weights = mask.astype(np.float32)
    pooled: Floats2d = (weights[:, None, :] @ output)[:, 0] / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    return pooled
