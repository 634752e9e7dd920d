"""Drives Debian's headless Chromium by its DevTools protocol, over a pair of pipes.

The browser reads commands from its file descriptor 3 and writes answers to 4, each a line of JSON that ends
with a null byte. So no port is opened, and no package is needed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60.0
"""Seconds for one answer of the browser: a bound for a machine with much else to do, not a figure."""
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
    *("--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--mute-audio", "--remote-debugging-pipe"),
)


def chromium_path() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Chromium:
    """One browser. `Tab` is a page in it."""

    def __init__(self, program: str, folder: Path) -> None:
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()
        # Above 10, so that making 3 and 4 in the new process overwrites neither of them.
        given, taken = (fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in (commands, answers))
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        quiet = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, quiet, each) for each in (0, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, given, 3), (os.POSIX_SPAWN_DUP2, taken, 4)]
        words = [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        environment = {**kept, "HOME": str(folder), "TMPDIR": str(folder)}
        self.process = os.posix_spawn(program, words, environment, file_actions=actions, setpgroup=0)
        for each in (commands, answers, given, taken, quiet):
            os.close(each)
        self._read = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Send one command, and return its answer; events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            answer = self._next_message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                found: dict[str, Any] = answer["result"]
                return found
            self.events.append(answer)

    def wait_for(self, method: str, session: str) -> dict[str, Any]:
        """Until an event comes, or has come since the events were last taken."""
        seen = 0
        while True:
            for event in self.events[seen:]:
                if event.get("method") == method and event.get("sessionId") == session:
                    return event
            seen = len(self.events)
            self.events.append(self._next_message())

    def _next_message(self) -> dict[str, Any]:
        ends = time.monotonic() + PATIENCE
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._in], [], [], max(0.0, ends - time.monotonic()))
            part = os.read(self._in, 1 << 20) if ready else b""
            if not part:
                raise AssertionError("chromium ended, or did not answer")
            self._read += part
        line, _, self._read = self._read.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        with suppress(OSError, AssertionError):
            self.send("Browser.close")
        os.close(self._out)
        os.close(self._in)
        ends = time.monotonic() + 5
        while time.monotonic() < ends:
            if os.waitpid(self.process, os.WNOHANG)[0]:
                return
            time.sleep(0.02)
        os.killpg(self.process, signal.SIGKILL)  # a group of its own: only what we started
        os.waitpid(self.process, 0)


class Tab:
    """A page with its own cookies, width and colours."""

    def __init__(
        self, browser: Chromium, *, width: int = 1280, scripts: bool = True, dark: bool = False
    ) -> None:
        self._browser = browser
        self.context = browser.send("Target.createBrowserContext")["browserContextId"]
        target = browser.send("Target.createTarget", url="about:blank", browserContextId=self.context)
        attached = browser.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session: str = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.colours("dark" if dark else "light")
        self.resize(width)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **parameters)

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)

    def colours(self, scheme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[feature])

    def open(self, url: str) -> None:
        """Open an address, and wait until it is loaded."""
        self._browser.events.clear()
        answer = self.send("Page.navigate", url=url)
        assert "errorText" not in answer, (url, answer)
        self._browser.wait_for("Page.loadEventFired", self._session)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page, or of the promise that it gives."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_until(self, expression: str) -> None:
        """Until an expression is true in the page; between two pages it can only fail."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            with suppress(AssertionError):
                if self.value(expression):
                    return
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}")

    def complaints(self) -> list[str]:
        """What the console says since the page was opened: errors, warnings, refused by policy."""
        self.value("1")  # events that were sent before this answer are here now
        found = []
        for event in self._browser.events:
            given = event.get("params", {})
            match event.get("method"):
                case "Log.entryAdded" if given["entry"]["level"] in ("error", "warning"):
                    found.append(given["entry"]["text"])
                case "Runtime.exceptionThrown":
                    found.append(str(given["exceptionDetails"].get("text")))
                case "Runtime.consoleAPICalled":
                    found.append(str(given["args"]))
        return found

    def asked(self) -> list[str]:
        """Every address that the page asked for since it was opened."""
        return [
            event["params"]["request"]["url"]
            for event in self._browser.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def press(self, key: str, code: int = 0, text: str = "") -> None:
        """Press and release a key."""
        given = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", **given, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **given)

    def picture(self, path: Path, tallest: int = 4000) -> None:
        """The page as PNG or WebP, down to a height."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(tallest, size["height"]), "scale": 1}
        kind = {"format": "webp", "quality": 80} if path.suffix == ".webp" else {"format": "png"}
        shot = self.send("Page.captureScreenshot", clip=clip, captureBeyondViewport=True, **kind)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        self._browser.send("Target.disposeBrowserContext", browserContextId=self.context)


@contextmanager
def running_chromium() -> Iterator[Chromium]:
    """A browser that ends with the block; the test is skipped where there is none."""
    program = chromium_path()
    if program is None:
        pytest.skip("chromium is not installed (`apt install chromium`)")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Chromium(program, Path(folder))
        try:
            yield browser
        finally:
            browser.close()
