"""Calls that wait: all of a command is in view, and a form answers once."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from tests.surfaces.pages.shown import Shown, shown

from turnout import ToolCall
from turnout.history.waiting import WaitingCall
from turnout.tools.policy.approval import ApprovalRequest

COMMAND = "rm -rf build\n" + "# a long comment\n" * 50 + "\u202eecho done"


def add_waiting(made: Shown) -> str:
    history = made.store.open("w")
    history.user("Clean up.")
    turn = history.reply("openai:m", [ToolCall("c1", "shell", {"command": COMMAND})])
    id = turn.tool_calls[0].id
    asked = ApprovalRequest(id, "shell", {"command": COMMAND}, "risky", "it changes files")
    question = {**msgspec.to_builtins(asked), "fingerprint": asked.bound_to}
    call = WaitingCall("w", id, "shell", {"command": COMMAND}, "approval", question)
    history.note("waiting_call", msgspec.to_builtins(call))
    made.store.release("w")
    return id


def form_of(page: str, answer: str) -> dict[str, str]:
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
    return {**hidden, "answer": answer, "text": "not now"}


def test_the_whole_command_is_in_view(tmp_path: Path) -> None:
    """Nothing of what is agreed to is cut off, and what cannot be seen is spelled out."""
    with shown(tmp_path) as made:
        add_waiting(made)
        page = made.text("/waiting")
        assert page.count("# a long comment") == 50 and "&lt;U+202E&gt;echo done" in page
        assert "it changes files" in page


def test_a_form_answers_once(tmp_path: Path) -> None:
    """The first answer is stored; the same form again, or a forged one, changes nothing."""
    with shown(tmp_path) as made:
        add_waiting(made)
        form = form_of(made.text("/waiting"), "no")
        assert made.ask("/waiting", form={**form, "nonce": "forged"}).status == 404
        assert not made.store.waiting_calls()[0].answered
        assert made.ask("/waiting", form=form).status == 303
        assert made.store.waiting_calls()[0].answered
        assert made.ask("/waiting", form=form).status == 404
        assert "Answered" in made.text("/waiting")


def test_an_answer_needs_the_cookie_and_our_own_origin(tmp_path: Path) -> None:
    """Another site cannot answer for the user, and neither can JSON."""
    with shown(tmp_path) as made:
        add_waiting(made)
        form = form_of(made.text("/waiting"), "yes")
        assert made.ask("/waiting", form=form, origin="http://evil.example").status == 403
        assert made.ask("/waiting", form=form, signed_in=False, accept="*/*").status == 401
        assert made.ask("/waiting", method="POST", content_type="application/json").status == 415
        assert not made.store.waiting_calls()[0].answered


def test_no_works_for_a_question_of_another_version(tmp_path: Path) -> None:
    """A question that lacks fields, or has others, can be refused like any other."""
    for question in ({}, {"risk": "odd", "paths": 7, "more": [1]}, {"fingerprint": "f"}):
        folder = tmp_path / str(len(question))
        folder.mkdir()
        with shown(folder) as made:
            history = made.store.open("w")
            history.user("Go.")
            (call,) = history.reply("openai:m", [ToolCall("c1", "shell", {"command": "ls"})]).tool_calls
            waiting = WaitingCall("w", call.id, "shell", {"command": "ls"}, "approval", question)
            history.note("waiting_call", msgspec.to_builtins(waiting))
            made.store.release("w")
            answer = made.ask("/waiting", form=form_of(made.text("/waiting"), "no"))
            assert answer.status == 303 and made.store.waiting_calls()[0].answered


def test_a_change_is_shown_with_its_two_sides(tmp_path: Path) -> None:
    """What would be written is a diff in colours, and none of it is cut off."""
    with shown(tmp_path) as made:
        history = made.store.open("w")
        history.user("Go.")
        change = "--- a\n+++ b\n@@ -1 +1 @@\n" + "+new line\n" * 500
        (call,) = history.reply("openai:m", [ToolCall("c1", "patch", {"patch": change})]).tool_calls
        waiting = WaitingCall("w", call.id, "patch", {"patch": change}, "approval")
        history.note("waiting_call", msgspec.to_builtins(waiting))
        made.store.release("w")
        assert made.text("/waiting").count('<span class="add">+new line</span>') == 500
