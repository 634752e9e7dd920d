"""What most programs do: keep the messages as they came and send them to the next provider.

The same history without the corrections of turnout: raw ids, results in the order in which they
arrived, calls without results, thinking as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..history.log import History
from ..model import Entry, ModelTurn, Outcome, Settled, Text, Thinking, ToolCall, UserTurn, joined_text
from ..plain import dumps
from ..targets.request import url
from ..targets.target import find_target as target

Wire = dict[str, Any]


def naive_request(history: History, name: str, entries: Iterable[Entry] = ()) -> tuple[str, bytes]:
    """The URL and the body of the request, of all entries of the history or of the given ones."""
    place = target(name)
    protocol = place.api
    chosen = tuple(entries) or history.entries
    messages = [message for entry in chosen for message in _MESSAGES[protocol](history, entry)]
    body: Wire = {"model": place.model, _FIELD[protocol]: messages, **place.dialect.extra_body}
    if protocol in ("anthropic", "invoke"):
        body["max_tokens"] = 1024
    if protocol in ("gemini", "converse") or not getattr(place.dialect, "names_model", True):
        del body["model"]  # the path names it
    return url(place), dumps(body).encode()


_FIELD = {
    "chat": "messages",
    "responses": "input",
    "anthropic": "messages",
    "invoke": "messages",
    "gemini": "contents",
    "converse": "messages",
    "cohere": "messages",
    "ollama": "messages",
}


def _real_outcome(history: History, entry: Any) -> tuple[ToolCall, Outcome] | None:
    """A result that a tool gave; other programs do not record synthetic ones."""
    if isinstance(entry, Settled) and not entry.outcome.synthetic and entry.outcome.status != "denied":
        return history.interaction(entry.call_id).call, entry.outcome
    return None


def _id_of(call: ToolCall) -> str:
    return call.raw_id or call.id


def _chat_messages(history: History, entry: Any) -> list[Wire]:
    if isinstance(entry, UserTurn):
        return [{"role": "user", "content": joined_text(entry.blocks)}]
    if isinstance(entry, ModelTurn):
        calls = [
            {
                "id": _id_of(c),
                "type": "function",
                "function": {"name": c.name, "arguments": dumps(c.arguments)},
            }
            for c in entry.tool_calls
        ]
        message: Wire = {"role": "assistant", "content": entry.text or None}
        return [{**message, "tool_calls": calls} if calls else message]
    if found := _real_outcome(history, entry):
        return [{"role": "tool", "tool_call_id": _id_of(found[0]), "content": found[1].text}]
    return []


def _responses_items(history: History, entry: Any) -> list[Wire]:
    if isinstance(entry, ModelTurn):
        items: list[Wire] = [{"role": "assistant", "content": entry.text}] if entry.text else []
        return items + [
            {"type": "function_call", "call_id": _id_of(c), "name": c.name, "arguments": dumps(c.arguments)}
            for c in entry.tool_calls
        ]
    if found := _real_outcome(history, entry):
        return [{"type": "function_call_output", "call_id": _id_of(found[0]), "output": found[1].text}]
    return _chat_messages(history, entry)


def _anthropic_messages(history: History, entry: Any) -> list[Wire]:
    if isinstance(entry, ModelTurn):
        return [{"role": "assistant", "content": [_anthropic_block(block) for block in entry.blocks]}]
    if found := _real_outcome(history, entry):
        block = {"type": "tool_result", "tool_use_id": _id_of(found[0]), "content": found[1].text}
        return [{"role": "user", "content": [block]}]
    return _chat_messages(history, entry)


def _anthropic_block(block: Any) -> Wire:
    match block:
        case Thinking():
            data = (
                block.residue.data
                if block.residue is not None and isinstance(block.residue.data, dict)
                else {}
            )
            return {"type": "thinking", "thinking": block.text, "signature": data.get("signature", "")}
        case ToolCall():
            return {"type": "tool_use", "id": _id_of(block), "name": block.name, "input": block.arguments}
        case _:
            return {"type": "text", "text": block.text if isinstance(block, Text) else ""}


def _gemini_contents(history: History, entry: Any) -> list[Wire]:
    if isinstance(entry, UserTurn):
        return [{"role": "user", "parts": [{"text": joined_text(entry.blocks)}]}]
    if isinstance(entry, ModelTurn):
        parts: list[Wire] = [{"text": entry.text}] if entry.text else []
        parts += [{"functionCall": {"name": c.name, "args": c.arguments}} for c in entry.tool_calls]
        return [{"role": "model", "parts": parts}]
    if found := _real_outcome(history, entry):
        answer = {"name": found[0].name, "response": {"output": found[1].text}}
        return [{"role": "user", "parts": [{"functionResponse": answer}]}]
    return []


def _converse_messages(history: History, entry: Any) -> list[Wire]:
    if isinstance(entry, UserTurn):
        return [{"role": "user", "content": [{"text": joined_text(entry.blocks)}]}]
    if isinstance(entry, ModelTurn):
        content: list[Wire] = [{"text": entry.text}] if entry.text else []
        calls = (
            {"toolUseId": _id_of(call), "name": call.name, "input": call.arguments}
            for call in entry.tool_calls
        )
        return [{"role": "assistant", "content": [*content, *({"toolUse": call} for call in calls)]}]
    if found := _real_outcome(history, entry):
        result = {"toolUseId": _id_of(found[0]), "content": [{"text": found[1].text}]}
        return [{"role": "user", "content": [{"toolResult": result}]}]
    return []


def _ollama_messages(history: History, entry: Any) -> list[Wire]:
    if isinstance(entry, ModelTurn):
        calls = [{"function": {"name": c.name, "arguments": c.arguments}} for c in entry.tool_calls]
        message: Wire = {"role": "assistant", "content": entry.text}
        return [{**message, "tool_calls": calls} if calls else message]
    if found := _real_outcome(history, entry):
        return [{"role": "tool", "tool_name": found[0].name, "content": found[1].text}]
    return _chat_messages(history, entry)


_MESSAGES = {
    "chat": _chat_messages,
    "responses": _responses_items,
    "anthropic": _anthropic_messages,
    "invoke": _anthropic_messages,
    "gemini": _gemini_contents,
    "converse": _converse_messages,
    "cohere": _chat_messages,
    "ollama": _ollama_messages,
}
