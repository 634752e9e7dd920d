"""Every rule of the rulebook is applied or listed with the reason why not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import turnout.wire.check as package
from turnout.wire.check import UNCHECKED

RULEBOOK = Path(__file__).parents[4] / "shared" / "rulebook" / "rulebook.json"
SOURCE = Path(package.__file__).parent
IN_SCOPE = re.compile(r"\[[AB]\]")

needs_rulebook = pytest.mark.skipif(not RULEBOOK.is_file(), reason=f"no rulebook at {RULEBOOK}")


def rules() -> list[dict[str, str]]:
    return list(json.loads(RULEBOOK.read_text("utf-8"))) if RULEBOOK.is_file() else []


def applied() -> set[str]:
    """The rules that the checkers' own source names."""
    files = (path for path in SOURCE.glob("*.py") if path.name != "unchecked.py")
    return {rule for path in files for rule in re.findall(r'"([A-Z]{3,4}-\d\d)"', path.read_text("utf-8"))}


@needs_rulebook
def test_every_rule_is_applied_or_listed() -> None:
    assert {rule["id"] for rule in rules()} - applied() - set(UNCHECKED) == set()


def test_no_rule_is_both_applied_and_listed() -> None:
    assert applied() & set(UNCHECKED) == set()


@needs_rulebook
def test_only_rules_that_exist_are_named() -> None:
    assert (applied() | set(UNCHECKED)) - {rule["id"] for rule in rules()} == set()


def test_every_reason_is_given() -> None:
    assert all(reason.strip() for reason in UNCHECKED.values())
