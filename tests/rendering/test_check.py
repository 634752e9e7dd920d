"""The checker of transcripts: each rule has a transcript that it alone finds fault with."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import force_setattr

from turnout.diagnostic import CODES
from turnout.model import (
    Message,
    Origin,
    Outcome,
    Residue,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from turnout.rendering import check
from turnout.rendering.check import violations

TARGET = Origin("openai", "", "gpt-5.1")
OTHER = Origin("anthropic", "", "claude-sonnet-4-5")
THOUGHT = Thinking("hm", Residue(TARGET, {"signature": "s"}))


def user(*blocks: Any) -> Message:
    return Message("user", blocks or (Text("hi"),))


def model(*blocks: Any) -> Message:
    return Message("model", blocks, TARGET)


def tool(*blocks: Any) -> Message:
    return Message("tool", blocks)


def call(name: str) -> ToolCall:
    return ToolCall(f"hist_tool_{name}", name)


def result(name: str, content: Any = "done", tool_name: str = "") -> ToolResponse:
    outcome = content if isinstance(content, Outcome) else Outcome("complete", content)
    return ToolResponse(f"hist_tool_{name}", tool_name or name, outcome)


def forced(value: Any, **fields: Any) -> Any:
    """A value that could not be built: what a bug leaves behind."""
    for name, wrong in fields.items():
        force_setattr(value, name, wrong)
    return value


FAULTY: list[tuple[str, list[Any]]] = [
    ("foreign_message", [user(), "hello"]),
    ("foreign_message", [forced(user(), role="assistant")]),
    ("hollow_message", [user(), model()]),
    ("foreign_part", [user({"type": "text"})]),
    ("call_from_another", [user(call("a")), tool(result("a"))]),
    ("result_from_another", [model(call("a")), user(result("a"))]),
    ("thinking_from_another", [user(Thinking("hm"))]),
    ("stranger_among_results", [model(call("a")), tool(result("a"), Text("and"))]),
    ("call_without_result", [user(), model(call("a"), call("b")), tool(result("a"))]),
    ("call_without_result", [user(), model(call("a"))]),
    ("result_without_call", [user(), tool(result("a"))]),
    ("answered_twice", [model(call("a")), tool(result("a"), result("a"))]),
    ("answered_twice", [model(call("a")), tool(result("a")), user(), tool(result("a"))]),
    ("called_twice", [model(call("a"), call("a")), tool(result("a"))]),
    ("split_results", [model(call("a"), call("b")), tool(result("a")), tool(result("b"))]),
    ("result_apart_from_call", [model(call("a")), user(), tool(result("a"))]),
    ("result_apart_from_call", [tool(result("a")), model(call("a"))]),
    (
        "result_apart_from_call",
        [model(call("a")), model(call("b")), tool(result("b")), tool(result("a"))],
    ),
    ("results_out_of_order", [model(call("a"), call("b")), tool(result("b"), result("a"))]),
    ("result_of_another_name", [model(call("a")), tool(result("a", tool_name="b"))]),
    ("bad_result", [model(call("a")), tool(forced(result("a"), outcome="done"))]),
    ("bad_result", [model(call("a")), tool(result("a", forced(Outcome("error", "x"), status="fine")))]),
    ("bad_result", [model(call("a")), tool(result("a", forced(Outcome("complete"), content=("x",))))]),
    ("empty_result", [model(call("a")), tool(result("a", " \n"))]),
    ("empty_result", [model(call("a")), tool(result("a", Outcome("complete")))]),
    (
        "call_inside_result",
        [model(call("a")), tool(result("a", forced(Outcome("error"), content=(call("b"),))))],
    ),
    ("empty_text", [user(), model(Text(""), Text("hello"))]),
    ("empty_text", [user(), model(THOUGHT, Text(""))]),
    ("unreadable_text", [user(Text("\ud800"))]),
    (
        "unreadable_text",
        [model(call("a")), tool(result("a", forced(Outcome("error"), content=(Text("\0"),))))],
    ),
    ("arguments_no_object", [model(forced(call("a"), arguments="{}")), tool(result("a"))]),
    ("leaked_residue", [user(), model(Thinking("hm", Residue(OTHER, {})))]),
    ("unreadable_transcript", [forced(user(), blocks=7)]),
]

SOUND: list[list[Message]] = [
    [],
    [
        user(),
        model(THOUGHT, Text(""), THOUGHT, call("a"), Text("so"), call("b")),
        tool(result("a"), result("b")),
    ],
    [Message("system", (Text("be brief"),)), user(), user(), model(Text("", Residue(TARGET, "signed")))],
    [model(call("a")), tool(result("a", Outcome("interrupted", "stopped", synthetic=True))), user()],
]


def codes(messages: list[Any]) -> set[str]:
    return {fault.code for fault in violations(messages, TARGET)}


@pytest.mark.parametrize(("code", "messages"), FAULTY)
def test_each_rule_finds_its_fault_and_no_other_does(code: str, messages: list[Any]) -> None:
    """A transcript that breaks one rule is reported under that rule's code alone."""
    found = violations(messages, TARGET)
    assert {fault.code for fault in found} == {code}
    assert all(fault.layer == "render" and code in CODES for fault in found)


@pytest.mark.parametrize("rule", check.RULES, ids=lambda rule: rule.__name__)
def test_without_its_rule_a_fault_goes_unseen(rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule is needed: take it away, and nothing else names the fault."""
    monkeypatch.setattr(check, "RULES", [other for other in check.RULES if other is not rule])
    code = rule.__name__.strip("_")
    examples = [messages for known, messages in FAULTY if known == code]
    assert examples
    assert all(code not in codes(messages) for messages in examples)


@pytest.mark.parametrize("messages", SOUND)
def test_a_sound_transcript_has_no_faults(messages: list[Message]) -> None:
    """Signed empty text, text between calls and two user messages in a row are no faults."""
    assert violations(messages, TARGET) == []


@pytest.mark.parametrize("thing", [None, 7, [None], [object()], [forced(user(), blocks=(None,))]])
def test_the_checker_never_raises(thing: Any) -> None:
    """What cannot be read at all is a fault, not an exception."""
    assert violations(thing)
