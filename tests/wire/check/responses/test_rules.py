"""OpenAI Responses: each rule catches its fault, and nothing but its fault."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.check.bodies import (
    EXAMPLES,
    RULEBOOK,
    SCHEMA,
    Body,
    Change,
    chained,
    example,
    json_like,
    responses,
    rules,
    rules_to_apply,
    spoiled,
)

from turnout.wire.check.responses.rules import violations
from turnout.wire.check.unchecked import RESPONSES


def put(place: int, **keys: Any) -> Change:
    return lambda body: body["input"][place].update(keys)


def add(*items: Body, at: int = 8) -> Change:
    def change(body: Body) -> None:
        body["input"][at:at] = items

    return change


def drop(place: int, key: str = "") -> Change:
    return lambda body: body["input"][place].pop(key) if key else body["input"].pop(place)


def option(**keys: Any) -> Change:
    return lambda body: body.update(keys)


def tool(**keys: Any) -> Change:
    return lambda body: body["tools"].append({"type": "function", "name": "x", "parameters": None, **keys})


def pair(call_id: str, call: str = "function_call", output: str = "function_call_output") -> Change:
    return add(
        {"type": call, "call_id": call_id, "name": "x", "arguments": "{}"},
        {"type": output, "call_id": call_id, "output": "y"},
    )


def reasoning(**keys: Any) -> Body:
    return {"type": "reasoning", "summary": [], "encrypted_content": "gAAAAAB", **keys}


def said(role: str, type: str, **keys: Any) -> Body:
    return {"role": role, "content": [{"type": type, "text": "x", **keys}]}


STORED = {"type": "message", "id": "msg_1", **said("assistant", "output_text")}
SOUND = "data:audio/mpeg;base64,SUQz"
PARTS = "Supported values are: 'input_text', 'input_image', 'output_text'"
OPEN_SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}

BAD: list[tuple[str, Change, str]] = [
    ("OAR-01", add(said("user", "function_call")), "Invalid value: 'function_call'. " + PARTS),
    ("OAR-01", add(said("assistant", "tool_use")), "Invalid value: 'tool_use'. " + PARTS),
    (
        "OAR-01",
        add({"role": "tool", "content": "x"}),
        "Invalid value: 'tool'. Supported values are: 'assistant'",
    ),
    ("OAR-01", put(6, tool_calls=[{"id": "1"}]), "Unknown parameter: 'input[6].tool_calls'."),
    ("OAR-02", drop(2), "No tool call found for function call output with call_id call_1."),
    ("OAR-03", drop(4), "No tool output found for function call call_1."),
    ("OAR-03", add({"type": "custom_tool_call", "call_id": "c", "name": "x", "input": ""}), "call c."),
    ("OAR-04", pair("call_2"), "Duplicate function_call_output for call_id call_2"),
    (
        "OAR-04",
        add(STORED, STORED),
        "Duplicate item found with id msg_1. Remove duplicate items from your input and try again.",
    ),
    (
        "OAR-06",
        pair("c" * 65),
        "string too long. Expected a string with maximum length 64, but got a string with",
    ),
    ("OAR-06", pair(""), "empty string. Expected a string with minimum length 1"),
    (
        "OAR-06",
        add({"type": "function_call_output", "output": "x"}),
        "Missing required parameter: 'input[8].call_id'",
    ),
    ("OAR-06", put(2, id="fc_" + "x" * 62), "Invalid 'input[2].id': string too long."),
    ("OAR-07", put(2, id="call_1"), "Invalid 'input[2].id': 'call_1'. Expected an ID that begins with 'fc'."),
    ("OAR-07", put(2, id="123"), "Expected an ID that begins with 'fc'."),
    ("OAR-07", put(1, id="msg_1"), "Expected an ID that begins with 'rs'."),
    ("OAR-07", put(6, id="rs_1"), "Expected an ID that begins with 'msg'."),
    ("OAR-08", drop(1, "encrypted_content"), "Items are not persisted when `store` is set to false."),
    ("OAR-08", put(1, encrypted_content=None, id="rs_1"), "Item with id 'rs_1' not found."),
    ("OAR-08", add({"id": "msg_1"}), "Item with id 'msg_1' not found."),
    ("OAR-08", add({"type": "item_reference", "id": "msg_1"}), "Item with id 'msg_1' not found."),
    (
        "OAR-09",
        add(reasoning(id="rs_9"), at=7),
        "of type 'reasoning' was provided without its required following item",
    ),
    ("OAR-09", add(reasoning(id="rs_9"), at=8), "Item 'rs_9' of type 'reasoning'"),
    ("OAR-09", add(reasoning(id="rs_9"), at=4), "without its required following item."),
    (
        "OAR-11",
        add(said("assistant", "input_text")),
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    ),
    ("OAR-11", put(1, summary=["text"]), "Invalid type for 'input[1].summary[0]': expected an object"),
    ("OAR-11", put(1, summary="text"), "Invalid type for 'input[1].summary': expected an array of objects"),
    ("OAR-11", put(1, summary=[{"type": "text", "text": "x"}]), "Supported values are: 'summary_text'."),
    ("OAR-11", add(said("user", "output_text")), "Invalid value: 'output_text'."),
    ("OAR-11", add(said("user", "text")), "Invalid value: 'text'. " + PARTS),
    (
        "OAR-11",
        add({"type": "output_text", "text": "x"}),
        "Invalid value: 'output_text'. Supported values are: 'message'",
    ),
    (
        "OAR-11",
        add(said("user", "input_file", file_data=SOUND)),
        "Invalid file data: 'input[8].content[0].file_data'. Expected a base64-encoded data URL",
    ),
    (
        "OAR-12",
        put(4, output=[{"type": "input_file", "file_data": SOUND}]),
        "unsupported MIME type 'audio/mpeg'",
    ),
    ("OAR-12", put(4, output={"temp": 18}), "but got an object instead."),
    ("OAR-12", drop(4, "output"), "Missing required parameter: 'input[4].output'."),
    ("OAR-12", put(4, output=[{"type": "text", "text": "x"}]), "Invalid value: 'text'."),
    ("OAR-12", put(4, is_error=True), "Unknown parameter: 'input[4].is_error'."),
    (
        "OAR-12",
        put(4, output="x" * 10_485_761),
        "string too long. Expected a string with maximum length 10485760",
    ),
    (
        "OAR-13",
        add({"type": "function_result", "call_id": "call_1", "output": "x"}),
        "Invalid value: 'function_result'.",
    ),
    (
        "OAR-13",
        add(said("user", "function_result")),
        "Invalid value: 'function_result'. Supported values are:",
    ),
    ("OAR-14", option(tools=[{"type": "function", "function": {"name": "x"}}]), "'tools[0].name'"),
    (
        "OAR-14",
        option(tools=[{"type": "function", "name": "x"}]),
        "Missing required parameter: 'tools[0].parameters'.",
    ),
    ("OAR-14", tool(name="a.b"), "string does not match pattern. Expected a string that matches the pattern"),
    (
        "OAR-14",
        tool(parameters=OPEN_SCHEMA, strict=True),
        "'additionalProperties' is required to be supplied and to be",
    ),
    ("OAR-14", tool(parameters={**OPEN_SCHEMA, "additionalProperties": False}, strict=True), "Missing 'id'."),
    (
        "OAR-16",
        pair("c", call="custom_tool_call"),
        "No tool call found for function call output with call_id c",
    ),
    ("OAR-16", pair("c", output="custom_tool_call_output"), "No tool call found for custom tool call output"),
]

BAD_CHAINS: list[tuple[str, Change, str]] = [
    (
        "OAR-05",
        add({"type": "function_call", "call_id": "call_1", "name": "x", "arguments": "{}"}, at=0),
        "Duplicate item found with id call_1. Remove duplicate items from your input and try again.",
    ),
    ("OAR-05", add(reasoning(id="rs_1"), at=0), "Duplicate item found with id rs_1."),
    ("OAR-05", add(STORED), "with id msg_1."),
    ("OAR-03", add({"type": "custom_tool_call", "call_id": "c", "name": "x", "input": ""}), "tool call c."),
    ("OAR-15", option(conversation="conv_1"), "Mutually exclusive parameters"),
]


@pytest.mark.parametrize(("rule", "change", "words"), BAD)
def test_one_fault_is_caught_by_one_rule(rule: str, change: Change, words: str) -> None:
    """A body with one fault breaks exactly one rule."""
    found = list(violations(spoiled(responses(), change)))

    assert rules(found) == {rule}
    assert any(words in problem.answer for problem in found), found


@pytest.mark.parametrize(("rule", "change", "words"), BAD_CHAINS)
def test_a_chained_request_carries_only_what_is_new(rule: str, change: Change, words: str) -> None:
    """A call sent again is caught; one that is nobody's is caught as unanswered too."""
    found = list(violations(spoiled(chained(), change)))

    assert rule in rules(found) <= {rule, "OAR-05"}
    assert any(words in problem.answer for problem in found), found


GOOD: dict[str, Body] = {
    "stateless": responses(),
    "chained": chained(),
    "a conversation": chained(previous_response_id=None, conversation={"id": "conv_1"}),
    "a plain question": {"model": "gpt-5.6", "input": "Hello"},
    "ids of their own kind": spoiled(
        responses(), put(1, id="rs_1"), put(2, id="fc_1"), put(3, id="fc_2"), put(6, id="msg_1")
    ),
    "ids that were taken out before the body was shown": spoiled(responses(), put(1, id="id_REDACTED_1")),
    "stored items by reference": responses(
        store=True,
        input=[
            {"type": "item_reference", "id": "fc_1"},
            {"type": "function_call_output", "call_id": "c", "output": ""},
        ],
    ),
    "results as parts": spoiled(
        responses(),
        put(
            4, output=[{"type": "input_image", "image_url": "https://x"}, {"type": "input_text", "text": "x"}]
        ),
    ),
    "no strict": spoiled(responses(), tool(parameters=SCHEMA)),
    "a custom tool": spoiled(responses(), pair("c", "custom_tool_call", "custom_tool_call_output")),
    "a search answered by the client": responses(
        input=[
            {"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": {}},
            {"type": "function_call_output", "call_id": "s", "output": "found"},
        ]
    ),
    "another maker's ids and reasoning": responses(
        model="grok-4.3",
        input=[reasoning(id="tco_1"), reasoning(id="tco_1"), {"role": "user", "content": "x"}],
    ),
    "hosted tools": responses(
        tools=[{"type": "web_search"}, {"type": "mcp", "server_label": "x"}],
        input=[reasoning(id="rs_1"), {"type": "web_search_call", "id": "ws_1", "status": "completed"}],
    ),
}


@pytest.mark.parametrize("body", GOOD.values(), ids=GOOD)
def test_a_good_body_passes(body: Body) -> None:
    """No rule finds a fault in a body that the API accepts."""
    assert list(violations(body)) == []


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"no examples at {EXAMPLES}")
@pytest.mark.parametrize("name", ["openai_responses_stateless", "openai_responses_chained"])
def test_the_examples_pass(name: str) -> None:
    """The examples of the rulebook break no rule."""
    assert list(violations(example(name))) == []


@pytest.mark.skipif(not RULEBOOK.is_file(), reason=f"no rulebook at {RULEBOOK}")
def test_every_rule_is_applied_or_listed() -> None:
    """A rule that no body here breaks is one whose reason for being left out is written down."""
    broken = {rule for rule, _, _ in BAD + BAD_CHAINS}

    assert rules_to_apply("OAR-") == broken | (RESPONSES.keys() & rules_to_apply("OAR-"))
    assert not broken & RESPONSES.keys()


def test_the_model_may_be_named_apart() -> None:
    """A body that does not name its model is judged by the name given."""
    body = spoiled(responses(), put(2, id="call_1"), lambda body: body.pop("model"))

    assert rules(violations(body)) == {"OAR-07"}
    assert list(violations(body, model="grok-4.3")) == []


ANYTHING = json_like(
    ["type", "role", "content", "id", "call_id", "output", "name", "parameters", "properties", "required"],
    ["message", "reasoning", "function_call", "function_call_output", "function", "input_file", "assistant"],
)


@given(
    body=ANYTHING, input=ANYTHING, items=st.lists(ANYTHING, max_size=4), store=st.sampled_from([False, None])
)
def test_no_body_is_too_strange(body: Any, input: Any, items: list[Any], store: Any) -> None:
    """A checker finds what it can in any JSON value and never fails itself."""
    list(violations(body))
    list(violations({"input": input, "tools": items, "store": store}))
    list(
        violations(
            {"input": items, "tools": [{"type": "function", "name": "x", "parameters": body, "strict": True}]}
        )
    )
