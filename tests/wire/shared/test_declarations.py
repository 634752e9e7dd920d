"""What an encoder keeps between two requests never shows in them."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import History, ToolSpec, render

TARGETS = (
    "openai:gpt-5.1",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-2.5-pro",
)


def spec(default: Any) -> ToolSpec:
    limit = {"type": ["integer", "boolean"], "default": default}
    return ToolSpec("search", "Search.", {"type": "object", "properties": {"limit": limit}})


def asked() -> History:
    history = History("h")
    history.user("go")
    return history


@pytest.mark.parametrize("target", TARGETS)
def test_tools_that_changed_are_declared_anew(target: str) -> None:
    """The second request declares its own tools, also where they only differ as JSON does: 1 is not true."""
    history, one, true = asked(), spec(1), spec(True)
    for tools in ([one], [one], [true], [one, ToolSpec("list")], []):
        assert render(history, target, tools=tools).body == render(asked(), target, tools=tools).body


@pytest.mark.parametrize("target", TARGETS[:3])
def test_what_was_weakened_is_reported_with_every_request(target: str) -> None:
    """A schema that had to be weakened is in the report again when its declaration is only repeated."""
    properties = {"a": {"type": "string"}}
    tools = [ToolSpec("t", "", {"type": "object", "properties": properties, "anyOf": [{}, {}]})]
    history = asked()

    first, second = (render(history, target, tools=tools).report.changes for _ in range(2))

    assert first == second
    assert any("anyOf" in change for change in second)


@pytest.mark.parametrize("asks", ({"strict": True}, {"cache": False}))
def test_options_that_show_in_declarations_are_heeded(asks: dict[str, Any]) -> None:
    """Strictness and cache markers follow the request at hand, not the one before it."""
    history, target, tools = asked(), TARGETS[2], [spec(1)]
    for options in ({}, asks, {}):
        again = render(history, target, tools=tools, **options)
        assert again.body == render(asked(), target, tools=tools, **options).body
