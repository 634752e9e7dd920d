"""What a start costs: CPU time of a fresh process, and how many modules it has loaded by then."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterable

from msgspec import Struct

ROUNDS = 4
MODULES = "import sys; print(len(sys.modules))"
QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # it would ask the network for prices


class Start(Struct):
    """The best of several starts."""

    seconds: float
    modules: int

    def over(self, bare: Start) -> Start:
        return Start(self.seconds - bare.seconds, self.modules - bare.modules)

    def cells(self, bare: Start) -> tuple[str, str]:
        ours = self.over(bare)
        return f"{ours.seconds * 1e3:.1f}", f"{ours.modules:,}"


def starts(statements: Iterable[str], rounds: int = ROUNDS) -> dict[str, Start]:
    """A start with each of these, and a bare one under "", taken in turn."""
    found: dict[str, Start] = {}
    for _ in range(rounds):
        for statement in ("", *statements):
            seconds = spent([sys.executable, "-c", statement])
            if statement not in found:
                found[statement] = Start(seconds, _modules(statement))
            found[statement].seconds = min(found[statement].seconds, seconds)
    return found


def spent(command: list[str]) -> float:
    """Seconds of CPU of a command, with those of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env={**os.environ, **QUIET})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _modules(statement: str) -> int:
    command = [sys.executable, "-c", f"{statement}\n{MODULES}"]
    told = subprocess.run(command, capture_output=True, check=True, env={**os.environ, **QUIET})
    return int(told.stdout.split()[-1])
