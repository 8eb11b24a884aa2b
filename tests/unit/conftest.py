"""What several files of tests begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise import net
from chunkwise.core.protocols import Store
from chunkwise.stores import open_store
from unit.entries import INFO


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in net.KEY_VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(params=["memory", "lance"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return open_store("memory:" if request.param == "memory" else str(tmp_path / "index"))


@pytest.fixture
def store(bare: Store) -> Store:
    bare.describe(INFO)
    return bare
