"""What a provider refuses because of what it issued and stored: signatures, responses, items."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.simulate.refusal_requests import post
from tests.simulate.talk import ask, send, settle_all

from turnout.history.log import History
from turnout.simulate import Call, ScriptedTransport, Think
from turnout.targets.request import render, url
from turnout.targets.target import find_target as target

# Private state


def signed(name: str, *, thinking: bool = True) -> tuple[ScriptedTransport, History]:
    """A conversation whose last word is a call with private state on it, answered."""
    transport = ScriptedTransport(
        [[Think("I must look."), Think("Twice."), Call("weather"), Call("time")], *["Fine."] * 3]
    )
    history = History("signed")
    history.user("What should I wear?")
    ask(history, name, transport, thinking=thinking)
    settle_all(history)
    return transport, history


def body_of(history: History, name: str, **options: Any) -> Any:
    return render(history, name, thinking=True, **options).json


SIGNED = {
    "anthropic:claude-sonnet-4-5": ("anthropic:claude-opus-4-5", "Invalid `signature` in `thinking` block"),
    "gemini:gemini-3-pro-preview": ("gemini:gemini-3-flash", "Invalid thought signature."),
    "openai-responses:gpt-5.1": ("openai-responses:gpt-5", "could not be verified"),
    "openrouter:anthropic/claude-sonnet-4.5": ("openrouter:anthropic/claude-opus-4.5", "Invalid `signature`"),
    "openrouter:google/gemini-3-pro": ("openrouter:google/gemini-3-flash", "Corrupted thought signature."),
    "openrouter:openai/gpt-5": ("openrouter:openai/gpt-5-mini", "could not be verified"),
    "copilot:claude-sonnet-4": ("copilot:claude-opus-4", "Invalid `signature`"),
}


@pytest.mark.parametrize("name", SIGNED)
def test_private_state_of_another_model_is_refused(name: str) -> None:
    """Signatures and ciphers are bound to the model they were issued to."""
    other, words = SIGNED[name]
    transport, history = signed(name)
    body = body_of(history, name)
    if "model" in body:
        body["model"] = target(other).model

    error = post(transport, other, body)

    assert error.status == 400
    assert words in error.message + error.body


@pytest.mark.parametrize("name", SIGNED)
def test_private_state_that_nobody_issued_is_refused(name: str) -> None:
    """A signature from elsewhere is no signature here."""
    _, history = signed(name)
    stranger = ScriptedTransport(["never said"], keys={"k": "another account"})

    error = post(stranger, name, body_of(history, name))

    assert error.status == 400
    assert error.kind == "invalid_request"


@pytest.mark.parametrize("name", SIGNED)
def test_rendered_for_the_other_model_it_is_taken(name: str) -> None:
    """The renderer leaves private state of others out, so the switch goes through."""
    other, _ = SIGNED[name]
    transport, history = signed(name)

    ask(history, other, transport, thinking=True)

    assert transport.refusals == []


WANTED_BACK = {
    "anthropic:claude-sonnet-4-5": "Expected `thinking` or `redacted_thinking`",
    "gemini:gemini-3-pro-preview": "missing a thought_signature",
    "deepseek:deepseek-v4-pro": "reasoning_content",
    "kimi:kimi-k2.6": "reasoning_content is missing",
}
PRIVATE = ("reasoning_content", "reasoning", "thoughtSignature", "thought")


def without_reasoning(value: Any) -> Any:
    """The body as programs send it that keep only what was said and called."""
    if isinstance(value, dict):
        return {key: without_reasoning(each) for key, each in value.items() if key not in PRIVATE}
    if isinstance(value, list):
        kept = [each for each in value if not (isinstance(each, dict) and each.get("type") == "thinking")]
        return [without_reasoning(each) for each in kept]
    return value


@pytest.mark.parametrize("name", WANTED_BACK)
def test_reasoning_that_is_not_passed_back_is_refused(name: str) -> None:
    """Who thinks before a call wants the thought back with the result, and says so in its own words."""
    transport, history = signed(name)
    whole = body_of(history, name)

    error = post(transport, name, without_reasoning(whole))

    assert (error.status, error.kind) == (400, "invalid_request")
    assert WANTED_BACK[name] in error.message
    ask(history, name, transport, thinking=True)
    assert len(transport.refusals) == 1


@pytest.mark.parametrize("change", ["text", "left out", "order"])
def test_anthropic_wants_its_latest_thoughts_as_they_were(change: str) -> None:
    """Changed, filtered or reordered thinking of the last message is refused."""
    name = "anthropic:claude-sonnet-4-5"
    transport, history = signed(name)
    body = body_of(history, name)
    content = body["messages"][1]["content"]
    match change:
        case "text":
            content[0]["thinking"] = "I thought something else."
        case "left out":
            del content[1]
        case "order":
            content[0], content[1] = content[1], content[0]

    error = post(transport, name, body)

    assert "blocks in the latest assistant message cannot be modified" in error.message
    assert error.rule == "ANT-18"


def test_gemini_wants_a_signature_on_the_call_it_came_on() -> None:
    """A signature that moved to another call is not valid."""
    name = "gemini:gemini-3-pro-preview"
    transport, history = signed(name)
    body = body_of(history, name)
    parts = [part for part in body["contents"][1]["parts"] if "functionCall" in part]
    parts[0]["functionCall"]["name"], parts[1]["functionCall"]["name"] = "time", "weather"
    answers = body["contents"][2]["parts"]
    answers[0]["functionResponse"]["name"], answers[1]["functionResponse"]["name"] = "time", "weather"

    assert "Thought signature is not valid" in post(transport, name, body).message


# Chained responses


def test_an_unknown_response_cannot_be_gone_on_from() -> None:
    """A chain that the server does not hold is refused."""
    body = {"model": "gpt-5.1", "input": "hi", "previous_response_id": "resp_unknown"}

    error = post(ScriptedTransport([]), "openai-responses:gpt-5.1", body)

    assert (error.status, error.code) == (400, "previous_response_not_found")
    assert "Previous response with id 'resp_unknown' not found." in error.message


def test_a_response_that_was_not_stored_cannot_be_gone_on_from() -> None:
    """`store: false` means what it says."""
    name, transport = "openai-responses:gpt-5.1", ScriptedTransport(["Hello.", "never said"])
    first = json.dumps({"model": "gpt-5.1", "input": "hi", "store": False}).encode()
    _, _, said = send(transport, url(target(name)), {"authorization": "Bearer k"}, first)
    body = {"model": "gpt-5.1", "input": "and?", "previous_response_id": json.loads(said)["id"]}

    assert post(transport, name, body).code == "previous_response_not_found"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ([], "No tool output found for function call"),
        (["call_elsewhere"], "No tool call found for function call output with call_id call_elsewhere."),
    ],
)
def test_a_chain_answers_its_own_calls(output: list[str], words: str) -> None:
    """Every call of the stored response, and no other."""
    name, transport = (
        "openai-responses:gpt-5.1",
        ScriptedTransport([[Call("time", id="call_1")], "never said"]),
    )
    history = History("h")
    history.user("hi")
    turn = ask(history, name, transport, chain=True)
    assert turn.residue is not None
    outputs = [{"type": "function_call_output", "call_id": id, "output": "12"} for id in output]
    body = {
        "model": "gpt-5.1",
        "input": [*outputs, {"role": "user", "content": "and?"}],
        "previous_response_id": turn.residue.data["response_id"],
    }

    assert words in post(transport, name, body).message


def test_an_item_known_by_id_needs_the_reasoning_that_led_to_it() -> None:
    """OpenAI ties items to their reasoning as soon as ids are sent."""
    name, transport = (
        "openai-responses:gpt-5.1",
        ScriptedTransport([[Think("Hm."), Call("time")], "never said"]),
    )
    history = History("h")
    history.user("hi")
    ask(history, name, transport)
    settle_all(history)
    body = render(history, name).json
    calls = [item for item in body["input"] if item["type"] == "function_call"]
    assert history.turns[-1].tool_calls[0].residue is not None
    calls[0]["id"] = history.turns[-1].tool_calls[0].residue.data["item_id"]
    body["input"] = [item for item in body["input"] if item["type"] != "reasoning"]

    assert "was provided without its required 'reasoning' item" in post(transport, name, body).message


def test_an_item_that_was_never_stored_is_not_found() -> None:
    """A reference needs something to refer to."""
    name = "openai-responses:gpt-5.1"
    items = [{"role": "user", "content": "hi"}, {"type": "item_reference", "id": "msg_elsewhere"}]
    body = {"model": "gpt-5.1", "input": [*items, items[0]]}

    error = post(ScriptedTransport([]), name, body)

    assert (error.status, error.message) == (404, "Item with id 'msg_elsewhere' not found.")
