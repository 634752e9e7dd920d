"""Type checkers see turnout as its users write against it: examples, and the code of the documentation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LEFT_OUT = ("coming-from", "decisions")
"""Folders of pages whose code is half another library's, or is not meant to be copied."""

WRONG = """
import turnout
from turnout import Session

turnout.Sesion("openai:gpt-5.1")
session = Session("openai:gpt-5.1", tols=[])
answer: int = session.ask_sync("Hi").text
"""
RIGHT = """
from dataclasses import dataclass
from turnout import *
import turnout

@dataclass
class City:
    name: str

async def main(session: Session) -> str:
    city: City | None = (await session.ask("A city", output=City)).output
    assert city is not None
    async for event in session.run("Hi"):
        if isinstance(event, turnout.TextDelta):
            return event.text
    return city.name + turnout.simulate.Call("a").name + str(turnout.errors.UsageError("b"))
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with a right program and a wrong one."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text(WRONG)
    return folder


def test_mypy_strict_passes_examples_and_finds_misuse(programs: Path) -> None:
    """Examples are fully typed. A misspelt name, a misspelt parameter and a wrong type are found."""
    # Without folder and options of its own, mypy uses the cache of `make check` and reads only these files.
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(EXAMPLES), str(programs)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    check_errors([line for line in done.stdout.splitlines() if ": error:" in line], done.stderr)


def test_basedpyright_passes_examples_and_documentation_and_finds_misuse(programs: Path) -> None:
    """Strictly for the examples. In what people copy from pages, annotations may be missing."""
    if find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed")
    write_blocks(programs)
    config = programs.parent / "pyrightconfig.json"
    settings = {"include": [str(EXAMPLES), str(programs)], "strict": [str(EXAMPLES)], "pythonVersion": "3.11"}
    config.write_text(json.dumps({"typeCheckingMode": "standard", **settings}))
    command = [sys.executable, "-m", "basedpyright", "-p", str(config), "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    check_errors([line for line in done.stdout.splitlines() if " - error: " in line], done.stderr)


def check_errors(errors: list[str], trouble: str) -> None:
    """The three mistakes of the wrong program are told, and no other."""
    assert not [line for line in errors if "wrong.py" not in line], trouble
    told = "\n".join(errors)
    assert len(errors) == 3 and all(word in told for word in ("Sesion", "tols", "int")), told + trouble


def write_blocks(folder: Path) -> None:
    """Every Python block of the readme and the pages, each in a file of its own."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if page.parent.name not in LEFT_OUT:
            for number, found in enumerate(BLOCK.finditer(page.read_text()), 1):
                (folder / f"{page.stem.replace('-', '_')}_{number}.py").write_text(found.group(1))
