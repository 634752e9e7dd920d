"""A generateContent body, read in both spellings."""

from __future__ import annotations

from typing import Any

from turnout.wire.check.gemini.view import field, view_body


def called(name: str, key: str = "functionCall") -> dict[str, Any]:
    return {"role": "model", "parts": [{key: {"name": name, "args": {}}}]}


def answered(*names: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"functionResponse": {"name": name}} for name in names]}


def test_a_field_is_found_in_either_spelling() -> None:
    """Null reads as absent."""
    assert field({"thought_signature": "x"}, "thoughtSignature") == "x"
    assert field({"thoughtSignature": None}, "thoughtSignature") is None


def test_neighbouring_contents_with_calls_are_one_step() -> None:
    """Recorded: both responses after the second content, status 200."""
    request = view_body({"contents": [called("a"), called("b", "function_call"), answered("a", "b")]})

    (step,) = request.steps()
    assert [call.name for call in step.calls] == ["a", "b"] and step.is_answered


def test_a_body_is_read_out_of_its_envelope() -> None:
    """Code Assist names the model outside."""
    request = view_body({"model": "gemini-3-pro", "request": {"contents": [answered("a")]}})

    assert request.version == 3 and len(request.contents) == 1


def test_a_current_turn_begins_after_the_users_text() -> None:
    """Responses alone do not begin a turn."""
    asked = {"role": "user", "parts": [{"text": "go"}]}
    request = view_body({"contents": [asked, called("a"), answered("a"), called("b")]})

    assert [place for place, _ in request.current_turn()] == [1, 2, 3]
