"""Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys


def run(code: str, *args: str) -> subprocess.Popen[str]:
    """Start a process that runs `code`, may import what tests do, and takes a warning for an error."""
    command = [sys.executable, "-W", "error", "-c", f"import sys\n{code}", *args]
    env = {key: value for key, value in os.environ.items() if "LOG" not in key}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
