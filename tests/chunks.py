"""Chunks of a Chat stream, as short as tests want to write them."""

from __future__ import annotations

from typing import Any

from tests.decoding import chat, turn

DONE = "[DONE]"


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def fragment(
    index: int | None = None, id: str | None = None, name: Any = None, arguments: Any = ""
) -> dict[str, Any]:
    """One entry of `tool_calls`, with only what is given."""
    function = {"name": name, "arguments": arguments}
    entry = {"index": index, "id": id, "function": {k: v for k, v in function.items() if v is not None}}
    return {key: value for key, value in entry.items() if value is not None}


def calls(*fragments: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(fragments))


def called(*payloads: Any, finish: str | None = "tool_calls") -> list[tuple[str, Any]]:
    """Name and arguments of the calls in a stream that ends well."""
    ended = turn(chat(), *payloads, delta(finish), DONE)
    return [(call.name, call.fault or call.arguments) for call in ended.tool_calls]
