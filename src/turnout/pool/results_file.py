"""The results of a pool on disk: one line an answer, written when it is there, read when the pool runs again.

A process that is killed leaves at most half a line at the end; it is cut off. Lines of prompts that failed
are dropped when the pool runs again, because those prompts are asked again. One process has the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from ..errors import StoreError, UsageError
from ..tools.confine.threads import in_daemon
from ..world.file_lock import try_lock
from .result import ResultLine


class ResultsFile:
    """A file of results. `answers` are the lines of earlier runs that hold an answer."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.answers: list[ResultLine] = []
        self._held: list[int] = []

    def open(self) -> None:
        """Take the file and read what earlier runs left; raises where another process has it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._hold_file()
        data = self.path.read_bytes()
        kept = [(raw, line) for raw, line in self._lines_in(data) if line.error is None]
        self.answers = [line for _, line in kept]
        whole = b"".join(raw + b"\n" for raw, _ in kept)
        if whole != data:
            self._replace_content(whole)

    def _hold_file(self) -> None:
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._held.append(descriptor)
            if not try_lock(descriptor):
                self.close()
                raise UsageError(
                    f"another process writes {self.path}; wait for its end, or give another file"
                )
            if os.path.samestat(os.fstat(descriptor), os.stat(self.path)):
                return  # else another process replaced the file between our open and our lock

    def _lines_in(self, data: bytes) -> Iterator[tuple[bytes, ResultLine]]:
        *lines, rest = data.split(b"\n")
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield line, self._parse_line(line, number)
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            # A last line without an end: half a line, or one that a person wrote.
            yield rest, msgspec.json.decode(rest, type=ResultLine)

    def _parse_line(self, line: bytes, number: int) -> ResultLine:
        try:
            return msgspec.json.decode(line, type=ResultLine)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.close()
            raise UsageError(
                f"{self.path}, line {number} is not a result of a pool ({error}); give another file for the "
                "results, or remove that line"
            ) from None

    def _replace_content(self, content: bytes) -> None:
        """Write the file anew, whole or not at all. The new one is held before it replaces the old."""
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        self._held.append(descriptor)
        try_lock(descriptor)
        os.write(descriptor, content)
        os.fsync(descriptor)
        beside.replace(self.path)

    async def append(self, line: str) -> None:
        """Write a line; when this returns it is on the disk."""
        descriptor = self._held[-1]
        try:
            data = line.encode("utf-8", "replace") + b"\n"
            if os.write(descriptor, data) < len(data):
                raise OSError("the disk took only a part of the line")
            await in_daemon(lambda: os.fsync(descriptor))
        except OSError as error:
            raise StoreError(f"{self.path}: {error}; free some space and run again to resume") from error

    def close(self) -> None:
        while self._held:
            os.close(self._held.pop())
