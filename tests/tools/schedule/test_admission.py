"""From what a model wrote to a call that may run, or the outcome that says why not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from turnout.model import ToolCall
from turnout.tools.declare.registry import Registry
from turnout.tools.declare.tool import tool
from turnout.tools.policy.rules import Policy
from turnout.tools.schedule.admission import Admitted, RefusedCall, admit_call, admit_edited


@tool(risk="write")
def write_note(path: str, lines: int = 1) -> str:
    """Write a note."""
    return path


def broken_paths(arguments: Mapping[str, Any]) -> list[str]:
    raise ValueError("no paths")


REGISTRY = Registry([write_note, tool(lambda: None, name="broken", paths=broken_paths)])


def admitted(name: str, arguments: dict[str, Any], mode: Any = "ask") -> Admitted | RefusedCall:
    return admit_call(ToolCall("c", name, arguments), REGISTRY, Policy(mode))


def test_a_call_that_fits_has_its_places_and_its_verdict() -> None:
    """Paths are normal, and the policy has decided."""
    found = admitted("write_note", {"path": "./a/../b"})
    assert isinstance(found, Admitted)
    assert (found.subject.paths, found.footprint.changes, found.verdict.effect) == ((("b",),), True, "ask")


def test_a_repaired_call_says_what_was_repaired() -> None:
    """The name and the values, each on its own."""
    found = admitted("functions.write_note", {"path": "a", "lines": "3"})
    assert isinstance(found, Admitted)
    assert (found.renamed, found.repairs, found.arguments["lines"]) == (True, ("number at lines",), 3)


def test_a_call_that_cannot_run_is_an_outcome_and_a_word() -> None:
    """Unknown tool, a tool that is switched off, arguments that do not fit, paths that cannot be computed."""
    cases = {
        "unknown_tool": admitted("nothing", {}),
        "disabled_tool": admitted("write_note", {"path": "a"}, "plan"),
        "invalid_arguments": admitted("write_note", {}),
        "paths": admitted("broken", {}),
    }
    for why, found in cases.items():
        assert isinstance(found, RefusedCall)
        assert (found.why, found.outcome.status) == (why, "error")


def test_arguments_of_the_user_are_checked_like_a_models() -> None:
    """An edit that does not fit is refused with the same problems."""
    found = admit_edited(write_note, {"lines": 1}, Policy())
    assert isinstance(found, RefusedCall)
    assert json.loads(found.outcome.text)["tool_error"]["missing"] == ["path"]
