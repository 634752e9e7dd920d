"""A Chat body, read once, so that every rule can ask instead of dig.

A body comes from anywhere, so nothing in it is taken for granted: what has the wrong
shape reads as empty here, and the rule whose business it is looks at `raw`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from .. import models


class Call(Struct, frozen=True):
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


class Message(Struct, frozen=True):
    index: int
    path: str
    role: str
    raw: Mapping[str, Any]
    calls: tuple[Call, ...]

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


class Tool(Struct, frozen=True):
    path: str
    raw: Mapping[str, Any]
    body: str

    @property
    def definition(self) -> Mapping[str, Any]:
        return mapping(self.raw.get(self.body))

    @property
    def name(self) -> Any:
        return self.definition.get("name")


class View(Struct, frozen=True):
    """What the rules look at. `family` is whose model it is, as far as the name tells."""

    body: Mapping[str, Any]
    model: str
    family: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]

    def calls(self) -> Iterator[Call]:
        for message in self.messages:
            yield from message.calls

    def assistants(self) -> Iterator[Message]:
        return (message for message in self.messages if message.role == "assistant")


def view(body: Mapping[str, Any], model: str = "") -> View:
    name = model or text(body.get("model"))
    return View(
        body=body,
        model=name.lower(),
        family=models.family(name),
        messages=tuple(_messages(body.get("messages"))),
        tools=tuple(_tools(body.get("tools"))),
    )


def _messages(messages: Any) -> Iterator[Message]:
    for index, raw in enumerate(array(messages)):
        if isinstance(raw, Mapping):
            path = f"messages[{index}]"
            role = text(raw.get("role"))
            # Only an assistant makes calls; on other roles the key is noise that servers skip.
            calls = tuple(_calls(path, raw.get("tool_calls"))) if role == "assistant" else ()
            yield Message(index, path, role, raw, calls)


def _calls(path: str, calls: Any) -> Iterator[Call]:
    for index, raw in enumerate(array(calls)):
        if isinstance(raw, Mapping):
            yield Call(f"{path}.tool_calls[{index}]", raw, _body_key(raw))


def _tools(tools: Any) -> Iterator[Tool]:
    for index, raw in enumerate(array(tools)):
        # Servers that run tools of their own take other types, with nothing of ours inside.
        if isinstance(raw, Mapping) and raw.get("type", "function") in ("function", "custom"):
            yield Tool(f"tools[{index}]", raw, _body_key(raw))


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


def decoded(arguments: str) -> Any:
    """The JSON value of a string; raises ValueError when it is none."""
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


def shown(value: Any) -> str:
    """A value inside an error text: short, and whole when it is an ordinary id or name."""
    written = value if isinstance(value, str) else kind(value)
    return written if len(written) <= 80 else written[:77] + "..."


def is_redacted(id: Any) -> bool:
    """Whether someone replaced the id before pasting the body here: its form says nothing then."""
    return isinstance(id, str) and "REDACTED" in id.upper()
