"""The command line run from the outside, for the tests of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FIELDS = ["id", "document_id", "index", "start", "end", "spans", "text", "context"]
FIELDS += ["token_count", "headings", "pages", "meta"]


PROGRAM = [sys.executable, "-c", "from chunkwise.cli import main; main()"]


def run(*arguments: object, code: int = 0, cwd: Path | None = None, given: bytes = b"") -> tuple[str, str]:
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        input=given,
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert done.returncode == code, err
    assert "Traceback" not in err
    return out, err


def rows(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]
