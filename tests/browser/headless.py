"""A headless Chromium, driven through a pipe: no port, no driver, no package.

The protocol is Chromium's own (DevTools), JSON messages that end with a NUL byte on file
descriptors 3 and 4.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ANSWER_WITHIN_S = 60.0
PLACE_PIPES = """
import fcntl, os, sys
high = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 64) for number in sys.argv[1:3]]
for number, place in zip(high, (3, 4)):
    os.dup2(number, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Puts the pipes where Chromium looks for them, whatever numbers they had."""


def find_chromium() -> str | None:
    """Return the browser's path, or ``None`` where there is none."""
    found = (shutil.which(name) for name in NAMES)
    return next((path for path in found if path), None)


class Browser:
    """One browser with one page; a context manager."""

    def __init__(self, path: str, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        flags = [
            path,
            "--headless=new",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "--no-first-run",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--no-sandbox",  # the page is ours and has no script; root can't use the sandbox
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-c", PLACE_PIPES, str(to_browser), str(from_browser), *flags],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self._loaded: set[str] = set()
        """Documents that have been loaded, by the ids of their loaders."""
        self.requested: list[str] = []
        """Every address that the page asked for."""

    def __enter__(self) -> Browser:
        try:
            self._attach()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(ANSWER_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command and return its result; events that arrive meanwhile are noted."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def open(self, path: Path, *, width: int, dark: bool) -> None:
        """Load a file at a width in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.requested.clear()
        wanted = self.call("Page.navigate", url=path.as_uri())["loaderId"]
        # Not the state of the document: right after the call it may be the one before.
        while wanted not in self._loaded:
            self._receive()

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def screenshot(self, path: Path) -> None:
        """Write the whole page as PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], ANSWER_WITHIN_S)
            assert ready, "the browser gave no answer"
            data = os.read(self._read, 1 << 16)
            assert data, "the browser ended"
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        parsed: dict[str, Any] = json.loads(message)
        if parsed.get("method") == "Network.requestWillBeSent":
            self.requested.append(parsed["params"]["request"]["url"])
        if parsed.get("method") == "Page.lifecycleEvent" and parsed["params"]["name"] == "load":
            self._loaded.add(parsed["params"]["loaderId"])
        return parsed
