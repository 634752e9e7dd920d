"""`python -m bench` runs every measurement and writes `docs/measured.md`.

`python -m bench render stream` runs some, and writes nothing. In a run of all, each part is a process of
its own with a limit of time: a part that hangs or breaks says so on the page, and the others go on.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from inspect import getdoc
from pathlib import Path

ALL = (
    "history",
    "render",
    "ingest",
    "stream",
    "tools",
    "session",
    "http_clients",
    "startup",
    "store",
    "machines",
    "terminal",
    "gateway",
    "pages",
    "handoff",
)
LIMIT = 600.0
"""Seconds for one part, so that a run ends by itself. On a quiet machine none comes near it."""
PEERS = ("openai", "anthropic", "google-genai", "litellm", "pydantic-ai-slim", "langchain-openai", "httpx2")
ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "measured.md"
HEAD = """# Measured

`make bench` wrote this page, in an environment of its own with the versions that
`requirements/bench.txt` pins. Each heading is a part that can be run alone:
`.venv-bench/bin/python -m bench NAME`. All sides of a table are measured side by side in one run, as
CPU time, the best of several rounds: the ratios count, not the times.

Python {python}, {cores} cores, load {load:.1f} at the start. {versions}.
"""


def main(names: list[str]) -> int:
    """Run these parts here; without names run all, and write the page."""
    if not names:
        return _write_page()
    for name in names:
        _run_part(name)
    return 0


def _run_part(name: str) -> None:
    module = import_module(f"bench.{name}")
    print(f"## {name}\n\n{getdoc(module)}\n", flush=True)
    module.run()


def _write_page() -> int:
    pieces, broken = [_head()], []
    for name in ALL:
        text, fault = _part_in_a_process(name)
        pieces.append(text)
        print(text, flush=True)
        if fault:
            broken.append(name)
    PAGE.write_text("\n".join(pieces).rstrip() + "\n")
    if broken:
        print(f"These parts did not end well: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0


def _head() -> str:
    return HEAD.format(
        python=platform.python_version(),
        cores=os.cpu_count(),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        versions=", ".join(f"{name} {_version_of(name)}" for name in PEERS),
    )


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "is not installed"


def _part_in_a_process(name: str) -> tuple[str, str]:
    """What a part printed, with how long it took; and why it did not end well, else ""."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "bench", name], cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=LIMIT
        )
        text, fault = done.stdout, f"ended with {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        given = late.stdout or b""
        text, fault = given.decode() if isinstance(given, bytes) else given, f"took more than {LIMIT:.0f} s"
    took = f"This part took {time.monotonic() - began:.0f} s."
    return f"{text.rstrip()}\n\n{f'It {fault}. ' if fault else ''}{took}\n", fault


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
