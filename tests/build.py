"""Small histories, written the way one would tell them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnout.history.log import History
from turnout.ids import call_id
from turnout.model import Block, Message, ModelTurn, Outcome, SystemTurn, Text, ToolCall, UserTurn

MODEL = "openai:gpt-5.1"


def user(*content: str | Block) -> tuple[str, Any]:
    return "user", content


def system(*content: str | Block) -> tuple[str, Any]:
    return "system", content


def model(*content: str | Block, origin: str = MODEL) -> tuple[str, Any]:
    return "model", (origin, content)


def call(name: str, raw_id: str | None = None, /, **arguments: Any) -> ToolCall:
    """A call that is known by its raw id, or by its tool's name where none is given."""
    return ToolCall(id=raw_id or name, name=name, arguments=arguments)


def settled(raw_id: str, content: Any = "done", status: Any = "complete") -> tuple[str, Any]:
    return "settled", (raw_id, content if isinstance(content, Outcome) else Outcome(status, content))


def started(raw_id: str) -> tuple[str, Any]:
    return "started", raw_id


def conversation(*steps: tuple[str, Any], key: str = "h") -> History:
    """A history to which these steps happened, in this order."""
    history = History(key)
    for kind, what in steps:
        match kind:
            case "user":
                history.user(what)
            case "system":
                history.append(SystemTurn(history.next_key(), tuple(_blocks(what))))
            case "model":
                history.reply(*what)
            case "settled":
                history.settle(find(history, what[0]), what[1])
            case "started":
                history.start(find(history, what))
    return history


def _blocks(content: Any) -> Iterator[Block]:
    for item in content:
        yield Text(item) if isinstance(item, str) else item


def find(history: History, raw_id: str) -> str:
    """The canonical id of the latest call with that raw id."""
    for turn in reversed(history.turns):
        if isinstance(turn, ModelTurn):
            for item in turn.tool_calls:
                if item.raw_id == raw_id:
                    return item.id
    raise AssertionError(f"no call {raw_id} in this history")


def results(messages: Any) -> dict[str, str]:
    """Tool name -> status, in the order a reader meets the results."""
    return {item.name: item.outcome.status for message in messages for item in message.responses}


def shape(messages: tuple[Message, ...]) -> list[str]:
    """A transcript at a glance: user, model(a,b), tool(a,b)."""
    lines = []
    for message in messages:
        names = [item.name for item in (*message.tool_calls, *message.responses)]
        lines.append(f"{message.role}({','.join(names)})" if names else message.role)
    return lines


__all__ = [
    "UserTurn",
    "call",
    "call_id",
    "conversation",
    "find",
    "model",
    "results",
    "settled",
    "shape",
    "started",
    "system",
    "user",
]
