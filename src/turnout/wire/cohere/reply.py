"""Write a reply as Cohere does: one message, whole or as named events."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...model import Stop
from ..shared.framing import Frame, Stream, encode, frame, pieces
from ..shared.growing_bytes import Wire
from ..shared.reply import HEX, Call, ReplyAuthor, ReplyEncoder, ReplyParts, stop_word

STOPS: dict[Stop, str] = {
    "end": "COMPLETE",
    "tool_calls": "TOOL_CALL",
    "length": "MAX_TOKENS",
    "error": "ERROR",
    "refused": "ERROR_TOXIC",
}


def whole(reply: ReplyParts, author: ReplyAuthor, request: Wire | None = None) -> Wire:
    """The answer as it comes when it is not streamed."""
    finish = stop_word(STOPS, reply, "Cohere")
    message: Wire = {"role": "assistant"}
    content: list[Wire] = []
    if reply.thinking:
        content.append({"type": "thinking", "thinking": reply.thinking})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    if content:
        message["content"] = content
    if reply.calls:
        message["tool_calls"] = [_call_entry(call, place, author) for place, call in enumerate(reply.calls)]
    counts = author.count_tokens(reply)
    tokens = {"input_tokens": counts.input or 0, "output_tokens": counts.output or 0}
    usage: Wire = {"billed_units": tokens, "tokens": tokens}
    if counts.cached_input is not None:
        usage["cached_tokens"] = counts.cached_input
    return {"id": author.draw("", 32, HEX), "finish_reason": finish, "message": message, "usage": usage}


def _call_entry(call: Call, place: int, author: ReplyAuthor) -> Wire:
    written = encode(call.arguments).decode() if call.raw is None else call.raw
    function = {"name": call.name, "arguments": written}
    return {"id": author.call_id(call.name, place, call.id), "type": "function", "function": function}


def stream(answer: Wire, author: ReplyAuthor, odd: Collection[str] = ()) -> Stream:
    """The same answer event by event, then `[DONE]`."""
    empty = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    start = {"id": answer["id"], "type": "message-start", "delta": {"message": empty}}
    body = [_event_frame(start), *_content_events(answer["message"]), *_call_events(answer["message"])]
    delta = {"finish_reason": answer["finish_reason"], "usage": answer["usage"]}
    return Stream(tuple(body), (_event_frame({"type": "message-end", "delta": delta}), Frame(b"[DONE]")))


def _content_events(message: Wire) -> Iterator[Frame]:
    for index, item in enumerate(message.get("content", ())):
        kind = item["type"]
        yield _delta_frame("content-start", index, content={"type": kind, kind: ""})
        for piece in pieces(item[kind]):
            yield _delta_frame("content-delta", index, content={kind: piece})
        yield _event_frame({"type": "content-end", "index": index})


def _call_events(message: Wire) -> Iterator[Frame]:
    for index, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        opening = {**call, "function": {"name": function["name"], "arguments": ""}}
        yield _delta_frame("tool-call-start", index, tool_calls=opening)
        for piece in pieces(function["arguments"]):
            yield _delta_frame("tool-call-delta", index, tool_calls={"function": {"arguments": piece}})
        yield _event_frame({"type": "tool-call-end", "index": index})


def _delta_frame(kind: str, index: int, **message: Any) -> Frame:
    return _event_frame({"type": kind, "index": index, "delta": {"message": message}})


def _event_frame(payload: Wire) -> Frame:
    return frame(payload, payload["type"])


REPLY = ReplyEncoder(whole, stream)
