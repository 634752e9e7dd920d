"""Tests are found by name: they mirror the source, and each states a fact."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "turnout"
LARGE = 100
"""Lines from which on a module has a test file of its own."""


def test_every_large_module_has_a_test_of_its_name() -> None:
    """`wire/chat/encoder.py` is tested in `tests/wire/chat/test_encoder.py`."""
    missing = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.parent.name if path.name == "__init__.py" else path.stem
        folder = TESTS / path.parent.relative_to(SOURCE)
        if len(path.read_text().splitlines()) < LARGE or (path.parent == SOURCE and path.name[0] == "_"):
            continue
        beside = folder if path.name != "__init__.py" else folder.parent
        if not any((place / f"test_{name}.py").exists() for place in (folder, beside)):
            missing.append(str(path.relative_to(SOURCE)))
    assert not missing, f"{len(missing)} modules have no test of their name:\n" + "\n".join(missing)


def test_every_test_states_a_fact() -> None:
    """The docstring is a sentence about the product."""
    silent = []
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
                "test_"
            )
            if is_test and not ast.get_docstring(node):  # type: ignore[arg-type]
                silent.append(f"{path.relative_to(TESTS)} {node.name}")  # type: ignore[attr-defined]
    assert not silent, f"{len(silent)} tests state no fact:\n" + "\n".join(silent)
