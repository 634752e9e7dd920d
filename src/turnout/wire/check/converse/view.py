"""A Converse body, read once: the messages, and every block with its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from .. import models
from ..chat.view import array, mapping, text
from ..problem import Problem

HOSTED = "server_tool_use"


class ConverseBlock(Struct, frozen=True):
    """A content block: an object with one key, its kind."""

    path: str
    raw: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return next((name for name, value in self.raw.items() if value is not None), "")

    @property
    def value(self) -> Any:
        return self.raw.get(self.kind)

    @property
    def is_call(self) -> bool:
        return self.kind == "toolUse" and mapping(self.value).get("type") != HOSTED

    @property
    def is_result(self) -> bool:
        return self.kind == "toolResult"

    @property
    def id(self) -> str:
        return text(mapping(self.value).get("toolUseId"))


class ConverseMessage(Struct, frozen=True):
    path: str
    role: str
    blocks: tuple[ConverseBlock, ...]

    @property
    def call_ids(self) -> list[str]:
        return [block.id for block in self.blocks if block.is_call]

    @property
    def result_ids(self) -> list[str]:
        return [block.id for block in self.blocks if block.is_result]


class ConverseRequest(Struct, frozen=True):
    body: Mapping[str, Any]
    model: str
    messages: tuple[ConverseMessage, ...]

    @property
    def family(self) -> str:
        """Whose model it is, as far as its name shows."""
        return "nova" if "nova" in self.model.lower() else models.family(self.model)

    def blocks(self) -> Iterator[tuple[ConverseMessage, ConverseBlock]]:
        return ((message, block) for message in self.messages for block in message.blocks)


ConverseRule: TypeAlias = Callable[[ConverseRequest], Iterator[Problem]]


def view_converse(body: Mapping[str, Any], model: str) -> ConverseRequest:
    listed = enumerate(array(body.get("messages")))
    return ConverseRequest(
        body, model or text(body.get("modelId")), tuple(_message(at, item) for at, item in listed)
    )


def _message(at: int, raw: Any) -> ConverseMessage:
    path, held = f"messages.{at}", mapping(raw)
    blocks = tuple(
        ConverseBlock(f"{path}.content.{place}", mapping(block))
        for place, block in enumerate(array(held.get("content")))
    )
    return ConverseMessage(path, text(held.get("role")), blocks)
