"""Calls of Responses that are not function calls."""

from __future__ import annotations

from typing import Any

from turnout.model import Media, Origin, Outcome, Residue, Text, ToolCall, ToolResponse
from turnout.wire.responses.client_forms import call_item, can_answer, form_of, output_item

HOME = Origin("openai-responses", "", "gpt-5.1")
SHELL = {"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {"commands": ["ls"]}}


def call(**data: Any) -> ToolCall:
    return ToolCall(id="c", name="shell", arguments={"input": "ls"}, residue=Residue(HOME, data))


def response(*content: Any) -> ToolResponse:
    return ToolResponse("c", "shell", Outcome("complete", content))


def test_a_call_keeps_the_form_that_openai_gave_it() -> None:
    """A damaged item is a function call like any other."""
    assert form_of(call(item=SHELL)) == "shell_call"
    assert form_of(call(item={"type": "shell_call"})) == ""
    assert form_of(call(custom=True)) == "custom_tool_call"


def test_a_form_is_kept_only_if_the_result_can_take_it() -> None:
    """A shell returns text; media needs the output of a function."""
    assert can_answer("shell_call", response(Text("a.txt")))
    assert not can_answer("shell_call", response(Media("image/png", data="aGk=")))


def test_an_item_goes_back_without_its_id() -> None:
    """OAR-09: the id would tie it to reasoning that may be missing."""
    item = call_item(call(item=SHELL), "shell_call", "call_9", "shell")

    assert "id" not in item and item["call_id"] == "call_9"


def test_an_output_has_the_form_of_its_call() -> None:
    """The text of the result is the output of the command."""
    item = output_item(call(item=SHELL), "shell_call", response(Text("a.txt")), "call_9", "a.txt")

    assert item["type"] == "shell_call_output" and item["output"][0]["stdout"] == "a.txt"
