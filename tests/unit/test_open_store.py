"""How a store is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from chunkwise.core.errors import StoreError
from chunkwise.stores import open_store
from chunkwise.stores.lance import LanceStore
from chunkwise.stores.memory import MemoryStore
from unit.processes import run


def test_a_store_is_opened_by_its_url(tmp_path: Path) -> None:
    assert isinstance(open_store("memory:"), MemoryStore)
    opened = open_store(str(tmp_path / "index"))
    assert isinstance(opened, LanceStore)
    assert opened.folder == tmp_path / "index"


def test_a_path_may_start_at_home_and_hold_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    opened = open_store("~/index 12:30")
    assert isinstance(opened, LanceStore)
    assert opened.folder == tmp_path / "index 12:30"


@pytest.mark.parametrize("url", ["qdrant://localhost:6333", "postgresql://x/y", "memory://", "memory:x", "", " "])
def test_a_store_that_is_not_supported_is_named(url: str) -> None:
    with pytest.raises(StoreError, match=r"no store for .*give 'memory:', or the path of a folder"):
        open_store(url)


def test_opening_a_store_imports_no_optional_package() -> None:
    code = """
import chunkwise.stores
chunkwise.stores.open_store("memory:").describe({"dim": 4})
print(sorted({"lancedb", "pyarrow", "bm25s", "Stemmer"} & set(sys.modules)))
"""
    out, err = run(code).communicate()
    assert (out, err) == ("[]\n", "")
