"""What a Chat Completions body asks for, server by server."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import read_request

USER = {"role": "user", "content": "hi"}


def asked(**fields: Any) -> dict[str, Any]:
    """The options that a body asks for."""
    return {**read_request({"messages": [USER], **fields}, "openai-chat", "openai:gpt-5.1").options}


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"max_tokens": 5, "max_completion_tokens": 7}, {"max_tokens": 7}),
        ({"random_seed": 3}, {"seed": 3}),  # as Mistral spells it
        ({"enable_thinking": False}, {"thinking": False}),  # as Qwen does
        ({"thinking": {"type": "disabled"}}, {"thinking": False}),
        ({"thinking": {"budget_tokens": 99}}, {"thinking": True, "budget": 99}),
        ({"reasoning": {"effort": "low"}}, {"thinking": True, "effort": "low"}),
        ({"logprobs": True, "top_logprobs": 2}, {"logprobs": 2}),
        ({"logprobs": False}, {}),
        ({"stop": "END"}, {"stop": ("END",)}),
        ({"stop": []}, {}),
        ({"response_format": {"type": "json_object"}}, {"json": True}),
        ({"response_format": {"type": "text"}}, {}),
    ],
)
def test_one_option_whatever_a_server_calls_it(fields: dict[str, Any], options: dict[str, Any]) -> None:
    """Servers of this family spell the same wish in several ways."""
    found = asked(**fields)
    assert {name: found[name] for name in options} == options
    assert set(found) - {"private"} == set(options)


def test_a_degree_of_thinking_that_no_other_api_knows_stays_with_its_own() -> None:
    """It is kept as it was written, for the API that it was written for."""
    found = asked(reasoning_effort="extreme")
    assert "effort" not in found and found["private"].data["fields"] == {"reasoning_effort": "extreme"}


def test_one_answer_is_what_every_api_gives() -> None:
    """`n=1` asks for nothing; more than one is kept for the API that has it."""
    assert asked(n=1) == {}
    assert asked(n=2)["private"].data["fields"] == {"n": 2}


def test_fields_of_ollama_are_read_too() -> None:
    """Its own API has `options` and `think` beside the messages."""
    found = asked(options={"num_predict": 9, "temperature": 0.5}, think=True)
    assert (found["max_tokens"], found["temperature"], found["thinking"]) == (9, 0.5, True)
