"""Write a reply as OpenAI's Responses: a list of output items, whole or as events.

The whole response is made first. The stream has the same items, and its last event holds the
response again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import count

from ...model import Stop, Usage
from ...plain import dumps
from ..shared.framing import Frame, Stream, frame, pieces
from ..shared.growing_bytes import Wire
from ..shared.reply import (
    CREATED,
    HEX,
    Call,
    Hosted,
    Part,
    ReplyAuthor,
    ReplyForms,
    ReplyParts,
    Say,
    Think,
    stop_word,
)

STOPS: dict[Stop, str] = {
    "end": "",
    "tool_calls": "",
    "length": "max_output_tokens",
    "refused": "content_filter",
}
"""Why a response is incomplete; "" where it is complete."""


def whole(reply: ReplyParts, author: ReplyAuthor, request: Wire | None = None) -> Wire:
    """The response as it comes when it is not streamed; it repeats much of the request."""
    reason = stop_word(STOPS, reply, "Responses")
    asked = request or {}
    return {
        "id": author.draw("resp_", 48, HEX),
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if reason else "completed",
        "background": False,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": asked.get("instructions"),
        "max_output_tokens": asked.get("max_output_tokens"),
        "model": author.model,
        "output": [_item(part, place, author) for place, part in enumerate(reply.parts)],
        "parallel_tool_calls": asked.get("parallel_tool_calls", True),
        "previous_response_id": asked.get("previous_response_id"),
        "reasoning": asked.get("reasoning") or {"effort": None, "summary": None},
        "store": asked.get("store", True),
        "temperature": asked.get("temperature", 1.0),
        "text": asked.get("text") or {"format": {"type": "text"}},
        "tool_choice": asked.get("tool_choice", "auto"),
        "tools": asked.get("tools", []),
        "top_p": asked.get("top_p", 1.0),
        "truncation": asked.get("truncation", "disabled"),
        "usage": _usage_counts(author.count_tokens(reply)),
        "metadata": asked.get("metadata") or {},
    }


def _item(part: Part, place: int, author: ReplyAuthor) -> Wire:
    draw = author.draw
    match part:
        case Say():
            text = {"type": "output_text", "annotations": [], "logprobs": [], "text": part.text}
            return {
                "id": draw("msg_", 48, HEX),
                "type": "message",
                "status": "completed",
                "content": [text],
                "role": "assistant",
            }
        case Think():
            summary = [] if part.hidden else [{"type": "summary_text", "text": part.text}]
            item: Wire = {"id": draw("rs_", 48, HEX), "type": "reasoning", "summary": summary}
            if author.wants_encrypted:
                item["encrypted_content"] = author.sign("openai", "reasoning")
            return item
        case Call():
            return {
                "id": draw("fc_", 48, HEX),
                "type": "function_call",
                "status": "completed",
                "arguments": dumps(part.arguments) if part.raw is None else part.raw,
                "call_id": author.call_id(part.name, place, part.id),
                "name": part.name,
            }
        case Hosted():
            query = str(part.arguments.get("query", part.result))
            return {
                "id": draw("ws_", 48, HEX),
                "type": "web_search_call",
                "status": "completed",
                "action": {"type": "search", "query": query, **_found_sources(part)},
            }


def _found_sources(part: Hosted) -> Wire:
    return {"sources": [{"type": "url", "url": part.url}]} if part.url else {}


def _usage_counts(usage: Usage) -> Wire:
    total = (usage.input or 0) + (usage.output or 0)
    details = {"cached_tokens": usage.cached_input or 0}
    if usage.cache_write is not None:
        details["cache_write_tokens"] = usage.cache_write
    return {
        "input_tokens": usage.input or 0,
        "input_tokens_details": details,
        "output_tokens": usage.output or 0,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": total if usage.total is None else usage.total,
    }


def stream(response: Wire, author: ReplyAuthor, odd: Collection[str] = ()) -> Stream:
    """The same response as events. Copilot gives an item another id in every event."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    told: list[tuple[str, Wire]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
    ]
    for index, item in enumerate(response["output"]):
        told += _item_events(index, item, odd)
    if "rotating_ids" in odd or author.provider == "copilot":
        told = [(kind, _with_new_item_id(fields, author)) for kind, fields in told]
    last = (f"response.{response['status']}", {"response": response})
    frames = _number_frames([*told, last, *([last] if "completed_twice" in odd else [])])
    return Stream(tuple(frames[: len(told)]), tuple(frames[len(told) :]))


def failed_frame(response: Wire, code: str, message: str) -> Frame:
    """The last event of a response that failed in mid stream."""
    shown = {**response, "status": "failed", "output": [], "usage": None}
    shown["error"] = {"code": code, "message": message}
    kind = "response.failed"
    return frame({"type": kind, "sequence_number": 999, "response": shown}, kind)


def _number_frames(told: Sequence[tuple[str, Wire]]) -> list[Frame]:
    numbers = count()
    return [frame({"type": kind, "sequence_number": next(numbers), **fields}, kind) for kind, fields in told]


def _item_events(index: int, item: Wire, odd: Collection[str]) -> Iterator[tuple[str, Wire]]:
    place: Wire = {"output_index": index}
    if "items_only" not in odd:
        yield "response.output_item.added", {**place, "item": _announced_item(item)}
        named = {"item_id": item["id"], **place}
        match item["type"]:
            case "message":
                yield from _message_events(named, item["content"][0], odd)
            case "reasoning":
                yield from _reasoning_events(named, item["summary"], odd)
            case "function_call":
                yield from _call_events(named, item, odd)
            case kind:
                yield f"response.{kind}.in_progress", named
                yield f"response.{kind}.completed", named
    yield "response.output_item.done", {**place, "item": item}


def _announced_item(item: Wire) -> Wire:
    """An item as it is announced, without its content."""
    empty: Wire = {
        "message": {"content": []},
        "reasoning": {"summary": []},
        "function_call": {"arguments": ""},
    }
    begun = {**item, **empty.get(item["type"], {})}
    if "status" in item:
        begun["status"] = "in_progress"
    if "encrypted_content" in item:  # incomplete until the item is done
        begun["encrypted_content"] = item["encrypted_content"][:40]
    return begun


def _message_events(named: Wire, part: Wire, odd: Collection[str]) -> Iterator[tuple[str, Wire]]:
    at = {**named, "content_index": 0}
    yield "response.content_part.added", {**at, "part": {**part, "text": ""}}
    if "no_deltas" not in odd:
        for piece in pieces(part["text"]):
            yield "response.output_text.delta", {**at, "delta": piece, "logprobs": []}
    yield "response.output_text.done", {**at, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}


def _reasoning_events(named: Wire, summary: list[Wire], odd: Collection[str]) -> Iterator[tuple[str, Wire]]:
    for index, part in enumerate(summary):
        at = {**named, "summary_index": index}
        yield "response.reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}
        if "no_deltas" not in odd:
            for piece in pieces(part["text"]):
                yield "response.reasoning_summary_text.delta", {**at, "delta": piece}
        yield "response.reasoning_summary_text.done", {**at, "text": part["text"]}
        yield "response.reasoning_summary_part.done", {**at, "part": part}


def _call_events(named: Wire, item: Wire, odd: Collection[str]) -> Iterator[tuple[str, Wire]]:
    if "no_deltas" not in odd:
        for piece in pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", {**named, "delta": piece}
    whole = {**named, "name": item["name"], "arguments": item["arguments"]}
    yield "response.function_call_arguments.done", whole


def _with_new_item_id(fields: Wire, author: ReplyAuthor) -> Wire:
    if "item_id" in fields:
        return {**fields, "item_id": author.draw("", 44)}
    if "item" in fields:
        return {**fields, "item": {**fields["item"], "id": author.draw("", 44)}}
    return fields


REPLY = ReplyForms(whole, stream)
