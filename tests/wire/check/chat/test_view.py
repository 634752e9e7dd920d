"""A Chat body of any shape can be read."""

from __future__ import annotations

from turnout.wire.check.chat.view import brief, is_redacted, kind, view


def test_a_value_of_a_wrong_type_reads_as_empty() -> None:
    """The rule for that value reads `raw`; all others see nothing."""
    seen = view({"messages": "hi", "tools": {"name": "x"}, "model": 7})

    assert (seen.messages, seen.tools, seen.model) == ((), (), "")


def test_only_an_assistant_makes_calls() -> None:
    """Servers ignore the key on other roles."""
    calls = [{"id": "a", "type": "custom", "custom": {"name": "sql"}}]
    seen = view(
        {"messages": [{"role": "user", "tool_calls": calls}, {"role": "assistant", "tool_calls": calls}]}
    )

    assert [(call.id, call.name, call.body) for call in seen.calls()] == [("a", "sql", "custom")]


def test_values_are_named_as_providers_name_them() -> None:
    """A long text is cut, another value is named by its type."""
    assert kind(True) == "a boolean" and kind({}) == "an object"
    assert len(brief("x" * 200)) == 80 and brief([]) == "an array"
    assert is_redacted("call_<redacted>")
