"""Every rule of the rulebook is applied or listed with the reason why not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import turnout.wire.check as package
from turnout.wire.check import AMENDED, UNCHECKED

RULEBOOK = Path(__file__).parents[4] / "shared" / "rulebook" / "rulebook.json"
SOURCE = Path(package.__file__).parent
PROVEN = re.compile(r"\[[AB]\]")
CHAT = ("OAC", "MIS", "KIM", "DSK", "QWN", "XAI", "COP", "ORT", "VLL", "LCP", "OLL")

needs_rulebook = pytest.mark.skipif(not RULEBOOK.is_file(), reason=f"no rulebook at {RULEBOOK}")


def rules() -> list[dict[str, str]]:
    return list(json.loads(RULEBOOK.read_text("utf-8"))) if RULEBOOK.is_file() else []


def applied() -> set[str]:
    """The rules that the checkers' own source names."""
    files = (path for path in SOURCE.rglob("*.py") if path.name not in ("unchecked.py", "amended.py"))
    return {rule for path in files for rule in re.findall(r'"([A-Z]{3,4}-\d\d)"', path.read_text("utf-8"))}


@needs_rulebook
def test_every_rule_is_applied_or_listed() -> None:
    """No rule of the rulebook is forgotten."""
    assert {rule["id"] for rule in rules()} - applied() - set(UNCHECKED) == set()


def test_no_rule_is_both_applied_and_listed() -> None:
    """A rule that is applied now leaves the list."""
    assert applied() & set(UNCHECKED) == set()


@needs_rulebook
def test_only_rules_that_exist_are_named() -> None:
    """Every number is one of the rulebook or of our own list."""
    assert (applied() | set(UNCHECKED)) - {rule["id"] for rule in rules()} - set(AMENDED) == set()


@needs_rulebook
def test_rules_of_our_own_are_applied_and_have_evidence() -> None:
    """A number of ours is not one of the rulebook's, and says where the rule was seen."""
    assert set(AMENDED) - applied() == set()
    assert set(AMENDED) & {rule["id"] for rule in rules()} == set()
    assert all(re.match(r"[RPD]: ", evidence) for evidence in AMENDED.values())


@needs_rulebook
def test_of_the_chat_family_only_what_a_body_cannot_show_is_left_out() -> None:
    """A refusal that somebody has seen is applied; which roles a chat template takes is not in a body."""
    refusals = {
        rule["id"]
        for rule in rules()
        if rule["severity"] in ("error", "model")
        and PROVEN.search(rule["evidence"])
        and rule["id"][:3] in CHAT
    }

    assert refusals & set(UNCHECKED) == {"VLL-04"}


def test_every_reason_is_given() -> None:
    """Each rule that is not checked has a reason."""
    assert all(reason.strip() for reason in UNCHECKED.values())
