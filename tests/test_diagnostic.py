"""Codes of diagnostics: short fixed words, each with one line."""

from __future__ import annotations

import re
from pathlib import Path

from turnout.diagnostic import CODES, Diagnostic

SOURCE = Path(__file__).parent.parent / "src" / "turnout"


def test_a_code_is_a_word_and_has_a_line() -> None:
    """So that codes can be counted and searched."""
    for code, line in CODES.items():
        assert re.fullmatch(r"[a-z][a-z_]*", code) and line and not line.endswith("."), code


def test_every_code_is_used() -> None:
    """A code that nothing reports is taken off the list."""
    written = "\n".join(path.read_text() for path in SOURCE.rglob("*.py") if path.name != "diagnostic.py")
    assert [code for code in CODES if f'"{code}"' not in written] == []


def test_a_diagnostic_is_a_value() -> None:
    """Two of the same code, call and detail are equal."""
    assert Diagnostic("history", "empty_id", "a", "b") == Diagnostic("history", "empty_id", "a", "b")
