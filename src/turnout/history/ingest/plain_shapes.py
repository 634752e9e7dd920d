"""The plain shapes that nearly all messages have, read without a copy of the message.

Each reader here gives what the reader of its format gives, or None: then the message has
another shape, and the reader of the format reads it. A shape is plain when every field of it is
named here and every text in it is clean, so there is nothing to report and nothing to resolve.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ...model import Outcome, Residue, Status, Text, Thinking
from ...plain import clean_text
from .gemini import outcome_of_response
from .message_parts import Heard, HeardCall, HeardResult, Item, ReadContext, Speaker

MOST_BRACKETS = 100
"""An object with so few cannot make a message too deep, which may have `MAX_DEPTH` levels."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

ROLES: dict[str, Speaker] = {
    "user": "user",
    "assistant": "model",
    "system": "system",
    "developer": "system",
}
GEMINI_ROLES: dict[str, Speaker] = {"user": "user", "model": "model"}

SPOKEN = {"role", "content"}
CALLING = {"role", "content", "tool_calls"}
REPORTING = {"role", "tool_call_id", "content"}
CALL = {"id", "type", "function"}
FUNCTION = {"name", "arguments"}
TEXT = {"type", "text"}
THINKING = {"type", "thinking", "signature"}
TOOL_USE = {"type", "id", "name", "input"}
TOOL_RESULT = {"type", "tool_use_id", "content"}
ITEM_SPOKEN = {"type", "role", "content"}
ITEM_CALL = {"type", "call_id", "name", "arguments"}
ITEM_OUTPUT = {"type", "call_id", "output"}
CONTENT = {"role", "parts"}

PlainReader = Callable[[Any, ReadContext], Heard | None]


class _OtherShapeError(Exception):
    """The message does not have one of these shapes."""


def read_plain_message(message: Any, context: ReadContext) -> Heard | None:
    """A message of Chat or Anthropic."""
    try:
        return _read_message(message, context)
    except _OtherShapeError:
        return None


def read_plain_item(item: Any, context: ReadContext) -> Heard | None:
    """An item of Responses."""
    try:
        return _read_item(item, context)
    except _OtherShapeError:
        return None


def read_plain_content(content: Any, context: ReadContext) -> Heard | None:
    """A content of Gemini."""
    try:
        return _read_content(content, context)
    except _OtherShapeError:
        return None


PLAIN_READERS: dict[str, PlainReader] = {
    "openai-chat": read_plain_message,
    "anthropic": read_plain_message,
    "openai-responses": read_plain_item,
    "gemini": read_plain_content,
}
"""By the name of the format. Chat and Anthropic messages have the same outer shape."""


# Chat and Anthropic


def _read_message(message: Any, context: ReadContext) -> Heard:
    names, role = _names_of(message), message.get("role")
    if role == "tool":
        if names != REPORTING:
            raise _OtherShapeError
        outcome = _text_outcome("complete", message["content"])
        result = HeardResult(_filled_text(message["tool_call_id"]), "", outcome)
        return Heard("tool", (result,), context.origin)
    if role == "assistant" and names == CALLING:
        content = "" if message["content"] is None else _any_text(message["content"])
        calls = [_chat_call(call) for call in _list(message["tool_calls"])]
        return Heard("model", (Text(content), *calls) if content else tuple(calls), context.origin)
    if names != SPOKEN:
        raise _OtherShapeError
    speaker, content = _speaker_of(role, ROLES), message["content"]
    if type(content) is str:
        return Heard(speaker, (Text(_filled_text(content)),), context.origin)
    return Heard(speaker, tuple([_block_item(block, context) for block in _list(content)]), context.origin)


def _chat_call(call: Any) -> HeardCall:
    if _names_of(call) != CALL or call["type"] != "function" or _names_of(call["function"]) != FUNCTION:
        raise _OtherShapeError
    function = call["function"]
    name, arguments = _filled_text(function["name"]), _filled_text(function["arguments"])
    return HeardCall(_filled_text(call["id"]), name, arguments)


def _block_item(block: Any, context: ReadContext) -> Item:
    names = _names_of(block)
    kind = block.get("type")
    if kind == "text" and names == TEXT:
        return Text(_filled_text(block["text"]))
    if kind == "tool_use" and names == TOOL_USE:
        return HeardCall(_filled_text(block["id"]), _filled_text(block["name"]), _copy_of(block["input"]))
    if kind == "tool_result" and names - {"is_error"} == TOOL_RESULT:
        status: Status = "error" if _flag(block.get("is_error", False)) else "complete"
        content = block["content"]
        if type(content) is list and len(content) == 1 and _names_of(content[0]) == TEXT:
            content = content[0]["text"] if content[0]["type"] == "text" else None
        return HeardResult(_filled_text(block["tool_use_id"]), "", _text_outcome(status, content))
    if kind == "thinking" and names == THINKING:
        signed = Residue(context.origin, {"signature": _filled_text(block["signature"])})
        return Thinking(_any_text(block["thinking"]), signed)
    raise _OtherShapeError


# Responses


def _read_item(item: Any, context: ReadContext) -> Heard:
    names = _names_of(item)
    kind = item.get("type", "message")
    if kind == "message" and names | {"type"} == ITEM_SPOKEN:
        speaker = _speaker_of(item["role"], ROLES)
        content = item["content"]
        if type(content) is str:
            texts: tuple[Text, ...] = (Text(_filled_text(content)),)
        else:
            texts = tuple([_item_text(part) for part in _list(content)])
        return Heard(speaker, texts, context.origin, joins=speaker == "model")
    if kind == "function_call" and names - {"id", "status"} == ITEM_CALL:
        call_id, name = _filled_text(item["call_id"]), _filled_text(item["name"])
        _any_text(item.get("status", ""))
        marks = (
            Residue(context.origin, {"item_id": _any_text(item["id"])}, "provider") if "id" in names else None
        )
        call = HeardCall(call_id, name, _filled_text(item["arguments"]), marks)
        return Heard("model", (call,), context.origin, joins=True)
    if kind == "function_call_output" and names == ITEM_OUTPUT:
        outcome = _text_outcome("complete", item["output"])
        return Heard("tool", (HeardResult(_filled_text(item["call_id"]), "", outcome),), context.origin)
    raise _OtherShapeError


def _item_text(part: Any) -> Text:
    if _names_of(part) != TEXT or part["type"] not in ("input_text", "output_text"):
        raise _OtherShapeError
    return Text(_filled_text(part["text"]))


# Gemini


def _read_content(content: Any, context: ReadContext) -> Heard:
    if _names_of(content) != CONTENT:
        raise _OtherShapeError
    speaker = _speaker_of(content["role"], GEMINI_ROLES)
    items = [_part_item(part, context) for part in _list(content["parts"])]
    return Heard(speaker, tuple(items), context.origin)


def _part_item(part: Any, context: ReadContext) -> Item:
    names = _names_of(part) - {"thoughtSignature"}
    marks = None
    if "thoughtSignature" in part:
        marks = Residue(context.origin, {"thought_signature": _any_text(part["thoughtSignature"])})
    if names == {"text"}:
        return Text(_filled_text(part["text"]), marks)
    if names == {"functionCall"}:
        call = part["functionCall"]
        if _names_of(call) - {"id"} != {"name", "args"}:
            raise _OtherShapeError
        raw_id = _any_text(call.get("id", ""))
        return HeardCall(raw_id, _filled_text(call["name"]), _copy_of(call["args"]), marks, not raw_id)
    if names == {"functionResponse"} and marks is None:
        answer = part["functionResponse"]
        if _names_of(answer) - {"id"} != {"name", "response"}:
            raise _OtherShapeError
        raw_id = _any_text(answer.get("id", ""))
        response = answer["response"]
        if _names_of(response) == {"output"} and type(response["output"]) is str:
            outcome = _text_outcome("complete", response["output"])
        else:
            outcome = outcome_of_response(_copy_of(response))
        return HeardResult(raw_id, _filled_text(answer["name"]), outcome, not raw_id)
    raise _OtherShapeError


# Values: as they should be, or another shape


def _names_of(value: Any) -> Any:
    if type(value) is not dict:
        raise _OtherShapeError
    return value.keys()


def _list(value: Any) -> list[Any]:
    if type(value) is not list or not value:
        raise _OtherShapeError
    return value


def _speaker_of(role: Any, roles: dict[str, Speaker]) -> Speaker:
    speaker = roles.get(role) if type(role) is str else None
    if speaker is None:
        raise _OtherShapeError
    return speaker


def _any_text(value: Any) -> str:
    if type(value) is not str or clean_text(value) is not value:
        raise _OtherShapeError
    return value


def _filled_text(value: Any) -> str:
    if not value or type(value) is not str or clean_text(value) is not value:
        raise _OtherShapeError
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _OtherShapeError
    return value


def _text_outcome(status: Status, content: Any) -> Outcome:
    if type(content) is not str:
        raise _OtherShapeError
    outcome = Outcome(status, (Text(content),) if content else ())
    if content and outcome.content[0].text is not content:  # type: ignore[union-attr]
        raise _OtherShapeError  # an outcome cleans its text
    return outcome


def _copy_of(value: Any) -> dict[str, Any]:
    """A copy of an object that is plain JSON, and surely not too deep."""
    if type(value) is not dict:
        raise _OtherShapeError
    try:
        encoded = _encode(value)
    except Exception:  # circular, or an object whose methods raise
        raise _OtherShapeError from None
    if b"\\u0000" in encoded or encoded.count(b"{") + encoded.count(b"[") > MOST_BRACKETS:
        raise _OtherShapeError
    copy: dict[str, Any] = _decode(encoded)
    if copy != value:
        raise _OtherShapeError
    return copy
