"""A fault is blamed on the layer that it lies in, on every provider."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.build import call, conversation, find, model, settled, user

from turnout.errors import UsageError
from turnout.history.log import History
from turnout.model import Text
from turnout.targets.diagnose import diagnose
from turnout.targets.request import render, view
from turnout.targets.target import find_target as target

TARGETS = [
    "openai:gpt-5.1",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-3-pro",
    "mistral:mistral-large-latest",
    "kimi:kimi-k2-thinking",
    "deepseek:deepseek-chat",
]


def healthy() -> History:
    return conversation(user("go"), model(call("a"), call("b")), settled("a"), user("and now?"))


@pytest.mark.parametrize("to", TARGETS)
def test_nothing_is_wrong_with_a_sound_history(to: str) -> None:
    """A sound history has no faulty layer, and its report says what went out."""
    found = diagnose(healthy(), to)
    assert found.layer is None and found.problems == ()
    assert found.report is not None and len(found.report.calls) == len(found.report.results) == 2


@pytest.mark.parametrize("to", TARGETS)
def test_a_corrupted_ledger_is_the_historys_fault(to: str) -> None:
    """An outcome that vanished from the state is canonical-state corruption."""
    history = healthy()
    lost = find(history, "a")
    history._state.ledger._interactions[lost] = replace(history.ledger[lost], outcome=None)
    found = diagnose(history, to)
    assert found.layer == "history"
    assert [problem.code for problem in found.problems] == ["wrong_ledger"]  # type: ignore[union-attr]


@pytest.mark.parametrize("to", TARGETS)
def test_a_result_that_the_renderer_lost_is_its_own_fault(to: str) -> None:
    """A transcript without its tool message, over a sound history, is a renderer fault."""
    history = healthy()
    messages = view(history, target(to)).transcript.sealed
    messages[:] = [message for message in messages if message.role != "tool"]
    found = diagnose(history, to)
    assert found.layer == "render"
    codes = [problem.code for problem in found.problems]  # type: ignore[union-attr]
    assert codes == ["call_without_result", "call_without_result", "stale_transcript"]


def test_a_transcript_that_is_valid_and_wrong_is_a_renderer_fault() -> None:
    """Kept messages that a fresh render would not give are found too."""
    history = healthy()
    messages = view(history, target(TARGETS[0])).transcript.sealed
    messages[0] = replace(messages[0], blocks=(Text("something else"),))
    assert [problem.code for problem in diagnose(history, TARGETS[0]).problems] == ["stale_transcript"]  # type: ignore[union-attr]


@pytest.mark.parametrize("to", TARGETS)
def test_a_tampered_body_is_a_projection_fault(to: str) -> None:
    """A body whose result answers under another id is refused by the wire checker alone."""
    history = healthy()
    request = render(history, to)
    tampered = msgspec.json.decode(request.body)
    _rename_a_result(tampered, request.ids[find(history, "a")])
    for body in (tampered, msgspec.json.encode(tampered)):
        found = diagnose(history, to, body)
        assert found.layer == "wire" and found.problems
    assert diagnose(history, to, request.body).layer is None


def _rename_a_result(value: Any, known: str) -> None:
    """Give the result of a call another id (or, where Gemini pairs by name, another name)."""
    if isinstance(value, dict):
        for field in ("tool_call_id", "tool_use_id", "call_id"):
            if value.get(field) == known and value.get("type") != "function_call":
                value[field] = "abcdefghi"
        if "functionResponse" in value and value["functionResponse"].get("id") == known:
            value["functionResponse"] |= {"id": "stranger", "name": "stranger"}
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _rename_a_result(inner, known)


def test_a_warning_blames_no_layer() -> None:
    """What only some servers refuse is named apart: it may be why, and need not be."""
    request = render(healthy(), "anthropic:claude-sonnet-4-5")
    body = msgspec.json.decode(request.body)
    body["messages"].insert(0, {"role": "assistant", "content": "Hello."})

    found = diagnose(healthy(), request.target, body)

    assert found.layer is None and found.problems == ()
    assert [warning.rule for warning in found.warnings] == ["ANT-13"]


def test_the_headers_of_a_request_are_judged_with_it() -> None:
    """A rendered request is checked with its headers, a body alone without."""
    history = healthy()
    request = render(history, "anthropic:claude-sonnet-4-5")

    assert diagnose(history, request.target, request).layer is None
    assert diagnose(history, request.target, replace(request, headers={})).layer == "wire"


def test_an_envelope_is_opened_before_its_request_is_judged() -> None:
    """Code Assist's body holds the request inside; what is wrong in there is found."""
    history = healthy()
    request = render(history, "gemini@oauth:gemini-3-pro")
    body = msgspec.json.decode(request.body)
    assert "request" in body and diagnose(history, request.target, body).layer is None
    body["request"]["contents"] = [item for item in body["request"]["contents"] if item["role"] == "model"]
    assert diagnose(history, request.target, body).layer == "wire"


def test_a_body_that_is_no_json_is_a_projection_fault() -> None:
    """Bytes that cannot be read were spoilt on the wire side."""
    assert diagnose(healthy(), TARGETS[0], b"{").layer == "wire"


def test_a_render_that_breaks_is_a_renderer_fault() -> None:
    """What raises while rendering a sound history is named, not raised, and has no report."""
    history = healthy()
    view(history, target(TARGETS[0])).transcript._messages_of = None  # type: ignore[method-assign, assignment]
    history.reply("openai:gpt-5.1", "so")
    found = diagnose(history, TARGETS[0])
    assert found.layer == "render" and found.report is None


def test_an_unknown_target_is_the_callers_mistake() -> None:
    """Nothing can be said about a target that nobody knows."""
    with pytest.raises(UsageError):
        diagnose(healthy(), "nobody:at-all")
