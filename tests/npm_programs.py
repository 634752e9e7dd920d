"""Programs of npm: of the PATH, or those that `make clients` put into .npm."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / ".npm" / "node_modules" / ".bin"


def search_path() -> str:
    """The PATH with the folder of our own programs before it."""
    return f"{FOLDER}{os.pathsep}{os.environ.get('PATH', '')}"


def npm_program(name: str) -> str:
    """The file of a program; the test is skipped where it is not installed, and outside of `make soak`."""
    if not os.environ.get("TURNOUT_SOAK"):
        pytest.skip(f"{name} runs in `make soak` only")
    found = shutil.which(name, path=search_path())
    if found is None:
        pytest.skip(f"{name} is not installed; `make clients` does that")
    return found
