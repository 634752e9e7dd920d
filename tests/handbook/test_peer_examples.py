"""The code of other libraries in the docs runs too, where they are installed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.handbook.peer_examples import BLOCK, PAGES

ROOT = Path(__file__).parent.parent.parent


def test_the_code_of_other_libraries_runs() -> None:
    """Each block runs against simulated providers, and no request of it is refused."""
    python = ROOT / ".venv-bench" / "bin" / "python"
    if not python.exists():
        pytest.skip("other libraries are not installed: `make bench` installs them into .venv-bench")
    command = [python, "-m", "tests.handbook.peer_examples"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.name)
def test_both_sides_are_shown(page: Path) -> None:
    """Each page has code of the other library and code of ours that does the same."""
    text = page.read_text()
    assert BLOCK.search(text) and re.search(r"^```python\n", text, re.MULTILINE)
    for code in BLOCK.findall(text):
        compile(code, page.name, "exec")
