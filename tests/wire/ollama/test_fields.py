"""Options for Ollama: in `options`, with thinking, format and tools beside them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from turnout import History, render
from turnout.targets.target import find_target
from turnout.wire.request import WireRequest

TOOL = {"name": "look", "parameters": {"type": "object", "properties": {"any": True}}}


def asked(to: Any = "ollama:qwen3", **options: Any) -> WireRequest:
    history = History("h")
    history.user("hi")
    return render(history, to, **options)


def test_options_of_the_model_stand_together() -> None:
    """`num_predict` and the others; a stream is always said, since Ollama streams by default."""
    body = asked(max_tokens=64, temperature=0.1, stop=("END",), top_k=3).json
    assert body["options"] == {"num_predict": 64, "temperature": 0.1, "stop": ["END"], "top_k": 3}
    assert body["stream"] is False and asked(stream=True).json["stream"] is True


def test_the_window_that_is_counted_with_is_sent() -> None:
    """`num_ctx` where the server was asked; what the caller adds in `extra` counts more."""
    place = find_target("ollama:qwen3")
    place = replace(place, facts=replace(place.facts, window=16_384))
    assert asked(place).json["options"]["num_ctx"] == 16_384
    assert asked(place, extra={"options": {"num_ctx": 4_096}}).json["options"]["num_ctx"] == 4_096
    assert "num_ctx" not in asked().json["options"]


@pytest.mark.parametrize(
    ("to", "options", "think"),
    [
        ("ollama:qwen3", {"thinking": True}, True),
        ("ollama:qwen3", {"thinking": False}, False),
        ("ollama:gpt-oss:20b", {"effort": "low"}, "low"),
        ("ollama:llama3.2", {"thinking": True}, None),
        ("ollama:qwen3", {}, None),
    ],
)
def test_thinking_is_a_switch_or_a_level(to: str, options: dict[str, Any], think: Any) -> None:
    """A model without thinking is not asked: it would refuse."""
    assert asked(to, **options).json.get("think") == think


def test_a_schema_is_the_format() -> None:
    """JSON alone is the word `json`."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert asked(schema=schema).json["format"] == schema
    assert asked(json=True).json["format"] == "json"


def test_nothing_forces_a_call() -> None:
    """A forced choice is weakened with a line, and `none` leaves the tools out."""
    forced = asked(tools=[TOOL], tool_choice="required")
    assert "tool_choice" not in forced.json and any("cannot force" in line for line in forced.report.changes)
    assert "tools" not in asked(tools=[TOOL], tool_choice="none").json


def test_properties_are_objects() -> None:
    """Go cannot read `true` where it wants a property."""
    (tool,) = asked(tools=[TOOL]).json["tools"]
    assert tool["function"]["parameters"]["properties"] == {"any": {}}
