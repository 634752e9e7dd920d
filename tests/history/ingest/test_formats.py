"""The formats by name: the same conversation in each, and what is not the named format."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.ingest_turns import reply
from tests.history.ingest.telling import (
    answers,
    asks,
    assistant,
    call,
    codes,
    content,
    function_call,
    function_response,
    outcomes,
    parts,
    result,
    story,
    system,
    text,
    tool,
    use,
    user,
)

from turnout.errors import UsageError
from turnout.history.ingest import ingest
from turnout.history.log import History
from turnout.model import Origin, ToolCall

# Healthy conversations in every format give the same story

CHAT = [
    system("be kind"),
    user("weather?"),
    assistant("let me see", call("a", "weather", {"city": "Paris"})),
    tool("a", "sunny"),
    assistant("It is sunny."),
]
RESPONSES = {
    "instructions": "be kind",
    "input": [
        user("weather?"),
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "let me see"}]},
        {"type": "function_call", "call_id": "a", "name": "weather", "arguments": '{"city":"Paris"}'},
        {"type": "function_call_output", "call_id": "a", "output": "sunny"},
        {"role": "assistant", "content": "It is sunny."},
    ],
}
ANTHROPIC = {
    "system": [{"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        user("weather?"),
        {"role": "assistant", "content": [text("let me see"), use("a", "weather", city="Paris")]},
        user([result("a", [text("sunny")], cache_control={"type": "ephemeral"})]),
        {"role": "assistant", "content": "It is sunny."},
    ],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "be kind"}]},
    "contents": [
        parts("user", {"text": "weather?"}),
        parts("model", {"text": "let me see"}, function_call("weather", city="Paris")),
        parts("user", function_response("weather", output="sunny")),
        parts("model", {"text": "It is sunny."}),
    ],
}
ICONTENT = [
    content("system", text("be kind")),
    content("human", text("weather?")),
    content("ai", text("let me see"), asks("a", "weather", city="Paris")),
    content("tool", answers("a", "sunny", "weather")),
    content("ai", text("It is sunny.")),
]
HEALTHY = [
    ("openai-chat", CHAT),
    ("openai-responses", RESPONSES),
    ("anthropic", ANTHROPIC),
    ("gemini", GEMINI),
    ("icontent", ICONTENT),
]


@pytest.mark.parametrize(("form", "given"), HEALTHY)
def test_a_healthy_conversation_is_the_same_in_every_format(form: str, given: Any) -> None:
    """Same system text, turns, arguments and outcome; nothing to diagnose."""
    history = ingest(given, form)

    assert history.system == "be kind"
    assert story(history) == ["user: weather?", "model: let me see, weather", "model: It is sunny."]
    assert outcomes(history) == [("weather", "complete", "sunny")]
    assert next(iter(history.ledger)).arguments == {"city": "Paris"}
    assert codes(history) == []


@pytest.mark.parametrize(("form", "given"), HEALTHY)
def test_a_conversation_goes_on_after_the_door(form: str, given: Any) -> None:
    """An ingested history takes another turn."""
    history = ingest(given, form)
    history.user("And tomorrow?")
    turn = history.reply("mistral:mistral-large-latest", [ToolCall("x", "weather")])

    assert history.open_turn is turn
    assert len({turn.key for turn in history.turns}) == len(history.turns)


# What is not the format at all


@pytest.mark.parametrize(
    ("given", "form", "says"),
    [
        (42, "openai-chat", "int is not openai-chat"),
        (None, "gemini", "NoneType is not gemini"),
        ("hello", "openai-chat", "not JSON"),
        (b"\xff\xfe", "anthropic", "not JSON"),
        ('"hello"', "openai-chat", "str is not openai-chat"),
        ({"contents": []}, "openai-chat", "format='gemini'"),
        ({"input": []}, "anthropic", "format='openai-responses'"),
        ({"role": "user", "content": "hi"}, "openai-chat", "put a single message in a list"),
        ([], "morse", "is not a message format"),
        ([], 7, "is not a message format"),
    ],
)
def test_what_is_not_the_named_format_is_refused_with_the_way_on(given: Any, form: Any, says: str) -> None:
    """The message names the next step."""
    with pytest.raises(UsageError, match=says):
        ingest(given, form)


def test_every_providers_name_is_the_name_of_its_format() -> None:
    """What is read under a provider's name, or under another name of it, is that provider's."""
    from turnout.providers import PROVIDERS

    for provider in PROVIDERS.values():
        for name in (provider.name, *provider.aliases):
            assert reply([assistant("hi")], name).origin == Origin(provider.name)


def test_every_name_that_is_checked_is_a_name_of_a_format() -> None:
    """`ingest` and `decode` know whatever `check` knows, also hosts that we have no address for."""
    from turnout import decode
    from turnout.wire.check.names import NAMES

    for name, meant in NAMES.items():
        assert isinstance(ingest([], name), History), name
        if meant == "openai-compatible":
            said = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
            assert decode(f"{name}:m", said).text == "hi"
