"""A headless Chromium that tests open pages of the report in, over its own debugging protocol.

    with Browser(tmp_path) as browser:
        browser.open(folder / "index.html")
        assert browser.run("document.title") == "..."
        assert browser.problems == []

Commands are JSON with a zero byte behind, written to file descriptor 3 and answered on 4
(`--remote-debugging-pipe`), so no package is needed.
"""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
needs_chromium = pytest.mark.skipif(
    PROGRAM is None, reason="there is no Chromium here (Debian: apt-get install chromium)"
)
SERIOUS = ("error", "warning", "assert")
PROBLEMS = ("Network.loadingFailed", "Runtime.exceptionThrown", "Log.entryAdded")
PATIENCE = 120.0
"""Seconds to wait for an answer; two cores may be busy with others."""


class Browser:
    """One page of a headless Chromium.

    Attributes:
        problems: errors and warnings of scripts, and requests that do not stay on this disk.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []
        self._sent = 0
        self._rest = b""
        self._session = ""

    def __enter__(self) -> "Browser":
        read_by_it, self._writes = os.pipe()
        self._reads, written_by_it = os.pipe()
        arguments = [
            *(str(PROGRAM), "--headless=new", "--no-sandbox", "--disable-gpu"),
            *("--hide-scrollbars", "--no-first-run", "--disable-background-networking"),
            f"--user-data-dir={self.folder / 'profile'}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        # file descriptors 3 and 4, by which the browser expects its commands
        moved = f'exec 3<&{read_by_it} 4>&{written_by_it}; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", moved, "bash", *arguments],
            pass_fds=(read_by_it, written_by_it),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_by_it)
        os.close(written_by_it)
        found = self._call("Target.createTarget", url="about:blank")
        attached = self._call("Target.attachToTarget", targetId=found["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._writes)
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)
        os.close(self._reads)

    def open(self, page: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a page in a window of this size and wait until it is there."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", features=scheme)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        self._call("Page.navigate", url=page.resolve().as_uri())
        self.wait_for("document.readyState === 'complete'")

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript in the page."""
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until an expression of JavaScript is true in the page."""
        end = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < end, condition
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press a key, by its name in JavaScript."""
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        code = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40}.get(
            key, ord(key) if len(key) == 1 else 0
        )
        for kind in ("keyDown", "keyUp"):
            typed = text if kind == "keyDown" else {}
            event = {"type": kind, "key": key, "windowsVirtualKeyCode": code, **typed}
            self._call("Input.dispatchKeyEvent", **event)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            chunk = os.read(self._reads, 1 << 16)
            assert chunk, "Chromium has ended"
            self._rest += chunk
        first, _, self._rest = self._rest.partition(b"\0")
        return json.loads(first)

    def _note(self, event: dict[str, Any]) -> None:
        method, content = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            address = content["request"]["url"]
            if not address.startswith(("file:", "data:", "about:")):
                self.problems.append(f"request of {address}")
        elif method in PROBLEMS:
            self.problems.append(str(content))
        elif method == "Runtime.consoleAPICalled" and content["type"] in SERIOUS:
            self.problems.append(str(content["args"]))
