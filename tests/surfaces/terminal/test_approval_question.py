"""Approval questions and their answers, as values."""

from __future__ import annotations

import pytest

from turnout.surfaces.terminal.approval_question import (
    CHOICES,
    EDIT,
    NO,
    ONCE,
    arguments_text,
    decision,
    question_of,
)
from turnout.tools.policy.approval import ApprovalRequest


def asked(tool: str = "shell", **arguments: object) -> ApprovalRequest:
    return ApprovalRequest("c1", tool, arguments, "risky", "ask mode asks")


def test_a_question_leaves_no_argument_out() -> None:
    """The command stands by itself; whatever else was given follows, line by line."""
    shown = question_of(asked(command="ls\nrm x", timeout=9, note="a\nb"), lambda path: None)

    assert shown.subject == "ls\nrm x"
    assert shown.details == ("timeout: 9", "note: a", "  b")
    outside = ApprovalRequest("c", "write_file", {"path": "/etc/x"}, "write", "why", ("/etc/x",), "outside")
    assert question_of(outside, lambda path: None).details == ("outside the workspace: /etc/x",)


def test_a_lasting_yes_says_what_it_covers() -> None:
    """As the policy has it: by what the tool can do, whatever this one call is judged to be."""
    mild = ApprovalRequest("c", "shell", {"command": "touch x"}, "write", "why")

    assert question_of(mild, lambda path: None, "risky").covers == "exactly this call"
    assert question_of(mild, lambda path: None, "write").covers == "every shell inside the workspace"


def test_answers_bind_to_their_question() -> None:
    """Every choice gives a decision on this request; edited arguments must be a JSON object."""
    request = asked(command="ls")

    for choice in CHOICES:
        text = '{"command": "ls -l"}' if choice is EDIT else ""
        assert request.binds(decision(request, choice, text))
    assert decision(request, NO, "not now").message == "not now"
    assert decision(request, ONCE).answer == "once"
    assert decision(request, EDIT, arguments_text(request.arguments)).arguments == {"command": "ls"}
    with pytest.raises(ValueError):
        decision(request, EDIT, "[1]")
