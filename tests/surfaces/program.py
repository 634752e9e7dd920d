"""The real program in a real pseudo-terminal: type, look at the screen, end it."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.surfaces.terminal.vt import Terminal

KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "up": "\x1b[A",
    "left": "\x1b[D",
    "alt+enter": "\x1b\r",
}
KEYS |= {f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"}
PATIENCE = float(os.environ.get("TURNOUT_PATIENCE", "60"))
IDLE = r"\A(?!.*esc interrupts).*^ [a-z-]+:\S+[^\n]*\Z"
"""A screen on which nothing moves: its last line is the status line."""
SPACE = re.compile(r"(?<=[^\s^\\|(\[]) (?![\s?*+{\]|)$])")
"""A space between two words of a pattern: a long path before it can make it the end of a line."""


class Program:
    """`turnout` with a keyboard and a screen."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        columns: int = 90,
        rows: int = 30,
    ) -> None:
        self.terminal = Terminal(columns, rows)
        self.finish_arguments = bytearray()
        self.code: int | None = None
        self._changed = threading.Condition()
        self.pid, self._descriptor = self._start(arguments, environment, folder, columns, rows)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _start(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path, columns: int, rows: int
    ) -> tuple[int, int]:
        command = [sys.executable, "-m", "turnout", *arguments]
        environment = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
        pid, descriptor = pty.fork()
        if not pid:
            try:
                os.chdir(folder)
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.execve(sys.executable, command, dict(environment))
            finally:
                os._exit(127)
        return pid, descriptor

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except OSError:
                data = b""
            with self._changed:
                self.finish_arguments += data
                self.terminal.feed(decoder.decode(data))
                self._changed.notify_all()
            if not data:
                return

    def type(self, text: str) -> None:
        """Type letters; what the program draws for them is not waited for."""
        os.write(self._descriptor, text.encode())

    def key(self, *names: str) -> None:
        for name in names:
            self.type(KEYS.get(name, name))
            time.sleep(0.03)

    def say(self, text: str) -> None:
        self.type(text)
        self.key("enter")

    def wait(self, pattern: str, *, scrolled: bool = True, timeout: float = PATIENCE) -> str:
        """What is on the screen (or was, with `scrolled`) once it matches, wherever its lines are wrapped."""
        found = re.compile(SPACE.sub(r"\\s+", pattern), re.DOTALL | re.MULTILINE)
        ends = time.monotonic() + timeout

        def seen() -> str:
            return self.terminal.text if scrolled else self.terminal.screen

        with self._changed:
            while not found.search(text := seen()):
                left = ends - time.monotonic()
                assert left > 0, f"never saw {pattern!r}; the screen is:\n{text}"
                self._changed.wait(left)
        return text

    def settled(self, pattern: str) -> str:
        """What was shown once it matches, nothing is under way, and the status line is there again."""
        self.wait(pattern)
        self.wait(IDLE, scrolled=False)
        return self.wait(pattern)

    def resize(self, columns: int, rows: int) -> None:
        with self._changed:
            self.terminal.resize(columns, rows)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def ended(self, timeout: float = PATIENCE) -> int:
        """The exit code, once the program has ended of itself; minus the signal that ended it."""
        ends = time.monotonic() + timeout
        while self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                break
            assert time.monotonic() < ends, f"it does not end; the screen is:\n{self.terminal.screen}"
            time.sleep(0.02)
        self._reader.join(5)
        return self.code

    def close(self) -> None:
        if self.code is None:
            self.signal(signal.SIGKILL)
            self.ended()
        os.close(self._descriptor)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
