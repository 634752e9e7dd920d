"""Objects of SDKs, bytes, iterables: every way to give messages."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from tests.history.ingest.ingest_turns import reply
from tests.history.ingest.telling import (
    asks,
    assistant,
    call,
    codes,
    content,
    outcomes,
    story,
    text,
    tool,
    use,
    user,
)

from turnout.history.ingest import ingest
from turnout.model import Media


class Dumps:
    """Stands for any SDK object."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


class ToDict(Dumps):
    model_dump = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        return self.fields


@pytest.mark.parametrize("kind", [Dumps, ToDict])
def test_sdk_objects_are_opened_at_any_depth(kind: type[Dumps]) -> None:
    """They become the dicts that they stand for."""
    function = kind(name="f", arguments="{}")
    made = kind(
        role="assistant", content=None, tool_calls=(kind(id="a", type="function", function=function),)
    )
    history = ingest(kind(model="m", messages=[user("go"), made, tool("a", "42")]))

    assert outcomes(history) == [("f", "complete", "42")]
    assert reply(kind(model="m", messages=[made])).origin.model == "m"
    assert codes(history) == []


def test_real_sdk_objects() -> None:
    """Objects of the SDKs of OpenAI, Anthropic and Google are read."""
    from anthropic.types import Message as AnthropicMessage
    from google.genai.types import Content, FunctionCall, Part
    from openai.types.chat import ChatCompletionMessage

    chat = ChatCompletionMessage.model_validate(assistant("hi", call("a", "f")))
    assert story(ingest([user("go"), chat])) == ["user: go", "model: hi, f"]

    made = AnthropicMessage.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "c",
            "content": [use("a", "f")],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    assert story(ingest([user("go"), made], "anthropic")) == ["user: go", "model: f"]

    signed = Part(function_call=FunctionCall(name="f", args={"n": 1}), thought_signature=b"\x01\x02")
    history = ingest(
        [Content(role="model", parts=[signed, Part.from_bytes(data=b"ABC", mime_type="image/png")])], "gemini"
    )
    made_call, image = history.turns[0].blocks
    assert made_call.residue.data == {"thought_signature": "AQI="}
    assert image == Media("image/png", "QUJD")
    assert codes(history) == []


class Hostile:
    """An object whose every answer is an exception."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


def test_an_object_that_answers_nothing_harms_nobody() -> None:
    """Nor one that is only its address, which would differ from run to run."""
    odd = {"hostile": Hostile(), "bare": object(), "kept": SimpleNamespace(deep=b"b")}
    history = ingest(
        [content("ai", asks("x", "f", **odd)), content("human", text("a")), Hostile()], "icontent"
    )

    arguments = next(iter(history.ledger)).arguments
    assert arguments == {
        "hostile": "[Hostile]",
        "bare": "[object]",
        "kept": {"deep": arguments["kept"]["deep"]},
    }
    assert codes(history).count("unplain_value") == 2


def test_bytes_are_read_as_text() -> None:
    """Bytes inside a message become text, with a diagnostic."""
    history = ingest([user(b"caf\xc3\xa9 \xff")])

    assert story(history) == ["user: café \ufffd"]
    assert codes(history) == ["unplain_value"]


def test_messages_nested_beyond_reading_are_noted() -> None:
    """They are reported, and the rest is read."""
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    history = ingest([user("a"), user(deep), {"role": "user", "content": deep}, assistant(None, call("a"))])

    assert story(history)[0] == "user: a"
    assert "unplain_value" in codes(history)


def test_any_iterable_of_messages_will_do() -> None:
    """A generator is read too."""
    assert story(ingest(message for message in [user("a"), user("b")])) == ["user: a", "user: b"]
    assert story(ingest((user("a"),))) == ["user: a"]


def test_a_byte_order_mark_is_no_obstacle() -> None:
    """Some editors write one."""
    assert story(ingest(b"\xef\xbb\xbf" + json.dumps([user("a")]).encode())) == ["user: a"]
    assert story(ingest("\ufeff" + json.dumps([user("a")]))) == ["user: a"]
