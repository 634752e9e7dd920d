"""`python -m tests.fuzz` runs every target in a process of its own; `… sse chat` runs some.

A target takes bytes and may raise nothing. What it finds is left in `tests/fuzz/found/`.
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
SECONDS = os.environ.get("FUZZ_SECONDS", "60")


def targets() -> dict[str, Any]:
    """Every target of every module here that names some."""
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules([str(HERE)]):
        if not module.name.startswith("_"):
            found |= getattr(import_module(f"tests.fuzz.{module.name}"), "TARGETS", {})
    return found


def names() -> list[str]:
    """The names alone, asked of a fresh process: importing here would go without instrumentation."""
    code = "from tests.fuzz.__main__ import targets; print(' '.join(targets()))"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


def fuzz(name: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["turnout"]):
        target = targets()[name]
    found = HERE / "found"
    found.mkdir(exist_ok=True)
    options = [
        f"-max_total_time={SECONDS}",
        "-timeout=10",  # of the clock, so a busy machine must not pass for a hang
        "-rss_limit_mb=2048",
        f"-artifact_prefix={found}/{name}-",
    ]
    with TemporaryDirectory() as corpus:
        atheris.Setup([sys.argv[0], *options, "-verbosity=0", corpus, *seeds()], target)
        atheris.Fuzz()


def seeds() -> list[str]:
    """Folders of streams to start from."""
    return [str(folder) for folder in sorted((HERE.parent / "fixtures").iterdir()) if folder.is_dir()]


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--one"]:
        fuzz(arguments[1])
        return 0
    failed, known = [], names()
    if strangers := [name for name in arguments if name not in known]:
        print(f"no target is called {', '.join(strangers)}; there are {', '.join(known)}")
        return 2
    for name in arguments or known:
        print(f"{name}: {SECONDS} s", flush=True)
        if subprocess.run([sys.executable, "-m", "tests.fuzz", "--one", name]).returncode:
            failed.append(name)
    print(f"found something: {', '.join(failed)}" if failed else "nothing found")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
