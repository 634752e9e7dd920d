"""The judges of the matrix can say no: each finds the fault that only it knows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.handoff.fidelity import losses
from tests.handoff.histories import SCENARIOS
from tests.handoff.judges import complaints
from tests.sdk_types import refusals

from turnout import History, render
from turnout.targets.target import find_target as target
from turnout.wire.request import WireRequest


def changed(request: WireRequest, change: Any) -> WireRequest:
    body = request.json
    change(body)
    return msgspec.structs.replace(request, body=msgspec.json.encode(body))


def request(name: str, to: str) -> WireRequest:
    return render(SCENARIOS[name](), to)


PROTOCOLS = (
    "openai:gpt-4o",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-2.5-flash",
)
LONG = {"chat": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}


@pytest.mark.parametrize("to", (*PROTOCOLS, "mistral:mistral-large-latest"))
def test_the_sdks_types_refuse_what_they_do_not_know(to: str) -> None:
    """An unknown key is refused in the request and deep inside it; so is a wrong type."""
    good = request("s_11_results_in_three_messages", to)
    long, place = LONG[good.protocol], target(to)
    for change in (
        lambda body: body.update(unheard_of=1),
        lambda body: body[long][0].update(unheard_of=1),
        lambda body: body[long].append({"role": "nobody", "type": "nothing"}),
    ):
        bad = changed(good, change)
        assert refusals(good.protocol, place.provider.name, place.model, bad.body)
    assert refusals(good.protocol, place.provider.name, place.model, good.body) == []


def test_only_documented_keys_may_go_beyond_openais() -> None:
    """DeepSeek takes reasoning_content; OpenAI's own API does not."""
    body = msgspec.json.encode(
        {"model": "m", "messages": [{"role": "assistant", "content": "x", "reasoning_content": "y"}]}
    )
    assert refusals("chat", "deepseek", "deepseek-v4", body) == []
    assert refusals("chat", "openai", "gpt-4o", body)


def test_mistrals_validator_is_heard() -> None:
    """A second answer to one call is well typed; their validator counts the answers."""
    place = target("mistral:mistral-large-latest")
    good = request("s_29_user_right_after_tool", "mistral:mistral-large-latest")
    bad = changed(good, lambda body: body["messages"].insert(3, body["messages"][2]))
    assert any(line.startswith("mistral-common") for line in complaints(bad, place))


@pytest.mark.parametrize("to", PROTOCOLS)
def test_our_checkers_are_heard(to: str) -> None:
    """A result that is gone leaves its call unanswered."""
    good = request("s_11_results_in_three_messages", to)

    def drop_results(body: dict[str, Any]) -> None:
        body[LONG[good.protocol]] = [item for item in body[LONG[good.protocol]] if not _answers(item)]

    assert complaints(changed(good, drop_results), target(to))


def _answers(item: dict[str, Any]) -> bool:
    text = str(item)
    return item.get("role") == "tool" or any(
        word in text for word in ("function_call_output", "tool_result", "functionResponse")
    )


def told(history: History, bad: WireRequest, to: str) -> list[str]:
    return losses(history, bad, target(to), None)


@pytest.mark.parametrize("to", PROTOCOLS)
def test_a_lost_or_repeated_message_is_seen(to: str) -> None:
    """Take any wire message away, or send it twice, and the reading of the body differs."""
    history = SCENARIOS["s_11_results_in_three_messages"]()
    good = render(history, to)
    long = LONG[good.protocol]
    assert told(history, good, to) == []
    for at in range(len(good.json[long])):
        assert told(history, changed(good, lambda body, at=at: body[long].pop(at)), to)
        assert told(history, changed(good, lambda body, at=at: body[long].insert(at, body[long][at])), to)


def test_reasoning_that_is_lost_or_given_away_is_seen() -> None:
    """Claude's signature must go back to Claude and to nobody else."""
    name, to = "s_75_redacted_thinking", "anthropic:claude-sonnet-4-5"
    history = SCENARIOS[name]()
    good = render(history, to)
    assert told(history, good, to) == []
    assert told(history, changed(good, lambda body: body["messages"][1]["content"].pop(0)), to)
    assert losses(history, good, target("anthropic:claude-opus-4-8"), None)
