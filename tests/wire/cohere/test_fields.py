"""Options for Cohere: its names, its ranges, and what it does not have."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import History, render
from turnout.wire.request import WireRequest

TOOL = {"name": "look", "parameters": {"type": "object", "properties": {}}}


def asked(model: str = "command-a-03-2025", **options: Any) -> WireRequest:
    history = History("h")
    history.user("hi")
    return render(history, f"cohere:{model}", **options)


def test_options_have_cohere_s_names() -> None:
    """`p`, `k` and `stop_sequences`; nothing else is written."""
    body = asked(top_p=0.5, top_k=7, stop=("END",), temperature=0.2, seed=3, max_tokens=10).json
    assert {name: body[name] for name in ("p", "k", "stop_sequences", "seed")} == {
        "p": 0.5,
        "k": 7,
        "stop_sequences": ["END"],
        "seed": 3,
    }


@pytest.mark.parametrize(
    ("option", "value", "field", "sent"),
    [
        ("temperature", 1.8, "temperature", 1.0),
        ("top_p", 1.0, "p", 0.99),
        ("top_k", 900, "k", 500),
        ("presence_penalty", -1.0, "presence_penalty", 0.0),
    ],
)
def test_values_out_of_range_are_sent_as_the_nearest(option: str, value: Any, field: str, sent: Any) -> None:
    """And the report says so."""
    request = asked(**{option: value})
    assert request.json[field] == sent
    assert any(f"sent as {sent}" in line for line in request.report.changes)


def test_a_choice_is_one_of_two_words() -> None:
    """A named tool becomes REQUIRED; the first models take no choice."""
    assert asked(tools=[TOOL], tool_choice="required").json["tool_choice"] == "REQUIRED"
    assert asked(tools=[TOOL], tool_choice="none").json["tool_choice"] == "NONE"
    named = asked(tools=[TOOL], tool_choice="look")
    assert named.json["tool_choice"] == "REQUIRED" and "cannot name a tool" in " ".join(named.report.changes)
    assert "tool_choice" not in asked("command-r-08-2024", tools=[TOOL], tool_choice="none").json


def test_a_format_is_left_out_beside_tools() -> None:
    """Cohere refuses JSON mode where tools are declared."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert asked(schema=schema).json["response_format"] == {"type": "json_object", "json_schema": schema}
    both = asked(schema=schema, tools=[TOOL])
    assert "response_format" not in both.json and any("schema" in line for line in both.report.changes)


def test_only_models_that_think_are_asked_to() -> None:
    """With a budget where one is given."""
    thinking = asked("command-a-reasoning-08-2025", thinking=True, budget=500).json["thinking"]
    assert thinking == {"type": "enabled", "token_budget": 500}
    other = asked(thinking=True)
    assert "thinking" not in other.json and any("thinking left out" in line for line in other.report.changes)
