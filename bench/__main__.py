"""`python -m bench` runs every measurement; `python -m bench render stream` runs some."""

from __future__ import annotations

import sys
from importlib import import_module

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
    "handoff",  # last, for it leaves switches of the libraries on
)


def main(names: list[str]) -> None:
    for name in names or ALL:
        try:
            module = import_module(f"bench.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"bench.{name}":
                raise
            continue
        print(f"\n## {name}\n")
        module.run()


main(sys.argv[1:])
