"""What a real provider refuses is refused here, in its words; rendered, the same history is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.simulate.talk import ask, key_headers, refused, send, settle_all
from tests.simulate.targets import TARGETS

from turnout import check
from turnout.history.ingest import ingest
from turnout.history.log import History
from turnout.simulate import Call, Say, ScriptedTransport, Think
from turnout.targets.request import render, url
from turnout.targets.target import find_target as target

VERSION = {"anthropic-version": "2023-06-01"}
FORMATS = {"chat": "openai-chat", "responses": "openai-responses"}


def post(transport: ScriptedTransport, name: str, body: Any) -> Any:
    """Send a body as it is to a target, expecting a refusal."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refused(transport, url(target(name)), {**VERSION, **key_headers(name)}, data)


# A call without a result, in each wire's own shape


def orphan(name: str) -> dict[str, Any]:
    """A body with a call that nobody answered."""
    model = target(name).model
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    match TARGETS[name]:
        case "anthropic":
            use = {"type": "tool_use", "id": "toolu_1", "name": "time", "input": {}}
            said = [("user", "What time is it?"), ("assistant", [use]), ("user", "Hello?")]
            messages = [{"role": role, "content": content} for role, content in said]
            tools = [{"name": "time", "input_schema": schema}]
            return {"model": model, "max_tokens": 100, "messages": messages, "tools": tools}
        case "gemini":
            call = {"functionCall": {"name": "time", "args": {}}, "thoughtSignature": SENTINEL}
            parts = [("user", {"text": "What time is it?"}), ("model", call), ("user", {"text": "Hello?"})]
            contents = [{"role": role, "parts": [part]} for role, part in parts]
            return {"contents": contents, "tools": [{"functionDeclarations": [{"name": "time"}]}]}
        case "responses":
            call = {"type": "function_call", "call_id": "call_1", "name": "time", "arguments": "{}"}
            first, last = ({"role": "user", "content": text} for text in ("What time is it?", "Hello?"))
            return {"model": model, "input": [first, call, last], "store": False}
        case _:
            calls = [{"id": "abcdefghi", "type": "function", "function": {"name": "time", "arguments": "{}"}}]
            messages = [
                {"role": "user", "content": "What time is it?"},
                {"role": "assistant", "content": "", "tool_calls": calls, "reasoning_content": " "},
                {"role": "user", "content": "Hello?"},
            ]
            function = {"name": "time", "parameters": schema}
            tools = [{"type": "function", "function": function}]
            return {"model": model, "messages": messages, "tools": tools}


SENTINEL = "skip_thought_signature_validator"

UNANSWERED = {
    "openai:gpt-4o": (400, "The following tool_call_ids did not have response messages: abcdefghi"),
    "kimi:kimi-k2.6": (400, "The following tool_call_ids did not have response messages: abcdefghi"),
    "deepseek:deepseek-v4-pro": (400, "insufficient tool messages following tool_calls message"),
    "mistral:magistral-medium-latest": (400, "Not the same number of function calls and responses"),
    "openrouter:anthropic/claude-sonnet-4.5": (400, "`tool_use` ids were found without `tool_result` blocks"),
    "copilot:claude-sonnet-4": (400, "tool_use"),
    "openai-responses:gpt-5.1": (400, "No tool output found for function call call_1."),
    "anthropic:claude-sonnet-4-5": (
        400,
        "ids were found without `tool_result` blocks immediately after: toolu_1",
    ),
    "gemini:gemini-3-pro-preview": (400, "number of function response parts is equal to"),
}


@pytest.mark.parametrize("name", UNANSWERED)
def test_an_unanswered_call_is_refused_in_the_providers_words(name: str) -> None:
    """A call without its result gets each provider's own status and sentence."""
    status, words = UNANSWERED[name]

    error = post(ScriptedTransport(["never said"]), name, orphan(name))

    assert error.status == status
    assert words in error.message + error.body
    assert error.kind == "invalid_request"


@pytest.mark.parametrize("name", [*UNANSWERED, "xai:grok-4", "qwen:qwen3-max", "vllm:qwen3", "ollama:qwen3"])
def test_the_same_history_rendered_is_taken(name: str) -> None:
    """What a provider refuses as it stands goes through once it has been ingested and rendered."""
    history = ingest(orphan(name), FORMATS.get(TARGETS[name], TARGETS[name]))
    transport = ScriptedTransport(["It is late."])

    ask(history, name, transport, tools=None)

    assert transport.refusals == []


def test_openrouter_quotes_the_maker_of_the_model() -> None:
    """Its own sentence says nothing; the maker's stands in the metadata."""
    name = "openrouter:anthropic/claude-sonnet-4.5"

    error = json.loads(post(ScriptedTransport([]), name, orphan(name)).body)["error"]

    assert (error["message"], error["metadata"]["provider_name"]) == ("Provider returned error", "Anthropic")
    assert error["metadata"]["raw"].startswith("messages.1: `tool_use` ids were found")


def test_a_refused_request_does_not_advance_the_script() -> None:
    """Steps are for requests that are accepted."""
    transport = ScriptedTransport(["Hello."])
    post(transport, "openai:gpt-4o", orphan("openai:gpt-4o"))
    history = History("h")
    history.user("hi")

    assert ask(history, "openai:gpt-4o", transport).text == "Hello."
    assert [seen.status for seen in transport.exchanges] == [400, 200]
    assert transport.refusals[0].problems[0].rule == "OAC-01"


@pytest.mark.parametrize("name", ["ollama:qwen3", "vllm:qwen3", "llamacpp:qwen3"])
def test_what_is_only_a_warning_is_answered(name: str) -> None:
    """Servers on one's own machine do not look at pairing, and neither do their doubles."""
    transport = ScriptedTransport(["It is late."])
    body = json.dumps(orphan(name)).encode()

    assert check(name, body, warnings=True) and not check(name, body)
    assert send(transport, url(target(name)), key_headers(name), body)[0] == 200


def test_copilot_refuses_images_without_their_header() -> None:
    """The headers are judged with the body; rendered, both are right."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": [image]}]}
    transport = ScriptedTransport(["A cat."])

    assert "Copilot-Vision-Request" in post(transport, "copilot:gpt-4.1", body).message
    assert ask(ingest(body, "openai-chat"), "copilot:gpt-4.1", transport).text == "A cat."


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


# Keys

KEYS = {
    "openai:gpt-4o": (401, "You didn't provide an API key", 401, "Incorrect API key provided"),
    "anthropic:claude-sonnet-4-5": (401, "x-api-key header is required", 401, "invalid x-api-key"),
    "gemini:gemini-2.5-pro": (403, "unregistered callers", 400, "API key not valid"),
    "mistral:mistral-large-latest": (401, "Unauthorized", 401, "Unauthorized"),
    "kimi:kimi-k2.6": (401, "Invalid Authentication", 401, "Invalid Authentication"),
    "xai:grok-4": (401, "No API key provided", 400, "Incorrect API key provided"),
    "openrouter:openai/gpt-5": (401, "No cookie auth credentials found", 401, "User not found."),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_missing_or_wrong_key_is_refused(name: str) -> None:
    """Each provider has its own words for no key and for a wrong one."""
    missing, no_key, wrong, bad_key = KEYS[name]
    transport = ScriptedTransport([], keys=["right"])
    body = b'{"model":"m"}'

    without = refused(transport, url(target(name)), VERSION, body)
    with_wrong = refused(transport, url(target(name)), {**VERSION, **key_headers(name, "wrong")}, body)

    assert (without.status, without.kind) == (missing, "auth") and no_key in without.message
    assert (with_wrong.status, with_wrong.kind) == (wrong, "auth") and bad_key in with_wrong.message


def test_local_servers_ask_for_no_key() -> None:
    """What runs on your own machine answers anyone."""
    body = b'{"model":"qwen3","messages":[{"role":"user","content":"hi"}]}'

    status, _, _ = send(ScriptedTransport(["hi"]), "http://127.0.0.1:11434/v1/chat/completions", {}, body)

    assert status == 200


def test_anthropic_wants_its_version_named() -> None:
    """A request without the version header is refused."""
    error = refused(
        ScriptedTransport([]), "https://api.anthropic.com/v1/messages", {"x-api-key": "k"}, b'{"model":"m"}'
    )

    assert error.status == 400 and "anthropic-version: header is required" in error.message


def test_a_body_that_is_no_json_is_refused() -> None:
    """So is an address where nothing lives."""
    assert post(ScriptedTransport([Say("never said")]), "openai:gpt-4o", b"{").status == 400
    headers = {"authorization": "Bearer k"}
    assert refused(ScriptedTransport([]), "https://api.openai.com/v1/nowhere", headers, b"{}").status == 404
