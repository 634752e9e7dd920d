"""Message lists and bodies: origins, tools, empty and unreadable messages."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from tests.history.ingest.ingest_turns import reply
from tests.history.ingest.telling import (
    assistant,
    codes,
    parts,
    story,
    system,
    text,
    user,
)

from turnout.errors import UsageError
from turnout.history.ingest import ingest
from turnout.history.log import History
from turnout.model import Origin


def test_a_file_is_no_message() -> None:
    """An open file is refused, and a view of bytes is bytes."""
    with pytest.raises(UsageError, match="read"):
        ingest(io.BytesIO(b"[]"))
    given = b'[{"role": "user", "content": "hi"}]'
    assert ingest(memoryview(given)).turns == ingest(given).turns


def test_a_history_key_holds_no_bar() -> None:
    """The bar separates the parts of a call id."""
    with pytest.raises(UsageError, match="cannot be the key of a history"):
        ingest([], key="a|b")


def test_nothing_said_is_an_empty_history() -> None:
    """No messages give no turns."""
    assert ingest([]).turns == []
    assert ingest({"messages": None}).turns == []


def test_system_text_alone_is_a_history_without_turns() -> None:
    """It becomes the system text of the history."""
    history = ingest([system("be kind"), {"role": "developer", "content": "and brief"}])

    assert history.system == "be kind\n\nand brief"
    assert not history.turns


def test_empty_messages_are_left_out_and_said_so() -> None:
    """Each is reported."""
    history = ingest([user(""), assistant(None), user([]), user("hi")])

    assert story(history) == ["user: hi"]
    assert codes(history) == ["empty_message"] * 3


def test_what_nobody_can_read_is_kept_as_a_note_and_named() -> None:
    """Nothing is lost in silence."""
    history = ingest([{"role": "user", "poll": {"question": "tea?"}}, {"role": "oracle", "content": "hm"}])

    assert [note.kind for note in history.notes] == ["unreadable_message"]
    assert story(history) == ["user: hm"]
    assert codes(history) == ["unknown_field", "unknown_role"]
    assert history.diagnostics[0].detail == "message.poll"


# Origin


@pytest.mark.parametrize(
    ("given", "form", "origin", "expected"),
    [
        ([assistant("hi")], "openai-chat", None, Origin("openai")),
        ([assistant("hi")], "mistral", None, Origin("mistral")),
        ([assistant("hi")], "responses", None, Origin("openai-responses")),
        ([assistant("hi")], "Kimi", None, Origin("kimi")),
        ([assistant("hi")], "anthropic", "bedrock:claude", Origin("bedrock", "", "claude")),
        ({"model": "m", "messages": [assistant("hi")]}, "chat", None, Origin("openai", "", "m")),
        ({"model": "m", "messages": [assistant("hi")]}, "chat", "groq@eu:x", Origin("groq", "eu", "m")),
        ([assistant("hi")], "chat", Origin("azure", "eu", "gpt"), Origin("azure", "eu", "gpt")),
        (
            {"model": "models/gemini-3", "contents": [parts("model", text("hi"))]},
            "vertex",
            None,
            Origin("vertex", "", "gemini-3"),
        ),
    ],
)
def test_origin_is_the_bodys_model_and_the_named_provider(
    given: Any, form: str, origin: Any, expected: Origin
) -> None:
    """The argument `origin` names the provider where it is given."""
    assert reply(given, form, origin=origin).origin == expected


# Bodies


@pytest.mark.parametrize(
    ("form", "tools"),
    [
        (
            "openai-chat",
            [
                {
                    "type": "function",
                    "function": {"name": "f", "description": "d", "parameters": {"type": "object"}},
                }
            ],
        ),
        (
            "openai-responses",
            [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}}],
        ),
        ("anthropic", [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]),
        (
            "gemini",
            [{"functionDeclarations": [{"name": "f", "description": "d", "parameters": {"type": "OBJECT"}}]}],
        ),
        (
            "gemini",
            {"function_declarations": [{"name": "f", "description": "d", "parameters": {"type": "OBJECT"}}]},
        ),
    ],
)
def test_a_bodys_functions_are_read_into_one_shape(form: str, tools: Any) -> None:
    """Name, description and schema, whichever words an API has for them."""
    body = {"messages": [], "input": [], "contents": [], "tools": tools}
    (spec,) = ingest(body, form).tools

    assert (spec.name, spec.description, spec.parameters) == ("f", "d", {"type": "object"})
    assert (spec.kind, spec.residue) == ("function", None)


def test_history_is_the_kind_that_everyone_writes() -> None:
    """`ingest` gives a `History`, under the key `ingest` by default."""
    history = ingest(json.dumps([user("hi")]))

    assert isinstance(history, History)
    assert history.key == "ingest"
