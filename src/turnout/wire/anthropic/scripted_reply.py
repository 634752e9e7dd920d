"""Write a reply as Anthropic does: a message of content blocks, whole or as events.

The whole message is made first. The stream is the same message, block by block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...model import Stop, Usage
from ...plain import dumps
from ..shared.framing import Frame, Stream, frame, pieces
from ..shared.growing_bytes import Wire
from ..shared.reply import Call, Hosted, Part, ReplyAuthor, ReplyForms, ReplyParts, Say, Think, stop_word

STOPS: dict[Stop, str] = {
    "end": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refused": "refusal",
    "paused": "pause_turn",
}
RAW = "_raw"  # what the model wrote in place of JSON: only a stream can hold it


def whole(reply: ReplyParts, author: ReplyAuthor, request: Wire | None = None) -> Wire:
    """The message as it comes when it is not streamed."""
    content = [
        block for place, part in enumerate(reply.parts) for block in _blocks_of_part(part, place, author)
    ]
    return {
        "id": author.draw("msg_01", 22),
        "type": "message",
        "role": "assistant",
        "model": author.model,
        "content": content,
        "stop_reason": stop_word(STOPS, reply, "Anthropic"),
        "stop_sequence": None,
        "usage": _usage_counts(author.count_tokens(reply)),
    }


def _blocks_of_part(part: Part, place: int, author: ReplyAuthor) -> Iterator[Wire]:
    match part:
        case Say():
            yield {"type": "text", "text": part.text}
        case Think(hidden=True):
            yield {"type": "redacted_thinking", "data": author.sign("anthropic", "redacted")}
        case Think():
            signature = author.sign("anthropic", part.text)
            yield {"type": "thinking", "thinking": part.text, "signature": signature}
        case Call():
            id = author.call_id(part.name, place, part.id)
            raw = {} if part.raw is None else {RAW: part.raw}
            yield {"type": "tool_use", "id": id, "name": part.name, "input": part.arguments, **raw}
        case Hosted():
            yield from _hosted_blocks(part, author)


def _hosted_blocks(part: Hosted, author: ReplyAuthor) -> Iterator[Wire]:
    id = author.draw("srvtoolu_01", 22)
    yield {"type": "server_tool_use", "id": id, "name": part.name, "input": part.arguments}
    found = {
        "type": "web_search_result",
        "title": part.result,
        "url": part.url or "https://example.com/",
        "encrypted_content": author.sign("anthropic", part.result),
        "page_age": None,
    }
    yield {"type": f"{part.name}_tool_result", "tool_use_id": id, "content": [found]}


def _usage_counts(usage: Usage) -> Wire:
    counts: Wire = {
        "input_tokens": usage.input or 0,
        "cache_creation_input_tokens": usage.cache_write or 0,
        "cache_read_input_tokens": usage.cached_input or 0,
        "output_tokens": usage.output or 0,
    }
    if usage.reasoning:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return counts


def body(message: Wire) -> Wire:
    """The message without raw text of calls: a whole body can hold only valid JSON."""
    content = [{name: value for name, value in block.items() if name != RAW} for block in message["content"]]
    return {**message, "content": content}


def stream(message: Wire, author: ReplyAuthor, odd: Collection[str] = ()) -> Stream:
    """The same message as events."""
    counts = message["usage"]
    opening = {**message, "content": [], "stop_reason": None, "usage": {**counts, "output_tokens": 1}}
    frames = [frame({"type": "message_start", "message": opening}, "message_start"), ping()]
    last = len(message["content"]) - 1
    for index, block in enumerate(message["content"]):
        frames += _block_events(index, block, odd)
        if not ("no_block_stop" in odd and index == last):
            frames.append(_frame("content_block_stop", index=index))
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    ending = (_frame("message_delta", delta=delta, usage=counts), _frame("message_stop"))
    return Stream(tuple(frames), ending)


def ping() -> Frame:
    return _frame("ping")


def _block_events(index: int, block: Wire, odd: Collection[str]) -> Iterator[Frame]:
    start, deltas = _start_and_deltas(block, odd)
    yield _frame("content_block_start", index=index, content_block=start)
    for delta in deltas:
        yield _frame("content_block_delta", index=index, delta=delta)


def _start_and_deltas(block: Wire, odd: Collection[str]) -> tuple[Wire, list[Wire]]:
    """How a block begins, and the deltas that it grows by."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": piece} for piece in pieces(block["text"])
            ]
        case "thinking":
            deltas: list[Wire] = [
                {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])
            ]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case "tool_use" | "server_tool_use":
            start = {name: block[name] for name in ("type", "id", "name")}
            if "input_at_start" in odd and block.get(RAW) is None:
                return {**start, "input": block["input"]}, []
            return {**start, "input": {}}, [
                {"type": "input_json_delta", "partial_json": piece} for piece in ("", *_arguments(block))
            ]
        case _:
            return block, []


def _arguments(block: Wire) -> list[str]:
    raw = block.get(RAW)
    if raw is not None:
        return pieces(raw)
    return pieces(dumps(block["input"])) if block["input"] else []


def _frame(kind: str, **fields: Any) -> Frame:
    return frame({"type": kind, **fields}, kind)


REPLY = ReplyForms(whole, stream, body)
