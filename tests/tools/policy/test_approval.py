"""Questions about calls, and the answers that are bound to them."""

from __future__ import annotations

from turnout.tools.policy.approval import ApprovalRequest, denied_outcome


def request(call_id: str = "c", command: str = "ls") -> ApprovalRequest:
    return ApprovalRequest(
        call_id, "shell", {"command": command}, "risky", "ask mode asks before risky calls"
    )


def test_an_answer_binds_to_its_question() -> None:
    """Not to another call, not to other arguments, and nothing else is an answer."""
    answer = request().once()
    assert request().binds(answer)
    assert not request("other").binds(answer)
    assert not request(command="rm -r .").binds(answer)
    assert not request().binds("yes")


def test_every_answer_carries_what_it_needs() -> None:
    """A refusal its message, an edit its arguments."""
    assert request().no("use rg instead").message == "use rg instead"
    assert request().edit({"command": "ls -l"}).arguments == {"command": "ls -l"}
    assert [request().for_session().answer, request().always().answer] == ["session", "always"]


def test_surfaces_show_what_cannot_be_seen() -> None:
    """A character that turns the reading direction is written as its code point."""
    assert request(command="ls\u202e").visible_arguments == {"command": "ls<U+202E>"}


def test_a_refusal_is_an_outcome_with_its_reason() -> None:
    """Without a message it has no content."""
    assert (denied_outcome("no").status, denied_outcome("no").text, denied_outcome("").content) == (
        "denied",
        "no",
        (),
    )
