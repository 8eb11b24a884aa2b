"""Late chunking said slowly: one token at a time, one window at a time, each run by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chunkwise.core.protocols import Floats2d
from chunkwise.core.types import Chunk, Document
from chunkwise.embed.onnx import OnnxEncoder
from chunkwise.text.huggingface import huggingface


def late(encoder: OnnxEncoder, document: Document, chunks: Sequence[Chunk]) -> Floats2d:
    start, end = min(chunk.start for chunk in chunks), max(chunk.end for chunk in chunks)
    encoding = huggingface(encoder.tokenizer.name).encode(document.text[start:end], add_special_tokens=False)
    room = encoder.max_tokens - encoder.tokenizer.n_special
    windows = _windows(len(encoding.ids), room)
    outputs = [
        dict(encoder.token_vectors([np.array(encoding.ids[at : at + room], np.int32)]))[0].astype(np.float64)
        for at in windows
    ]
    rows = []
    for chunk in chunks:
        found = []
        for span in chunk.spans:
            for token, (first, stop) in enumerate(encoding.offsets):
                if start + first < span.end and start + stop > span.start:
                    window = _window_of(token, windows, room)
                    found.append(outputs[window][token - windows[window]])
        mean = np.mean(found, axis=0)
        rows.append(mean / np.linalg.norm(mean))
    return np.array(rows, np.float32)


def _windows(n_tokens: int, room: int) -> list[int]:
    """Start a window every half a window, but the last one where it still is a whole one."""
    starts = [0]
    while starts[-1] + room < n_tokens:
        starts.append(min(starts[-1] + room - room // 2, n_tokens - room))
    return starts


def _window_of(token: int, windows: Sequence[int], room: int) -> int:
    """Go on to the next window as soon as the token is further from its start than from the end of this one."""
    window = 0
    while window + 1 < len(windows) and token - windows[window + 1] > windows[window] + room - 1 - token:
        window += 1
    return window
