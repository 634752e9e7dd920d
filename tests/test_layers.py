"""The picture of the layers, checked: imports point down only, and what is pure stays pure."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.layers import BOTTOM, IMPURE, IMPURE_FILES, MAY_IMPORT, PURE, TOP, WITHIN, draw_layers

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "turnout"


def module_names() -> list[str]:
    """Every module as a path below the package, such as `wire/chat/encoder.py`."""
    return sorted(str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py"))


def imported_names(name: str, text: str) -> Iterator[str]:
    """Absolute names of what a module imports, with relative ones resolved."""
    package = ["turnout", *name.split("/")[:-1]]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def broken_layers(name: str, text: str) -> list[str]:
    """The imports of a module that point up, or aside."""
    folder, *rest = name.split("/")
    if not rest and folder.removesuffix(".py") in TOP:
        return []
    allowed = {folder, *MAY_IMPORT.get(folder, "").split(), *BOTTOM} if rest else set(BOTTOM)
    within = WITHIN.get(folder, {})
    room = rest[0] if within and len(rest) > 1 else None
    rooms = {room, *within.get(room or "", "").split()}
    found = []
    for used in imported_names(name, text):
        parts = used.split(".")
        if parts[0] != "turnout" or len(parts) < 2:
            continue
        aside = room and parts[1] == folder and parts[2] in within and parts[2] not in rooms
        if parts[1] not in allowed or aside:
            found.append(used)
    return found


def impure_imports(name: str, text: str) -> set[str]:
    """What a pure module imports of the world; nothing for modules that need not be pure."""
    folder = name.rpartition("/")[0]
    is_pure = any(name == pure or folder == pure or (pure and folder.startswith(f"{pure}/")) for pure in PURE)
    if not is_pure or name in IMPURE_FILES or name.removesuffix(".py") in TOP:
        return set()
    return {used.split(".")[0] for used in imported_names(name, text)} & set(IMPURE)


@pytest.mark.parametrize("name", module_names())
def test_imports_point_down_only(name: str) -> None:
    """A module imports from its own folder and the ones below it, never from above."""
    assert broken_layers(name, (SOURCE / name).read_text()) == []


@pytest.mark.parametrize("name", module_names())
def test_what_is_pure_touches_nothing_that_differs_between_runs(name: str) -> None:
    """No clock, randomness, environment, network or event loop in the pure folders."""
    assert impure_imports(name, (SOURCE / name).read_text()) == set()


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("history/new.py", "from ..wire.protocol import Protocol"),
        ("wire/chat/new.py", "from ...session import session"),
        ("wire/chat/new.py", "from turnout.providers import find"),
        ("store/new.py", "def f():\n    from ..session.session import Session"),
        ("tools/declare/new.py", "from ..policy.rules import Rule"),
        ("tools/policy/new.py", "from ..confine import workspace"),
        ("tools/schedule/new.py", "from ..builtin.read import read_file"),
        ("plain.py", "from .history.log import History"),
    ],
)
def test_one_line_that_points_up_is_found(name: str, line: str) -> None:
    """The test itself is tested: a module that breaks the picture by one import is named."""
    assert broken_layers(name, f"import re\n{line}\n")
    assert not broken_layers(name, "import re\nfrom turnout.errors import UsageError\n")


@pytest.mark.parametrize("line", [f"import {name}" for name in IMPURE] + ["from os import environ"])
@pytest.mark.parametrize("folder", ["history", "wire/chat", "targets", "tools/policy", "tools/schedule"])
def test_one_line_that_touches_the_world_is_found(folder: str, line: str) -> None:
    """Also inside a function, where it hides."""
    assert impure_imports(f"{folder}/new.py", f"def f():\n    {line}\n")


def test_the_exceptions_are_needed() -> None:
    """A file that became pure leaves the list of those that are not."""
    for name in IMPURE_FILES:
        used = {each.split(".")[0] for each in imported_names(name, (SOURCE / name).read_text())}
        assert used & set(IMPURE), name


def test_the_docs_show_the_same_picture() -> None:
    """`docs/architecture.md` holds what `tests/layers.py` draws."""
    assert draw_layers() in (ROOT / "docs" / "architecture.md").read_text()


def test_every_folder_says_what_lives_there() -> None:
    """The docstring of each package says what lives there, what others may import, and what it may import."""
    for path in SOURCE.rglob("__init__.py"):
        assert len(ast.get_docstring(ast.parse(path.read_text())) or "") > 60, path.relative_to(SOURCE)


HEAVY = (
    *("httpx2", "httpx", "starlette", "uvicorn", "prompt_toolkit", "rich", "mcp", "apsw", "asyncio", "click"),
)


def test_import_turnout_is_light() -> None:
    """`import turnout` loads no HTTP client, server, terminal, database or MCP package."""
    code = "import sys, turnout; print(','.join(sorted(name for name in sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not set(HEAVY) & set(loaded.strip().split(","))
