"""Encoders behind a URL as tests make them: patient, with a key that may show nowhere."""

from __future__ import annotations

from chunkwise.embed import HttpEncoder

KEY = "sk-secret/0123456789"


def patient(url: str, waits: list[float] | None = None, *, batch_size: int = 64, timeout: float = 5.0) -> HttpEncoder:
    """Return an encoder that notes its pauses instead of taking them."""
    noted: list[float] = [] if waits is None else waits
    return HttpEncoder(url, "fake-model", batch_size=batch_size, timeout=timeout, sleep=noted.append)
