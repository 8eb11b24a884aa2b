"""A headless Chromium that pages are opened in, spoken to over two pipes: no driver, no port, no package.

The protocol is https://chromedevtools.github.io/devtools-protocol: messages in JSON, each closed by a zero byte.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

# The browser reads from 3 and writes to 4; only a process of its own can put the pipes there.
_PLACED = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]
os.dup2(ends[0], 3), os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""

# Seconds after which a page that does not load is given up.
_PATIENCE = 30.0


def path() -> str | None:
    """Where the browser is: what $CHUNKWISE_BROWSER names, or what is installed; None without one."""
    return os.environ.get("CHUNKWISE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A browser with one page, and what it reported: what was asked for, and what went wrong."""

    def __init__(self, send: IO[bytes], receive: IO[bytes]) -> None:
        self._send, self._receive, self._waiting = send, receive, b""
        self._count, self._session = 0, ""
        self.requested: list[str] = []
        self.wrongs: list[str] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **params: object) -> Any:
        """Send a command and return its result."""
        self._count += 1
        message: dict[str, object] = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._send.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer)

    def open(self, file: Path, *, width: int = 1280, scheme: str = "light") -> None:
        """Open a page as from a folder, and forget what was reported before."""
        self.requested, self.wrongs = [], []
        self("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self("Page.navigate", url=file.as_uri())
        since = time.monotonic()
        while self.run("location.protocol + document.readyState") != "file:complete":
            assert time.monotonic() - since < _PATIENCE, f"{file} does not load"
            time.sleep(0.05)

    def run(self, script: str) -> Any:
        """Run a script in the page and return its value."""
        answer = self("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press a key of the keyboard."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for type in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=type, key=key, code=key, windowsVirtualKeyCode=code, text=text)

    def picture(self) -> bytes:
        """Return what the page looks like, as PNG."""
        return base64.b64decode(self("Page.captureScreenshot", format="png")["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            read = os.read(self._receive.fileno(), 1 << 16)
            assert read, "the browser is gone"
            self._waiting += read
        message, _, self._waiting = self._waiting.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.wrongs.append(params["entry"]["text"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.wrongs.append(str(params["exceptionDetails"]))


@contextmanager
def started(browser: str, profile: Path) -> Iterator[Chromium]:
    """Start a browser, and end it after the block."""
    read, send = os.pipe()
    receive, write = os.pipe()
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}")
    command = [sys.executable, "-c", _PLACED, str(read), str(write), browser, *options, "about:blank"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, pass_fds=(read, write), stdout=quiet, stderr=quiet) as process:
        os.close(read)
        os.close(write)
        with os.fdopen(send, "wb", buffering=0) as to, os.fdopen(receive, "rb") as from_:
            yield Chromium(to, from_)
        # Its pipe being closed, it ends by itself.
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
