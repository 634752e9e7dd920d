"""The picture of the layers, checked: imports point down only, and what is pure stays pure."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "turnout"

# A layer may import itself and what stands after it on its line.
BELOW = {
    "surfaces": "simulate runtime providers tools wire rendering streaming history",
    "simulate": "runtime providers tools wire rendering streaming history",
    "runtime": "providers tools wire rendering streaming history",
    "providers": "wire rendering streaming history",
    "tools": "history",
    "wire": "rendering streaming history",
    "rendering": "history",
    "streaming": "",
    "history": "",
}
BOTTOM = {"__version__", "declarations", "json_size", "model", "plain", "errors", "diagnostic", "ids"}
TOP = {"__init__", "__main__", "demo"}

IMPURE = {
    "asyncio",
    "time",
    "random",
    "uuid",
    "datetime",
    "os",
    "httpx2",
    "apsw",
    "subprocess",
    "threading",
    "socket",
}
IO_FILES = {"tools/schedule/scheduler.py", "tools/confine/process.py"}
PURE_LAYERS = ("providers", "wire", "rendering", "streaming", "history", "")


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Absolute names of what a module imports, with relative ones resolved."""
    package = ["turnout", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            yield stem
            if not node.module or stem == "turnout":
                yield from (f"{stem}.{alias.name}" for alias in node.names)


def layer(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else ""


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down_only(path: Path) -> None:
    """A module imports from its own layer and the ones below it, never from above."""
    here = layer(path)
    if not here and path.stem in TOP:
        return
    allowed = {here, *BELOW.get(here, "").split(), *BOTTOM}
    for name in imports(path):
        if name.startswith("turnout.") and name.count(".") >= 1:
            used = name.split(".")[1]
            assert used in allowed, f"{path.relative_to(SOURCE)} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_what_is_pure_touches_nothing_that_differs_between_runs(path: Path) -> None:
    """No clock, randomness, environment, network or event loop below the runtime."""
    if layer(path) not in PURE_LAYERS or (not layer(path) and path.stem in TOP):
        return
    touched = {name.split(".")[0] for name in imports(path)} & IMPURE
    assert not touched, f"{path.relative_to(SOURCE)} imports {', '.join(sorted(touched))}"


HEAVY = (
    "httpx2",
    "httpx",
    "starlette",
    "uvicorn",
    "prompt_toolkit",
    "rich",
    "mcp",
    "apsw",
    "asyncio",
    "click",
)


def test_import_turnout_is_light() -> None:
    """`import turnout` loads no HTTP client, server, terminal, database or MCP package."""
    code = "import sys, turnout; print(','.join(sorted(name for name in sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not set(HEAVY) & set(loaded.strip().split(","))
