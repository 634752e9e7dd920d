"""What a generateContent body asks for, in camel or snake case, and as the SDK's `config`."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import InboundRequest, read_request

CONTENTS = [{"role": "user", "parts": [{"text": "hi"}]}]


def read(**fields: Any) -> InboundRequest:
    return read_request({"contents": CONTENTS, **fields}, "gemini", "gemini:gemini-2.5-pro")


@pytest.mark.parametrize(
    "fields",
    [
        {"generationConfig": {"maxOutputTokens": 9, "stopSequences": ["END"]}},
        {"generation_config": {"max_output_tokens": 9, "stop_sequences": ["END"]}},
        {"maxOutputTokens": 9, "stopSequences": ["END"]},
    ],
)
def test_every_spelling_asks_for_the_same(fields: dict[str, Any]) -> None:
    """The API takes both cases; the SDK writes the fields beside the contents."""
    options = {**read(**fields).options}
    assert (options["max_tokens"], options["stop"]) == (9, ("END",))


def test_top_k_is_a_whole_number() -> None:
    """The API takes 40.0; others take 40."""
    assert read(generationConfig={"topK": 40.0}).options.top_k == 40


@pytest.mark.parametrize(("mode", "choice"), [("AUTO", "auto"), ("NONE", "none"), ("ANY", "required")])
def test_modes_of_calling_functions_are_choices(mode: str, choice: str) -> None:
    """The names of the three modes, in neutral words."""
    tools = [{"functionDeclarations": [{"name": "find"}]}]
    inbound = read(tools=tools, toolConfig={"functionCallingConfig": {"mode": mode}})
    assert inbound.options.tool_choice == choice


def test_one_allowed_function_is_a_choice_by_its_name() -> None:
    """Where the model must call one function, it is named."""
    tools = [{"functionDeclarations": [{"name": "find"}, {"name": "read"}]}]
    forced = {"mode": "ANY", "allowedFunctionNames": ["read"]}
    assert read(tools=tools, toolConfig={"functionCallingConfig": forced}).options.tool_choice == "read"


def test_options_of_the_sdk_alone_are_dropped_and_named() -> None:
    """They say how the SDK behaves; no API has them."""
    inbound = read(automaticFunctionCalling={"disable": True})
    assert [line.partition(":")[0] for line in inbound.dropped] == ["automaticFunctionCalling"]
