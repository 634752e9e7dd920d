"""The kind of a failure, by its codes, its message and its status."""

from __future__ import annotations

import pytest

from turnout.wire.failure.kind import kind_of


@pytest.mark.parametrize(
    ("message", "words", "status", "kind"),
    [
        ("", ["overloaded_error"], 200, "overloaded"),
        ("prompt is too long: 300000 tokens", ["invalid_request_error"], 400, "context_too_long"),
        ("Your credit balance is too low", ["invalid_request_error"], 400, "quota"),
        ("", [], 529, "overloaded"),
        ("", [], 418, "invalid_request"),
        ("", [], 599, "server"),
    ],
)
def test_codes_come_first_then_the_message_then_the_status(
    message: str, words: list[str], status: int, kind: str
) -> None:
    """The same status may mean several things."""
    assert kind_of(message, words, status) == kind


def test_a_used_up_day_is_a_quota_and_a_used_up_minute_a_rate() -> None:
    """Gemini says quota for both."""
    assert kind_of("Quota exceeded for requests per day", ["resource_exhausted"], 429) == "quota"
    assert kind_of("Quota exceeded for requests per minute", ["resource_exhausted"], 429) == "rate_limit"


def test_a_broken_rule_is_an_invalid_request() -> None:
    """The rules of the tool protocol are recognised by their text."""
    text = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after"
    assert kind_of(text, ["invalid_request_error"], 400) == "invalid_request"
