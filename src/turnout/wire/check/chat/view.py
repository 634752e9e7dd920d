"""A Chat body, read once for all rules.

A body may come from anywhere, so it may have any shape: a value of a wrong type reads as
empty here, and the rule for that value reads `raw`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from .. import models


class ChatCall(Struct, frozen=True):
    """One entry of `tool_calls`; a custom tool's call has an input in place of arguments."""

    path: str
    raw: Mapping[str, Any]
    body: str  # the key that holds name and arguments: "function" or "custom"

    @property
    def id(self) -> Any:
        return self.raw.get("id")

    @property
    def name(self) -> Any:
        return mapping(self.raw.get(self.body)).get("name")

    @property
    def arguments(self) -> Any:
        return mapping(self.raw.get(self.body)).get("arguments")


class ChatMessage(Struct, frozen=True):
    index: int
    path: str
    role: str
    raw: Mapping[str, Any]
    calls: tuple[ChatCall, ...]

    @property
    def content(self) -> Any:
        return self.raw.get("content")

    @property
    def answers(self) -> Any:
        """The id of the call that a tool message answers."""
        return self.raw.get("tool_call_id")

    def parts(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The parts of an array content that are objects, each with its path."""
        for position, part in enumerate(array(self.content)):
            if isinstance(part, Mapping):
                yield f"{self.path}.content[{position}]", part


class ChatTool(Struct, frozen=True):
    path: str
    raw: Mapping[str, Any]
    body: str

    @property
    def definition(self) -> Mapping[str, Any]:
        return mapping(self.raw.get(self.body))

    @property
    def name(self) -> Any:
        return self.definition.get("name")


class ChatView(Struct, frozen=True):
    """What the rules read. `family` is the family of the model, if the name shows it."""

    body: Mapping[str, Any]
    model: str
    family: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ChatTool, ...]

    def calls(self) -> Iterator[ChatCall]:
        for message in self.messages:
            yield from message.calls

    def assistants(self) -> Iterator[ChatMessage]:
        return (message for message in self.messages if message.role == "assistant")


def view(body: Mapping[str, Any], model: str = "") -> ChatView:
    name = model or text(body.get("model"))
    return ChatView(
        body=body,
        model=name.lower(),
        family=models.family(name),
        messages=tuple(_messages(body.get("messages"))),
        tools=tuple(_tools(body.get("tools"))),
    )


def _messages(messages: Any) -> Iterator[ChatMessage]:
    for index, raw in enumerate(array(messages)):
        if isinstance(raw, Mapping):
            path = f"messages[{index}]"
            role = text(raw.get("role"))
            # Only an assistant makes calls; on other roles servers ignore the key.
            calls = tuple(_calls_at(path, raw.get("tool_calls"))) if role == "assistant" else ()
            yield ChatMessage(index, path, role, raw, calls)


def _calls_at(path: str, calls: Any) -> Iterator[ChatCall]:
    for index, raw in enumerate(array(calls)):
        if isinstance(raw, Mapping):
            yield ChatCall(f"{path}.tool_calls[{index}]", raw, _body_key(raw))


def _tools(tools: Any) -> Iterator[ChatTool]:
    for index, raw in enumerate(array(tools)):
        # Servers that run their own tools take other types, which these rules do not cover.
        if isinstance(raw, Mapping) and raw.get("type", "function") in ("function", "custom"):
            yield ChatTool(f"tools[{index}]", raw, _body_key(raw))


def _body_key(raw: Mapping[str, Any]) -> str:
    return "custom" if raw.get("type") == "custom" else "function"


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def array(value: Any) -> list[Any] | tuple[Any, ...]:
    return value if isinstance(value, list | tuple) else ()


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def is_empty(content: Any) -> bool:
    return content is None or content == "" or content == []


def decode_arguments(arguments: str) -> Any:
    """The JSON value of a string; raises ValueError if it is not JSON."""
    try:
        return msgspec.json.decode(arguments)
    except RecursionError as error:
        raise ValueError(str(error)) from error


def kind(value: Any) -> str:
    """How a provider's error text names the type of a JSON value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case Mapping():
            return "an object"
        case _:
            return "an array"


def brief(value: Any) -> str:
    """A value inside an error text: short, and whole when it is an ordinary id or name."""
    written = value if isinstance(value, str) else kind(value)
    return written if len(written) <= 80 else written[:77] + "..."


def is_redacted(id: Any) -> bool:
    """Whether a person replaced the id before checking the body: its form is then not checked."""
    return isinstance(id, str) and "REDACTED" in id.upper()
