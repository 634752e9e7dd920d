"""A crew of workers for tests: started by a nursery, with files that tell what their tools did."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class Crew:
    """Workers on one store. `effects` is the file in which their tools record what they do.

    `command` is what the program is started with: on another host, or under another clock.
    """

    def __init__(
        self,
        url: str,
        folder: Path,
        *,
        count: int,
        lease: float = 30.0,
        concurrency: int = 10,
        command: Sequence[str] = (),
        **more: str,
    ) -> None:
        self.effects = folder / "effects"
        environment = {**os.environ, "TURNOUT_EFFECTS": str(self.effects), **more}
        program = [*command, sys.executable, "-m", "tests.workers.nursery", url, str(lease), str(concurrency)]
        self._nursery = subprocess.Popen(
            program, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pids = [self.start() for _ in range(count)]

    def start(self) -> int:
        """Start one more worker."""
        assert self._nursery.stdin is not None and self._nursery.stdout is not None
        self._nursery.stdin.write("start\n")
        self._nursery.stdin.flush()
        return int(self._nursery.stdout.readline())

    def done(self) -> Counter[str]:
        """How often each call took effect."""
        return Counter(self.lines(""))

    def lines(self, suffix: str) -> list[str]:
        path = Path(f"{self.effects}{suffix}")
        return path.read_text().splitlines() if path.exists() else []

    def close(self) -> None:
        self._nursery.communicate(timeout=30)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
