"""`python -m bench` runs every measurement and writes `docs/measured.md`.

`python -m bench render stream` runs some, and writes nothing.
"""

from __future__ import annotations

import io
import os
import platform
import sys
from contextlib import redirect_stdout
from importlib import import_module
from importlib.metadata import version
from inspect import getdoc
from pathlib import Path
from types import ModuleType

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
    "terminal",
    "gateway",
    "pages",
    "handoff",  # last, for it leaves switches of the libraries on
)
PEERS = ("openai", "anthropic", "google-genai", "litellm", "pydantic-ai-slim", "langchain-openai", "httpx2")
PAGE = Path(__file__).parent.parent / "docs" / "measured.md"
HEAD = """# Measured

`make bench` wrote this page, in an environment of its own with the versions that
`requirements/bench.txt` pins. Each heading is a part that can be run alone:
`.venv-bench/bin/python -m bench NAME`. All sides of a table are measured side by side in one run, as
CPU time, the best of several rounds: the ratios count, not the times.

Python {python}, {cores} cores, load {load:.1f} at the start. {versions}.
"""


class Copying(io.StringIO):
    """Keeps what is printed, and prints it."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]
        return super().write(text)


def main(names: list[str]) -> None:
    page = Copying()
    head = HEAD.format(
        python=platform.python_version(),
        cores=os.cpu_count(),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        versions=", ".join(f"{name} {version(name)}" for name in PEERS),
    )
    with redirect_stdout(page):
        print(head)
        for name in names or ALL:
            _run_part(import_module(f"bench.{name}"), name)
    if not names:
        PAGE.write_text(page.getvalue().rstrip() + "\n")


def _run_part(module: ModuleType, name: str) -> None:
    print(f"\n## {name}\n")
    print(f"{getdoc(module)}\n")
    module.run()


if __name__ == "__main__":
    main(sys.argv[1:])
